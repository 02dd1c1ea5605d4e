/**
 * Machine interface of the algorithms: one JSON line in, one JSON line out. Input may be any text, so the type of every
 * field is checked here, and its value in `allocate`.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Algorithm, Forecast, JobDemand, Rates } from './algorithms/algorithm.ts'
import { allocate, type AlgorithmCode, type AlgorithmFault } from './algorithms/allocate.ts'
import type { Leftover } from './algorithms/proportional-sharing.ts'
import type { Oversubscription } from './algorithms/scaled.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Evaluates control cycles, line by line, without state between them.
 *
 * A line is
 * `{"algorithm","max_rate","jobs":[{"id","demand","usage","forecast"?:{"arrivals","volatility","waiting"}}],"epsilon"?,"slots"?,"oversubscription"?,"leftover"?}`,
 * rates in op/s, demand and usage null or absent if unknown. The answer is `{"rates":{ID:op/s}}`, or
 * `{"error":{"code","message"}}` with an `AlgorithmCode`.
 */
export class PadllEval {
  /**
   * Returns the answer to one line, without a line end. Never throws.
   *
   * @param line  one line of input, with or without surrounding white space.
   */
  answer(line: string): string {
    const answered = answer(line)
    return JSON.stringify(
      answered.ok ? { rates: Object.fromEntries(answered.value) } : { error: { ...answered.error } },
    )
  }
}

const refuse = (code: AlgorithmCode, message: string): Result<never, AlgorithmFault> => fail({ code, message })

function answer(line: string): Result<Rates, AlgorithmFault> {
  let fields: unknown
  try {
    fields = JSON.parse(line)
  } catch (error) {
    return refuse('E_REQUEST', `the line is not JSON: ${(error as SyntaxError).message}`)
  }
  if (!isFields(fields)) return refuse('E_REQUEST', 'the line must be a JSON object')
  const { algorithm, max_rate: maxRate, epsilon, slots, oversubscription, leftover } = fields
  if (!isNumber(maxRate)) return refuse('E_MAX_RATE', 'max_rate must be a finite number > 0')
  if (!isNumberOrNone(epsilon)) return refuse('E_EPSILON', 'epsilon must be in [0,1]')
  if (!isNumberOrNone(slots)) return refuse('E_SLOTS', 'slots must be a whole number >= 1')
  const jobs = readJobs(fields.jobs)
  if (!jobs.ok) return jobs
  // `allocate` validates the values of `algorithm`, `oversubscription` and `leftover`.
  return allocate({
    algorithm: algorithm as Algorithm,
    maxRate,
    jobs: jobs.value,
    epsilon: epsilon ?? undefined,
    slots: slots ?? undefined,
    oversubscription: (oversubscription ?? undefined) as Oversubscription | undefined,
    leftover: (leftover ?? undefined) as Leftover | undefined,
  })
}

function readJobs(list: unknown): Result<JobDemand[], AlgorithmFault> {
  if (!Array.isArray(list)) return refuse('E_JOBS', 'jobs must be a list')
  const jobs: JobDemand[] = []
  for (const item of list as unknown[]) {
    if (!isFields(item)) return refuse('E_JOBS', 'a job must be an object')
    const { id, demand, usage, forecast } = item
    if (typeof id !== 'string') return refuse('E_JOB_ID', 'job id must be a string')
    if (!isNumberOrNone(demand)) return refuse('E_DEMAND', 'demand must be a number > 0')
    if (!isNumberOrNone(usage)) return refuse('E_USAGE', 'usage must be >= 0')
    const expected = forecast == null ? null : forecastOf(forecast)
    if (expected === undefined) {
      return refuse('E_FORECAST', 'forecast must be an object of arrivals, volatility and waiting')
    }
    jobs.push({ id, demand: demand ?? null, usage: usage ?? null, forecast: expected })
  }
  return ok(jobs)
}

function forecastOf(given: unknown): Forecast | undefined {
  if (!isFields(given)) return undefined
  const { arrivals, volatility, waiting } = given
  return isNumber(arrivals) && isNumber(volatility) && isNumber(waiting) ? { arrivals, volatility, waiting } : undefined
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** JSON has no NaN, but 1e999 is Infinity. */
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isNumberOrNone = (value: unknown): value is number | null | undefined =>
  value === undefined || value === null || isNumber(value)
