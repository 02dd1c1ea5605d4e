/**
 * Client token management: reservation tokens beyond current demand are yielded, every delta (spec/haechi 4).
 *
 * Deviation from the paper: `demand` also keeps tokens for requests waiting in the engine. Otherwise a client with a high reservation
 * loses it while the server shares equally (A1).
 */
import { proportion } from './proportion.ts'
import type { DecayRule } from '../controllers/settings.ts'

/** X: the residual reservation that a client may claim after `elapsedNs` of the period; exactly 0 at its end. */
export const residualBound = (reservation: number, elapsedNs: number, periodNs: number): number =>
  reservation - proportion(reservation, Math.max(0, Math.min(elapsedNs, periodNs)), periodNs)

/** Tokens kept of `tokens` under a rule; the rest is yielded. */
export function decayed(rule: DecayRule, tokens: number, bound: number, queued: number): number {
  if (rule === 'none') return tokens
  return Math.min(tokens, rule === 'demand' ? bound + queued : bound)
}
