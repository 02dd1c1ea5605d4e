/** Frozen tables: jobs by change, jobs by rate, state of targets. */
import type { TableCell } from '#core/snapshot/notebook.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import { POINTS, rounded } from './curves.ts'
import { colorsOf } from './charts.ts'
import { provenanceOf, type Standpoint } from './standpoint.ts'
import type { MeasuredState } from './measured-state.ts'
import type { StretchMs } from './ranges.ts'
import { clock } from './summary-text.ts'

export type NewTable = Omit<TableCell, 'id' | 'atMs'>

const NAME_MOST = 512
const JOBS = 12
const TARGETS = 200

const short = (name: string): string => name.slice(0, NAME_MOST)
const orNull = (v: number | null): number | null => (v === null || !Number.isFinite(v) ? null : rounded(v))
const rpcs = (label: string, signed = false): TableCell['columns'][number] => ({ label, unit: 'RPC/s', signed })

const namesOf = ({ a, b, areChosen }: MeasuredState): readonly [string, string] =>
  areChosen ? [`A ${clock(a)}`, `B ${clock(b)}`] : ['before', 'at the cursor']

/** Jobs by rate change between the time before and the time around the cursor, or between A and B. */
export function moversTable(stand: Standpoint, reader: HistoryReader, stood: MeasuredState): NewTable | undefined {
  const shown = stood.movers.filter((m) => m.a !== m.b).slice(0, JOBS)
  if (shown.length === 0) return undefined
  const inks = colorsOf(shown.map((m) => stand.inkOf(m.name)))
  // A range without samples has an unknown rate, not zero.
  const isKnown = ({ fromMs, toMs }: StretchMs): boolean =>
    reader.instants(reader.tierFor(fromMs, toMs, POINTS), fromMs, toMs).length > 0
  const isA = isKnown(stood.a)
  const isB = isKnown(stood.b)
  return {
    kind: 'table',
    title: 'Top movers',
    columns: [...namesOf(stood).map((name) => rpcs(name)), rpcs('change', true)],
    rows: shown.map((m, i) => ({
      name: { kind: 'job', text: short(m.name) },
      ink: inks[i] ?? 0,
      values: [isA ? rounded(m.a) : null, isB ? rounded(m.b) : null, isA && isB ? rounded(m.b - m.a) : null],
    })),
    known: stood.movers.length + stood.rest.names,
    of: provenanceOf(stand, stood.b, reader.tierFor(stood.b.fromMs, stood.b.toMs, POINTS)),
  }
}

/** Jobs by RPCs sent in a range. */
export function topTable(stand: Standpoint, reader: HistoryReader, span: StretchMs): NewTable | undefined {
  const { series } = reader.top(span, 'job', TARGETS, 2)
  const all = series.filter((s) => s.mean > 0)
  if (all.length === 0) return undefined
  const shown = all.slice(0, JOBS)
  const inks = colorsOf(shown.map((s) => stand.inkOf(s.name)))
  return {
    kind: 'table',
    title: 'Largest jobs',
    columns: [rpcs('mean')],
    rows: shown.map((s, i) => ({
      name: { kind: 'job', text: short(s.name) },
      ink: inks[i] ?? 0,
      values: [rounded(s.mean)],
    })),
    known: all.length,
    of: provenanceOf(stand, span, reader.tierFor(span.fromMs, span.toMs, POINTS)),
  }
}

/** All targets in both ranges, the slowest first. */
export function targetsTable(stand: Standpoint, reader: HistoryReader, stood: MeasuredState): NewTable | undefined {
  if (stood.targets.length === 0) return undefined
  const shown = [...stood.targets].sort((x, y) => (y.serviceMs.b ?? -1) - (x.serviceMs.b ?? -1)).slice(0, TARGETS)
  const column = (label: string, unit: string): TableCell['columns'][number] => ({ label, unit, signed: false })
  return {
    kind: 'table',
    title: 'Targets',
    columns: [
      column('service before', 'ms'),
      column('service', 'ms'),
      column('queued before', 'RPCs'),
      column('queued', 'RPCs'),
      column('RPC/s before', 'RPC/s'),
      column('RPC/s', 'RPC/s'),
    ],
    rows: shown.map((t) => ({
      name: { kind: 'target', text: short(t.target) },
      ink: 0,
      values: [t.serviceMs.a, t.serviceMs.b, t.queued.a, t.queued.b, t.rpcs.a, t.rpcs.b].map(orNull),
    })),
    known: stood.targets.length,
    of: provenanceOf(stand, stood.b, reader.tierFor(stood.b.fromMs, stood.b.toMs, POINTS)),
  }
}
