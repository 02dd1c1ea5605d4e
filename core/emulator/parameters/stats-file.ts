/** Counter tables as files: rows in the server's registration order, cleared by any write. */
import type { PrintableCounter } from '../../lustre/job-stats-print.ts'
import { formatStatsTable, type StatsRow } from '../../lustre/stats-table.ts'
import { text, written, type FileOps } from './file.ts'
import type { NodeState } from './node.ts'

/** Counters updated elsewhere. */
export interface StatsSource {
  readonly counters: ReadonlyMap<string, PrintableCounter>
  /** Start of counting, virtual ns. */
  readonly startNs: number
  clear(now: number): void
}

/** Columns of a counter after its count. */
export type RowShape = 'count' | 'sum' | 'sumsq'

export interface CounterKind {
  readonly name: string
  readonly unit: string
  readonly shape?: RowShape
}

/** Rows of the counters that changed: first those registered, in that order, then the rest, in microseconds. */
export function statsRows(counters: StatsSource['counters'], kinds: readonly CounterKind[]): StatsRow[] {
  const registered = new Set(kinds.map((k) => k.name))
  const unregistered = [...counters.keys()]
    .filter((name) => !registered.has(name))
    .map((name) => ({ name, unit: 'usecs' }))
  return [...kinds, ...unregistered].flatMap(({ name, unit, shape = 'sumsq' }: CounterKind): StatsRow[] => {
    const c = counters.get(name)
    if (!c || c.samples === 0) return []
    const range = shape === 'count' ? undefined : { min: c.min, max: c.max, sum: c.sum }
    return [{ name, samples: c.samples, unit, range, sumsq: shape === 'sumsq' ? c.sumsq : undefined }]
  })
}

/** A table of counters. */
export const statsFile = (node: NodeState, source: StatsSource, kinds: readonly CounterKind[]): FileOps =>
  text(
    () =>
      formatStatsTable(
        { times: node.times(source.startNs), rows: statsRows(source.counters, kinds) },
        node.profile.text,
      ),
    () => {
      source.clear(node.clock())
      return written
    },
  )

/** Counters of a target with the unit that follows from their names: bytes or time. */
export const targetKinds = (names: readonly string[]): CounterKind[] =>
  names.map((name) => ({ name, unit: name.endsWith('_bytes') ? 'bytes' : 'usecs' }))
