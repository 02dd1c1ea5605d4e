/**
 * One control cycle's decision: the rate of each job of one scope, from its demand and its usage. Checks its input, then
 * hands it to the chosen algorithm. Floors (at least 1 op/s) and shares per stage are cut at enforcement, not here.
 *
 * Source: spec/padll 6, whose resolutions of what the paper leaves open are numbered in the algorithms' files.
 */
import { fail, ok, type Result } from '../../base/result.ts'
import { type Algorithm, ALGORITHMS, type JobDemand, type Rates } from './algorithm.ts'
import { toClaim } from './claim.ts'
import { priority } from './priority.ts'
import { type Leftover, proportionalSharing } from './proportional-sharing.ts'
import { EPSILON, psfa } from './psfa.ts'
import type { Oversubscription } from './scaled.ts'
import { staticLimits } from './static-limits.ts'
import { uniform } from './uniform.ts'

export interface AllocationInput {
  readonly algorithm: Algorithm
  /** Max_R, op/s, > 0: most that all jobs together may do. Infinity where no limit stands; then only `static`. */
  readonly maxRate: number
  /** Active jobs, in any order: it changes nothing but the order of the answer. */
  readonly jobs: readonly JobDemand[]
  /** PSFA: head-room as a part of what a job has not used of its demand, 0..1. @default 0.25 */
  readonly epsilon?: number | undefined
  /** Uniform: jobs that the limit is divided for, at least 1. @default the number of jobs */
  readonly slots?: number | undefined
  /** Static limits and priority. @default 'scale' */
  readonly oversubscription?: Oversubscription | undefined
  /** Proportional sharing: how what no job demands is handed out. @default 'equal' */
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

/** Why a cycle has no rates; the rates of the cycle before stay. */
export interface AlgorithmFault {
  readonly code: AlgorithmCode
  readonly message: string
}

/**
 * The rates of the jobs, in the order of the input. Jobs that nothing limits are left out (`static` without a policy).
 *
 * Without `allow` the rates sum to at most `maxRate`; PSFA's and proportional sharing's sum to it when a job is active (to
 * rounding, 1e-12 relative).
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
  const rates =
    algorithm === 'psharing' ? proportionalSharing(maxRate, claims, leftover) : psfa(maxRate, claims, epsilon)
  return ok(new Map(jobs.map(({ id }) => [id, rates.get(id)!])))
}

const isPositive = (value: number): boolean => Number.isFinite(value) && value > 0

/** The first fault, in the order: algorithm, limit, options, jobs. */
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
  for (const { id, demand, usage } of jobs) {
    if (id === '') return { code: 'E_JOB_ID', message: 'job id must not be empty' }
    if (ids.has(id)) return { code: 'E_JOB_ID', message: 'duplicate job id' }
    ids.add(id)
    if (demand !== null && !isPositive(demand)) return { code: 'E_DEMAND', message: 'demand must be a number > 0' }
    if (usage !== null && !(Number.isFinite(usage) && usage >= 0)) {
      return { code: 'E_USAGE', message: 'usage must be >= 0' }
    }
  }
  return undefined
}
