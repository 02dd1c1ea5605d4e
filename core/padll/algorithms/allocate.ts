/**
 * Rate allocation of one control cycle: the rate of each job of one scope, from its demand and its usage. Checks its
 * input, then calls the chosen algorithm. Floors (at least 1 op/s) and shares per stage are applied at enforcement, not
 * here.
 *
 * Source: spec/padll 6, whose resolutions of what the paper leaves open are numbered in the algorithms' files.
 */
import { fail, ok, type Result } from '../../base/result.ts'
import { type Algorithm, ALGORITHMS, type JobDemand, type Rates } from './algorithm.ts'
import { toClaim, type Claim } from './claim.ts'
import { type Leftover, proportionalSharing } from './proportional-sharing.ts'
import { EPSILON, psfa } from './psfa.ts'
import { type ForecastClaim, psfaAdaptive } from './psfa-adaptive.ts'
import { type Oversubscription, scaled } from './scaled.ts'

/**
 * Limits by policy. Jobs without one are omitted as unlimited, so the sum below covers only named jobs. Source: paper
 * V-A, V-B; spec/padll 5 (STATIC).
 *
 * Deviation: spec/padll 6 row 9 counts a missing demand as 1 op/s; as a limit that would stop jobs that no policy
 * names. Row 10: limits that sum to more than `maxRate` are scaled down, unless `oversubscription` is `allow`.
 *
 * @param maxRate  op/s; may be Infinity.
 */
function staticLimits(maxRate: number, jobs: readonly JobDemand[], oversubscription: Oversubscription): Rates {
  const limits = new Map(jobs.flatMap(({ id, demand }) => (demand === null ? [] : [[id, demand] as const])))
  return oversubscription === 'allow' ? limits : scaled(limits, maxRate)
}

/**
 * Returns the demands as static rates, scaled down to sum to `maxRate` unless `oversubscription` is `allow` (as in the
 * public code); the rest of `maxRate` is not distributed. Source: paper IV-A; spec/padll 6, row 10.
 */
function priority(maxRate: number, claims: readonly Claim[], oversubscription: Oversubscription): Rates {
  const demands = new Map(claims.map(({ id, demand }) => [id, demand]))
  return oversubscription === 'allow' ? demands : scaled(demands, maxRate)
}

/**
 * Returns `maxRate` / slots for each job, however many are active; with more jobs than slots it divides by the jobs, so
 * that the sum stays within the limit. Source: paper IV-A, V-C; spec/padll 6, rows 10 and 11.
 *
 * @param slots  expected maximum of concurrent jobs. Default: the number of jobs.
 */
function uniform(maxRate: number, claims: readonly Claim[], slots = 1): Rates {
  const rate = maxRate / Math.max(slots, claims.length)
  return new Map(claims.map(({ id }) => [id, rate]))
}

export interface AllocationInput {
  readonly algorithm: Algorithm
  /** Max_R, op/s, > 0: limit of all jobs together. Infinity for no limit; then only `static`. */
  readonly maxRate: number
  /** Active jobs. Their order affects only the order of the result. */
  readonly jobs: readonly JobDemand[]
  /** PSFA: headroom as a part of a job's unused demand, 0..1. @default 0.25 */
  readonly epsilon?: number | undefined
  /** Uniform: number of jobs that the limit is divided by, at least 1. @default the number of jobs */
  readonly slots?: number | undefined
  /** Static limits and priority. @default 'scale' */
  readonly oversubscription?: Oversubscription | undefined
  /** Proportional sharing: distribution of the rate that no job demands. @default 'equal' */
  readonly leftover?: Leftover | undefined
}

export type AlgorithmCode =
  | 'E_REQUEST'
  | 'E_ALGORITHM'
  | 'E_MAX_RATE'
  | 'E_EPSILON'
  | 'E_SLOTS'
  | 'E_OVERSUBSCRIPTION'
  | 'E_LEFTOVER'
  | 'E_JOBS'
  | 'E_JOB_ID'
  | 'E_DEMAND'
  | 'E_USAGE'
  | 'E_FORECAST'

/** Reason that a cycle yields no rates; the previous rates stay in force. */
export interface AlgorithmFault {
  readonly code: AlgorithmCode
  readonly message: string
}

/**
 * Returns the rates of the jobs, in the order of the input. Unlimited jobs are omitted (`static` without a policy).
 *
 * Without `allow` the rates sum to at most `maxRate`; with PSFA and proportional sharing they sum to it when a job is
 * active (to rounding, 1e-12 relative).
 *
 * @complexity  O(n log n) in the number of jobs.
 */
export function allocate(input: AllocationInput): Result<Rates, AlgorithmFault> {
  const fault = faultOf(input)
  if (fault) return fail(fault)
  const { algorithm, maxRate, jobs, epsilon = EPSILON, slots, oversubscription = 'scale', leftover = 'equal' } = input
  if (algorithm === 'static') return ok(staticLimits(maxRate, jobs, oversubscription))
  const claims = jobs.map(toClaim)
  if (algorithm === 'uniform') return ok(uniform(maxRate, claims, slots))
  if (algorithm === 'priority') return ok(priority(maxRate, claims, oversubscription))
  const forecasts = algorithm === 'psfa-adaptive' ? forecastClaims(jobs) : null
  const rates =
    algorithm === 'psharing'
      ? proportionalSharing(maxRate, claims, leftover)
      : forecasts === null
        ? psfa(maxRate, claims, epsilon)
        : psfaAdaptive(maxRate, forecasts)
  return ok(new Map(jobs.map(({ id }) => [id, rates.get(id)!])))
}

/** Claims with forecasts; null if that of a job is missing which is not in its first cycle. */
function forecastClaims(jobs: readonly JobDemand[]): ForecastClaim[] | null {
  const claims: ForecastClaim[] = []
  for (const job of jobs) {
    const claim = toClaim(job)
    const forecast =
      job.forecast ?? (job.usage === null ? { arrivals: claim.demand, volatility: claim.demand, waiting: 0 } : null)
    if (forecast === null) return null
    claims.push({ ...claim, forecast })
  }
  return claims
}

/** True if `psfa-adaptive` has to use PSFA's rule, because a job's waiting operations are not known. */
export const fallsBack = (algorithm: Algorithm, jobs: readonly JobDemand[]): boolean =>
  algorithm === 'psfa-adaptive' && forecastClaims(jobs) === null

const isAmount = (value: number): boolean => Number.isFinite(value) && value >= 0
const isPositive = (value: number): boolean => Number.isFinite(value) && value > 0

/** Returns the first fault, in the order: algorithm, limit, options, jobs. */
function faultOf(input: AllocationInput): AlgorithmFault | undefined {
  const { algorithm, maxRate, jobs, epsilon, slots, oversubscription, leftover } = input
  const isOf = <T>(allowed: readonly T[], value: T | undefined): boolean =>
    value === undefined || allowed.includes(value)
  if (!ALGORITHMS.includes(algorithm)) {
    return { code: 'E_ALGORITHM', message: `algorithm must be one of ${ALGORITHMS.join(', ')}` }
  }
  if (!isPositive(maxRate) && !(algorithm === 'static' && maxRate === Infinity)) {
    return { code: 'E_MAX_RATE', message: 'max_rate must be a finite number > 0' }
  }
  if (epsilon !== undefined && !(epsilon >= 0 && epsilon <= 1)) {
    return { code: 'E_EPSILON', message: 'epsilon must be in [0,1]' }
  }
  if (slots !== undefined && !(Number.isSafeInteger(slots) && slots >= 1)) {
    return { code: 'E_SLOTS', message: 'slots must be a whole number >= 1' }
  }
  if (!isOf(['scale', 'allow'], oversubscription)) {
    return { code: 'E_OVERSUBSCRIPTION', message: 'oversubscription must be scale or allow' }
  }
  if (!isOf(['equal', 'proportional'], leftover)) {
    return { code: 'E_LEFTOVER', message: 'leftover must be equal or proportional' }
  }
  return faultOfJobs(jobs)
}

function faultOfJobs(jobs: readonly JobDemand[]): AlgorithmFault | undefined {
  const ids = new Set<string>()
  for (const { id, demand, usage, forecast } of jobs) {
    if (id === '') return { code: 'E_JOB_ID', message: 'job id must not be empty' }
    if (ids.has(id)) return { code: 'E_JOB_ID', message: 'duplicate job id' }
    ids.add(id)
    if (demand !== null && !isPositive(demand)) return { code: 'E_DEMAND', message: 'demand must be a number > 0' }
    if (usage !== null && !isAmount(usage)) {
      return { code: 'E_USAGE', message: 'usage must be >= 0' }
    }
    if (forecast != null && ![forecast.arrivals, forecast.volatility, forecast.waiting].every(isAmount)) {
      return { code: 'E_FORECAST', message: 'arrivals, volatility and waiting must be >= 0' }
    }
  }
  return undefined
}
