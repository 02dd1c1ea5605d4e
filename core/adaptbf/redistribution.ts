/** Step 2 of a period: tokens above the demand are lent to the jobs that can use them. */
import type { PeriodColumns } from './period-columns.ts'
import { EPS, distribute } from './rounding.ts'

/**
 * Takes every token above a job's demand and redistributes the sum by distribution factor over all active jobs, including the givers.
 * Tokens given are recorded as lent, tokens received as borrowed.
 *
 * Source: AdapTBF III-C2, equations (3)-(8). Deviations: a job that was not active in the preceding period is measured against this
 * period's initial tokens, since equation (3) has no value for it; a denominator of 0 tokens is taken as 1.
 *
 * @param columns  after `allocateInitially`; the tokens still sum to the budget and the records keep their sum.
 */
export function redistribute(columns: PeriodColumns): void {
  const { count, allNodes, nodes, demand, previous, initial, utilization, surplus, factor } = columns
  let surplusTotal = 0
  let factorTotal = 0
  for (let i = 0; i < count; i++) {
    const base = Math.max(1, previous[i]! >= 0 ? previous[i]! : initial[i]!)
    const u = demand[i]! / base
    utilization[i] = u
    // u + u * p and u * p over one common denominator: integers up to a single division, so as exact as a double can be.
    const parts = u > 1 + EPS ? allNodes + nodes[i]! : nodes[i]!
    factor[i] = (demand[i]! * parts) / (base * allNodes)
    factorTotal += factor[i]!
    surplus[i] = Math.max(0, initial[i]! - demand[i]!)
    surplusTotal += surplus[i]!
  }
  columns.surplusTotal = surplusTotal

  const { priority, share, rho, received, scratch, record, redistributed, redistributedRecord } = columns
  // Demand >= 1 and nodes >= 1 rule out that all factors are 0; otherwise the priorities, which sum to 1, would be used.
  const weight = factorTotal > 0 ? factor : priority
  const allWeights = factorTotal > 0 ? factorTotal : 1
  for (let i = 0; i < count; i++) share[i] = (weight[i]! * surplusTotal) / allWeights
  columns.redistributedCorrections =
    count === 0 ? 0 : distribute(surplusTotal, count, { share, rho, granted: received, scratch })
  for (let i = 0; i < count; i++) {
    const lent = surplus[i]! - received[i]!
    redistributed[i] = initial[i]! - lent
    redistributedRecord[i] = record[i]! + lent
  }
  columns.redistributedRho.set(rho.subarray(0, count))
}
