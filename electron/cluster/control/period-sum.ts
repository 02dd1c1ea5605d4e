/**
 * Sum of the control periods of one server since the last sample: rules, rates and records are the newest, and tokens,
 * demand and moves add up, so that a sample reports its whole length however many periods it has.
 */
import type { PeriodReport } from '#core/adaptbf/controller.ts'
import type { PairMove } from '#core/adaptbf/pair-accounts.ts'
import type { Allocation, Decision } from '#core/control/controller.ts'
import type { ServerPeriod } from './control-loop.ts'

function summedAllocations(before: readonly Allocation[], now: readonly Allocation[]): Allocation[] {
  const rest = new Map(before.map((a) => [a.jobId, a]))
  const out = now.map((a) => {
    const old = rest.get(a.jobId)
    rest.delete(a.jobId)
    return old ? { ...a, tokens: old.tokens + a.tokens, recordDelta: old.recordDelta + a.recordDelta } : a
  })
  // Jobs that were active in earlier periods only.
  return [...out, ...rest.values()]
}

function summedDecisions(before: readonly Decision[], now: readonly Decision[]): Decision[] {
  const rest = new Map(before.map((d) => [d.target, d]))
  const out = now.map((d): Decision => {
    const old = rest.get(d.target)
    rest.delete(d.target)
    if (!old) return d
    return { ...d, budget: old.budget + d.budget, allocations: summedAllocations(old.allocations, d.allocations) }
  })
  return [...out, ...rest.values()]
}

function summedMoves(before: readonly PairMove[], now: readonly PairMove[]): readonly PairMove[] {
  if (before.length === 0 || now.length === 0) return before.length === 0 ? now : before
  const sums = new Map<string, PairMove>()
  for (const m of [...before, ...now]) {
    const key = `${m.lender}\u0000${m.borrower}`
    const old = sums.get(key)
    sums.set(key, old ? { ...m, lent: old.lent + m.lent, reclaimed: old.reclaimed + m.reclaimed } : m)
  }
  return [...sums.values()]
}

function summedReport(before: PeriodReport | undefined, now: PeriodReport): PeriodReport {
  if (!before) return now
  const demand = new Map(before.demand)
  for (const [jobId, n] of now.demand) demand.set(jobId, (demand.get(jobId) ?? 0) + n)
  // Held only if none of the periods was evaluated.
  const held = before.held && now.held
  return { ...now, held, demand, moves: summedMoves(before.moves, now.moves) }
}

export class PeriodSum {
  #newest: ServerPeriod | undefined
  #decisions: readonly Decision[] = []
  #reports = new Map<string, PeriodReport>()
  #count = 0
  #allocateMs = 0
  #applyMs = 0

  /** Adds a period when it was decided. */
  add(period: ServerPeriod): void {
    const isFirst = this.#newest === undefined
    this.#newest = period
    this.#count++
    this.#allocateMs += period.allocateMs
    this.#decisions = isFirst ? period.decisions : summedDecisions(this.#decisions, period.decisions)
    for (const [target, report] of period.reports) {
      this.#reports.set(target, summedReport(this.#reports.get(target), report))
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
    const sum: ServerPeriod = {
      ...this.#newest,
      decisions: this.#decisions,
      reports: this.#reports,
      allocateMs: this.#allocateMs / this.#count,
      applyMs: this.#applyMs / this.#count,
    }
    this.#newest = undefined
    this.#decisions = []
    this.#reports = new Map()
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
