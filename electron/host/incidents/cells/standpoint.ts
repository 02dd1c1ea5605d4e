/** Origin of frozen cells: one source, or a playback of one, at one instant. */
import type { Env } from '#core/api/clusters.ts'
import { TIERS } from '#core/api/history.ts'
import type { Incident, Provenance } from '#core/snapshot/notebook.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import type { EnforcementStore } from '../../../enforce/store.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import { stepOf, tierNumber } from '../../../history/tiers.ts'
import type { Console } from '../../console.ts'
import { Playback } from '../../history/playback.ts'
import type { ActiveView } from '../../active-view.ts'
import type { StretchMs } from './ranges.ts'

const INKS = 7
/**
 * Assigns the next free color to a job without one on screen, and keeps it: a job has one color in all cells frozen
 * together.
 */
function keptInks(onScreen: (jobId: string) => number): (jobId: string) => number {
  const given = new Map<string, number>()
  const used = new Set<number>()
  return (jobId) => {
    const known = onScreen(jobId) || given.get(jobId)
    if (known !== undefined && known > 0) {
      used.add(known)
      return known
    }
    let free = 1
    while (used.has(free)) free++
    if (free > INKS) return 0
    used.add(free)
    given.set(jobId, free)
    return free
  }
}

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
  /** Categorical color of a job, 1 to 7; 0: none. */
  readonly inkOf: (jobId: string) => number
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
function keptOf(reader: HistoryReader | undefined): { fromMs: number; toMs: number } | undefined {
  try {
    const kept = reader?.kept()
    if (!reader || !kept) return undefined
    let fromMs = Infinity
    for (const tier of TIERS) {
      const first = reader.keptOf(tier)?.fromMs ?? Infinity
      if (first < fromMs - stepOf(tierNumber(tier))) fromMs = first
    }
    return { fromMs: Math.min(fromMs, kept.toMs), toMs: kept.toMs }
  } catch {
    return undefined
  }
}

/** Standpoint at a running source. @param atMs  null: the newest sample. */
export function standpointAt(console: Console, atMs: number | null): Standpoint {
  const { monitor, facts } = console
  const { totals } = monitor.recent.raw
  const reader = readerOf(monitor)
  const kept = keptOf(reader)
  const nowMs = monitor.nowMs()
  const newestMs = totals.newest === 0 ? (kept?.toMs ?? nowMs) : totals.atMs(totals.newest)
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
    firstMs: Math.min(newestMs, kept?.fromMs ?? newestMs),
    atMs: Math.min(atMs ?? newestMs, Math.max(newestMs, nowMs)),
    inkOf: keptInks((jobId) => monitor.jobs.find(jobId)?.colour ?? 0),
  }
}

/** Standpoint at the active view. @param atMs  null: its newest sample. */
export function standpointOf(onScreen: ActiveView, atMs: number | null): Standpoint {
  const { console, playback } = onScreen
  if (!(playback instanceof Playback)) return standpointAt(console, atMs)
  const { viewed, file } = playback
  const { source, playback: shown } = onScreen.views.status({ at: null }, 0)
  const { reader } = viewed.past
  const kept = keptOf(reader)
  const newestMs = kept?.toMs ?? viewed.toMs
  const { monitor } = console
  const isOwn = file === null
  const env: Env = shown?.bundle?.env ?? source.env
  return {
    reader,
    newestMs,
    store: console.store,
    monitor: isOwn ? monitor : undefined,
    source: {
      kind: 'RECORDED',
      cluster: short(source.cluster),
      env,
      scenario: isOwn ? (console.facts.scenario?.slice(0, 200) ?? null) : null,
      seed: isOwn ? (console.facts.seed ?? null) : null,
    },
    isExercise: env === 'DEMO',
    firstMs: kept?.fromMs ?? viewed.fromMs,
    atMs: Math.min(newestMs, atMs ?? viewed.toMs),
    nowMs: isOwn ? monitor.nowMs() : Date.now(),
    inkOf: keptInks((jobId) => viewed.jobs.find(jobId)?.colour ?? monitor.jobs.find(jobId)?.colour ?? 0),
  }
}

/** Provenance of a cell; a range that is not over ends at the last known instant. */
export const provenanceOf = (stand: Standpoint, span: StretchMs, tier: string): Provenance => ({
  kind: stand.source.kind,
  cluster: stand.source.cluster,
  fromMs: span.fromMs,
  toMs: Math.max(span.fromMs, Math.min(span.toMs, stand.newestMs + 1)),
  tier,
  frozenMs: stand.nowMs,
})
