/** One measure of a cluster over a span, as the points of a chart. */
import type { ClusterMeasure, Span } from '#core/api/history.ts'
import { segmentsOf, sumOf, tierOfSegments, type BlockReader } from './block-reader.ts'
import { partsOf } from './parts.ts'
import { CLUSTER_COLUMNS, type HistoryReader } from './reader.ts'
import { stepOf } from './tiers.ts'

export function lineOf(
  blocks: BlockReader,
  measure: ClusterMeasure,
  span: Span,
  points: number,
): ReturnType<HistoryReader['line']> {
  const column = CLUSTER_COLUMNS.indexOf(measure)
  const segments = segmentsOf(blocks, span.fromMs, span.toMs, points)
  const [instants, values]: [number[], number[]] = [[], []]
  for (const s of segments) {
    blocks.eachSums(s.tier, s.fromMs, s.toMs, (atMs, data) => {
      instants.push(atMs)
      values.push(sumOf(data, column))
    })
  }
  const least = stepOf(segments[0]?.tier ?? 0)
  const { t, of } = partsOf(Float64Array.from(instants), span.fromMs, span.toMs, points, least)
  const [sums, counts] = [new Float64Array(t.length), new Uint32Array(t.length)]
  values.forEach((v, i) => {
    if (Number.isNaN(v)) return
    const part = of[i] as number
    sums[part] = (sums[part] as number) + v
    counts[part] = (counts[part] as number) + 1
  })
  return {
    t,
    values: t.map((_, part) => (counts[part] === 0 ? null : (sums[part] as number) / (counts[part] as number))),
    tier: tierOfSegments(segments),
  }
}
