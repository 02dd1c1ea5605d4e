/** Probes of one cluster: access to each server's readings, and the switches of the probes. */
import type { ProbeId } from '#core/api/clusters.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { ClusterSource, ExecResult, NodeConnection } from '../../base/connection.ts'
import { ProbeScheduler } from './probe-scheduler.ts'
import { ServerProbe } from './server-probe.ts'

export interface ProbeOptions {
  /** Probes that are off from the start. */
  readonly off?: readonly ProbeId[] | undefined
  /** Budget above which probes slow down, bytes/s; 100 KB/s per server by default. */
  readonly budgetBytesPerSec?: number | undefined
}

export class Probes {
  readonly board: ProbeScheduler
  readonly #source: ClusterSource
  readonly #isEnforcing: () => boolean
  readonly #servers = new Map<NodeConnection, ServerProbe>()

  /** @param now  state of control: with its own clock, a server is bounded by its share of a core, not by bytes. */
  constructor(
    source: ClusterSource,
    options: ProbeOptions,
    now: { readonly isEnforcing: () => boolean; readonly isPaced: () => boolean },
  ) {
    this.#source = source
    this.#isEnforcing = now.isEnforcing
    const isHeld = (id: ProbeId): boolean =>
      (id === 'job_stats' || id === 'rules') && (now.isEnforcing() || now.isPaced())
    this.board = new ProbeScheduler(source, { ...options, isHeld })
  }

  /** The only way to read a server. */
  of(node: NodeConnection): ServerProbe {
    let probe = this.#servers.get(node)
    if (!probe) this.#servers.set(node, (probe = new ServerProbe(node, this.board, this.#source, this.#servers.size)))
    return probe
  }

  read(id: ProbeId, node: NodeConnection, command: string): Promise<Result<ExecResult>> {
    return this.of(node).read(id, command)
  }

  /** Fails for an unknown probe, and for one that enforcement needs. */
  set(id: ProbeId, on: boolean): Result<undefined> {
    if (!this.board.has(id)) {
      return fail({
        code: 'PROBE_UNKNOWN',
        what: `There is no probe ${id}`,
        why: 'this cluster has nothing to read it from',
      })
    }
    if (!on && (id === 'job_stats' || id === 'rules') && this.#isEnforcing()) {
      return fail({
        code: 'PROBE_NEEDED',
        what: `The probe ${id} stays on`,
        why: 'rules are enforced and must be evaluated and read back',
        next: 'Leave enforce mode first.',
      })
    }
    this.board.set(id, on)
    return ok(undefined)
  }

  /** Data missing because a probe is off. */
  get failures(): Failure[] {
    const { board } = this
    if (!board.has('job_stats') || board.isOn('job_stats')) return []
    return [
      {
        code: 'PROBE_OFF',
        what: 'Jobs are not sampled',
        why: 'the probe job_stats is off',
        unaffected: 'Rules and queues are read as before.',
        next: 'Switch job_stats on under Connections.',
      },
    ]
  }
}
