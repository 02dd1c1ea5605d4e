/**
 * Admission control: checks whether a node can keep all reservations with a new one (Definition 2, spec/haechi 9).
 *
 * Static checks admit equality. The finishing time under equal shares is part of every answer and refuses only if the settings say so:
 * the paper admits its own Example 2, which cannot be kept.
 */
import type { Failure } from '../base/result.ts'
import { NS_PER_S } from '../base/units.ts'
import { finishingTime } from './fluid.ts'
import { proportion } from './proportion.ts'
import { checkReservation, type CapacityProfile } from './settings.ts'

export type AdmissionReason = 'aggregate' | 'local' | 'fluid'

export interface AdmissionAnswer {
  readonly isAdmitted: boolean
  readonly reasons: readonly AdmissionReason[]
  /** Sum of all reservations including the new one. */
  readonly total: number
  /** Tokens above the aggregate and above the local capacity; <= 0 if it suffices. */
  readonly aggregateOver: number
  readonly localOver: number
  /** Time at which all reservations finish under equal shares (F in the paper), ns from the start of the period. */
  readonly finishNs: number
  readonly isFeasible: boolean
}

export interface AdmissionInput {
  readonly admitted: readonly number[]
  readonly reservation: number
  /** C_G is the current capacity estimate, C_L the profiled one, I/O/s. */
  readonly capacity: CapacityProfile
  readonly periodNs: number
  /** True to refuse a reservation that would finish after the period. */
  readonly fluid: boolean
}

export function admission(input: AdmissionInput): AdmissionAnswer {
  const { admitted, reservation, capacity, periodNs, fluid } = input
  const total = admitted.reduce((sum, r) => sum + r, reservation)
  const aggregateOver = total - Math.floor((capacity.globalIops * periodNs) / NS_PER_S)
  const localOver = reservation - Math.floor((capacity.localIops * periodNs) / NS_PER_S)
  const finishNs = finishingTime([...admitted, reservation], capacity)
  const isFeasible = finishNs <= periodNs
  const reasons: AdmissionReason[] = []
  if (aggregateOver > 0) reasons.push('aggregate')
  if (localOver > 0) reasons.push('local')
  if (fluid && !isFeasible) reasons.push('fluid')
  return { isAdmitted: reasons.length === 0, reasons, total, aggregateOver, localOver, finishNs, isFeasible }
}

const CODES = { aggregate: 'E_AGGREGATE_CAPACITY', local: 'E_LOCAL_CAPACITY', fluid: 'E_FLUID_FINISH' } as const

/** Returns the capacity that a reservation exceeds and by how much; null if it is admitted. */
export function admissionRefusal(input: AdmissionInput): Failure | null {
  const bad = checkReservation(input.reservation)
  if (bad) return bad
  const answer = admission(input)
  const [reason] = answer.reasons
  if (reason === undefined) return null
  const why = answer.reasons.map((r) => {
    if (r === 'aggregate') return `all reservations together exceed the node's capacity by ${answer.aggregateOver} I/Os`
    if (r === 'local') return `it exceeds the capacity of one client by ${answer.localOver} I/Os per period`
    return `under equal shares all reservations finish ${(answer.finishNs - input.periodNs) / 1e6} ms after the period`
  })
  return {
    code: CODES[reason],
    what: `A reservation of ${input.reservation} I/Os per period is refused`,
    why: why.join('; '),
    unaffected: 'Admitted clients keep their reservations.',
  }
}

/** The local constraint at time t: R - N(t) <= (T - t) C_L. Detects backlogged clients; never a reason to refuse. */
export function localConstraint(
  reservation: number,
  completed: number,
  remainingNs: number,
  localIops: number,
): { isKept: boolean; residual: number; capacity: number } {
  const residual = reservation - completed
  const capacity = proportion(localIops, Math.max(0, remainingNs), NS_PER_S)
  return { isKept: residual <= capacity, residual, capacity }
}
