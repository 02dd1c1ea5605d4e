/** Tokens that are idle while a client starves: what token conversion is for. Source: spec/haechi 7. */
import type { DataNodeState } from '../data-node.ts'

/** True if a client uses all that its limit allows: it is held back by the limit, not by a lack of tokens. */
export const isAtLimit = (limit: number | null | undefined, used: number): boolean =>
  limit !== null && limit !== undefined && used >= limit

/**
 * Share of the tokens of a period that clients without requests held while the pool was empty and a client without any
 * had requests waiting; null without tokens or rows.
 *
 * @param rows  numbers of kept samples; the result is their mean.
 */
export function idleTokens(
  node: Pick<DataNodeState, 'samples' | 'clientCount' | 'monitor' | 'engine'>,
  rows: readonly number[],
): number | null {
  const { samples, clientCount } = node
  if (!node.monitor || rows.length === 0) return null
  let idle = 0
  for (const row of rows) {
    if (samples.nodeValue(row, 'pool') > 0) continue
    let isStarving = false
    let unused = 0
    for (let i = 0; i < clientCount; i++) {
      const tokens = samples.clientValue(row, i, 'xi') + samples.clientValue(row, i, 'g')
      const queued = samples.clientValue(row, i, 'queued')
      if (samples.clientValue(row, i, 'phase') === 0) continue
      const used = samples.clientValue(row, i, 'completed') + samples.clientValue(row, i, 'inflight')
      if (isAtLimit(node.engine(i)?.limit, used)) continue
      if (queued > 0 && tokens === 0) isStarving = true
      else if (queued === 0) unused += tokens
    }
    if (isStarving) idle += unused / Math.max(1, samples.nodeValue(row, 'omega'))
  }
  return idle / rows.length
}
