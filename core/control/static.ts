/**
 * Baseline with fixed shares: each job has its share of the target's rate, used or not. No ledger; the unused share of a job is not
 * available to others.
 */
import { byCodeUnit } from '../base/order.ts'
import { invariant } from '../base/result.ts'
import { NS_PER_S } from '../base/units.ts'
import { RATE_MAX } from '../lustre/nrs-tbf-rule.ts'
import type { Allocation, Controller, Decision, JobDemand, Observation } from './controller.ts'

/** Configuration of one target. */
export interface StaticOptions {
  /** Rate of the target that the jobs divide, T, RPC/s, > 0. */
  readonly maxRatePerSec: number
}

/**
 * Divides the rate of one target by nodes, over all jobs seen on it so far, including idle ones.
 *
 * Tokens of a period sum to the budget: whole parts first, then one each by largest fraction. A rate is the job's exact share of T
 * rounded to RPC/s, so jobs of equal nodes have equal rates even where their tokens differ by one.
 *
 * Source: AdapTBF IV-C, "Static BW": priority by compute nodes, equation (1). Deviations: the set of jobs is not configured but learned,
 * so shares shrink when a new job appears; a job keeps its last known number of nodes.
 */
export class StaticController implements Controller {
  readonly name = 'static'
  readonly #maxRatePerSec: number
  readonly #nodes = new Map<string, number>()
  #allocations: readonly Allocation[] = []
  #budget = -1

  /** @throws InvariantError if the rate is not above 0: options are validated on input. */
  constructor({ maxRatePerSec }: StaticOptions) {
    invariant(Number.isFinite(maxRatePerSec) && maxRatePerSec > 0, 'the rate that static shares divide is above 0')
    this.#maxRatePerSec = maxRatePerSec
  }

  step({ target, atNs, periodNs, jobs }: Observation): Decision {
    const exact = (this.#maxRatePerSec * periodNs) / NS_PER_S
    // Rounding may put a whole product slightly below itself.
    const budget = Number.isFinite(exact) && exact > 0 ? Math.floor(exact + 1e-9) : Math.max(0, this.#budget)
    const hasLearned = this.#learn(jobs)
    if (hasLearned || budget !== this.#budget) {
      this.#budget = budget
      this.#allocations = divide(this.#nodes, this.#maxRatePerSec, budget)
    }
    return {
      target,
      atNs,
      budget,
      allocations: this.#allocations,
      records: new Map(),
    }
  }

  #learn(jobs: readonly JobDemand[]): boolean {
    let hasLearned = false
    for (const { jobId, nodes, served } of jobs) {
      if (jobId === '' || !(served > 0)) continue
      const known = this.#nodes.get(jobId)
      const named = nodes !== undefined && Number.isFinite(nodes) ? toNodes(nodes) : (known ?? 1)
      if (named === known) continue
      this.#nodes.set(jobId, named)
      hasLearned = true
    }
    return hasLearned
  }
}

/** Clamps a number of nodes: at least 1, and small enough that a sum over all jobs stays finite. */
const toNodes = (value: number): number => Math.min(2 ** 52, Math.max(1, value))

function divide(nodesOf: ReadonlyMap<string, number>, maxRatePerSec: number, budget: number): Allocation[] {
  const order = [...nodesOf].sort((a, b) => b[1] - a[1] || byCodeUnit(a[0], b[0]))
  const allNodes = order.reduce((sum, [, nodes]) => sum + nodes, 0)
  const shares = order.map(([jobId, nodes]) => {
    const exact = (budget * nodes) / allNodes
    const tokens = Math.floor(exact + 1e-9)
    // Rounded to billionths, so that equal fractions stay equal and the order breaks ties.
    return { jobId, tokens, rest: Math.round((exact - tokens) * 1e9), rate: (maxRatePerSec * nodes) / allNodes }
  })
  const remaining = shares.reduce((rest, { tokens }) => rest - tokens, budget)
  const winners = [...shares].sort((a, b) => b.rest - a.rest).slice(0, Math.max(0, remaining))
  for (const share of winners) share.tokens++
  return shares.map(({ jobId, tokens, rate }) => {
    const ratePerSec = Math.min(RATE_MAX, Math.max(1, Math.round(rate)))
    return { jobId, tokens, ratePerSec, record: 0, recordDelta: 0 }
  })
}
