/** Means of a second from the samples in it. */
import type { JobSample, TargetSample } from './records.ts'

/** Sums over the samples of one second; a job that a sample does not name was idle in it. */
interface SecondOfJob {
  /** Samples in which it was not measured. */
  gaps: number
  rpcs: number
  readBps: number
  writeBps: number
  throttled: number
  record: number | null
}

/** Sums over the samples of one second, and how many had a value: a gap is not a zero. */
interface SecondOfTarget {
  readonly node: string
  readonly sums: [number, number, number]
  readonly counts: [number, number, number]
}

/** One second: per job rpcs, readBps, writeBps, throttled, record; per target rpcs, serviceMs, queued. */
export interface SecondMeans {
  readonly ms: number
  readonly jobs: ReadonlyMap<string, readonly (number | null)[]>
  readonly targets: ReadonlyMap<string, { readonly node: string; readonly means: readonly (number | null)[] }>
}

export class RollUp {
  #ms = 0
  #samples = 0
  #jobs = new Map<string, SecondOfJob>()
  #targets = new Map<string, SecondOfTarget>()

  /** Adds one sample. Returns the second before when this sample begins another one. */
  add(atMs: number, jobs: readonly JobSample[], targets: readonly TargetSample[]): SecondMeans | undefined {
    const ms = Math.floor(atMs / 1000) * 1000
    const ended = ms === this.#ms ? undefined : this.end()
    this.#ms = ms
    this.#samples++
    for (const j of jobs) {
      const s = this.#jobs.get(j.jobId) ?? { gaps: 0, rpcs: 0, readBps: 0, writeBps: 0, throttled: 0, record: null }
      if (j.rpcs === null) s.gaps++
      s.rpcs += j.rpcs ?? 0
      s.readBps += j.readBps ?? 0
      s.writeBps += j.writeBps ?? 0
      s.throttled += j.throttled ?? 0
      s.record = j.record
      this.#jobs.set(j.jobId, s)
    }
    for (const t of targets) {
      const s = this.#targets.get(t.target) ?? { node: t.node, sums: [0, 0, 0], counts: [0, 0, 0] }
      ;[t.rpcs, t.serviceMs, t.queued].forEach((v, i) => {
        if (v === null) return
        s.sums[i] = (s.sums[i] ?? 0) + v
        s.counts[i] = (s.counts[i] ?? 0) + 1
      })
      this.#targets.set(t.target, s)
    }
    return ended
  }

  /** The running second as it stands, and starts anew; undefined when it has no sample. */
  end(): SecondMeans | undefined {
    const [ms, samples, jobs, targets] = [this.#ms, this.#samples, this.#jobs, this.#targets]
    this.#ms = 0
    this.#samples = 0
    this.#jobs = new Map()
    this.#targets = new Map()
    if (samples === 0) return undefined
    return {
      ms,
      jobs: new Map(
        [...jobs].map(([id, s]) => {
          const n = samples - s.gaps
          const means = [s.rpcs, s.readBps, s.writeBps, s.throttled].map((v) => (n === 0 ? null : v / n))
          return [id, [...means, s.record]]
        }),
      ),
      targets: new Map(
        [...targets].map(([name, { node, sums, counts }]) => [
          name,
          { node, means: sums.map((v, i) => (counts[i] === 0 ? null : v / (counts[i] as number))) },
        ]),
      ),
    }
  }
}
