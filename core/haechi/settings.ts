/**
 * Settings of a Haechi node: the paper's parameters, and the choices where it is ambiguous or contradicts itself.
 *
 * Source: spec/haechi 12, 15. `DEFAULT_SETTINGS` are its resolutions; `PAPER_LITERAL` follows the paper literally and fails as
 * described in spec/haechi 4, 7, 8; `BASIC` is the paper's Basic Haechi: unused reservations are lost.
 */
import { fail, ok, type Failure, type Result } from '../base/result.ts'
import { NS_PER_MS, NS_PER_S } from '../base/units.ts'
import {
  HAECHI_CONVERSION_RULES,
  HAECHI_DECAY_RULES,
  HAECHI_ESTIMATOR_RULES,
  type ConversionRule,
  type DecayRule,
  type EstimatorRule,
  type HaechiPreset,
} from '../controllers/settings.ts'
import { MAX_RESERVATION, MAX_WINDOW } from './report-word.ts'

export interface EstimatorSettings {
  readonly enabled: boolean
  readonly rule: EstimatorRule
  /** Tokens that reports may lag behind and still count as omega (A14). */
  readonly slack: number
  /** Periods in the history W (A5). */
  readonly history: number
  /** Increment eta as a share of the profiled capacity (A5). */
  readonly increment: number
  /** Standard deviation of the profiled capacity as a share of it (A6). */
  readonly sigma: number
  /** omega_min in tokens a period; null for profile - 3 sigma. */
  readonly omegaMin: number | null
  /** True if an increase of omega clears W (A13). */
  readonly clearOnIncrease: boolean
}

export interface HaechiSettings {
  readonly name: string
  /** T, ns. */
  readonly periodNs: number
  /** delta: decay and report interval of an engine, ns. */
  readonly tickNs: number
  /** Check interval of the monitor, ns. */
  readonly checkNs: number
  /** Retry interval of an engine that found the pool empty, ns (A3). */
  readonly retryNs: number
  /** B: tokens per FAA. */
  readonly batch: number
  /** `backlog`: never more than the queue length (A22). */
  readonly batchRule: 'fixed' | 'backlog'
  /** Q: outstanding I/Os of a client. */
  readonly window: number
  /** Outstanding I/Os while a client has no reservation tokens (A25). */
  readonly phase2Window: number
  readonly decay: DecayRule
  readonly conversion: ConversionRule
  readonly estimator: EstimatorSettings
  /** Consecutive periods with unused reservation before the alert. */
  readonly alertAfter: number
  /** Report intervals without a report after which a client's residual decays without it (A20). */
  readonly missedReports: number
  /** True to admit only reservations that also finish under equal shares (spec/haechi 9). */
  readonly fluidAdmission: boolean
}

export const DEFAULT_SETTINGS: HaechiSettings = {
  name: 'default',
  periodNs: NS_PER_S,
  tickNs: NS_PER_MS,
  checkNs: NS_PER_MS,
  retryNs: NS_PER_MS,
  batch: 1000,
  batchRule: 'fixed',
  window: 64,
  phase2Window: 64,
  decay: 'demand',
  conversion: 'ledger',
  estimator: {
    enabled: true,
    rule: 'ge',
    slack: 0,
    history: 5,
    increment: 0.01,
    sigma: 0.07,
    omegaMin: null,
    clearOnIncrease: true,
  },
  alertAfter: 10,
  missedReports: 10,
  fluidAdmission: false,
}

export const PAPER_LITERAL: HaechiSettings = {
  ...DEFAULT_SETTINGS,
  name: 'paper-literal',
  decay: 'literal',
  conversion: 'literal',
  estimator: { ...DEFAULT_SETTINGS.estimator, rule: 'literal', clearOnIncrease: false },
}

/** Advances of Sluice: reservations by deadline, the estimate by saturation, and both. */
const DEADLINE: HaechiSettings = { ...DEFAULT_SETTINGS, name: 'deadline', conversion: 'deadline' }
const EVIDENCE: HaechiSettings = {
  ...DEFAULT_SETTINGS,
  name: 'evidence',
  estimator: { ...DEFAULT_SETTINGS.estimator, rule: 'evidence' },
}

/** Settings by the name of their preset. */
export const PRESET_SETTINGS: Readonly<Record<HaechiPreset, HaechiSettings>> = {
  default: DEFAULT_SETTINGS,
  'paper-literal': PAPER_LITERAL,
  deadline: DEADLINE,
  evidence: EVIDENCE,
  'deadline-evidence': { ...EVIDENCE, name: 'deadline-evidence', conversion: 'deadline' },
}

export const BASIC: HaechiSettings = { ...DEFAULT_SETTINGS, name: 'basic', decay: 'none', conversion: 'none' }

export const PRESETS: readonly HaechiSettings[] = [...Object.values(PRESET_SETTINGS), BASIC]

/** Measured capacity of a data node before it is used. */
export interface CapacityProfile {
  /** C_G: saturated throughput, I/O/s. */
  readonly globalIops: number
  /** C_L: throughput of one client, I/O/s. */
  readonly localIops: number
}

export const PAPER_PROFILE: CapacityProfile = { globalIops: 1_570_000, localIops: 400_000 }
/** Two-sided I/Os, served by the data node's CPU. */
export const TWO_SIDED_PROFILE: CapacityProfile = { globalIops: 430_000, localIops: 327_000 }

/** Largest count within a period, 2^28 - 1. */
export const MAX_TOKENS = 2 ** 28 - 1
const MAX_PERIOD_NS = 3600 * NS_PER_S

/** Checks an untrusted count of tokens or I/Os: whole, >= 0, representable in a report. */
export function checkTokens(what: string, value: number): Failure | null {
  if (Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS) return null
  const why = !Number.isInteger(value)
    ? 'it is not a whole number'
    : value < 0
      ? 'it is negative'
      : 'it is over 2^28 - 1'
  return { code: 'E_TOKENS', what: `${what} is ${value}`, why, next: `Give a whole number from 0 to ${MAX_TOKENS}.` }
}

/** The same for a reservation, which must fit into its field of a report. */
export function checkReservation(value: number): Failure | null {
  const what = 'The reservation'
  const refusal = checkTokens(what, value)
  if (refusal !== null || value <= MAX_RESERVATION) return refusal
  return {
    code: 'E_TOKENS',
    what: `${what} is ${value}`,
    why: 'a report of one 64-bit word has 23 bits for it',
    next: `Give a whole number from 0 to ${MAX_RESERVATION}, or a shorter period.`,
  }
}

export function checkProfile(profile: CapacityProfile): Result<CapacityProfile> {
  for (const [what, value] of [
    ['The global capacity', profile.globalIops],
    ['The local capacity', profile.localIops],
  ] as const) {
    const refusal = value === 0 ? zero('E_CAPACITY', what) : checkTokens(what, value)
    if (refusal) return fail({ ...refusal, code: 'E_CAPACITY' })
  }
  return ok(profile)
}

/** Refuses settings that no node can run with; returns the first reason. */
export function checkSettings(s: HaechiSettings): Result<HaechiSettings> {
  const refusal =
    duration('E_PERIOD', 'The period T', s.periodNs, MAX_PERIOD_NS) ??
    duration('E_INTERVAL', 'The interval delta', s.tickNs, s.periodNs) ??
    duration('E_INTERVAL', 'The check interval', s.checkNs, s.periodNs) ??
    duration('E_INTERVAL', 'The retry interval', s.retryNs, s.periodNs) ??
    integerFault('E_BATCH', 'The batch B', s.batch, 1, MAX_TOKENS) ??
    integerFault('E_WINDOW', 'The window Q', s.window, 1, MAX_WINDOW) ??
    integerFault('E_WINDOW', 'The window of phase 2', s.phase2Window, 1, s.window) ??
    integerFault('E_ALERT', 'The periods before an alert', s.alertAfter, 1, MAX_TOKENS) ??
    integerFault('E_ALERT', 'The missed reports', s.missedReports, 1, MAX_TOKENS) ??
    oneOf('E_RULE', 'The decay rule', s.decay, HAECHI_DECAY_RULES) ??
    oneOf('E_RULE', 'The conversion rule', s.conversion, HAECHI_CONVERSION_RULES) ??
    oneOf('E_RULE', 'The batch rule', s.batchRule, ['fixed', 'backlog']) ??
    estimator(s.estimator)
  return refusal ? fail(refusal) : ok(s)
}

function estimator(e: EstimatorSettings): Failure | null {
  return (
    oneOf('E_RULE', "The estimator's rule", e.rule, HAECHI_ESTIMATOR_RULES) ??
    integerFault('E_ESTIMATOR', 'The slack', e.slack, 0, MAX_TOKENS) ??
    integerFault('E_ESTIMATOR', 'The history M', e.history, 1, 10_000) ??
    share('The increment eta', e.increment) ??
    share('The deviation sigma', e.sigma) ??
    (e.omegaMin === null ? null : integerFault('E_ESTIMATOR', 'omega_min', e.omegaMin, 0, MAX_TOKENS))
  )
}

const zero = (code: string, what: string): Failure => ({
  code,
  what: `${what} is zero`,
  next: 'Give a positive number.',
})

function duration(code: string, what: string, ns: number, most: number): Failure | null {
  if (ns === 0) return zero(code, what)
  if (Number.isSafeInteger(ns) && ns > 0 && ns <= most) return null
  return { code, what: `${what} is ${ns} ns`, next: `Give a whole number of ns from 1 to ${most}.` }
}

function integerFault(code: string, what: string, value: number, least: number, most: number): Failure | null {
  if (Number.isInteger(value) && value >= least && value <= most) return null
  return { code, what: `${what} is ${value}`, next: `Give a whole number from ${least} to ${most}.` }
}

const share = (what: string, value: number): Failure | null =>
  value >= 0 && value <= 1
    ? null
    : { code: 'E_ESTIMATOR', what: `${what} is ${value}`, next: 'Give a share from 0 to 1.' }

const oneOf = (code: string, what: string, value: string, known: readonly string[]): Failure | null =>
  known.includes(value) ? null : { code, what: `${what} is unknown`, next: `Known: ${known.join(', ')}.` }

/** Omega before anything is learned: tokens of one period. */
export const profiledTokens = (profile: CapacityProfile, periodNs: number): number =>
  Math.floor((profile.globalIops * periodNs) / NS_PER_S)
