/** The time strip: the whole cluster's RPC rate over the last hour, with marks where something happened. */
import type { StripFrame } from '#core/api/frames.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { TOTAL, totalColumn } from '../../cluster/recent.ts'
import { stand } from './position.ts'

const POINTS = 480
const MARKS = 120

export function stripFrame(
  monitor: ClusterMonitor,
  query: { at: number | null; windowMs: number },
  seq: number,
): StripFrame {
  // The strip always ends at the newest sample: the cursor moves on it, it does not move the strip.
  const newest = stand(monitor, null)
  const { sample, atMs } = stand(monitor, query.at)
  const toMs = newest.atMs ?? monitor.nowMs()
  const fromMs = toMs - query.windowMs
  const marks = monitor.events.between(fromMs, toMs, MARKS)
  if (newest.sample === 0) return { seq, sample, atMs, fromMs, toMs, t: [], rpcs: [], marks }
  const { tier, to } = monitor.recent.tierFor(newest.sample, query.windowMs)
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
