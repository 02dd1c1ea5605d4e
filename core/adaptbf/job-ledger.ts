/**
 * The jobs that one target has ever seen, with what the algorithm remembers of each; and which of them are active in a
 * period, in processing order. A refused period leaves no trace.
 */
import { byCodeUnit } from '../base/order.ts'
import { type Failure, type Result, fail, invariant, ok } from '../base/result.ts'
import { ENDED_JOBS } from './ended-jobs.ts'

/** One job in one observation period, as the allocator counts it. */
export interface PeriodJob {
  /** JobID, not empty, once in a period. */
  readonly id: string
  /** Compute nodes; missing or below 1 counts as 1. */
  readonly nodes?: number | undefined
  /** RPCs issued to the target in the period, whole; 0 or less: not active. */
  readonly demand: number
}

/** Why a list of jobs is refused. */
export type JobCode = 'EMPTY_JOB_ID' | 'DUPLICATE_JOB_ID' | 'BAD_NODES' | 'BAD_DEMAND'
export interface JobFailure extends Failure {
  readonly code: JobCode
}

/**
 * All jobs of one target and their records, in columns by slot: jobs stand in the order of their first activity.
 *
 * Source: the Job Records of AdapTBF III-A. Deviations: also holds the remainder and the last tokens, which equations (3)
 * and (22) need; jobs that ended can be retired, their records go to one account and the records sum to 0 for ever.
 */
export class JobLedger {
  readonly #slots = new Map<string, number>()
  /** Active jobs of the last period in processing order, by slot. */
  #order: number[] = []
  /** Slot by place in the last list: collectors name the same jobs in the same order, which spares the look-up. */
  #places: number[] = []
  #calls = 0

  /** JobID by slot. The columns below are as long or longer; frozen for a job while it is idle. */
  readonly ids: string[] = []
  /** Tokens lent (+) or borrowed (-). */
  record = new Float64Array(16)
  /** Running rounding remainder, tokens. */
  rho = new Float64Array(16)
  /** Final tokens of the last period in which the job was active. */
  tokens = new Float64Array(16)
  /** Number of that period; 0: none yet. */
  activeIn = new Float64Array(16)
  /** What the last list said; meaningless where it did not name the job. */
  nodes = new Float64Array(16)
  demand = new Float64Array(16)
  /** Number of the call of `enter` that named the job last, negative once it has its place in the order. */
  #listedIn = new Float64Array(16)

  /** Takes up jobs of an earlier run, in slot order; only on a ledger that has none yet. */
  adopt(jobs: readonly { readonly id: string; readonly record: number; readonly rho: number }[]): void {
    invariant(this.ids.length === 0, 'earlier jobs are taken up before any other')
    for (const { id, record, rho } of jobs) {
      const slot = this.#create(id)
      this.record[slot] = record
      this.rho[slot] = rho
    }
  }

  slotOf(id: string): number | undefined {
    return this.#slots.get(id)
  }

  /** A copy of every record, also of idle jobs; sums to 0. */
  records(): Map<string, number> {
    return new Map(this.ids.map((id, slot) => [id, this.record[slot]!]))
  }

  /**
   * The slots of a period's active jobs in processing order (nodes descending, then JobID ascending by code unit), with
   * `nodes` and `demand` set; the very array of the last period where nothing changed in it.
   *
   * @returns  the first thing wrong with the list otherwise; records, remainders and tokens are then as they were.
   * @complexity  O(n) while no job joins or changes its nodes, O(n log n) otherwise.
   */
  enter(jobs: readonly PeriodJob[]): Result<readonly number[], JobFailure> {
    const call = ++this.#calls
    const known = this.ids.length
    const strangers = new Set<string>()
    const active: number[] = []
    const places = this.#places
    let isOrdered = true
    for (let at = 0; at < jobs.length; at++) {
      const job = jobs[at]!
      const place = places[at]
      let slot = place !== undefined && this.ids[place] === job.id ? place : this.#slots.get(job.id)
      const isListed = slot === undefined ? strangers.has(job.id) : this.#listedIn[slot] === call
      const failure = findFault(job, isListed)
      if (failure) {
        this.#forget(known)
        return fail(failure)
      }
      if (slot === undefined) {
        if (job.demand <= 0) {
          strangers.add(job.id)
          continue
        }
        slot = this.#create(job.id)
        isOrdered = false
      }
      const nodes = Math.max(1, job.nodes ?? 1)
      if (nodes !== this.nodes[slot]) isOrdered = false
      places[at] = slot
      this.#listedIn[slot] = call
      this.nodes[slot] = nodes
      this.demand[slot] = job.demand
      if (job.demand > 0) active.push(slot)
    }
    return ok((this.#order = this.#sort(active, call, isOrdered)))
  }

  /** Forgets jobs; what they had lent or borrowed and their remainders go to the account of those that ended. */
  retire(jobs: ReadonlySet<string>): void {
    const gone = [...jobs].flatMap((id) => this.#slots.get(id) ?? [])
    if (gone.length === 0) return
    const ended = this.#slots.get(ENDED_JOBS) ?? this.#create(ENDED_JOBS)
    for (const slot of gone) {
      this.record[ended]! += this.record[slot]!
      this.rho[ended]! += this.rho[slot]!
    }
    const columns = [this.record, this.rho, this.tokens, this.activeIn, this.nodes, this.demand, this.#listedIn]
    const kept = this.ids.filter((id) => !jobs.has(id))
    for (const [to, id] of kept.entries()) {
      const from = this.#slots.get(id)!
      for (const column of columns) column[to] = column[from]!
      this.#slots.set(id, to)
    }
    for (const column of columns) column.fill(0, kept.length, this.ids.length)
    for (const id of jobs) this.#slots.delete(id)
    this.ids.splice(0, this.ids.length, ...kept)
    this.#order = []
    this.#places = []
  }

  /** Starts from the last order: what stayed in it needs no comparison. */
  #sort(active: readonly number[], call: number, isOrdered: boolean): number[] {
    const { nodes, demand, ids } = this
    const listedIn = this.#listedIn
    const sorted: number[] = []
    for (const slot of this.#order) {
      if (listedIn[slot] !== call || demand[slot]! <= 0) continue
      sorted.push(slot)
      listedIn[slot] = -call
    }
    if (isOrdered && sorted.length === active.length) return sorted.length === this.#order.length ? this.#order : sorted
    const before = (a: number, b: number): number => nodes[b]! - nodes[a]! || byCodeUnit(ids[a]!, ids[b]!)
    const joined = active.filter((slot) => listedIn[slot] === call)
    return isOrdered ? merged(sorted, joined.sort(before), before) : [...sorted, ...joined].sort(before)
  }

  #create(id: string): number {
    const slot = this.ids.push(id) - 1
    this.#slots.set(id, slot)
    if (slot === this.record.length) {
      this.record = doubled(this.record)
      this.rho = doubled(this.rho)
      this.tokens = doubled(this.tokens)
      this.activeIn = doubled(this.activeIn)
      this.nodes = doubled(this.nodes)
      this.demand = doubled(this.demand)
      this.#listedIn = doubled(this.#listedIn)
    }
    return slot
  }

  /** Takes back the slots that a refused list created; nothing but `nodes`, `demand` and the mark was written to them. */
  #forget(known: number): void {
    // The list may have changed nodes: the last order is no longer sorted by them.
    this.#order = []
    for (const id of this.ids.splice(known)) this.#slots.delete(id)
  }
}

/** Two sorted lists as one: the jobs that come and go are few, and the others need not be compared with each other. */
function merged(a: readonly number[], b: readonly number[], compare: (a: number, b: number) => number): number[] {
  const out: number[] = []
  let at = 0
  for (const slot of b) {
    while (at < a.length && compare(a[at]!, slot) <= 0) out.push(a[at++]!)
    out.push(slot)
  }
  while (at < a.length) out.push(a[at++]!)
  return out
}

function doubled(column: Float64Array): Float64Array<ArrayBuffer> {
  const longer = new Float64Array(2 * column.length)
  longer.set(column)
  return longer
}

function findFault({ id, nodes, demand }: PeriodJob, isListed: boolean): JobFailure | undefined {
  if (id === '') return { code: 'EMPTY_JOB_ID', what: 'A job has an empty id' }
  if (isListed) return { code: 'DUPLICATE_JOB_ID', what: `Job ${JSON.stringify(id)} is listed twice in one period` }
  if (nodes !== undefined && !(Number.isFinite(nodes) && nodes <= Number.MAX_SAFE_INTEGER)) {
    const what = `nodes of job ${JSON.stringify(id)} is not a number that can be counted`
    return { code: 'BAD_NODES', what, why: `got ${nodes}` }
  }
  if (!Number.isFinite(demand) || (demand > 0 && !Number.isSafeInteger(demand))) {
    const what = `demand of job ${JSON.stringify(id)} is not a whole number of RPCs`
    return { code: 'BAD_DEMAND', what, why: `got ${demand}` }
  }
  return undefined
}
