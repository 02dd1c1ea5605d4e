/**
 * Rows of metadata QoS, once a second: jobs and channels of PADLL's stages as their global controller reports them, and jobs
 * under the rules of metadata servers as their counters do.
 */
import { falseAllocations, isSuperseded, runsAtLimit, waitsForRate, type PadllStatus } from '#core/padll/status.ts'
import { planeRow, type PlaneRow } from '#core/series/plane-tables.ts'
import type { PlaneCollector, PlaneWriter } from '../state/plane-collector.ts'
import type { MetadataLoop } from './loop.ts'
import type { PadllReader } from './padll-reader.ts'

type PadllJob = PadllStatus['jobs'][number]
type Document = NonNullable<PadllReader['documents']['newest']>

/** Totals of a job in a scope, as a controller reported them. */
interface Totals {
  readonly asked: number | undefined
  readonly served: number | undefined
  readonly throttledS: number
}

/** Most jobs whose totals are kept. */
const TOTALS_MAX = 10_000

const NONE: Totals = { asked: 0, served: 0, throttledS: 0 }

const totalsOf = (j: PadllJob): Totals => ({
  asked: j.askedTotal,
  served: j.servedTotal,
  throttledS: j.throttledS,
})

const keyOf = (j: Pick<PadllJob, 'job' | 'scope'>): string => `${j.scope.length} ${j.scope}${j.job}`

/** Difference to an earlier total; one that fell began again. */
const since = (now: number, before: number): number => (now >= before ? now - before : now)

interface StageRows {
  readonly jobs: readonly PlaneRow[]
  readonly channels: readonly PlaneRow[]
}

/**
 * Rows of stages between two documents of one controller.
 *
 * Operations are differences of totals, so that none is lost or counted twice if the console reads at another pace than the
 * controller; of a controller without totals, and of channels, the rates of its last cycle.
 */
class StagePeriods {
  readonly #padll: PadllReader
  /** Document up to which rows were taken, and its totals by job. */
  #base: { readonly document: Document; readonly totals: ReadonlyMap<string, Totals> } | undefined

  constructor(padll: PadllReader) {
    this.#padll = padll
  }

  /** True if a document of a sample at `atMs` or later was read, or none will be. */
  hasRead(atMs: number): boolean {
    return this.#padll.failure !== undefined || (this.#padll.documents.newest?.atMs ?? -Infinity) >= atMs
  }

  /** Begins with the first document, and again with the first one after a silence: what happens in between is a gap. */
  look(): void {
    const document = this.#padll.documents.newest
    if (this.#padll.failure || !document || isSuperseded(document.status)) this.#base = undefined
    else if (!this.#base) this.#begin(document)
  }

  /** Rows since the last document that was taken; none without one of a later cycle. */
  take(): StageRows | undefined {
    const document = this.#padll.documents.newest
    const base = this.#base
    if (!document || !base) return undefined
    const { status } = document
    const before = base.document
    const isSame = isSameRun(before.status, status)
    if (document.atMs <= before.atMs || (isSame && status.cycle === before.status.cycle)) return undefined
    this.#begin(document)
    const seconds = (document.atMs - before.atMs) / 1000
    return { jobs: jobRows(status, isSame ? base.totals : undefined, seconds), channels: channelRows(status) }
  }

  /** Totals of jobs that the document does not list are kept: a job without stages comes back with those it had. */
  #begin(document: Document): void {
    const base = this.#base
    const totals = new Map(base && isSameRun(base.document.status, document.status) ? base.totals : [])
    for (const j of document.status.jobs) {
      // Newest last, so that the first is the one absent for longest.
      totals.delete(keyOf(j))
      totals.set(keyOf(j), totalsOf(j))
    }
    for (const key of totals.keys()) {
      if (totals.size <= TOTALS_MAX) break
      totals.delete(key)
    }
    this.#base = { document, totals }
  }
}

const isSameRun = (a: PadllStatus, b: PadllStatus): boolean =>
  a.controller === b.controller && a.startedMs === b.startedMs

/** @param known  totals of the same controller `seconds` ago; undefined if it started since. */
function jobRows(status: PadllStatus, known: ReadonlyMap<string, Totals> | undefined, seconds: number): PlaneRow[] {
  const limits = new Map(status.limits.map((l) => [l.scope, l.rate]))
  const byScope = Map.groupBy(status.jobs, (j) => j.scope)
  return [...byScope].flatMap(([scope, jobs]) => {
    const rates = jobs.map((j) => {
      const before = known?.get(keyOf(j)) ?? NONE
      const rate = (now: number | undefined, then: number | undefined, reported: number): number =>
        now === undefined || then === undefined ? reported : since(now, then) / seconds
      return {
        asked: rate(j.askedTotal, before.asked, j.asked),
        served: rate(j.servedTotal, before.served, j.measured),
        waitedS: since(j.throttledS, before.throttledS) / seconds,
      }
    })
    const unused = falseAllocations(
      jobs.map((j, i) => ({
        allocated: j.allocated,
        measured: rates[i]?.served ?? 0,
        waits: waitsForRate(j),
      })),
    )
    return jobs.map((j, i) =>
      planeRow(
        'metadata_jobs',
        { name: scope, place: 'stages', jobId: j.job },
        {
          served_per_s: rates[i]?.served ?? NaN,
          asked_per_s: rates[i]?.asked ?? NaN,
          allocated_per_s: j.allocated ?? NaN,
          limit_per_s: limits.get(scope) ?? NaN,
          queued: j.queued,
          waited_s_per_s: rates[i]?.waitedS ?? NaN,
          false_allocation_per_s: unused[i] ?? NaN,
          stages: j.stages,
          epoch: status.epoch,
        },
      ),
    )
  })
}

function channelRows({ locals, epoch }: PadllStatus): PlaneRow[] {
  const rows: PlaneRow[] = []
  for (const local of locals) {
    if (local.state === 'lost') continue
    for (const stage of local.stages) {
      for (const c of stage.channels) {
        const isServed = c.served > 0
        const name = {
          name: `${c.channel}.${c.object} ${c.scope}`,
          place: `${local.id} ${stage.key}`,
          jobId: stage.job,
        }
        const row = planeRow('metadata_channels', name, {
          served_per_s: c.served,
          asked_per_s: c.arrived,
          limit_per_s: c.limit ?? NaN,
          queued: c.queued,
          waited_share: isServed ? c.waited : NaN,
          wait_mean_ms: isServed ? c.waitMs : NaN,
          epoch,
        })
        rows.push(row)
      }
    }
  }
  return rows
}

/** Rows of metadata servers since the last call. Servers report no waits by job: a job that runs at its rate waits. */
function serverRows(loop: Pick<MetadataLoop, 'series' | 'settings'>): PlaneRow[] {
  const { counts, seconds } = loop.series.takePeriod()
  if (seconds === 0) return []
  const state = loop.series.newest
  const rules = new Map(state?.jobs.map((j) => [keyOf(j), j.rules]))
  const limits = new Map(loop.settings.limits.map((l) => [String(l.scope), l.rate]))
  return [...Map.groupBy(counts, (c) => c.scope)].flatMap(([scope, jobs]) => {
    const served = jobs.map((j) => j.operations / seconds)
    const unused = falseAllocations(
      jobs.map(({ allocated }, i) => {
        const measured = served[i] ?? 0
        return { allocated, measured, waits: allocated !== null && runsAtLimit(measured, allocated) }
      }),
    )
    return jobs.map((j, i) =>
      planeRow(
        'metadata_jobs',
        { name: scope, place: 'mds', jobId: j.job },
        {
          served_per_s: served[i] ?? NaN,
          allocated_per_s: j.allocated ?? NaN,
          limit_per_s: limits.get(scope) ?? NaN,
          false_allocation_per_s: unused[i] ?? NaN,
          stages: rules.get(keyOf(j)) ?? 0,
          epoch: state?.cycle ?? NaN,
        },
      ),
    )
  })
}

/** Rows of a second that has ended, until the controller of the stages has answered. */
interface Ended {
  /** Start of the period, and its end, Unix ms. */
  readonly fromMs: number
  readonly toMs: number
  readonly rows: readonly PlaneRow[]
}

export class MetadataCollector implements PlaneCollector {
  readonly #loop: Pick<MetadataLoop, 'series' | 'settings'>
  readonly #stages: StagePeriods | undefined
  readonly #writer: PlaneWriter
  /** Start of the present period, Unix ms. */
  #fromMs: number | undefined
  #ended: Ended | undefined

  constructor(loop: Pick<MetadataLoop, 'series' | 'settings'>, padll: PadllReader | undefined, writer: PlaneWriter) {
    this.#loop = loop
    this.#stages = padll && new StagePeriods(padll)
    this.#writer = writer
  }

  look(_atNs: number, atMs: number): void {
    this.#fromMs ??= atMs
    this.#stages?.look()
    if (Math.floor(atMs / 1000) !== Math.floor(this.#fromMs / 1000)) {
      // The controller did not answer within the second: its rows are those of the next.
      this.#flush()
      this.#ended = { fromMs: this.#fromMs, toMs: atMs, rows: serverRows(this.#loop) }
      this.#fromMs = atMs
    }
    if (this.#ended && (this.#stages?.hasRead(this.#ended.toMs) ?? true)) this.#flush()
  }

  #flush(): void {
    const ended = this.#ended
    if (!ended) return
    this.#ended = undefined
    const { jobs = [], channels = [] } = this.#stages?.take() ?? {}
    if (ended.rows.length + jobs.length > 0) {
      this.#writer.recordPlane('metadata_jobs', ended.fromMs, [...ended.rows, ...jobs])
    }
    if (channels.length > 0) this.#writer.recordPlane('metadata_channels', ended.fromMs, channels)
  }
}
