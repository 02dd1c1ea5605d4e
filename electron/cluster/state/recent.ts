/**
 * Recent history of a cluster in memory: every sample for some minutes, means of a second for half an hour, and the
 * rules as the servers printed them. The data shown at sample n are read from here; wider windows are drawn from the
 * history.
 */
import { NS_PER_MS } from '#core/base/units.ts'
import { SeriesTable } from '#core/series/series-table.ts'

/** Raw samples are kept for ten minutes; for three by the fastest clusters (10 Hz), longer by the slowest. */
const RAW_S = 600
const RAW_MOST = 1_800
const RAW_LEAST = 180
const SECONDS = 1_800
/** Rule texts are kept up to this many characters in total. */
const RULE_TEXT_MAX = 16_000_000

export const JOB_COLUMNS = [
  'rpcs',
  'readBps',
  'writeBps',
  'throttled',
  'record',
  'allowed',
  'mdops',
  'demand',
  'granted',
] as const
export const TARGET_COLUMNS = ['rpcs', 'serviceMs', 'queued', 'used'] as const
/** Measured part of a job while one of its targets is not measured. */
export const PART_COLUMNS = ['rpcs', 'readBps', 'writeBps'] as const
export const SHARE_COLUMNS = ['rpcs', 'tokens', 'record', 'demand'] as const
/** Parts of one cycle, ms of wall time. */
export const CYCLE_COLUMNS = ['collect', 'parse', 'allocate', 'apply'] as const
export const TOTAL_COLUMNS = [
  'readBps',
  'writeBps',
  'rpcs',
  'serviceMs',
  'queued',
  'used',
  'rules',
  'onLoan',
  'lent',
  'borrowed',
] as const

export type JobMeasure = (typeof JOB_COLUMNS)[number]
export type TargetMeasure = (typeof TARGET_COLUMNS)[number]
export type TotalMeasure = (typeof TOTAL_COLUMNS)[number]

export const jobColumn = (m: JobMeasure): number => JOB_COLUMNS.indexOf(m)
export const shareColumn = (m: (typeof SHARE_COLUMNS)[number]): number => SHARE_COLUMNS.indexOf(m)
export const totalColumn = (m: TotalMeasure): number => TOTAL_COLUMNS.indexOf(m)

/** The only series of the totals tables. */
export const TOTAL = 'total'
/** Series of one job on one target. */
export const shareName = (jobId: string, target: string): string => `${jobId}\u0000${target}`

/** The tables of one resolution. */
export interface Tier {
  readonly jobs: SeriesTable
  readonly targets: SeriesTable
  readonly totals: SeriesTable
}

const tier = (capacity: number): Tier => ({
  jobs: new SeriesTable(capacity, JOB_COLUMNS, ['record']),
  targets: new SeriesTable(capacity, TARGET_COLUMNS),
  totals: new SeriesTable(capacity, TOTAL_COLUMNS),
})

export interface RuleText {
  readonly sample: number
  readonly text: string
  readonly policy: string
}

const NO_GAPS: ReadonlyMap<string, string> = new Map()

export class Recent {
  readonly raw: Tier
  readonly seconds = tier(SECONDS)
  /** Totals over the measured targets, in samples where others were not: lower bounds of the total. */
  readonly partials: SeriesTable
  /** Rates of jobs on the measured targets, where others of theirs were not: lower bounds. */
  readonly jobParts: SeriesTable
  readonly shares: SeriesTable
  /** Cost of each cycle, by node, and in total under `TOTAL`. */
  readonly cycles: SeriesTable
  readonly #rules = new Map<string, RuleText[]>()
  #ruleChars = 0
  /** Gaps by sample; complete samples are omitted. */
  readonly #gaps = new Map<number, ReadonlyMap<string, string>>()
  #secondMs = 0
  #secondFrom = 1

  /**
   * @param periodNs  time between two samples, > 0.
   * @param keepMs    time for which raw samples are kept, unless it follows from the period.
   */
  constructor(periodNs: number, keepMs?: number) {
    const samples = Math.ceil(((keepMs ?? RAW_S * 1000) * NS_PER_MS) / periodNs)
    const capacity = Math.min(RAW_MOST, Math.max(keepMs === undefined ? RAW_LEAST : 2, samples))
    this.raw = tier(capacity)
    this.partials = new SeriesTable(capacity, TOTAL_COLUMNS)
    this.jobParts = new SeriesTable(capacity, PART_COLUMNS)
    this.shares = new SeriesTable(capacity, SHARE_COLUMNS, ['record'])
    this.cycles = new SeriesTable(capacity, CYCLE_COLUMNS)
  }

  /** Opens the next sample in every table. */
  push(atMs: number): number {
    const second = Math.floor(atMs / 1000) * 1000
    if (second !== this.#secondMs) this.#closeSecond(second)
    const { jobs, targets, totals } = this.raw
    for (const t of [jobs, targets, totals, this.partials, this.jobParts, this.shares, this.cycles]) t.push(atMs)
    return this.raw.totals.newest
  }

  /** Stores the reasons why servers have no counts in the newest sample, by host. */
  keepGaps(gaps: ReadonlyMap<string, string>): void {
    const { newest, oldest } = this.raw.totals
    if (gaps.size > 0) this.#gaps.set(newest, gaps)
    for (const sample of this.#gaps.keys()) {
      if (sample >= oldest) break
      this.#gaps.delete(sample)
    }
  }

  /** Servers without counts in a sample, and the reasons. */
  gapsAt(sample: number): ReadonlyMap<string, string> {
    return this.#gaps.get(sample) ?? NO_GAPS
  }

  keepRules(host: string, sample: number, text: string, policy: string): void {
    const list = this.#rules.get(host) ?? []
    this.#rules.set(host, list)
    if (list.at(-1)?.text === text && list.at(-1)?.policy === policy) return
    list.push({ sample, text, policy })
    this.#ruleChars += text.length
    const { oldest } = this.raw.totals
    // An entry that was replaced before the oldest sample in memory applies to none.
    const isOver = (): boolean => this.#ruleChars > RULE_TEXT_MAX || (list[1]?.sample ?? Infinity) <= oldest
    while (list.length > 1 && isOver()) this.#ruleChars -= list.shift()?.text.length ?? 0
  }

  /** Rules of a server at a sample; undefined if they are no longer (or not yet) known. */
  rulesAt(host: string, sample: number): RuleText | undefined {
    return this.#rules.get(host)?.findLast((r) => r.sample <= sample)
  }

  /** Finest tier that reaches back over a window ending at sample `at` of the raw tier. */
  tierFor(at: number, windowMs: number): { tier: Tier; to: number; stepMs?: number } {
    const atMs = this.raw.totals.atMs(at)
    const oldestRaw = this.raw.totals.atMs(this.raw.totals.oldest)
    const oldestSecond = this.seconds.totals.atMs(this.seconds.totals.oldest)
    // While the fine tier is complete, the coarse one has no more data.
    const enough = this.raw.totals.oldest === 1 || atMs - windowMs >= oldestRaw - 1000 || !(oldestSecond < oldestRaw)
    if (enough || this.seconds.totals.newest === 0) return { tier: this.raw, to: at }
    return { tier: this.seconds, to: this.seconds.totals.sampleAt(atMs - 999), stepMs: 1000 }
  }

  dropJob(jobId: string): void {
    this.raw.jobs.drop(jobId)
    this.jobParts.drop(jobId)
    this.seconds.jobs.drop(jobId)
    for (const name of [...this.shares.names]) if (name.startsWith(`${jobId}\u0000`)) this.shares.drop(name)
  }

  /** Adds the mean of the second that ended to the coarse tier. */
  #closeSecond(next: number): void {
    const from = this.#secondFrom
    const to = this.raw.totals.newest
    if (to >= from && this.#secondMs > 0) {
      for (const name of ['jobs', 'targets', 'totals'] as const) {
        const fine = this.raw[name]
        const coarse = this.seconds[name]
        coarse.push(this.#secondMs)
        coarse.setMeans(fine, from, to)
      }
    }
    this.#secondMs = next
    this.#secondFrom = to + 1
  }
}
