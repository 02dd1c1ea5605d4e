/** Saved state of an allocator and its validation. */
import { type Failure, type Result, fail, ok } from '../base/result.ts'
import { MAX_BUDGET } from './budget.ts'

/** State of one job that was ever active. */
export interface JobState {
  readonly id: string
  /** Tokens lent (+) or borrowed (-). */
  readonly record: number
  /** Running rounding remainder, tokens. */
  readonly rho: number
  /** Final tokens of the last period; null if the job was not active in it. */
  readonly tokens: number | null
}

/** An allocator between two periods. Plain data: JSON carries it without loss. */
export interface AllocatorState {
  readonly version: 1
  readonly jobs: readonly JobState[]
}

export type Fields = Readonly<Record<string, unknown>>
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Failure for an invalid saved state: the state is discarded, nothing else is lost. */
export const badState = (why: string): { readonly ok: false; readonly error: Failure } =>
  fail({
    code: 'BAD_STATE',
    what: 'The saved records cannot be restored',
    why,
    unaffected: 'Control starts with empty records.',
  })

/** Validates a saved allocator state. */
export function checkAllocatorState(saved: unknown): Result<AllocatorState> {
  if (!isFields(saved) || saved.version !== 1) return badState('its version is not 1')
  if (!Array.isArray(saved.jobs)) return badState('jobs is not a list')
  const jobs: JobState[] = []
  const seen = new Set<string>()
  let records = 0
  let remainders = 0
  for (const [at, job] of (saved.jobs as readonly unknown[]).entries()) {
    if (!isJobState(job, saved.jobs.length)) return badState(`jobs[${at}] is not a job`)
    if (seen.has(job.id)) return badState(`job ${JSON.stringify(job.id)} is listed twice`)
    seen.add(job.id)
    records += job.record
    remainders += job.rho
    jobs.push({ id: job.id, record: job.record, rho: job.rho, tokens: job.tokens })
  }
  if (records !== 0) return badState(`the records sum to ${records}, not to 0`)
  if (Math.abs(remainders) > 1e-3 * Math.max(1, jobs.length)) return badState('the remainders do not sum to 0')
  return ok({ version: 1, jobs })
}

function isJobState(job: unknown, count: number): job is JobState {
  if (!isFields(job)) return false
  const { id, record, rho, tokens } = job
  return (
    typeof id === 'string' &&
    id !== '' &&
    Number.isSafeInteger(record) &&
    typeof rho === 'number' &&
    Math.abs(rho) <= Math.max(1, count) &&
    (tokens === null || (Number.isSafeInteger(tokens) && (tokens as number) >= 0 && (tokens as number) <= MAX_BUDGET))
  )
}
