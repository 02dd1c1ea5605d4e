/** Frozen tables: jobs by change, jobs by rate, state of targets; locks, metadata and tokens by change. */
import { PROMINENT } from '#core/series/job-colors.ts'
import { planeTable, type PlaneTableId } from '#core/series/plane-tables.ts'
import type { NameKind, TableCell } from '#core/snapshot/notebook.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import { POINTS, rounded } from './curves.ts'
import { provenanceOf, type Standpoint } from './standpoint.ts'
import type { MeasuredState } from './measured-state.ts'
import type { RangeMs } from './ranges.ts'
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

/** Colors of the jobs of a table, the first of which are prominent. */
function colorsIn({ jobColors }: Standpoint, jobIds: readonly string[]): number[] {
  jobColors.colors(jobIds.slice(0, PROMINENT))
  return jobIds.map((jobId) => jobColors.of(jobId))
}

/** Jobs by rate change between the time before and the time around the cursor, or between A and B. */
export function moversTable(standpoint: Standpoint, reader: HistoryReader, state: MeasuredState): NewTable | undefined {
  const shown = state.movers.filter((m) => m.a !== m.b).slice(0, JOBS)
  if (shown.length === 0) return undefined
  const colors = colorsIn(
    standpoint,
    shown.map((m) => m.name),
  )
  // A range without samples has an unknown rate, not zero.
  const isKnown = ({ fromMs, toMs }: RangeMs): boolean =>
    reader.instants(reader.tierFor(fromMs, toMs, POINTS), fromMs, toMs).length > 0
  const isA = isKnown(state.a)
  const isB = isKnown(state.b)
  return {
    kind: 'table',
    title: 'Top movers',
    columns: [...namesOf(state).map((name) => rpcs(name)), rpcs('change', true)],
    rows: shown.map((m, i) => ({
      name: { kind: 'job', text: short(m.name) },
      ink: colors[i] ?? 0,
      values: [isA ? rounded(m.a) : null, isB ? rounded(m.b) : null, isA && isB ? rounded(m.b - m.a) : null],
    })),
    known: state.movers.length + state.rest.names,
    of: provenanceOf(standpoint, state.b, reader.tierFor(state.b.fromMs, state.b.toMs, POINTS)),
  }
}

/** Tables of which the series with the largest changes are listed, and the kind of their names. */
const PLANE_MOVERS: readonly (readonly [table: PlaneTableId, name: NameKind])[] = [
  ['lock_resources', 'file'],
  ['metadata_jobs', 'job'],
  ['token_clients', 'host'],
]
const SERIES = 6
/** Least change of the first row, as a share of the larger of its two values. */
const CHANGE_LEAST = 0.25

/** Lock resources, metadata jobs and token clients by change of their main measure, each if one of them changed clearly. */
export const planeMoversTables = (standpoint: Standpoint, reader: HistoryReader, state: MeasuredState): NewTable[] =>
  PLANE_MOVERS.flatMap(([id, kind]) => {
    const table = planeTable(id)
    const column = table.columns.find((c) => c.name === table.main)
    const { rows, rest } = reader.planeMovers(id, table.main, state.a, state.b, SERIES)
    const shown = rows.filter((m) => m.a !== m.b && !m.isOthers)
    const [first] = shown
    if (!column || !first || Math.abs(first.b - first.a) < CHANGE_LEAST * Math.max(first.a, first.b)) return []
    const label = (text: string, signed = false): TableCell['columns'][number] => {
      return { label: text, unit: column.unit, signed }
    }
    const names = shown.map((m) => (kind === 'job' ? m.jobId : m.name))
    const colors = colorsIn(standpoint, kind === 'job' ? names : [])
    return [
      {
        kind: 'table',
        title: `${table.title}: ${column.title.toLowerCase()}`,
        columns: [...namesOf(state).map((text) => label(text)), label('change', true)],
        rows: shown.map((m, i) => ({
          name: { kind, text: short(names[i] ?? '') },
          ink: colors[i] ?? 0,
          values: [rounded(m.a), rounded(m.b), rounded(m.b - m.a)],
        })),
        known: rows.length + rest.names,
        of: provenanceOf(standpoint, state.b, reader.planeTierFor(state.b.fromMs, state.b.toMs, POINTS)),
      },
    ]
  })

/** Jobs by RPCs sent in a range. */
export function topTable(standpoint: Standpoint, reader: HistoryReader, span: RangeMs): NewTable | undefined {
  const { series } = reader.top(span, 'job', TARGETS, 2)
  const all = series.filter((s) => s.mean > 0)
  if (all.length === 0) return undefined
  const shown = all.slice(0, JOBS)
  const colors = colorsIn(
    standpoint,
    shown.map((s) => s.name),
  )
  return {
    kind: 'table',
    title: 'Largest jobs',
    columns: [rpcs('mean')],
    rows: shown.map((s, i) => ({
      name: { kind: 'job', text: short(s.name) },
      ink: colors[i] ?? 0,
      values: [rounded(s.mean)],
    })),
    known: all.length,
    of: provenanceOf(standpoint, span, reader.tierFor(span.fromMs, span.toMs, POINTS)),
  }
}

/** All targets in both ranges, the slowest first. */
export function targetsTable(
  standpoint: Standpoint,
  reader: HistoryReader,
  state: MeasuredState,
): NewTable | undefined {
  if (state.targets.length === 0) return undefined
  const shown = [...state.targets].sort((x, y) => (y.serviceMs.b ?? -1) - (x.serviceMs.b ?? -1)).slice(0, TARGETS)
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
    known: state.targets.length,
    of: provenanceOf(standpoint, state.b, reader.tierFor(state.b.fromMs, state.b.toMs, POINTS)),
  }
}
