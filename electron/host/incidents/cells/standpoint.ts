/** Origin of frozen cells: one source, or a playback of one, at one instant. */
import type { Env } from '#core/api/clusters.ts'
import { TIERS } from '#core/api/history.ts'
import type { JobColors } from '#core/series/job-colors.ts'
import type { Incident, Provenance } from '#core/snapshot/notebook.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import type { EnforcementStore } from '../../../enforce/store.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import { stepOf, tierNumber } from '../../../history/tiers.ts'
import type { Console } from '../../console.ts'
import { Playback } from '../../history/playback.ts'
import type { ActiveView } from '../../active-view.ts'
import type { RangeMs } from './ranges.ts'

export interface Standpoint {
  /** undefined: the past cannot be read. */
  readonly reader: HistoryReader | undefined
  readonly source: Incident['source']
  /** True for an emulated cluster. */
  readonly isExercise: boolean
  /** First and last known instant. */
  readonly firstMs: number
  readonly newestMs: number
  /** Cursor. */
  readonly atMs: number
  /** Time when the cells are frozen. */
  readonly nowMs: number
  /** Source itself, if its events and audit belong to the data shown; undefined for a recording from another file. */
  readonly monitor: ClusterMonitor | undefined
  /** Audit of live clusters; that of emulated ones is in their history. */
  readonly store: EnforcementStore | undefined
  /** Colors of jobs in all views. */
  readonly jobColors: JobColors
}

const short = (text: string): string => text.slice(0, 512)

function readerOf(monitor: ClusterMonitor): HistoryReader | undefined {
  try {
    return monitor.history.reader()
  } catch {
    // An unreadable history is reported elsewhere; the operator's notes are kept all the same.
    return undefined
  }
}

/** First and last instant; the interval of a coarse tier may begin before its first sample. */
function extentOf(reader: HistoryReader | undefined): { fromMs: number; toMs: number } | undefined {
  try {
    const extent = reader?.extent()
    if (!reader || !extent) return undefined
    let fromMs = Infinity
    for (const tier of TIERS) {
      const first = reader.extentOf(tier)?.fromMs ?? Infinity
      if (first < fromMs - stepOf(tierNumber(tier))) fromMs = first
    }
    return { fromMs: Math.min(fromMs, extent.toMs), toMs: extent.toMs }
  } catch {
    return undefined
  }
}

/** Standpoint at a running source. @param atMs  null: the newest sample. */
export function standpointAt(console: Console, atMs: number | null): Standpoint {
  const { monitor, facts } = console
  const { totals } = monitor.recent.raw
  const reader = readerOf(monitor)
  const extent = extentOf(reader)
  const nowMs = monitor.nowMs()
  const newestMs = totals.newest === 0 ? (extent?.toMs ?? nowMs) : totals.atMs(totals.newest)
  return {
    reader,
    monitor,
    nowMs,
    newestMs,
    store: console.store,
    source: {
      kind: monitor.source.kind,
      cluster: short(monitor.source.cluster),
      env: facts.env,
      scenario: facts.scenario?.slice(0, 200) ?? null,
      seed: facts.seed ?? null,
    },
    isExercise: monitor.source.kind === 'EMULATED',
    firstMs: Math.min(newestMs, extent?.fromMs ?? newestMs),
    atMs: Math.min(atMs ?? newestMs, Math.max(newestMs, nowMs)),
    jobColors: monitor.jobs.jobColors,
  }
}

/** Standpoint at the active view. @param atMs  null: its newest sample. */
export function standpointOf(onScreen: ActiveView, atMs: number | null): Standpoint {
  const { console, playback } = onScreen
  if (!(playback instanceof Playback)) return standpointAt(console, atMs)
  const { viewed, file } = playback
  const { source, playback: shown } = onScreen.views.status({ at: null }, 0)
  const { reader } = viewed.past
  const extent = extentOf(reader)
  const newestMs = extent?.toMs ?? viewed.toMs
  const { monitor } = console
  const isLive = file === null
  const env: Env = shown?.bundle?.env ?? source.env
  return {
    reader,
    newestMs,
    store: console.store,
    monitor: isLive ? monitor : undefined,
    source: {
      kind: 'RECORDED',
      cluster: short(source.cluster),
      env,
      scenario: isLive ? (console.facts.scenario?.slice(0, 200) ?? null) : null,
      seed: isLive ? (console.facts.seed ?? null) : null,
    },
    isExercise: env === 'DEMO',
    firstMs: extent?.fromMs ?? viewed.fromMs,
    atMs: Math.min(newestMs, atMs ?? viewed.toMs),
    nowMs: isLive ? monitor.nowMs() : Date.now(),
    jobColors: viewed.jobs.jobColors,
  }
}

/** Provenance of a cell; a range that is not over ends at the last known instant. */
export const provenanceOf = (standpoint: Standpoint, span: RangeMs, tier: string): Provenance => ({
  kind: standpoint.source.kind,
  cluster: standpoint.source.cluster,
  fromMs: span.fromMs,
  toMs: Math.max(span.fromMs, Math.min(span.toMs, standpoint.newestMs + 1)),
  tier,
  frozenMs: standpoint.nowMs,
})
