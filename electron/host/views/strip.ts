/** Time strip: RPC rate of the whole cluster over the last hour, with event marks. */
import type { StripFrame } from '#core/api/frames.ts'
import { TOTAL, totalColumn } from '../../cluster/state/recent.ts'
import type { ClusterView } from '../../cluster/cluster-view.ts'
import { liveOf, nearestSample, newestOf, resolvePosition, type Position } from '../position.ts'

const POINTS = 480
const MARKS = 120

export function stripFrame(
  viewed: ClusterView,
  query: { at: number | null; windowMs: number },
  seq: number,
): StripFrame {
  const { sample, atMs } = resolvePosition(viewed, query.at)
  // The strip always ends at the newest sample: the cursor moves on it without moving the strip. For the past it is the
  // page of the cursor.
  const newest = liveOf(viewed) ? newestOf(viewed) : pageEnd(viewed, atMs, query.windowMs)
  const toMs = newest.atMs ?? viewed.nowMs()
  const fromMs = toMs - query.windowMs
  const marks = viewed.events.between(fromMs, toMs, MARKS)
  if (newest.sample === 0) return { seq, sample, atMs, fromMs, toMs, t: [], rpcs: [], marks }
  const { tier, to } = viewed.recent.tierFor(newest.sample, query.windowMs)
  const { from, step } = tier.totals.window(to, query.windowMs, POINTS)
  return {
    seq,
    sample,
    atMs,
    fromMs,
    toMs,
    t: tier.totals.times(from, to, step),
    rpcs: tier.totals.downsample(TOTAL, totalColumn('rpcs'), from, to, step),
    marks,
  }
}

/** Last sample of the page of a recorded range that contains an instant. */
function pageEnd(viewed: ClusterView, atMs: number | null, windowMs: number): Position {
  const { totals } = viewed.recent.raw
  if (totals.newest === 0 || atMs === null) return { sample: 0, atMs: null }
  const fromMs = totals.atMs(totals.oldest)
  const end = fromMs + Math.max(1, Math.ceil((atMs - fromMs) / windowMs)) * windowMs
  const sample = end >= totals.atMs(totals.newest) ? totals.newest : nearestSample(totals, end)
  return { sample, atMs: totals.atMs(sample) }
}
