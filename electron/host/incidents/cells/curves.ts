/** Series of single targets and jobs over a range, as chart points: means of the samples of a point, gaps null. */
import type { TierId } from '#core/api/history.ts'
import { positionOf } from '../../../history/one-series.ts'
import { partsOf } from '../../../history/parts.ts'
import type { Block, HistoryReader } from '../../../history/reader.ts'
import { stepOf, tierNumber } from '../../../history/tiers.ts'
import type { RangeMs } from './ranges.ts'

/** Most points of a chart. */
export const POINTS = 1_200

export interface Curves {
  readonly t: number[]
  /** Values in the order of the keys. */
  readonly values: (number | null)[][]
  readonly tier: TierId
}

/** Kept values are Float32, with seven significant digits. */
export const rounded = (v: number): number => Number(v.toPrecision(7))
export const gappy = (values: readonly (number | null)[]): (number | null)[] =>
  values.map((v) => (v === null || !Number.isFinite(v) ? null : rounded(v)))

/** @param valueOf  value of a series in a block, NaN if it has none. */
export function curvesOf(
  reader: HistoryReader,
  kind: 'jobs' | 'targets',
  span: RangeMs,
  series: readonly ((block: Block) => number)[],
): Curves {
  const tier = reader.tierFor(span.fromMs, span.toMs, POINTS)
  const blocks =
    kind === 'jobs'
      ? reader.jobsBetween(tier, span.fromMs, span.toMs)
      : reader.targetsBetween(tier, span.fromMs, span.toMs)
  const instants: number[] = []
  const read: number[][] = series.map(() => [])
  for (const block of blocks) {
    if (block.atMs >= span.toMs) continue
    instants.push(block.atMs)
    series.forEach((of, i) => read[i]?.push(of(block)))
  }
  const step = stepOf(tierNumber(tier))
  const { t, of } = partsOf(Float64Array.from(instants), span.fromMs, span.toMs, POINTS, step)
  const values = read.map((row) => {
    const sums = new Float64Array(t.length)
    const counts = new Uint32Array(t.length)
    row.forEach((v, i) => {
      const part = of[i] as number
      if (v !== v) return
      sums[part] = (sums[part] as number) + v
      counts[part] = (counts[part] as number) + 1
    })
    return t.map((_, part) => {
      const n = counts[part] as number
      return n === 0 ? null : rounded((sums[part] as number) / n)
    })
  })
  return { t, values, tier }
}

/** Column of one series in a block. */
export const columnOf =
  (key: number, column: number) =>
  (block: Block): number => {
    const i = positionOf(block.keys, key)
    return i < 0 ? NaN : (block.columns[column]?.[i] ?? NaN)
  }

/** Mean of one column over all series except the excluded ones. */
export const meanExcept =
  (keys: ReadonlySet<number>, column: number) =>
  (block: Block): number => {
    let sum = 0
    let n = 0
    const values = block.columns[column]
    for (let i = 0; i < block.keys.length; i++) {
      const v = values?.[i] as number
      if (keys.has(block.keys[i] as number) || v !== v) continue
      sum += v
      n++
    }
    return n === 0 ? NaN : sum / n
  }
