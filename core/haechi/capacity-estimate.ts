/**
 * Adaptive capacity estimation, once a period (Algorithm 1, spec/haechi 8).
 *
 * Default deviations: U >= omega - slack instead of U == omega (A4, A14), an increase clears the history (A13). Both are settings.
 */
import type { EstimatorRule as SettingsRule } from '../controllers/settings.ts'
import type { CapacityProfile, HaechiSettings } from './settings.ts'
import { profiledTokens } from './settings.ts'

export interface EstimatorRule {
  /** `evidence` uses `learnCapacity`, and `ge` where it has no reports. */
  readonly rule: SettingsRule
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
  const isExhausted = r.rule === 'literal' ? used === omega : used >= omega - r.slack
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

/** Least part of a period in which the node must have been saturated for its throughput to count. */
const LEAST_PART = 0.02

/**
 * Throughput of the node in the times of a period in which it was saturated (advance `haechi.evidence`, not in the paper): so many
 * engines had tokens and waiting requests that they could use more than the profiled capacity together. Requests then waited for the
 * node alone, so its throughput was its capacity. Low use of tokens is no evidence.
 */
export class SaturationMeter {
  /** Backlogged clients that saturate the node: C_G / C_L, rounded up. */
  readonly #enough: number
  #wasSaturated = false
  #at = 0
  #used = 0
  #busyNs = 0
  #busyUsed = 0

  constructor({ globalIops, localIops }: CapacityProfile) {
    this.#enough = Math.ceil(globalIops / localIops)
  }

  beginPeriod(): void {
    this.#wasSaturated = false
    this.#busyNs = 0
    this.#busyUsed = 0
  }

  /** @param backlogged  clients whose last report says so. @param used  U so far, from the same reports. */
  check(now: number, backlogged: number, used: number): void {
    const isSaturated = backlogged >= this.#enough
    if (isSaturated && this.#wasSaturated) {
      this.#busyNs += now - this.#at
      this.#busyUsed += used - this.#used
    }
    this.#wasSaturated = isSaturated
    this.#at = now
    this.#used = used
  }

  /** Tokens that a period of saturation would have; null without enough evidence. */
  tokens(periodNs: number): number | null {
    return this.#busyNs < LEAST_PART * periodNs ? null : (this.#busyUsed / this.#busyNs) * periodNs
  }
}

/**
 * Returns the estimate after a period that is known to have had a capacity of `measured` tokens: the mean of the history, without
 * values from before a change, which differ from `measured` by more than eta. Without evidence the estimate stays.
 */
export function learnCapacity(
  { omega, window }: CapacityEstimate,
  measured: number | null,
  { history, increment }: Pick<EstimatorRule, 'history' | 'increment'>,
): { readonly estimate: CapacityEstimate; readonly action: EstimatorAction } {
  if (measured === null) return { estimate: { omega, window }, action: 'keep' }
  const alike = [...window.filter((u) => Math.abs(u - measured) <= increment), Math.round(measured)].slice(-history)
  const mean = Math.max(1, Math.floor(alike.reduce((sum, u) => sum + u, 0) / alike.length))
  return { estimate: { omega: mean, window: alike }, action: 'average' }
}
