/** `sluice watch CLUSTER`: live per-job table, one line or table per sample. */
import { setTimeout as wait } from 'node:timers/promises'
import { Command } from 'commander'
import type { JobsFrame } from '#core/api/frames.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import { jobColumn, PART_COLUMNS } from '../cluster/state/recent.ts'
import { jobsFrame } from '../host/views/jobs/jobs.ts'
import { jsonText, line, plain } from './output.ts'
import { scenarioFile, seconds } from './arguments.ts'
import { addClustersFlags, flagsOf } from './clusters-flags.ts'
import { isHopeless, openCluster, stopOpening, exitCodeOfRun, type OpenCluster } from './live.ts'

interface WatchOptions {
  readonly json?: true
  readonly for?: number
  readonly scenario?: string
}

/** Server without counts in a sample, and the reason. */
interface Unread {
  readonly host: string
  readonly reason: string
}

/** Servers missing from the sample, and servers that are not connected. */
export function unreadIn(monitor: ClusterMonitor, sample: number, missing: readonly Unread[]): Unread[] {
  const reported = new Set(missing.map((m) => m.host))
  const gaps = [...monitor.recent.gapsAt(sample)].filter(([host]) => !reported.has(host))
  return [...missing, ...gaps.map(([host, reason]) => ({ host, reason: plain(reason) }))]
}

/** Rates of one job in one sample. */
interface JobRates {
  readonly rate: number
  readonly readBps: number
  readonly writeBps: number
  readonly isPartial: boolean
}

/** Returns undefined if nothing of the job was measured in the sample. */
function ratesOf({ recent }: ClusterMonitor, { rows, sample }: JobsFrame, i: number): JobRates | undefined {
  const jobId = rows.jobId[i] ?? ''
  const rate = rows.rpcs[i] ?? null
  const readBps = rows.readBps[i] ?? null
  const writeBps = rows.writeBps[i] ?? null
  const isKnown = !Number.isNaN(recent.raw.jobs.value(jobId, jobColumn('rpcs'), sample))
  if (isKnown && rate !== null && readBps !== null && writeBps !== null)
    return { rate, readBps, writeBps, isPartial: false }
  const [part, read, write] = PART_COLUMNS.map((_, c) => recent.jobParts.value(jobId, c, sample))
  if (part === undefined || read === undefined || write === undefined || Number.isNaN(part)) return undefined
  return { rate: part, readBps: read, writeBps: write, isPartial: true }
}

const nullIfGap = (v: number): number | null => (Number.isNaN(v) ? null : v)

/** JSON form of one sample. Values that were not measured are omitted: a gap is never a zero. */
export function sampleLine(monitor: ClusterMonitor, f: JobsFrame, missing: readonly Unread[]): string {
  const { rows, sample } = f
  const { targets } = monitor.recent.raw
  const unread = unreadIn(monitor, sample, missing)
  const measured = monitor.targets.filter((t) => !Number.isNaN(targets.value(t.target, 0, sample)))
  return jsonText({
    t: f.atMs === null ? null : f.atMs / 1000,
    source: monitor.source.kind,
    /** Actual sampling interval in seconds. */
    period_s: monitor.source.periodNs / NS_PER_S,
    /** Servers missing from this sample; its totals are lower bounds. */
    ...(unread.length === 0 ? {} : { partial: true, missing: unread }),
    targets: Object.fromEntries(
      measured.map(({ target, node }) => [
        target,
        {
          node,
          rate: targets.value(target, 0, sample),
          service_ms: nullIfGap(targets.value(target, 1, sample)),
        },
      ]),
    ),
    /** Number of known jobs; `jobs` holds the 200 with the highest measured rates. */
    jobs_total: f.shown,
    jobs: rows.jobId.flatMap((job_id, i) => {
      const rates = ratesOf(monitor, f, i)
      if (!rates) return []
      const { rate, readBps: read_bps, writeBps: write_bps, isPartial } = rates
      return [
        {
          job_id,
          rate,
          read_bps,
          write_bps,
          ...(isPartial ? { partial: true } : {}),
          ...(rows.record[i] === null ? {} : { record: rows.record[i] }),
          ...(rows.rule[i] === 'default' ? {} : { rule: rows.rule[i] }),
        },
      ]
    }),
  })
}

/** True if nothing was measured in the sample. */
const isGap = ({ allServers }: ClusterMonitor, unread: readonly Unread[]): boolean =>
  allServers.length > 0 && allServers.every((host) => unread.some((u) => u.host === host))

const NO_VALUE = '-'
const REASON_CHARS = 160

/** Formats one sample for a terminal. */
export function table(monitor: ClusterMonitor, f: JobsFrame, missing: readonly Unread[]): string {
  const { source } = monitor
  const time = f.atMs === null ? '' : new Date(f.atMs).toISOString().slice(11, 21)
  const unread = unreadIn(monitor, f.sample, missing)
  const reasons = unread.map((m) => `missing: ${m.host}, ${m.reason}`.slice(0, REASON_CHARS))
  if (isGap(monitor, unread)) {
    return [`${source.kind} ${source.cluster}  ${time}  gap: nothing was measured`, ...reasons].join('\n')
  }
  const all = f.totals.rpcs === null ? NO_VALUE : String(Math.round(f.totals.rpcs))
  const atLeast = unread.length === 0 ? '' : '>= '
  const head = `${source.kind} ${source.cluster}  ${time}  ${atLeast}${all} RPC/s  Ctrl-C ends`
  const columns = `${'job'.padEnd(32)}${'RPC/s'.padStart(9)}${'read MB/s'.padStart(11)}${'write MB/s'.padStart(12)}${'throttled %'.padStart(12)}${'balance'.padStart(9)}  rule`
  const rows = f.rows.jobId.map((id, i) => {
    const rates = ratesOf(monitor, f, i)
    const cell = (v: number | null | undefined, width: number, digits = 0): string =>
      (v === null || v === undefined ? NO_VALUE : v.toFixed(digits)).padStart(width)
    const rate = rates?.isPartial === true ? `>=${rates.rate.toFixed(0)}` : undefined
    const record = f.rows.record[i]
    const throttled = f.rows.throttled[i] ?? null
    return (
      plain(id).padEnd(32) +
      (rate?.padStart(9) ?? cell(rates?.rate, 9)) +
      cell(rates && rates.readBps / 1e6, 11, 1) +
      cell(rates && rates.writeBps / 1e6, 12, 1) +
      cell(throttled === null ? null : throttled * 100, 12) +
      (record === null || record === undefined ? '' : String(record)).padStart(9) +
      `  ${plain(f.rows.rule[i] ?? '')}`
    )
  })
  return [head, ...reasons, columns, ...rows].join('\n')
}

/** Delivers each sample of a monitor once, in order. */
export class SampleFeed {
  readonly #limit: number
  #monitor: ClusterMonitor | undefined
  #last = 0

  /** @param limit  most jobs per sample. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Returns the samples since the last call: only the newest at the first call, all of a new connection after a reconnect. */
  take(monitor: ClusterMonitor): JobsFrame[] {
    const { newest, oldest } = monitor.recent.raw.totals
    if (newest === 0) return []
    if (monitor !== this.#monitor) {
      this.#last = this.#monitor === undefined ? newest - 1 : 0
      this.#monitor = monitor
    }
    const from = Math.max(this.#last + 1, oldest)
    this.#last = newest
    return Array.from({ length: newest - from + 1 }, (_, k) =>
      jobsFrame(monitor, { ...EVERY_JOB, limit: this.#limit, at: from + k }, from + k),
    )
  }
}

const EVERY_JOB = {
  windowMs: 10_000,
  target: '',
  sort: 'rpcs',
  descending: true,
  filter: '',
  offset: 0,
} as const

/** Prints changes of the sampling period, with the reason, to stderr. */
class PeriodReporter {
  #runMs: number | undefined

  look({ period }: ClusterMonitor): void {
    if (!period) return
    const wasMs = this.#runMs ?? period.setMs
    this.#runMs = period.runMs
    if (period.runMs === wasMs) return
    const why = period.why === '' ? 'as configured' : period.why
    process.stderr.write(`sluice: a sample every ${period.runMs / 1000} s: ${plain(why)}\n`)
  }
}

/** Polling interval for new samples, ms; slower for a table that is read by a person. */
const LOOK_MS = { json: 100, table: 500 } as const

/** Prints samples until the end. @returns  the exit code. */
async function follow(cluster: OpenCluster, options: WatchOptions): Promise<number> {
  const ended = new AbortController()
  const end = (): void => ended.abort()
  const over = options.for === undefined ? undefined : setTimeout(end, options.for * 1000)
  for (const s of ['SIGINT', 'SIGTERM'] as const) process.once(s, end)
  const onTerminal = process.stdout.isTTY
  const lookMs = options.json ? LOOK_MS.json : LOOK_MS.table
  const period = new PeriodReporter()
  const feed = new SampleFeed(options.json ? 200 : 40)
  while (!ended.signal.aborted && !isHopeless(cluster)) {
    // A live cluster has no samples during a reconnect.
    if (cluster.isSampled) {
      const { monitor } = cluster.source
      // All samples since the last poll.
      const samples = feed.take(monitor)
      period.look(monitor)
      const missing = cluster.missing()
      if (options.json) for (const sample of samples) line(sampleLine(monitor, sample, missing))
      // A terminal shows only the newest sample.
      else if (onTerminal)
        for (const sample of samples.slice(-1)) write(`\x1b[H\x1b[2J${table(monitor, sample, missing)}\n`)
      else for (const sample of samples) write(`${table(monitor, sample, missing)}\n\n`)
    }
    // Ends early only by being aborted.
    await wait(lookMs, undefined, { signal: ended.signal }).catch(() => undefined)
  }
  clearTimeout(over)
  return exitCodeOfRun(cluster)
}

const write = (text: string): void => void process.stdout.write(text)

async function watch(name: string, options: WatchOptions, command: Command): Promise<void> {
  const opened = await openCluster(name, flagsOf(command), {
    reconnects: true,
    scenarioFile: options.scenario === undefined ? undefined : scenarioFile(options.scenario),
  })
  if (!opened.ok) return stopOpening(opened.error, options.json)
  process.exitCode = await follow(opened.value, options)
  await opened.value.close()
}

export function watchCommand(): Command {
  return addClustersFlags(new Command('watch'))
    .description('live per-job table')
    .argument('<cluster>', 'a cluster of --config or of the data folder, or emulator: the built-in one')
    .option('--json', 'one JSON line per sample instead of a table; partial: true if a server is missing')
    .option('--for <s>', 'stop after this many seconds', seconds)
    .option('--scenario <file>', 'scenario for the emulator')
    .action(watch)
}
