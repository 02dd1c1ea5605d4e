/**
 * Sum of the control periods of one server since the last sample: rules, rates and records are the newest, and tokens,
 * demand and moves add up, so that a sample reports its whole length however many periods it has.
 */
import type { PeriodReport } from '#core/adaptbf/controller.ts'
import type { PairMove } from '#core/adaptbf/pair-accounts.ts'
import type { Allocation, Decision } from '#core/control/controller.ts'
import type { ServerPeriod } from './control-loop.ts'

/** Decisions and reports of one target. */
class TargetSum {
  #decision: Decision | undefined
  #report: PeriodReport | undefined
  #budget = 0
  /** Allocations by job, with those of jobs that were active in earlier periods only. */
  readonly #allocations = new Map<string, Allocation>()
  readonly #tokens = new Map<string, { tokens: number; recordDelta: number }>()
  readonly #demand = new Map<string, number>()
  readonly #moves = new Map<string, Map<string, { lent: number; reclaimed: number }>>()
  #isHeld = true

  add(decision: Decision, report: PeriodReport | undefined): void {
    this.#decision = decision
    this.#budget += decision.budget
    for (const a of decision.allocations) {
      this.#allocations.set(a.jobId, a)
      const sum = this.#tokens.get(a.jobId)
      if (sum) {
        sum.tokens += a.tokens
        sum.recordDelta += a.recordDelta
      } else this.#tokens.set(a.jobId, { tokens: a.tokens, recordDelta: a.recordDelta })
    }
    if (!report) return
    this.#report = report
    this.#isHeld &&= report.held !== undefined
    for (const [jobId, n] of report.demand) this.#demand.set(jobId, (this.#demand.get(jobId) ?? 0) + n)
    for (const move of report.moves) this.#move(move)
  }

  get decision(): Decision | undefined {
    if (!this.#decision) return undefined
    const newest = this.#decision.allocations.map((a) => a.jobId)
    // Highest priority of the newest period first.
    const jobs = new Set([...newest, ...this.#allocations.keys()])
    const allocations = [...jobs].map((jobId) => ({ ...this.#allocations.get(jobId)!, ...this.#tokens.get(jobId)! }))
    return { ...this.#decision, budget: this.#budget, allocations }
  }

  get report(): PeriodReport | undefined {
    if (!this.#report) return undefined
    const moves: PairMove[] = []
    for (const [lender, to] of this.#moves) for (const [borrower, sum] of to) moves.push({ lender, borrower, ...sum })
    // Held only if none of the periods was evaluated.
    return { ...this.#report, held: this.#isHeld ? this.#report.held : undefined, demand: this.#demand, moves }
  }

  #move({ lender, borrower, lent, reclaimed }: PairMove): void {
    const to = this.#moves.get(lender) ?? new Map<string, { lent: number; reclaimed: number }>()
    this.#moves.set(lender, to)
    const sum = to.get(borrower)
    if (sum) {
      sum.lent += lent
      sum.reclaimed += reclaimed
    } else to.set(borrower, { lent, reclaimed })
  }
}

export class PeriodSum {
  #newest: ServerPeriod | undefined
  #targets = new Map<string, TargetSum>()
  #count = 0
  #allocateMs = 0
  #applyMs = 0

  /** Adds a period when it was decided. */
  add(period: ServerPeriod): void {
    this.#newest = period
    this.#count++
    this.#allocateMs += period.allocateMs
    for (const decision of period.decisions) {
      let sum = this.#targets.get(decision.target)
      if (!sum) this.#targets.set(decision.target, (sum = new TargetSum()))
      sum.add(decision, period.reports.get(decision.target))
    }
  }

  /** Adds the outcome of writing the newest period, which may arrive after the sum was taken. */
  written({ rules, rulesText, others, applyMs }: ServerPeriod): void {
    if (!this.#newest) return
    this.#applyMs += applyMs
    this.#newest = { ...this.#newest, rules, rulesText, ...(others && { others }) }
  }

  /** Sum since the last call; durations are means of one period. undefined without any. */
  take(): ServerPeriod | undefined {
    if (!this.#newest) return undefined
    const decisions: Decision[] = []
    const reports = new Map<string, PeriodReport>()
    for (const [target, { decision, report }] of this.#targets) {
      if (decision) decisions.push(decision)
      if (report) reports.set(target, report)
    }
    const sum: ServerPeriod = {
      ...this.#newest,
      decisions,
      reports,
      allocateMs: this.#allocateMs / this.#count,
      applyMs: this.#applyMs / this.#count,
    }
    this.#newest = undefined
    this.#targets = new Map()
    this.#count = this.#allocateMs = this.#applyMs = 0
    return sum
  }
}

/** Sum of two consecutive periods of one server, or sums of them. */
export function summedPeriods(before: ServerPeriod, now: ServerPeriod): ServerPeriod {
  const sum = new PeriodSum()
  sum.add(before)
  sum.written(before)
  sum.add(now)
  sum.written(now)
  return sum.take() ?? now
}
