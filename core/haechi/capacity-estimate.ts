/**
 * Adaptive capacity estimation, once a period (Algorithm 1, spec/haechi 8).
 *
 * Default deviations: U >= omega - slack instead of U == omega (A4, A14), an increase clears the history (A13). Both are settings.
 */
import type { CapacityProfile, HaechiSettings } from './settings.ts'
import { profiledTokens } from './settings.ts'

export interface EstimatorRule {
  readonly rule: 'ge' | 'literal'
  readonly slack: number
  /** Lower bound of a plausible U. */
  readonly omegaMin: number
  /** M. */
  readonly history: number
  /** eta, tokens. */
  readonly increment: number
  readonly clearOnIncrease: boolean
}

export interface CapacityEstimate {
  /** Tokens of the next period. */
  readonly omega: number
  /** W, oldest first. */
  readonly window: readonly number[]
}

/**
 * `increase`: capacity may be underestimated; `average`: learned from the history; `keep`: U says nothing about the capacity, because it
 * is below omega_min (demand was low) or, under `literal`, above omega.
 */
export type EstimatorAction = 'increase' | 'average' | 'keep'

export function estimateCapacity(
  { omega, window }: CapacityEstimate,
  used: number,
  r: EstimatorRule,
): { readonly estimate: CapacityEstimate; readonly action: EstimatorAction } {
  const isExhausted = r.rule === 'ge' ? used >= omega - r.slack : used === omega
  if (isExhausted) {
    const estimate = { omega: omega + r.increment, window: r.clearOnIncrease ? [] : window }
    return { estimate, action: 'increase' }
  }
  if (used < r.omegaMin || used > omega) return { estimate: { omega, window }, action: 'keep' }
  const recent = [...window, used].slice(-r.history)
  const mean = Math.floor(recent.reduce((sum, u) => sum + u, 0) / recent.length)
  return { estimate: { omega: mean, window: recent }, action: 'average' }
}

/** Builds the rule from settings and a profile. */
export function estimatorRule({ estimator: e, periodNs }: HaechiSettings, profile: CapacityProfile): EstimatorRule {
  const profiled = profiledTokens(profile, periodNs)
  return {
    rule: e.rule,
    slack: e.slack,
    omegaMin: e.omegaMin ?? Math.max(0, Math.ceil(profiled - 3 * e.sigma * profiled)),
    history: e.history,
    increment: Math.round(e.increment * profiled),
    clearOnIncrease: e.clearOnIncrease,
  }
}
