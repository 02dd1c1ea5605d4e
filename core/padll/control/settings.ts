/** Settings of a global controller, their changes at run time, and validation. */
import { fail, invariant, ok, type Result } from '../../base/result.ts'
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'
import { type Algorithm, ALGORITHMS } from '../algorithms/algorithm.ts'
import { EPSILON } from '../algorithms/psfa.ts'
import { RATE_MAX, ROUNDS_MAX, type SettingsChange } from '../console.ts'
import { isScope, type Scope } from '../vocabulary.ts'
import type { Lease } from './messages.ts'

export interface GlobalSettings {
  readonly algorithm: Algorithm
  /** PSFA's headroom, 0..1. */
  readonly epsilon: number
  /** Split of a job's rate over its stages. */
  readonly split: 'equal' | 'usage'
  readonly intervalNs: number
  /** Collections averaged into one usage: rates are computed once per this many. */
  readonly collectRounds: number
  /** Lease of the stages, at least 2 intervals. */
  readonly lease: Lease
  /** Limits of all jobs together, op/s, by scope. */
  readonly limits: ReadonlyMap<Scope, number>
  /** Uniform: number of jobs that the limit is divided by; null: the present ones. */
  readonly slots: number | null
  readonly oversubscription: 'scale' | 'allow'
  readonly leftover: 'equal' | 'proportional'
  /**
   * A job keeps its rates if those of all its stages would move by less than this part, where the sum allows it;
   * 0..0.5.
   */
  readonly suppress: number
}

/** Settings that may change at run time; absent ones stay. */
export interface GlobalChange extends SettingsChange {
  readonly intervalMs?: number
  readonly slots?: number | null
  readonly lease?: Lease
  readonly oversubscription?: 'scale' | 'allow'
  readonly leftover?: 'equal' | 'proportional'
  readonly suppress?: number
}

export const DEFAULT_SETTINGS: GlobalSettings = {
  algorithm: 'psfa',
  epsilon: EPSILON,
  split: 'equal',
  intervalNs: NS_PER_S,
  collectRounds: 1,
  lease: { ns: 10 * NS_PER_S, onExpiry: 'hold' },
  limits: new Map(),
  slots: null,
  oversubscription: 'scale',
  leftover: 'equal',
  suppress: 0,
}

const INTERVAL_MIN_NS = 10 * NS_PER_MS
const INTERVAL_MAX_NS = 3600 * NS_PER_S
const LEASE_MAX_NS = 86_400 * NS_PER_S
const INTERVALS_PER_LEASE = 2
const SLOTS_MAX = 1_000_000
const LIMITS_MAX = 64

const isWithin = (n: number, least: number, most: number): boolean => n >= least && n <= most
const isIntegerWithin = (n: number, least: number, most: number): boolean =>
  Number.isInteger(n) && isWithin(n, least, most)

/** Returns the first invalid setting as code and message; undefined if all are valid. */
export function settingsFault(s: GlobalSettings): { readonly code: string; readonly why: string } | undefined {
  const bad = (code: string, why: string): { code: string; why: string } => ({ code, why })
  if (!ALGORITHMS.includes(s.algorithm))
    return bad('E_ALGORITHM', `the algorithm must be one of ${ALGORITHMS.join(', ')}`)
  if (!isWithin(s.epsilon, 0, 1)) return bad('E_EPSILON', 'epsilon must be a number from 0 to 1')
  if (s.split !== 'equal' && s.split !== 'usage') return bad('E_SPLIT', 'the split must be equal or usage')
  if (!isIntegerWithin(s.intervalNs, INTERVAL_MIN_NS, INTERVAL_MAX_NS)) {
    return bad('E_INTERVAL', 'the interval must be 10 ms to 1 h')
  }
  if (!isIntegerWithin(s.collectRounds, 1, ROUNDS_MAX)) {
    return bad('E_ROUNDS', `the collect rounds must be a whole number from 1 to ${ROUNDS_MAX}`)
  }
  const { ns, onExpiry } = s.lease
  if (!isIntegerWithin(ns, INTERVALS_PER_LEASE * s.intervalNs, LEASE_MAX_NS)) {
    return bad('E_LEASE', `the lease must be ${INTERVALS_PER_LEASE} intervals to 1 day`)
  }
  if (onExpiry !== 'hold' && !isWithin(onExpiry.rate, 1, RATE_MAX)) {
    return bad('E_LEASE', `the fallback must be hold, or a rate from 1 to ${RATE_MAX} op/s`)
  }
  if (s.slots !== null && !isIntegerWithin(s.slots, 1, SLOTS_MAX))
    return bad('E_SLOTS', 'slots must be a whole number above 0')
  if (s.oversubscription !== 'scale' && s.oversubscription !== 'allow') {
    return bad('E_OVERSUBSCRIPTION', 'oversubscription must be scale or allow')
  }
  if (s.leftover !== 'equal' && s.leftover !== 'proportional') {
    return bad('E_LEFTOVER', 'leftover must be equal or proportional')
  }
  if (!isWithin(s.suppress, 0, 0.5)) return bad('E_SUPPRESS', 'suppress must be a fraction from 0 to 0.5')
  if (s.limits.size > LIMITS_MAX) return bad('E_LIMITS', `more than ${LIMITS_MAX} limits`)
  for (const [scope, rate] of s.limits) {
    if (!isScope(scope)) return bad('E_SCOPE', `"${String(scope).slice(0, 40)}" is neither an operation nor a class`)
    if (!isWithin(rate, 1, RATE_MAX)) return bad('E_LIMIT', `a limit must be 1 to ${RATE_MAX} op/s`)
  }
  return undefined
}

/** Initial settings, with a lease that is long enough for the interval. */
export function usable(settings: GlobalSettings): GlobalSettings {
  const ns = Math.max(settings.lease.ns, INTERVALS_PER_LEASE * settings.intervalNs)
  const all = { ...settings, lease: { ...settings.lease, ns } }
  const fault = settingsFault(all)
  invariant(!fault, `the settings are good: ${fault?.why ?? ''}`)
  return all
}

/** Returns the settings after a change, or why it is not valid; then none of it applies. */
export function changed(settings: GlobalSettings, change: GlobalChange): Result<GlobalSettings> {
  const limits = new Map(settings.limits)
  for (const { scope, rate } of change.limits ?? []) {
    if (rate === null && isScope(scope)) limits.delete(scope)
    else limits.set(scope, rate ?? NaN)
  }
  const { intervalMs, limits: _, ...rest } = change
  const named = Object.fromEntries(Object.entries(rest).filter(([key, v]) => v !== undefined && key in settings))
  const next: GlobalSettings = {
    ...settings,
    ...named,
    limits,
    ...(intervalMs === undefined ? {} : { intervalNs: intervalMs * NS_PER_MS }),
  }
  const fault = settingsFault(next)
  if (!fault) return ok(next)
  const unaffected = 'The previous settings stay in force.'
  return fail({ code: fault.code, what: 'The settings were not changed', why: fault.why, unaffected })
}
