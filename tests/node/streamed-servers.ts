/**
 * Live cluster with test-controlled time whose servers are emulated and have streaming readers. Requires fake timers for setTimeout,
 * performance and Date.
 */
import { fail, ok, type Result } from '#core/base/result.ts'
import { MODEL_FENCES } from '#core/control/fences.ts'
import type { ControllerName } from '#core/controllers/registry.ts'
import type { Mode } from '#core/control/controller.ts'
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { getParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { Audit } from '#electron/base/audit.ts'
import type { CounterSource, ExecResult, NodeConnection } from '#electron/base/connection.ts'
import { LiveSource } from '#electron/cluster/live/live-source.ts'
import { ClusterMonitor } from '#electron/cluster/monitor.ts'
import { History } from '#electron/history/history.ts'

export interface StreamedOptions {
  readonly scenario: Scenario
  readonly mode: Mode
  readonly controller?: ControllerName
  readonly periodMs?: number
  readonly controlMs?: number
  /** Time until an answer of the streaming reader, ms; null: it fails. */
  readonly readMs?: (host: string) => number | null
  /** Time until an answer to a command, ms. */
  readonly commandMs?: (host: string, command: string) => number
  /** CPU time of one reading on the server, ms. */
  readonly cpuMs?: (host: string) => number
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

export function streamedCluster(options: StreamedOptions) {
  const { scenario, mode, readMs = () => 5, commandMs = () => 1, cpuMs = () => 1 } = options
  const startMs = Date.now()
  const emulator = new EmulatedCluster(scenario, { seed: 1, epochSeconds: Math.floor(startMs / 1000) })
  const sent: { readonly host: string; readonly command: string }[] = []
  const cpu = new Map<string, number>()
  const reach = (): void => void emulator.sim.runUntil(source.nowNs())
  const nodes = emulator.nodes
    .filter((n) => n.roles.includes('oss'))
    .map((node): NodeConnection => {
      const host = node.name
      const run = async (command: string, ms: number): Promise<Result<ExecResult>> => {
        await sleep(ms / 2)
        reach()
        const result = node.exec(command)
        await sleep(ms / 2)
        return ok(result)
      }
      const counters: CounterSource = {
        read: async (names) => {
          const ms = readMs(host)
          if (ms === null) return fail({ code: 'STREAM_UNAVAILABLE', what: 'no stream' })
          const ran = await run(getParamCommand(...names), ms)
          if (!ran.ok) return ran
          const used = cpu.get(host) ?? 0
          cpu.set(host, used + cpuMs(host))
          const { stdout } = ran.value
          const values = splitParams(stdout)
          const { length: bytes } = stdout
          return ok({ sequence: 1, uptimeMs: 0, tookMs: 0, stepMs: 10, cpuMs: used, bytes, values, absent: [] })
        },
      }
      return {
        host,
        roles: node.roles,
        counters,
        exec: (command) => {
          sent.push({ host, command })
          return run(command, commandMs(host, command))
        },
      }
    })
  const source = new LiveSource({
    cluster: 'streamed',
    nodes,
    maxRate: scenario.control.max_rate,
    periodNs: (options.periodMs ?? 1000) * 1e6,
    controlNs: (options.controlMs ?? 100) * 1e6,
    jobIdName: undefined,
    startMs,
  })
  const opened = History.open(':memory:', startMs)
  if (!opened.ok) throw new Error('no history')
  const history = opened.value
  history.beginSource('LIVE', 'streamed', '', startMs)
  const monitor = new ClusterMonitor({
    source,
    history,
    audit: new Audit((r) => history.recordAudit(r), history.lastAudit()),
    session: 'test',
    mode,
    controller: options.controller ?? 'adaptbf',
    fences: MODEL_FENCES,
  })
  return {
    source,
    monitor,
    history,
    sent,
    emulator,
    start: (): void => {
      source.start((atNs) => monitor.tick(atNs))
      monitor.startPeriods(() => undefined)
    },
    stop: async (): Promise<void> => {
      await source.stop()
      await monitor.stopPeriods()
    },
    rules: (host: string): string =>
      emulator.node(host)?.exec('lctl get_param -n ost.OSS.ost_io.nrs_tbf_rule').stdout ?? '',
  }
}
