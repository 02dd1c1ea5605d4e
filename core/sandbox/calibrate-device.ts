/**
 * Whether the device of a target was the same all through a stretch.
 *
 * A device serves less because less is asked of it, and then each request is served sooner; or because it cannot, and then each takes
 * longer. A rate that falls to a part of itself while service times rise by as much is a fault (or a rebuild), as are requests that
 * wait at a device that serves none.
 */
import type { ForkTarget } from './fork-inputs.ts'
import { inParts, quantile } from './fork-series.ts'

/** Less than this part of the rate at this many times the service time is another device; sizes of RPCs make smaller differences. */
const CHANGED = 3
/** Rates within this part of the highest are of a device that is well. */
const ALIKE = 0.7
/** Shorter than this is a burst that has not filled its bin, s. */
const LASTING_S = 2

/** @returns what changed, in words; undefined: nothing that shows. */
export function deviceChange(
  target: Pick<ForkTarget, 'rpcs' | 'serviceMs' | 'queued'>,
  binS: number,
): string | undefined {
  // Bins of a second: in shorter ones a slow device serves one RPC, or none.
  const parts = Math.max(1, Math.floor(target.rpcs.length * Math.min(1, binS)))
  const [rpcs, serviceMs, queued] = [target.rpcs, target.serviceMs, target.queued].map((v) => inParts(v, parts)) as [
    number[],
    number[],
    number[],
  ]
  const partS = (target.rpcs.length * binS) / Math.max(1, rpcs.length)
  const least = Math.max(2, Math.ceil(LASTING_S / partS))
  const stopped = longest(rpcs.map((r, i) => r === 0 && (queued[i] ?? 0) > 0))
  if (stopped >= least) return `served nothing for ${Math.round(stopped * partS)} s while requests waited`
  const fast = quantile(rpcs, 0.9)
  const fastMs = quantile(
    serviceMs.filter((_, i) => (rpcs[i] ?? 0) >= ALIKE * fast),
    0.5,
  )
  const slow = rpcs.map((r, i) => r > 0 && r < fast / CHANGED && (serviceMs[i] ?? 0) > CHANGED * fastMs)
  const run = longest(slow)
  return run >= least ? `was ${CHANGED} times slower or more for ${Math.round(run * partS)} s` : undefined
}

/** Length of the longest run. */
function longest(is: readonly boolean[]): number {
  let [most, now] = [0, 0]
  for (const b of is) {
    now = b ? now + 1 : 0
    most = Math.max(most, now)
  }
  return most
}
