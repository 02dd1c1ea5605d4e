/**
 * Jobs ever seen on one target, with the algorithm's state of each and the active jobs of a period in processing order. A refused period
 * changes nothing.
 */
import { byCodeUnit } from '../base/order.ts'
import { type Failure, type Result, fail, invariant, ok } from '../base/result.ts'
import { ENDED_JOBS } from './ended-jobs.ts'

/** One job in one observation period, as input of the allocator. */
export interface PeriodJob {
  /** JobID, not empty, unique within a period. */
  readonly id: string
  /** Compute nodes; missing or below 1 counts as 1. */
  readonly nodes?: number | undefined
  /** RPCs issued to the target in the period, integer; 0 or less: not active. */
  readonly demand: number
}

/** Reasons for refusing a list of jobs. */
export type JobCode = 'EMPTY_JOB_ID' | 'DUPLICATE_JOB_ID' | 'BAD_NODES' | 'BAD_DEMAND'
export interface JobFailure extends Failure {
  readonly code: JobCode
}

/**
 * All jobs of one target and their records, in columns by slot, in the order of their first activity.
 *
 * Source: the Job Records of AdapTBF III-A. Deviations: also holds the remainder and the last tokens, which equations (3) and (22) need;
 * jobs that ended can be retired: their records go to one account, so the records always sum to 0.
 */
export class JobLedger {
  readonly #slots = new Map<string, number>()
  /** Active jobs of the last period in processing order, by slot. */
  #order: number[] = []
  /** Slot by position in the last list: collectors list the same jobs in the same order, which saves the look-up. */
  #places: number[] = []
  #calls = 0

  /** JobID by slot. The columns below are at least as long; a job's values do not change while it is idle. */
  readonly ids: string[] = []
  /** Tokens lent (+) or borrowed (-). */
  record = new Float64Array(16)
  /** Running rounding remainder, tokens. */
  rho = new Float64Array(16)
  /** Final tokens of the last period in which the job was active. */
  tokens = new Float64Array(16)
  /** Number of that period; 0: never active. */
  activeIn = new Float64Array(16)
  /** Values of the last list; meaningless if it did not name the job. */
  nodes = new Float64Array(16)
  demand = new Float64Array(16)
  /** Number of the `enter` call that last named the job; negative once it has its place in the order. */
  #listedIn = new Float64Array(16)

  /** Loads the jobs of an earlier run, in slot order; only into an empty ledger. */
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

  /** Returns a copy of every record, also of idle jobs; sums to 0. */
  records(): Map<string, number> {
    return new Map(this.ids.map((id, slot) => [id, this.record[slot]!]))
  }

  /**
   * Returns the slots of a period's active jobs in processing order (nodes descending, then JobID ascending by code unit), with `nodes`
   * and `demand` set; the same array as in the last period if nothing changed.
   *
   * @returns  otherwise the first error in the list; records, remainders and tokens are then unchanged.
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

  /** Removes jobs; their records and remainders go to the account of ended jobs. */
  retire(jobs: ReadonlySet<string>): void {
    const retired = [...jobs].flatMap((id) => this.#slots.get(id) ?? [])
    if (retired.length === 0) return
    const ended = this.#slots.get(ENDED_JOBS) ?? this.#create(ENDED_JOBS)
    for (const slot of retired) {
      this.record[ended]! += this.record[slot]!
      this.rho[ended]! += this.rho[slot]!
    }
    const columns = [this.record, this.rho, this.tokens, this.activeIn, this.nodes, this.demand, this.#listedIn]
    const remaining = this.ids.filter((id) => !jobs.has(id))
    for (const [to, id] of remaining.entries()) {
      const from = this.#slots.get(id)!
      for (const column of columns) column[to] = column[from]!
      this.#slots.set(id, to)
    }
    for (const column of columns) column.fill(0, remaining.length, this.ids.length)
    for (const id of jobs) this.#slots.delete(id)
    this.ids.splice(0, this.ids.length, ...remaining)
    this.#order = []
    this.#places = []
  }

  /** Starts from the last order: jobs that stayed in it need no comparison. */
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

  /** Reverts the slots that a refused list created; only `nodes`, `demand` and the mark were written to them. */
  #forget(known: number): void {
    // The list may have changed nodes: the last order may no longer be sorted.
    this.#order = []
    for (const id of this.ids.splice(known)) this.#slots.delete(id)
  }
}

/** Merges two sorted lists: few jobs come and go, so the others need not be compared with each other. */
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
    const what = `nodes of job ${JSON.stringify(id)} is not a valid number`
    return { code: 'BAD_NODES', what, why: `got ${nodes}` }
  }
  if (!Number.isFinite(demand) || (demand > 0 && !Number.isSafeInteger(demand))) {
    const what = `demand of job ${JSON.stringify(id)} is not a whole number of RPCs`
    return { code: 'BAD_DEMAND', what, why: `got ${demand}` }
  }
  return undefined
}
