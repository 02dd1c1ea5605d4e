/** Measured state around an instant: slow targets, jobs that moved. Basis of cells, title and summary sentence. */
import { ended, type Steps } from '#core/base/steps.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { TARGET_COLUMNS, type HistoryReader, type Mover } from '../../../history/reader.ts'
import { POINTS } from './curves.ts'
import type { RangeMs } from './ranges.ts'

/** Service time from which a target is slow, as that of an amber tile in the overview. */
const SERVICE = { leastMs: 20, times: 2 } as const
const QUEUE = { least: 64, times: 3 } as const
/** Most jobs compared. */
const MOVERS = 50

const RPCS = TARGET_COLUMNS.indexOf('rpcs')
const SERVICE_MS = TARGET_COLUMNS.indexOf('serviceMs')
const QUEUED = TARGET_COLUMNS.indexOf('queued')

/** Means of one target in both ranges; null: not measured. */
export interface TargetState {
  readonly key: number
  readonly target: string
  readonly node: string
  readonly serviceMs: { readonly a: number | null; readonly b: number | null }
  readonly queued: { readonly a: number | null; readonly b: number | null }
  readonly rpcs: { readonly a: number | null; readonly b: number | null }
}

export interface MeasuredState {
  readonly a: RangeMs
  readonly b: RangeMs
  /** True if both ranges were chosen: A and B of a comparison. */
  readonly areChosen: boolean
  /** Targets by name. */
  readonly targets: readonly TargetState[]
  /** Targets whose service time, and whose queue, is well above the level before; worst first. */
  readonly slow: readonly TargetState[]
  readonly queueing: readonly TargetState[]
  /** Largest change first. */
  readonly movers: readonly Mover[]
  /** Number and RPC/s of the remaining jobs. */
  readonly rest: { readonly names: number; readonly a: number; readonly b: number }
  /** RPC/s of all jobs. */
  readonly rpcs: { readonly a: number; readonly b: number }
}

class Means {
  readonly sums = new Map<number, { sum: number; n: number }[]>()

  add(key: number, values: readonly number[]): void {
    let of = this.sums.get(key)
    if (!of) this.sums.set(key, (of = values.map(() => ({ sum: 0, n: 0 }))))
    values.forEach((v, c) => {
      const at = of[c]
      if (v !== v || !at) return
      at.sum += v
      at.n++
    })
  }

  of(key: number, column: number): number | null {
    const at = this.sums.get(key)?.[column]
    return at && at.n > 0 ? at.sum / at.n : null
  }
}

function meansOf(reader: HistoryReader, span: RangeMs): Means {
  const means = new Means()
  const tier = reader.tierFor(span.fromMs, span.toMs, POINTS)
  for (const block of reader.targetsBetween(tier, span.fromMs, span.toMs - 1)) {
    for (let i = 0; i < block.keys.length; i++) {
      const values = block.columns.map((c) => c[i] as number)
      means.add(block.keys[i] as number, values)
    }
  }
  return means
}

const rose = (
  { a, b }: { readonly a: number | null; readonly b: number | null },
  least: number,
  times: number,
): boolean => a !== null && b !== null && b > least && b > times * a

const worst = (all: TargetState[], of: 'serviceMs' | 'queued'): TargetState[] =>
  all.sort((x, y) => (y[of].b ?? 0) - (x[of].b ?? 0) || byCodeUnit(x.target, y.target))

/** State in B compared with A. */
export function measuredState(
  ...of: [reader: HistoryReader, a: RangeMs, b: RangeMs, areChosen?: boolean]
): MeasuredState {
  return ended(measuredStateInSteps(...of))
}

/** Same in steps. */
export function* measuredStateInSteps(
  reader: HistoryReader,
  a: RangeMs,
  b: RangeMs,
  areChosen = false,
): Steps<MeasuredState> {
  const inA = meansOf(reader, a)
  const inB = meansOf(reader, b)
  yield
  const targets = reader.allTargets().flatMap((t): TargetState[] => {
    const of = (column: number) => ({ a: inA.of(t.key, column), b: inB.of(t.key, column) })
    if (!inA.sums.has(t.key) && !inB.sums.has(t.key)) return []
    const { key, target, node } = t
    return [{ key, target, node, rpcs: of(RPCS), serviceMs: of(SERVICE_MS), queued: of(QUEUED) }]
  })
  const { rows, rest } = yield* reader.moversInSteps(a, b, 'job', MOVERS)
  const sum = (of: 'a' | 'b'): number => rows.reduce((n, m) => n + m[of], rest[of])
  return {
    a,
    b,
    areChosen,
    targets,
    rest,
    slow: worst(
      targets.filter((t) => rose(t.serviceMs, SERVICE.leastMs, SERVICE.times)),
      'serviceMs',
    ),
    queueing: worst(
      targets.filter((t) => rose(t.queued, QUEUE.least, QUEUE.times)),
      'queued',
    ),
    movers: rows.filter((m) => m.a !== 0 || m.b !== 0),
    rpcs: { a: sum('a'), b: sum('b') },
  }
}

/** Mean over targets in both ranges, of those measured in both. */
export function meanOver(
  targets: readonly TargetState[],
  of: 'serviceMs' | 'queued',
): { readonly a: number; readonly b: number } | undefined {
  const both = targets.flatMap((t) => (t[of].a !== null && t[of].b !== null ? [{ a: t[of].a, b: t[of].b }] : []))
  if (both.length === 0) return undefined
  const mean = (side: 'a' | 'b'): number => both.reduce((n, v) => n + v[side], 0) / both.length
  return { a: mean('a'), b: mean('b') }
}
