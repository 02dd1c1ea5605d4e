/** `overdraft`: tokens that will probably stay unused, given a second time to jobs with RPCs waiting. */
import { floorTokens } from './rounding.ts'

/** One job of the allocation to come. */
export interface OverdraftJob {
  readonly nodes: number
  /** Tokens of the next period. */
  readonly tokens: number
  /** RPCs that the job wanted in the period that ended. */
  readonly demand: number
  /** Whether RPCs of the job wait for tokens. */
  readonly hasBacklog: boolean
}

/**
 * Extra tokens of each job, whole, summing to floor(part * unused): what jobs will leave of their tokens if they want
 * as much as in the period that ended, divided by nodes among the jobs with a backlog. Largest fractions first, of equal
 * ones the first job.
 *
 * The extra is outside the records: nobody lends it, nobody owes it, and utilisation is still judged by the tokens alone.
 *
 * Source: spec/adaptbf 9; not in the paper.
 *
 * @param jobs  in processing order.
 * @param part  0..1; 0.5 gains 3 % aggregate where bursts and a stream mix, and slows the bursts by 11 to 22 %.
 */
export function overdraft(jobs: readonly OverdraftJob[], part: number): number[] {
  const extra = jobs.map(() => 0)
  let unused = 0
  let allNodes = 0
  for (const { nodes, tokens, demand, hasBacklog } of jobs) {
    unused += Math.max(0, tokens - demand)
    if (hasBacklog) allNodes += nodes
  }
  const total = floorTokens(part * unused)
  if (total <= 0 || allNodes === 0) return extra
  let left = total
  const fractions = jobs.flatMap(({ nodes, hasBacklog }, i) => {
    if (!hasBacklog) return []
    const exact = (total * nodes) / allNodes
    extra[i] = floorTokens(exact)
    left -= extra[i]
    // Whole billionths, so that equal fractions stay equal and the order decides.
    return [{ i, rest: Math.round((exact - extra[i]) * 1e9) }]
  })
  fractions.sort((a, b) => b.rest - a.rest || a.i - b.i)
  for (const { i } of fractions.slice(0, left)) extra[i]!++
  return extra
}
