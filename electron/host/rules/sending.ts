/** Sender of rule changes: write refusals, current state of the servers, and one commit at a time. */
import type { NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import type { Failure } from '#core/base/result.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { CommitParts } from '../../enforce/change.ts'
import type { CommitLock } from '../../enforce/commit-lock.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import { WritePermit } from '../../enforce/store-stops.ts'
import { SERVICES } from '../../base/service.ts'
import { readServer, readVersion } from '../../enforce/read-server.ts'
import type { Commit } from './commit.ts'
import { SampledCanaryWatch } from './canary-watch.ts'
import type { OperatorRules } from './operator-rules.ts'
import { failure } from './refusal.ts'
import type { PlannedChange, ServerFacts } from './rule-plan.ts'
import { presentServers } from './servers.ts'
import type { PolicyRead } from './policy-plans.ts'

interface ServersNow {
  /** Servers that answered. */
  readonly now: readonly PolicyRead[]
  readonly factsOf: (host: string) => ServerFacts
}

/**
 * Reads the servers right before anything is sent.
 *
 * @param servers  as of the newest sample.
 */
async function readNow(
  monitor: ClusterMonitor,
  service: ServiceName,
  servers: readonly ServerRules[],
  answerMs?: number,
  rulesAre?: Parameters<typeof readServer>[4],
): Promise<ServersNow> {
  const facts = new Map<string, ServerFacts>()
  const read = await Promise.all(
    servers.map(async (s) => {
      const node = monitor.node(s.server)
      if (!node) return undefined
      facts.set(s.server, { version: await readVersion(node, answerMs), keeps: node.timers ?? 'systemd' })
      return readServer(node, SERVICES[service], s, answerMs, rulesAre)
    }),
  )
  const factsOf = (host: string): ServerFacts => facts.get(host) ?? { version: undefined, keeps: 'none' }
  return { now: read.filter((s) => s !== undefined), factsOf }
}

/** Options of RuleService; the defaults are those of operation. */
export interface RuleServiceOptions {
  /** Reason why nothing may be written now: a cluster that is locked, or read-only. */
  readonly mayWrite?: (() => Failure | undefined) | undefined
  /** Seconds that the first server of a commit is watched; 0: not at all. @default 10 */
  readonly canaryS?: number | undefined
  readonly sending?: Pick<CommitParts, 'answerMs' | 'pausesMs'> | undefined
  /** Store of Sluice's rules and the undo list, shared with commands of the same data folder; in memory only without. */
  readonly store?: EnforcementStore | undefined
}

export class Sending {
  readonly monitor: ClusterMonitor
  readonly rules: OperatorRules
  readonly options: RuleServiceOptions
  readonly #permit: WritePermit
  /** The commit that is sent now, or was sent last. */
  #commit: Commit | undefined
  /** Held while a commit is sent. */
  #lock: CommitLock | undefined
  #upkeep: Promise<void> | undefined

  constructor(monitor: ClusterMonitor, rules: OperatorRules, options: RuleServiceOptions) {
    this.monitor = monitor
    this.rules = rules
    this.options = options
    this.#permit = new WritePermit(monitor.source.cluster, monitor.stops)
  }

  /** The commit that is sent now, or was sent last. */
  get commit(): Commit | undefined {
    return this.#commit
  }

  get isCommitting(): boolean {
    return this.#commit !== undefined && !this.#commit.isOver
  }

  /** True while upkeep between commits is sending. */
  get isKeepingUp(): boolean {
    return this.#upkeep !== undefined
  }

  /** A commit begins. */
  begin(commit: Commit, lock: CommitLock): void {
    this.#commit = commit
    this.#lock = lock
  }

  /** Ends the commit. @param ends  outcome per server; empty if it was refused */
  end(ends: readonly NodeEnd[]): void {
    this.#lock = undefined
    this.#commit?.end(ends)
  }

  /** Clears an earlier stop for a new request of the operator. */
  renew(): void {
    if (!this.isCommitting) this.#permit.renew()
  }

  /** Sends outside a commit. */
  keepUp(send: () => Promise<void>): void {
    this.#upkeep = send().finally(() => {
      this.#upkeep = undefined
      this.monitor.changed()
    })
  }

  /** Resolves when nothing is being sent. */
  async over(): Promise<void> {
    await Promise.all([this.#commit?.over, this.#upkeep])
  }

  /** Reason why nothing may be written now: a locked or read-only cluster. The mode of the controllers does not matter here. */
  writeRefusal(): Failure | undefined {
    return this.options.mayWrite?.()
  }

  /** Reason why the rest of a commit may not be sent: everything was stopped after it. */
  stopped(): Failure | undefined {
    return this.#permit.refusal()
  }

  /** Another change being sent. */
  busy(): Failure | undefined {
    if (!this.isCommitting && !this.isKeepingUp) return undefined
    return failure('BUSY', 'The change cannot be sent', 'another one is being sent', 'Wait until it ends.')
  }

  /** Servers of a service at the newest sample. */
  servers(service: ServiceName): ServerRules[] {
    return presentServers(this.monitor, service, this.rules)
  }

  /** Facts about a server from the newest reading. */
  facts(host: string): ServerFacts {
    const { monitor } = this
    return { version: monitor.reading(host)?.version, keeps: monitor.node(host)?.timers ?? 'systemd' }
  }

  /** Servers of a service, read now; those that do not answer are missing. */
  readNow(service: ServiceName, rulesAre?: Parameters<typeof readNow>[4]): Promise<ServersNow> {
    return readNow(this.monitor, service, this.servers(service), this.options.sending?.answerMs, rulesAre)
  }

  /** Parts of an unattended commit. */
  parts(canaryS: number): CommitParts {
    const { monitor, options } = this
    return {
      nodeOf: (h) => monitor.node(h),
      audit: monitor.audit,
      nowMs: () => monitor.nowMs(),
      stop: () => this.writeRefusal()?.why ?? this.stopped()?.why ?? this.#lock?.lost()?.why,
      removesOnly: () => this.stopped() !== undefined,
      canaryS,
      ...options.sending,
    }
  }

  /** Same for a commit, which is watched and can be canceled. */
  commitParts(commit: Commit, canaryS: number, changes: readonly PlannedChange[] = []): CommitParts {
    return {
      ...this.parts(canaryS),
      canaryWatch: (host) => {
        const change = changes.find((c) => c.plan.server === host)
        return change && new SampledCanaryWatch(this.monitor, commit.service, change)
      },
      signal: commit.signal,
      onServer: commit.onServer,
      onWatch: commit.onWatch,
    }
  }
}
