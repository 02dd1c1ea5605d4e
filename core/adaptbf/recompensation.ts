/** Step 3 of a period: borrowers give tokens back to the lenders that need them. */
import type { Coefficient } from '../controllers/settings.ts'
import type { PeriodColumns } from './period-columns.ts'
import { distribute, floorTokens } from './rounding.ts'

/**
 * Reclaims tokens from jobs that owed before and after step 2 (J-) and distributes them to jobs that were owed before and after it (J+),
 * by distribution factor. Without lenders nothing is reclaimed.
 *
 * Source: AdapTBF III-C3, equations (9)-(20). Deviations: (13) is one coefficient for the period, since it sums over J+ and applies to
 * J-; it can exceed 1, so a borrower's repayment is also bounded by its tokens; only lenders take part in the rounding, because no other
 * job may change in this step.
 *
 * @param columns  after `redistribute`; `final` sums to the budget, `finalRecord` keeps the sum of `record`.
 */
export function recompensate(columns: PeriodColumns, coefficient: Coefficient = 'max'): void {
  const lenders = findSides(columns, coefficient === 'max' ? Math.max : Math.min)
  reclaim(columns)
  repay(columns, lenders)
  const { count, redistributed, redistributedRecord, reclaimed, repaid, final, finalRecord } = columns
  for (let i = 0; i < count; i++) {
    const moved = repaid[i]! - reclaimed[i]!
    final[i] = redistributed[i]! + moved
    finalRecord[i] = redistributedRecord[i]! - moved
  }
}

/** Equations (9)-(13): determines both sides, the lenders' future utilisation and the coefficient. Returns the number of lenders. */
function findSides(columns: PeriodColumns, against1: (one: number, u: number) => number): number {
  const { count, record, redistributedRecord, side, demand, redistributed, futureUtilization } = columns
  const { utilization, priority, members } = columns
  let lenders = 0
  let coefficient = 0
  for (let i = 0; i < count; i++) {
    const before = record[i]!
    const after = redistributedRecord[i]!
    side[i] = before > 0 && after > 0 ? 1 : before < 0 && after < 0 ? -1 : 0
    if (side[i] !== 1) continue
    const future = demand[i]! / Math.max(1, redistributed[i]!)
    futureUtilization[i] = future
    coefficient += (priority[i]! * (against1(1, utilization[i]!) + Math.max(0, 1 - future))) / 2
    members[lenders++] = i
  }
  columns.coefficient = coefficient
  return lenders
}

/** Equations (14)(17): repayment of each borrower, bounded by its debt at the start and by its tokens. */
function reclaim(columns: PeriodColumns): void {
  const { count, side, record, redistributed, reclaimed, coefficient } = columns
  let total = 0
  for (let i = 0; i < count; i++) {
    const has = redistributed[i]!
    reclaimed[i] = side[i] === -1 ? Math.min(-record[i]!, floorTokens(coefficient * has), has) : 0
    total += reclaimed[i]!
  }
  columns.reclaimedTotal = total
}

/** Equation (18): distributes the reclaimed tokens over the lenders, packed so that the hand-out sees only them. */
function repay(columns: PeriodColumns, lenders: number): void {
  const { count, members, factor, rho, share, memberRho, memberGranted, scratch, repaid, reclaimedTotal } = columns
  repaid.fill(0, 0, count)
  columns.recompensatedCorrections = 0
  if (reclaimedTotal === 0) return
  let allFactors = 0
  for (let m = 0; m < lenders; m++) allFactors += factor[members[m]!]!
  for (let m = 0; m < lenders; m++) {
    const i = members[m]!
    share[m] = (factor[i]! * reclaimedTotal) / allFactors
    memberRho[m] = rho[i]!
  }
  columns.recompensatedCorrections = distribute(reclaimedTotal, lenders, {
    share,
    rho: memberRho,
    granted: memberGranted,
    scratch,
  })
  for (let m = 0; m < lenders; m++) {
    const i = members[m]!
    repaid[i] = memberGranted[m]!
    rho[i] = memberRho[m]!
  }
}
