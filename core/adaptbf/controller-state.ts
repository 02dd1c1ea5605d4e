/** Saved state of a controller and its validation. */
import { type Result, ok } from '../base/result.ts'
import type { Allocation, Decision } from '../control/controller.ts'
import { RATE_MAX, RATE_MIN } from '../lustre/nrs-tbf-rule.ts'
import { type AllocatorState, badState, checkAllocatorState, isFields } from './allocator-state.ts'
import { type PairLedgerState, checkPairLedgerState } from './pair-ledger-state.ts'

/** State of the controller of one target between two periods. JSON preserves it exactly. */
export interface AdapTbfState {
  readonly version: 1
  /** T as adapted by `autoT`, RPC/s. */
  readonly maxRatePerSec: number
  readonly allocator: AllocatorState
  readonly pairs: PairLedgerState
  /** Allocation that is held while no period can be evaluated. */
  readonly last: Pick<Decision, 'budget' | 'allocations'>
}

/** Validates a saved controller state; records and pairs must agree for every job. */
export function checkAdapTbfState(saved: unknown): Result<AdapTbfState> {
  if (!isFields(saved) || saved.version !== 1) return badState('its version is not 1')
  const { maxRatePerSec } = saved
  if (!(typeof maxRatePerSec === 'number' && Number.isFinite(maxRatePerSec) && maxRatePerSec > 0)) {
    return badState('the rate is not above 0')
  }
  const allocator = checkAllocatorState(saved.allocator)
  if (!allocator.ok) return allocator
  const pairs = checkPairLedgerState(saved.pairs)
  if (!pairs.ok) return pairs
  const last = checkLast(saved.last)
  if (!last.ok) return last
  const owed = new Map(pairs.value.jobs.map((job) => [job.id, job.lent - job.reclaimed - job.borrowed + job.repaid]))
  for (const { id, record } of allocator.value.jobs) {
    if ((owed.get(id) ?? 0) !== record) return badState(`record and pairs of job ${JSON.stringify(id)} differ`)
    owed.delete(id)
  }
  if (owed.size > 0) return badState('the pairs name a job without a record')
  return ok({ version: 1, maxRatePerSec, allocator: allocator.value, pairs: pairs.value, last: last.value })
}

function checkLast(last: unknown): Result<AdapTbfState['last']> {
  if (!isFields(last) || !Number.isSafeInteger(last.budget) || !Array.isArray(last.allocations)) {
    return badState('the last allocation is invalid')
  }
  const allocations: Allocation[] = []
  for (const given of last.allocations as readonly unknown[]) {
    if (!isAllocation(given)) return badState('the last allocation is invalid')
    const { jobId, tokens, ratePerSec, record, recordDelta } = given
    allocations.push({ jobId, tokens, ratePerSec, record, recordDelta })
  }
  return ok({ budget: last.budget as number, allocations })
}

function isAllocation(given: unknown): given is Allocation {
  if (!isFields(given)) return false
  const { jobId, tokens, ratePerSec, record, recordDelta } = given
  if (typeof jobId !== 'string' || jobId === '') return false
  if (![tokens, ratePerSec, record, recordDelta].every(Number.isSafeInteger)) return false
  // A held allocation is sent unchanged, so it must be valid for a rule.
  return (tokens as number) >= 0 && (ratePerSec as number) >= RATE_MIN && (ratePerSec as number) <= RATE_MAX
}
