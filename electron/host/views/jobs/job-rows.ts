/** Columns of every known job at one sample; shared by the table, its filter and its totals. */
import type { JobColumn } from '#core/api/frames.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { jobColumn, PART_COLUMNS, shareColumn, shareName } from '../../../cluster/state/recent.ts'
import type { JobRead, KnownJobs, ClusterView } from '../../../cluster/cluster-view.ts'
import type { FilterRow } from '../../job-filter.ts'
import { isPresent, orNull, rateSamples, throttledSamples } from '../../position.ts'
import { type Compare, firstRows, selectRange } from '../rank.ts'
import { ruleLookup, rulesAt, type RuleLookup } from '../rule-lookup.ts'

export interface JobRow extends FilterRow {
  readonly ioBytes: number | null
  readonly ruleRate: number | null
  /** Some of its targets were not measured: its rates are lower bounds. */
  readonly partial: boolean
}

const C = {
  rpcs: jobColumn('rpcs'),
  readBps: jobColumn('readBps'),
  writeBps: jobColumn('writeBps'),
  throttled: jobColumn('throttled'),
  record: jobColumn('record'),
  mdops: jobColumn('mdops'),
}

/** Columns of a list of known jobs that do not depend on the sample: computed once per list. */
interface KnownFacts {
  /** NaN if the batch system does not know the job. */
  readonly nodes: Float64Array
  readonly unmapped: number
  /** Jobs by account; those without one are omitted. */
  readonly accounts: ReadonlyMap<string, number>
}

const knownFacts = new WeakMap<readonly JobRead[], KnownFacts>()

function factsOf(jobs: readonly JobRead[]): KnownFacts {
  let facts = knownFacts.get(jobs)
  if (!facts) {
    const nodes = new Float64Array(jobs.length)
    const accounts = new Map<string, number>()
    let unmapped = 0
    for (let i = 0; i < jobs.length; i++) {
      const job = jobs[i]!
      nodes[i] = job.nodes ?? NaN
      if (job.nodes === undefined) unmapped++
      if (job.account !== '') accounts.set(job.account, (accounts.get(job.account) ?? 0) + 1)
    }
    knownFacts.set(jobs, (facts = { nodes, unmapped, accounts }))
  }
  return facts
}

function knownAt(viewed: ClusterView, atMs: number): KnownJobs {
  const known = viewed.jobs.known?.(atMs)
  if (known) return known
  const jobs: JobRead[] = []
  for (const job of viewed.jobs.all) if (job.firstSeenMs <= atMs) jobs.push(job)
  return { jobs, names: jobs.map((j) => j.jobId) }
}

/** The jobs known at a sample. Row i of all columns is job i. */
export class JobTable {
  readonly jobs: readonly JobRead[]
  /** Mean of the last second; NaN for a gap. */
  readonly rpcs: Float64Array
  readonly readBps: Float64Array
  readonly writeBps: Float64Array
  readonly mdops: Float64Array
  /** Mean of the last ten seconds. */
  readonly throttled: Float64Array
  /**
   * 1: some of the job's targets were not measured in that time, and `rpcs`, `readBps` and `writeBps` cover only the
   * others.
   */
  readonly partial: Uint8Array
  /** NaN without one. */
  readonly record: Float64Array
  readonly #atMs: number
  readonly #isNow: boolean
  #ioBytes: Float64Array | undefined
  readonly #rules: RuleLookup
  readonly #nodeOf: ReadonlyMap<string, string>
  /** Index of the rule's name in `ruleNames`; -1 without one. */
  readonly ruleAt: Int32Array
  /** Rule of a job that matches no other; empty if old rules have left memory while rates are still there. */
  readonly noRule: 'default' | ''

  /**
   * @param target  target of the records; empty = the sum over all.
   * @param only    the single job to include; all known jobs without it.
   */
  constructor(viewed: ClusterView, sample: number, atMs: number, target = '', only?: string) {
    const one = only === undefined ? undefined : viewed.jobs.find(only)
    const isThere = one !== undefined && one.firstSeenMs <= atMs
    const known =
      only === undefined
        ? knownAt(viewed, atMs)
        : isThere
          ? { jobs: [one], names: [one.jobId] }
          : { jobs: [], names: [] }
    const { names } = known
    const { jobs } = viewed.recent.raw
    const mean = (column: number, n: number): Float64Array => jobs.means(names, column, sample, n)
    const second = rateSamples(viewed)
    this.jobs = known.jobs
    this.rpcs = mean(C.rpcs, second)
    this.readBps = mean(C.readBps, second)
    this.writeBps = mean(C.writeBps, second)
    this.mdops = mean(C.mdops, second)
    this.throttled = mean(C.throttled, throttledSamples(viewed))
    this.partial = this.#fillFromParts(viewed, names, sample)
    const { shares } = viewed.recent
    this.record =
      target === ''
        ? jobs.means(names, C.record, sample, 1)
        : Float64Array.from(names, (id) => shares.value(shareName(id, target), shareColumn('record'), sample))
    this.#atMs = atMs
    this.#isNow = isPresent(viewed, sample)
    this.#nodeOf = new Map(viewed.targets.map((t) => [t.target, t.node]))
    this.#rules = ruleLookup(rulesAt(viewed, sample))
    this.ruleAt = this.#rules.column(names)
    this.noRule = viewed.servers.some((host) => viewed.recent.rulesAt(host, sample)) ? 'default' : ''
  }

  get length(): number {
    return this.jobs.length
  }

  ioBytes(i: number): number {
    const rpcs = this.rpcs[i] as number
    return rpcs > 0 ? ((this.readBps[i] as number) + (this.writeBps[i] as number)) / rpcs : NaN
  }

  /** Servers of the targets that it was seen on; none if it was seen on metadata targets only. */
  servers(i: number): readonly string[] {
    return [...new Set([...this.jobs[i]!.targets].flatMap((target) => this.#nodeOf.get(target) ?? []))]
  }

  topOp(i: number): string {
    let top = ''
    let most = 0
    if (this.#isNow) for (const [op, n] of this.jobs[i]!.lastSecond.ops) if (n > most) [top, most] = [op, n]
    if (top !== '') return top
    if (!((this.rpcs[i] as number) > 0)) return ''
    return (this.writeBps[i] as number) >= (this.readBps[i] as number) ? 'write' : 'read'
  }

  get ruleNames(): readonly string[] {
    return this.#rules.names
  }

  /** Columns that do not depend on the sample. */
  get facts(): KnownFacts {
    return factsOf(this.jobs)
  }

  rule(i: number): string {
    const at = this.ruleAt[i] as number
    return at < 0 ? this.noRule : (this.#rules.names[at] as string)
  }

  /** Complete row, for display. */
  row(i: number): JobRow {
    const job = this.jobs[i]!
    const rule = this.#rules.of(job.jobId)
    return {
      jobId: job.jobId,
      user: job.user,
      account: job.account,
      nodes: job.nodes ?? null,
      topOp: this.topOp(i),
      targets: [...job.targets],
      servers: this.servers(i),
      rpcs: orNull(this.rpcs[i] as number),
      readBps: orNull(this.readBps[i] as number),
      writeBps: orNull(this.writeBps[i] as number),
      mdops: orNull(this.mdops[i] as number),
      partial: this.partial[i] === 1,
      ioBytes: orNull(this.ioBytes(i)),
      throttled: orNull(this.throttled[i] as number),
      record: orNull(this.record[i] as number),
      rule: rule?.name ?? this.noRule,
      ruleRate: rule?.rate ?? null,
      ageMs: this.#atMs - job.firstSeenMs,
    }
  }

  /** Fills jobs without a rate from the measured parts. */
  #fillFromParts(viewed: ClusterView, names: readonly string[], sample: number): Uint8Array {
    const partial = new Uint8Array(names.length)
    if (!this.rpcs.some(Number.isNaN)) return partial
    const n = rateSamples(viewed)
    const { jobParts } = viewed.recent
    const [rpcs, readBps, writeBps] = PART_COLUMNS.map((_, c) => jobParts.means(names, c, sample, n)) as [
      Float64Array,
      Float64Array,
      Float64Array,
    ]
    for (let i = 0; i < names.length; i++) {
      if (!Number.isNaN(this.rpcs[i]) || Number.isNaN(rpcs[i])) continue
      partial[i] = 1
      this.rpcs[i] = rpcs[i] as number
      this.readBps[i] = readBps[i] as number
      this.writeBps[i] = writeBps[i] as number
    }
    return partial
  }

  /** Iterates over the rows in one reused object: for tests that keep none. */
  cursor(): RowCursor {
    return new RowCursor(this, this.#atMs)
  }

  /** Rows [from, to) of the table in its order: jobs without a value last in either direction, ties by job id. */
  ranked(rows: Uint32Array, by: JobColumn, descending: boolean, from: number, to: number): Uint32Array {
    const end = Math.min(to, rows.length)
    const few = this.#numbers(by)
    const order = this.#order(by, descending)
    const part = few ? firstRows(rows, end, few, descending, order) : rows
    selectRange(part, from, end, order)
    return part.subarray(from, end)
  }

  /** Numeric column to sort by. */
  #numbers(by: JobColumn): Float64Array | undefined {
    if (by === 'rule' || by === 'jobId' || by === 'account') return undefined
    if (by === 'nodes') return this.facts.nodes
    return by === 'ioBytes' ? (this.#ioBytes ??= Float64Array.from(this.jobs, (_, i) => this.ioBytes(i))) : this[by]
  }

  #order(by: JobColumn, descending: boolean): Compare {
    const id = (i: number): string => this.jobs[i]!.jobId
    if (by === 'rule')
      return textOrder(
        this.jobs.map((_, i) => this.rule(i)),
        id,
        descending,
      )
    if (by === 'jobId' || by === 'account')
      return textOrder(
        this.jobs.map((j) => j[by]),
        id,
        descending,
      )
    return valueOrder(this.#numbers(by) as Float64Array, id, descending)
  }
}

const textOrder = (texts: readonly string[], id: (i: number) => string, descending: boolean): Compare => {
  const sign = descending ? -1 : 1
  return (a, b) => sign * byCodeUnit(texts[a] as string, texts[b] as string) || byCodeUnit(id(a), id(b))
}

/** Rows without a value (NaN) last in either direction, ties by job id. */
export const valueOrder = (column: Float64Array, id: (i: number) => string, descending: boolean): Compare => {
  const sign = descending ? -1 : 1
  return (a, b) => {
    const x = column[a] as number
    const y = column[b] as number
    if (x < y) return -sign
    if (x > y) return sign
    return Number(x !== x) - Number(y !== y) || byCodeUnit(id(a), id(b))
  }
}

/** Row view that is moved over the columns: avoids allocating ten thousand objects for a filter. */
class RowCursor implements FilterRow {
  at = 0
  readonly #table: JobTable
  readonly #atMs: number

  constructor(table: JobTable, atMs: number) {
    this.#table = table
    this.#atMs = atMs
  }

  get #job(): JobRead {
    return this.#table.jobs[this.at]!
  }
  get jobId(): string {
    return this.#job.jobId
  }
  get user(): string {
    return this.#job.user
  }
  get account(): string {
    return this.#job.account
  }
  get nodes(): number | null {
    return this.#job.nodes ?? null
  }
  get targets(): readonly string[] {
    return [...this.#job.targets]
  }
  get servers(): readonly string[] {
    return this.#table.servers(this.at)
  }
  get topOp(): string {
    return this.#table.topOp(this.at)
  }
  get rule(): string {
    return this.#table.rule(this.at)
  }
  get rpcs(): number | null {
    return orNull(this.#table.rpcs[this.at] as number)
  }
  get readBps(): number | null {
    return orNull(this.#table.readBps[this.at] as number)
  }
  get writeBps(): number | null {
    return orNull(this.#table.writeBps[this.at] as number)
  }
  get mdops(): number | null {
    return orNull(this.#table.mdops[this.at] as number)
  }
  get throttled(): number | null {
    return orNull(this.#table.throttled[this.at] as number)
  }
  get record(): number | null {
    return orNull(this.#table.record[this.at] as number)
  }
  get ageMs(): number {
    return this.#atMs - this.#job.firstSeenMs
  }
}
