/**
 * Jobs that want service and get almost none while their servers serve others.
 *
 * A job starves where what it is served is less than one `threshold`-th of what it is due:
 *
 *     due = min(want, entitled)
 *
 * `entitled` is its share, by nodes, of what its servers serve now among the jobs at work on them. `want` is known in three ways only:
 *
 * - held: it runs at the limit of a rule that a controller holds (90 % of it in at least four fifths of the bin): want is more than that,
 *   due = entitled;
 * - fell: it was steady for a minute (no bin of 5 s without an RPC, at most one of twelve below half of their middle) and then fell
 *   below half while requests queue on its servers: at least 16, and half as many again as in that minute. want is what it was served
 *   before, held against it for ten minutes at most;
 * - staged: its stages count operations that wait (PADLL): want is what it asks for, entitled the limit over the jobs that ask.
 *
 * What this cannot see: a server counts served RPCs by job and waiting requests in all, never waiting requests by job. A job that is
 * served nothing at all looks like one that has stopped: it is judged as long as an RPC comes through at least every 30 s. Jobs that
 * come in bursts, and jobs younger than a minute, are judged by `held` and `staged` alone. Where all are slow, as on a failing disk,
 * the share shrinks with the whole: nobody starves. Limits that an operator set are wishes, not alarms.
 */
import { mean } from '../base/statistics.ts'
import { standOf, type Figures, type JobFigures, type Judged, type StagedFigures } from './figures.ts'
import { JobMemory, PAST } from './job-memory.ts'
import type { Rule } from './rules.ts'
import { amount, named } from './words.ts'

/** From this share of its time at a limit on a job wants more than the limit. */
const AT_LIMIT = 0.8
/** Requests that wait on a server that is busy, and growth against the minute before. */
const QUEUED_LEAST = 16
const QUEUED_GROWN = 1.5
/** Of what its servers served before, so much they must serve now: else they are slow themselves. */
const STILL_SERVING = 0.5
/** op/s below which nobody is due anything: a single operation is no share. */
const DUE_LEAST = 1

interface Server {
  readonly queued: number[]
  readonly served: number[]
}

export class StarvationDetector {
  readonly #jobs = new Map<string, JobMemory>()
  readonly #servers = new Map<string, Server>()
  #turn = 0

  /** Jobs that are remembered. */
  get size(): number {
    return this.#jobs.size
  }

  look({ atMs, jobs }: Pick<Figures, 'atMs'> & { jobs: JobFigures }, rule: Pick<Rule, 'threshold'>): Judged[] {
    const out: Judged[] = []
    const { ids, served, held } = jobs
    const weights = lazily(() => weightsOf(jobs))
    const turn = ++this.#turn
    let seen = 0
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] as string
      const v = served[i] as number
      let m = this.#jobs.get(id)
      if (!m) this.#jobs.set(id, (m = new JobMemory()))
      if (m.turn !== turn) seen++
      m.turn = turn
      if (!Number.isNaN(v) && m.take(v, atMs)) m.remember(atMs, this.#stoodBefore(jobs, i))
      const isHeld = (held[i] as number) >= AT_LIMIT
      if (!isHeld && !m.before) continue
      out.push(this.#judge(jobs, i, { memory: m, isHeld, weights }, rule.threshold))
    }
    if (seen < this.#jobs.size) for (const [id, m] of this.#jobs) if (m.turn !== turn) this.#jobs.delete(id)
    this.#remember(jobs)
    return out
  }

  staged(staged: readonly StagedFigures[], { threshold }: Pick<Rule, 'threshold'>): Judged[] {
    return staged.map(({ job, scope, measured, asked, queued, limit, askers }) => {
      const due = Math.min(asked, limit / Math.max(1, askers))
      const isWaiting = queued > asked * WAITS_S && due >= DUE_LEAST
      const times = due / Math.max(measured, 1e-9)
      const stand = Number.isNaN(measured) ? 'unknown' : isWaiting ? standOf(times, threshold) : 'low'
      return {
        ...{ subject: `${scope} ${job}`, where: named(job), measure: times, stand, level: 'watch' },
        words: () =>
          `${named(job)} gets ${amount(measured)} of ${amount(due)} op/s that it is due, ${amount(queued)} operations wait in its stages`,
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
  ): Judged {
    const id = jobs.ids[i] as string
    const v = jobs.served[i] as number
    const weights = of.weights()
    const weight = jobs.weightOf(i)
    let [queued, inAll, share] = [0, 0, 0]
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
    const why = of.isHeld ? "at its rule's limit" : `after ${amount(before?.served ?? NaN)} before`
    return {
      ...{ subject: id, where: named(id), measure: times, level: 'bad' },
      stand: isUnknown ? 'unknown' : isBusy ? standOf(times, threshold) : 'low',
      words: () =>
        `${named(id)} gets ${amount(v)} of ${amount(due)} RPC/s that it is due, ${why}; ${amount(Math.round(queued))} RPCs wait on its servers`,
    }
  }

  /** Means of the servers of a job over the minute before. */
  #stoodBefore(jobs: JobFigures, i: number): { queued: number; onServers: number } {
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

/** Waiting operations that are the beat of the buckets, as seconds of what a job asks for. */
const WAITS_S = 0.05

/** Weights of the jobs at work, by server. */
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
