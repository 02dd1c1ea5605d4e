/** Step 1 of a period: every active job gets its share of the budget by priority. */
import type { PeriodColumns } from './period-columns.ts'
import { distribute } from './rounding.ts'

/**
 * Distributes the budget by priority, p = nodes / nodes of all active jobs. The tokens sum to the budget; no record moves.
 *
 * Source: AdapTBF III-C1, equations (1)(2). Deviations: shares are fractions of the whole budget M, not of T * dt, or the remainders
 * would grow without bound when T * dt is not whole.
 *
 * @param columns  `nodes`, `allNodes`, `rho` and `budget` are read; `priority`, `initial`, `initialRho`, `rho` are filled.
 */
export function allocateInitially(columns: PeriodColumns): void {
  const { count, budget, allNodes, nodes, priority, share, rho, initial, scratch } = columns
  for (let i = 0; i < count; i++) {
    priority[i] = nodes[i]! / allNodes
    share[i] = (budget * nodes[i]!) / allNodes
  }
  columns.initialCorrections = count === 0 ? 0 : distribute(budget, count, { share, rho, granted: initial, scratch })
  columns.initialRho.set(rho.subarray(0, count))
}
