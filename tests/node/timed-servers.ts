/**
 * Live cluster with test-controlled time: jobs at constant rates, and servers with scripted response times. Requires fake timers
 * for setTimeout, performance and Date.
 */
import type { Result } from '#core/base/result.ts'
import type { ExecResult, NodeConnection } from '#electron/base/connection.ts'
import { LiveSource } from '#electron/cluster/live/live-source.ts'
import { ClusterMonitor } from '#electron/cluster/monitor.ts'
import type { MonitorOptions } from '#electron/cluster/monitor-options.ts'
import { READ_SHELL_CPU } from '#electron/cluster/probes/shell-cpu.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'
import { Audit } from '#electron/base/audit.ts'
import { History } from '#electron/history/history.ts'

export interface TimedTarget {
  readonly name: string
  readonly host: string
  /** RPC/s by job id. */
  readonly rates: Readonly<Record<string, number>>
}

export interface TimedOptions extends Pick<MonitorOptions, 'mode' | 'controller' | 'probes' | 'metadata'> {
  readonly targets: readonly TimedTarget[]
  readonly periodMs: number
  /** Duration of a job_stats reading, ms; null: the session breaks. */
  readonly delayMs: (host: string) => number | null
  /** CPU time of a reading on the server, ms. */
  readonly cpuMs?: (host: string) => number
}

/** Bytes of one RPC. */
export const RPC_BYTES = 65_536
const VERSION = '2.16.0\n'

const counter = (name: string, unit: string, n: number, each: number): string =>
  `  ${name}: { samples: ${n}, unit: ${unit}, min: ${each}, max: ${each}, sum: ${n * each} }\n`

function entry(jobId: string, n: number, nowMs: number, isMdt: boolean): string {
  const head = `- job_id:          ${jobId}\n  snapshot_time:   ${Math.floor(nowMs / 1000)}.000000001 secs.nsecs\n`
  if (isMdt) return head + counter('open', 'usecs', n, 40)
  return head + counter('write_bytes', 'bytes', n, RPC_BYTES) + counter('write', 'usecs', n, 500)
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

export function timedCluster({ targets, periodMs, delayMs, cpuMs, ...more }: TimedOptions) {
  const startMs = Date.now()
  const hosts = [...new Set(targets.map((t) => t.host))]
  const cpuUsed = new Map<string, number>()
  const isMdt = (t: TimedTarget): boolean => t.name.includes('MDT')

  function textOf(host: string, command: string): string {
    const nowMs = Date.now()
    const out: string[] = []
    for (const t of targets.filter((x) => x.host === host)) {
      const name = `${isMdt(t) ? 'mdt' : 'obdfilter'}.${t.name}.job_stats`
      if (!command.includes(isMdt(t) ? 'mdt.*.job_stats' : 'obdfilter.*.job_stats')) continue
      const entries = Object.entries(t.rates).map(([id, rate]) =>
        entry(id, Math.floor((rate * (nowMs - startMs)) / 1000), nowMs, isMdt(t)),
      )
      out.push(`${name}=\njob_stats:\n${entries.join('')}`)
    }
    return out.join('')
  }

  async function exec(host: string, command: string): Promise<Result<ExecResult>> {
    if (command === READ_SHELL_CPU) {
      const ticks = Math.round((cpuUsed.get(host) ?? 0) / 10)
      const line = `4711 (sh) S 1 1 1 0 -1 0 0 0 0 0 0 0 ${ticks} 0\n`
      return cpuMs ? printed(line) : printed('', '', 1)
    }
    if (command.includes('version')) return printed(VERSION)
    const delay = command.includes('job_stats') ? delayMs(host) : 0
    if (delay === null) return lost('connection reset')
    // Request and response take about the same time.
    await sleep(delay / 2)
    const stdout = textOf(host, command)
    await sleep(delay / 2)
    cpuUsed.set(host, (cpuUsed.get(host) ?? 0) + (cpuMs?.(host) ?? 0))
    return printed(stdout)
  }

  const nodes = hosts.map((host): NodeConnection => ({
    host,
    roles: [targets.some((t) => t.host === host && isMdt(t)) ? 'mds' : 'oss'],
    exec: (command) => exec(host, command),
  }))
  const source = new LiveSource({
    cluster: 'timed',
    nodes,
    maxRate: 1000,
    periodNs: periodMs * 1e6,
    jobIdName: undefined,
    startMs,
  })
  const opened = History.open(':memory:', startMs)
  if (!opened.ok) throw new Error('no history')
  const history = opened.value
  history.beginSource('LIVE', 'timed', '', startMs)
  const audit = new Audit((r) => history.recordAudit(r), history.lastAudit())
  const monitor = new ClusterMonitor({ ...more, source, history, audit, session: 'test' })
  return {
    source,
    monitor,
    history,
    startMs,
    /** Samples until `stop`, in fake time. */
    start: () => source.start((atNs) => monitor.tick(atNs)),
    stop: () => source.stop(),
  }
}
