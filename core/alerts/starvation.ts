/**
 * Starvation: jobs that demand service and get almost none while their servers serve other jobs.
 *
 * A job starves if its served rate is less than 1/`threshold` of what it is due:
 *
 *     due = min(want, entitled)
 *
 * `entitled` is its share, by nodes, of the current throughput of its servers, among the jobs active on them. `want` is known in three
 * cases only:
 *
 * - held: the job runs at the limit of a rule that a controller holds (90 % of it in at least four fifths of the bin): want is
 *   more than that, due = entitled;
 * - fell: the job was steady for a minute (no bin of 5 s without an RPC, at most one of twelve below half of their median) and then fell
 *   below half while requests queue on its servers: at least 16, and half as many again as in that minute. want is its
 *   former served rate, for ten minutes at most;
 * - staged: its stages count operations that wait (PADLL): want is its demand, entitled the limit over the jobs with demand.
 *
 * Limits: a server counts served RPCs by job but waiting requests only in total. A job without any served RPC looks like one that has
 * stopped, so it is judged only while at least one RPC is served every 30 s. Jobs that come in bursts, and jobs younger than a minute,
 * are judged by `held` and `staged` alone. If all jobs are slow, as on a failing disk, the shares shrink together and no job starves.
 * Limits set by an operator are intended and raise no alert.
 */
import { mean } from '../base/statistics.ts'
import { conditionOf, type Figures, type JobFigures, type Judgement, type StagedFigures } from './figures.ts'
import { RULES, type Rule } from './rules.ts'
import { amount, amountOf, named } from './format.ts'

/** Past bins that decide whether a job is steady: one minute. */
const PAST = 12
/** A bin below this share of the past counts as a drop. */
const FALL = 0.5
/** Bins of a steady job that may lie below that share of its median. */
const UNEVEN = 1
/** Longest time that the former rate is the reference; then the current rate is taken as the demand, ms. */
const HELD_AGAINST_MS = 600_000
/** Consecutive bins without an RPC after which a job counts as stopped. */
const STOPPED = 6

/** Served rate of a job before its drop, and the state of its servers then. */
interface Before {
  readonly served: number
  readonly queued: number
  readonly onServers: number
}

/** Served rate of one job over the last minute, bin by bin, and its rate before a drop. */
class JobMemory {
  readonly #past = new Float32Array(PAST)
  /** Last observation that included the job. */
  round = 0
  #known = 0
  #next = 0
  #sum = 0
  #zeros = 0
  #before: (Before & { readonly sinceMs: number }) | undefined

  /** undefined while no former rate is the reference. */
  get before(): Before | undefined {
    return this.#before
  }

  /** Consecutive bins without a served RPC. */
  get zeros(): number {
    return this.#zeros
  }

  /**
   * Adds one bin. Returns true when a steady job has just dropped; the caller then stores the previous state of its servers by
   * `remember`.
   */
  take(served: number, atMs: number): boolean {
    this.#zeros = served === 0 ? this.#zeros + 1 : 0
    const b = this.#before
    if (b) {
      const isBack = served >= FALL * b.served
      if (!isBack && this.#zeros < STOPPED && atMs - b.sinceMs < HELD_AGAINST_MS) return false
      this.#before = undefined
      // The drop is intended or permanent: start over with an empty past.
      if (!isBack) this.#forget()
    } else if (this.#known === PAST && served < (FALL * this.#sum) / PAST && this.#steady() !== undefined) return true
    this.#push(served)
    return false
  }

  /** Makes the rate before the drop the reference for the following bins. */
  remember(atMs: number, servers: Omit<Before, 'served'>): void {
    const served = this.#steady()
    if (served !== undefined) this.#before = { served, ...servers, sinceMs: atMs }
  }

  #push(served: number): void {
    if (this.#known === PAST) this.#sum -= this.#past[this.#next] as number
    else this.#known++
    this.#past[this.#next] = served
    this.#sum += this.#past[this.#next] as number
    this.#next = (this.#next + 1) % PAST
  }

  #forget(): void {
    this.#known = this.#next = this.#sum = 0
  }

  /** Median of the past if the job was steady; undefined for an intermittent one. */
  #steady(): number | undefined {
    const sorted = this.#past.toSorted()
    const middle = sorted[PAST >> 1] as number
    const uneven = sorted.findIndex((v) => v >= FALL * middle)
    return middle > 0 && (sorted[0] as number) > 0 && uneven <= UNEVEN ? middle : undefined
  }
}

/** Share of the time at its limit from which a job counts as wanting more than the limit. */
const AT_LIMIT = 0.8
/** Requests queued on a busy server, and growth over the preceding minute. */
const QUEUED_LEAST = 16
const QUEUED_GROWN = 1.5
/** Share of its previous throughput that the servers must still deliver; below it the servers themselves are slow. */
const STILL_SERVING = 0.5
/** op/s below which no job is due anything; a single operation is not a share. */
const DUE_LEAST = 1

interface Server {
  readonly queued: number[]
  readonly served: number[]
}

export class StarvationDetector {
  readonly #jobs = new Map<string, JobMemory>()
  readonly #servers = new Map<string, Server>()
  #round = 0

  /** Number of jobs tracked. */
  get size(): number {
    return this.#jobs.size
  }

  look({ atMs, jobs }: Pick<Figures, 'atMs'> & { jobs: JobFigures }, rule: Pick<Rule, 'threshold'>): Judgement[] {
    const out: Judgement[] = []
    const { ids, served, held } = jobs
    const weights = lazily(() => weightsOf(jobs))
    const round = ++this.#round
    let seen = 0
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] as string
      const v = served[i] as number
      let m = this.#jobs.get(id)
      if (!m) this.#jobs.set(id, (m = new JobMemory()))
      if (m.round !== round) seen++
      m.round = round
      if (!Number.isNaN(v) && m.take(v, atMs)) m.remember(atMs, this.#serverMeans(jobs, i))
      const isHeld = (held[i] as number) >= AT_LIMIT
      if (!isHeld && !m.before) continue
      out.push(this.#judge(jobs, i, { memory: m, isHeld, weights }, rule.threshold))
    }
    if (seen < this.#jobs.size) for (const [id, m] of this.#jobs) if (m.round !== round) this.#jobs.delete(id)
    this.#remember(jobs)
    return out
  }

  staged(staged: readonly StagedFigures[], { threshold }: Pick<Rule, 'threshold'>): Judgement[] {
    return staged.map(({ job, scope, measured, demand, queued, limit, demandingJobs }) => {
      const due = Math.min(demand, limit / Math.max(1, demandingJobs))
      const isWaiting = queued > demand * WAITS_S && due >= DUE_LEAST
      const times = due / Math.max(measured, 1e-9)
      const condition = Number.isNaN(measured)
        ? 'unknown'
        : isWaiting
          ? conditionOf(times, threshold, RULES.starvation.clear)
          : 'low'
      return {
        subject: `${scope} ${job}`,
        where: named(job),
        measure: times,
        condition,
        level: 'watch',
        text: () =>
          `${named(job)} gets ${amountOf(measured, due)} op/s due; ${amount(queued)} operations queued in its stages`,
      }
    })
  }

  forget(): void {
    this.#jobs.clear()
    this.#servers.clear()
  }

  #judge(
    jobs: JobFigures,
    i: number,
    of: { readonly memory: JobMemory; readonly isHeld: boolean; readonly weights: () => readonly number[] },
    threshold: number,
  ): Judgement {
    const id = jobs.ids[i] as string
    const v = jobs.served[i] as number
    const weights = of.weights()
    const weight = jobs.weightOf(i)
    let queued = 0
    let inAll = 0
    let share = 0
    for (const s of jobs.serversOf(i)) {
      const server = jobs.servers[s]
      queued += server?.queued ?? NaN
      inAll += server?.served ?? NaN
      share += ((server?.served ?? NaN) * weight) / (weights[s] ?? NaN)
    }
    const { before } = of.memory
    const hasFallen =
      before !== undefined &&
      queued >= QUEUED_LEAST &&
      queued >= QUEUED_GROWN * before.queued &&
      inAll >= STILL_SERVING * before.onServers
    const want = of.isHeld ? Infinity : (before?.served ?? NaN)
    const due = Math.min(want, share)
    const times = due / Math.max(v, 1e-9)
    const isBusy = (of.isHeld || hasFallen) && queued >= QUEUED_LEAST && due >= DUE_LEAST
    const isUnknown = [v, queued, inAll, share].some(Number.isNaN) || (v === 0 && !of.isHeld)
    const why = of.isHeld ? 'at its rule limit' : `down from ${amount(before?.served ?? NaN)}`
    return {
      subject: id,
      where: named(id),
      measure: times,
      level: RULES.starvation.level,
      condition: isUnknown ? 'unknown' : isBusy ? conditionOf(times, threshold, RULES.starvation.clear) : 'low',
      text: () =>
        `${named(id)} gets ${amountOf(v, due)} RPC/s due, ${why}; ${amount(Math.round(queued))} RPCs queued on its servers`,
    }
  }

  /** Means over the job's servers for the preceding minute. */
  #serverMeans(jobs: JobFigures, i: number): { queued: number; onServers: number } {
    const on = jobs.serversOf(i).flatMap((s) => this.#servers.get(jobs.servers[s]?.host ?? '') ?? [])
    return {
      queued: on.reduce((n, s) => n + mean(s.queued), 0),
      onServers: on.reduce((n, s) => n + mean(s.served), 0),
    }
  }

  #remember({ servers }: JobFigures): void {
    const hosts = new Set(servers.map((s) => s.host))
    for (const host of this.#servers.keys()) if (!hosts.has(host)) this.#servers.delete(host)
    for (const { host, queued, served } of servers) {
      if (Number.isNaN(queued) || Number.isNaN(served)) continue
      let s = this.#servers.get(host)
      if (!s) this.#servers.set(host, (s = { queued: [], served: [] }))
      s.queued.push(queued)
      s.served.push(served)
      if (s.queued.length > PAST) {
        s.queued.shift()
        s.served.shift()
      }
    }
  }
}

/** Queued operations explained by the refill interval of the buckets, in seconds of the job's demand. */
const WAITS_S = 0.05

/** Weights of the active jobs, by server. */
function weightsOf(jobs: JobFigures): number[] {
  const weights = jobs.servers.map(() => 0)
  for (let i = 0; i < jobs.ids.length; i++) {
    if (!((jobs.served[i] as number) > 0)) continue
    const weight = jobs.weightOf(i)
    for (const s of jobs.serversOf(i)) weights[s] = (weights[s] ?? 0) + weight
  }
  return weights
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
