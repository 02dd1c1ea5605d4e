/** Packs samples into blocks, both as taken and as means of a second. */
import { BlockMeans } from './block-means.ts'
import { pack, recordParts, SERIES_MAX, unpack, TOTALS_KEY, widthOf, type SampleKind } from './block.ts'
import type { StoredBlock } from './block-table.ts'
import { CLUSTER_COLUMNS } from './reader.ts'
import type { ClusterSample, JobFacts, JobSample, TargetSample } from './records.ts'
import type { SeriesNames } from './series-names.ts'
import { floorTo, RAW, SECOND } from './tiers.ts'

/** Columns filled sample by sample. */
class Scratch {
  #size = 0
  keys = new Uint32Array(0)
  columns: Float32Array[]

  constructor(width: number) {
    this.columns = Array.from({ length: width }, () => new Float32Array(0))
  }

  ready(n: number): this {
    if (n <= this.#size) return this
    this.#size = Math.max(n, this.#size * 2)
    this.keys = new Uint32Array(this.#size)
    this.columns = this.columns.map(() => new Float32Array(this.#size))
    return this
  }

  /** True if any of the first `n` has a value in any column. */
  hasValue(n: number): boolean {
    return this.columns.some((c) => {
      for (let i = 0; i < n; i++) if (!Number.isNaN(c[i])) return true
      return false
    })
  }
}

export class SampleWriter {
  readonly #cluster: number
  readonly #names: SeriesNames
  readonly #out: (block: StoredBlock) => void
  readonly #scratch = ([0, 1, 2] as const).map((kind) => new Scratch(widthOf(kind)))
  readonly #means = ([0, 1, 2] as const).map((kind) => new BlockMeans(kind))
  #secondMs = 0

  constructor(cluster: number, names: SeriesNames, out: (block: StoredBlock) => void) {
    this.#cluster = cluster
    this.#names = names
    this.#out = out
  }

  /**
   * Adds one sample. A sample without any value is ignored: missing data is a gap.
   *
   * @param atMs  an integer.
   */
  add(
    atMs: number,
    jobs: readonly JobSample[],
    targets: readonly TargetSample[],
    facts: (id: string) => JobFacts,
    sums: ClusterSample | undefined,
  ): void {
    const [ofJobs, ofTargets, ofCluster] = this.#scratch as [Scratch, Scratch, Scratch]
    const counts = [
      this.#fillJobs(ofJobs, atMs, jobs, facts),
      this.#fillTargets(ofTargets, targets),
      this.#fillCluster(ofCluster, sums),
    ]
    const isNamed = jobs.length > 0 || targets.length > 0
    if (isNamed && !this.#scratch.some((s, kind) => s.hasValue(counts[kind] ?? 0))) return
    const second = floorTo(atMs, 1000)
    if (second !== this.#secondMs) this.endSecond()
    this.#secondMs = second
    this.#scratch.forEach(({ keys, columns }, i) => {
      const kind = i as SampleKind
      const n = counts[i] ?? 0
      const packed = pack(kind, { n, keys, columns })
      this.#out({ cluster: this.#cluster, kind, tier: RAW, atMs, ...packed })
      const block = unpack(kind, atMs, packed)
      if (block) this.#means[i]?.add(block)
    })
  }

  /** Flushes the current second as it is. */
  endSecond(): void {
    this.#means.forEach((means, i) => {
      const ended = means.end()
      if (ended)
        this.#out({ cluster: this.#cluster, kind: i as SampleKind, tier: SECOND, atMs: this.#secondMs, ...ended })
    })
  }

  #fillJobs(s: Scratch, atMs: number, jobs: readonly JobSample[], facts: (id: string) => JobFacts): number {
    const n = Math.min(jobs.length, SERIES_MAX)
    const { keys, columns } = s.ready(n)
    const [rpcs, readBps, writeBps, throttled, record, mdops, rest] = columns as [
      Float32Array,
      Float32Array,
      Float32Array,
      Float32Array,
      Float32Array,
      Float32Array,
      Float32Array,
    ]
    for (let i = 0; i < n; i++) {
      const j = jobs[i] as JobSample
      keys[i] = this.#names.job(j.jobId, atMs, facts, i)
      rpcs[i] = j.rpcs ?? NaN
      readBps[i] = j.readBps ?? NaN
      writeBps[i] = j.writeBps ?? NaN
      throttled[i] = j.throttled ?? NaN
      mdops[i] = j.mdops ?? NaN
      if (j.record === null) record[i] = rest[i] = NaN
      else {
        const [lead, left] = recordParts(j.record)
        record[i] = lead
        rest[i] = left
      }
    }
    return n
  }

  #fillTargets(s: Scratch, targets: readonly TargetSample[]): number {
    const { keys, columns } = s.ready(targets.length)
    const [rpcs, serviceMs, queued] = columns as [Float32Array, Float32Array, Float32Array]
    targets.forEach((t, i) => {
      keys[i] = this.#names.target(t.target, t.node)
      rpcs[i] = t.rpcs ?? NaN
      serviceMs[i] = t.serviceMs ?? NaN
      queued[i] = t.queued ?? NaN
    })
    return targets.length
  }

  #fillCluster(s: Scratch, sums: ClusterSample | undefined): number {
    const { keys, columns } = s.ready(1)
    keys[0] = TOTALS_KEY
    CLUSTER_COLUMNS.forEach((name, c) => ((columns[c] as Float32Array)[0] = sums?.[name] ?? NaN))
    return 1
  }
}
