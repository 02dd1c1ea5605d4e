/**
 * Admission control: whether a node can still keep all reservations with a new one (Definition 2, spec/haechi 9).
 *
 * Static checks admit equality. The finishing time under equal shares is told with every answer and refuses only where the
 * settings say so: the paper admits its own Example 2, which cannot be kept.
 */
import type { Failure } from '../base/result.ts'
import { NS_PER_S } from '../base/units.ts'
import { finishingTime } from './fluid.ts'
import { proportion } from './proportion.ts'
import { checkTokens, type CapacityProfile } from './settings.ts'

export type AdmissionReason = 'aggregate' | 'local' | 'fluid'

export interface AdmissionAnswer {
  readonly isAdmitted: boolean
  readonly reasons: readonly AdmissionReason[]
  /** Sum of all reservations with the new one. */
  readonly total: number
  /** Tokens over the aggregate and over the local capacity; <= 0 where it is enough. */
  readonly aggregateOver: number
  readonly localOver: number
  /** F, ns. */
  readonly finishNs: number
  readonly isFeasible: boolean
}

export interface AdmissionInput {
  readonly admitted: readonly number[]
  readonly reservation: number
  /** C_G is the capacity as estimated now, C_L as profiled, I/O/s. */
  readonly capacity: CapacityProfile
  readonly periodNs: number
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

/** Which capacity a reservation is over and by how much; null when it is admitted. */
export function admissionRefusal(input: AdmissionInput): Failure | null {
  const bad = checkTokens('The reservation', input.reservation)
  if (bad) return bad
  const answer = admission(input)
  const [reason] = answer.reasons
  if (reason === undefined) return null
  const why = answer.reasons.map((r) => {
    if (r === 'aggregate') return `all reservations together are ${answer.aggregateOver} I/Os over the node's capacity`
    if (r === 'local') return `it is ${answer.localOver} I/Os over what one client can do in a period`
    return `under equal shares all reservations finish ${(answer.finishNs - input.periodNs) / 1e6} ms after the period`
  })
  return {
    code: CODES[reason],
    what: `A reservation of ${input.reservation} I/Os a period is refused`,
    why: why.join('; '),
    unaffected: 'Admitted clients keep theirs.',
  }
}

/** The local constraint at time t: R - N(t) <= (T - t) C_L. A detector for backlogged clients, never a reason to refuse. */
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
