/** One target, or one server, at the shown instant: disk I/O and service estimates are the newest readings up to it. */
import type { ServerFrame, ServerPlace } from '#core/api/server-frame.ts'
import { SERVICE_NAMES } from '#core/api/rule-edits.ts'
import { BRW_STORED, type BrwBins } from '#core/lustre/brw-stats.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { TARGET_COLUMNS, type TargetMeasure } from '../../cluster/state/recent.ts'
import type { ClusterView } from '../../cluster/cluster-view.ts'
import type { BrwSample, TimeoutSample } from '../../history/io-table.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { isPresent, orNull, rateSamples, resolvePosition } from '../position.ts'

/** Age from which a reading no longer describes the shown instant. */
const LOOK_BACK_MS = 600_000

/** Source of the readings. */
export interface ServerReadings {
  readonly brw: (target: string, atMs: number) => BrwSample | undefined
  readonly timeouts: (node: string, atMs: number) => readonly TimeoutSample[]
  /** Reason why a server is not read now; undefined if it is. */
  readonly fault: (what: 'brw' | 'timeouts', node: string) => string | undefined
}

/** Readings of a running source: the newest from memory, older ones from its store. */
export function liveReadings({ brw, timeouts, history }: ClusterMonitor): ServerReadings {
  const isAt = (at: number | undefined, atMs: number): boolean =>
    at !== undefined && at <= atMs && at > atMs - LOOK_BACK_MS
  return {
    brw: (target, atMs) => {
      const newest = brw.newest(target)
      return isAt(newest?.atMs, atMs) ? newest : history.brwAt(target, atMs - LOOK_BACK_MS, atMs)
    },
    timeouts: (node, atMs) => {
      const newest = timeouts.newest(node)
      return isAt(newest[0]?.atMs, atMs) ? newest : history.timeoutsAt(node, atMs - LOOK_BACK_MS, atMs)
    },
    fault: (what, node) => (what === 'brw' ? brw : timeouts).fault(node),
  }
}

/** Readings of a playback. */
export const recordedReadings = (reader: HistoryReader): ServerReadings => ({
  brw: (target, atMs) => reader.brwAt(target, atMs - LOOK_BACK_MS, atMs),
  timeouts: (node, atMs) => reader.timeoutsAt(node, atMs - LOOK_BACK_MS, atMs),
  fault: () => undefined,
})

/** Sum of histograms, bin by bin. */
function sumBins(all: readonly BrwBins[]): BrwBins {
  const out: { -readonly [Q in keyof BrwBins]: BrwBins[Q] } = {}
  for (const quantity of BRW_STORED) {
    const values = all.flatMap((bins) => bins[quantity] ?? [])
    if (!all.some((bins) => bins[quantity] !== undefined)) continue
    const sums = new Map<number, [number, number, number]>()
    for (const [upper, reads, writes] of values) {
      const sum = sums.get(upper) ?? [upper, 0, 0]
      sums.set(upper, [upper, sum[1] + reads, sum[2] + writes])
    }
    out[quantity] = [...sums.values()].sort(([a], [b]) => a - b)
  }
  return out
}

function diskOf(samples: readonly BrwSample[]): ServerFrame['disk'] {
  if (samples.length === 0) return null
  const bins = sumBins(samples.map((s) => s.bins))
  const total = (column: 1 | 2): number => (bins.sizeBytes ?? []).reduce((n, row) => n + row[column], 0)
  const lists = Object.fromEntries(
    Object.entries(bins).map(([quantity, rows]) => [quantity, rows.map(([u, r, w]) => [u, r, w])]),
  )
  return {
    atMs: Math.max(...samples.map((s) => s.atMs)),
    seconds: Math.max(...samples.map((s) => s.seconds)),
    reads: total(1),
    writes: total(2),
    ...lists,
  }
}

export function serverFrame(
  viewed: ClusterView,
  readings: ServerReadings,
  query: { at: number | null } & ServerPlace,
  seq: number,
): ServerFrame {
  const { sample, atMs } = resolvePosition(viewed, query.at)
  const { kind, name } = query
  const everywhere = [...viewed.targets, ...(viewed.metadataTargets ?? [])]
  const values = everywhere.filter((t) => (kind === 'target' ? t.target : t.node) === name)
  const node = kind === 'node' ? name : (values[0]?.node ?? '')
  const { targets: table } = viewed.recent.raw
  const mean = (target: string, column: TargetMeasure): number | null =>
    orNull(table.mean(target, TARGET_COLUMNS.indexOf(column), sample, rateSamples(viewed)))
  const samples = values.flatMap(({ target }) => (atMs === null ? [] : (readings.brw(target, atMs) ?? [])))
  const estimates = atMs === null || node === '' ? [] : readings.timeouts(node, atMs)
  const isNow = isPresent(viewed, sample)
  const noteOf = (what: 'brw' | 'timeouts', isThere: boolean): string => {
    const fault = isNow ? readings.fault(what, node) : undefined
    if (fault !== undefined) return fault
    if (isThere) return ''
    return isNow ? 'fewer than two readings yet' : 'no reading within ten minutes before this instant'
  }
  return {
    seq,
    sample,
    atMs,
    kind,
    name,
    node,
    known: values.length > 0,
    targets: values.map(({ target }) => ({
      name: target,
      rpcs: mean(target, 'rpcs'),
      serviceMs: mean(target, 'serviceMs'),
    })),
    queued: values[0] ? mean(values[0].target, 'queued') : null,
    disk: diskOf(samples),
    diskNote: noteOf('brw', samples.length > 0),
    estimates: estimates.flatMap(({ service, cpt, current, worst, worstAtS }) => {
      const known = SERVICE_NAMES.find((s) => s === service)
      return known ? [{ service: known, cpt, current, worst, worstAtMs: worstAtS * 1000 }] : []
    }),
    estimatesAtMs: estimates[0]?.atMs ?? null,
    estimatesNote: noteOf('timeouts', estimates.length > 0),
  }
}
