/** Comparison of what a server has with what a plan must have left, over all CPTs and queues. */
import type { Queue } from '../lustre/nrs-policies.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { isControllerRule, isHelperRule } from '../controllers/registry.ts'
import { cptsOf, headOf, QUEUES, writtenRules, type ReadableRules } from './server-rules.ts'

export interface ReadBack {
  /** What is not as it must be, each with its place; empty when the plan came true. */
  readonly differences: readonly string[]
  /** Rules that the plan did not write and that somebody changed meanwhile. */
  readonly foreign: readonly string[]
}

const placeOf = (queue: Queue, cpts: readonly number[], all: readonly number[]): string =>
  cpts.length === all.length ? queue : `${queue} CPT ${cpts.join(', ')}`

/** What is different about one rule in one head; undefined when it is as it must be. */
function differenceOf(
  name: string,
  isOurs: boolean,
  w: RuleLine | undefined,
  h: RuleLine | undefined,
): string | undefined {
  if (!w) return h && `${name} ${isOurs ? 'is still there' : 'is new'}`
  if (!h) return `${name} ${isOurs ? 'is missing' : 'is gone'}`
  if (w.conditions !== h.conditions) return `${name} matches ${h.conditions}, not ${w.conditions}`
  if (w.rate !== h.rate) return `${name} has rate ${h.rate}, not ${w.rate}`
  return undefined
}

const byName = (head: readonly RuleLine[]): Map<string, RuleLine> => new Map(head.map((r) => [r.name, r]))

/** Names in an order that is not the wanted one, by the first of them that is out of place; both lists hold the same names. */
function misplaced(want: readonly string[], have: readonly string[]): string | undefined {
  const at = want.findIndex((name, i) => name !== have[i])
  if (at < 0) return undefined
  const next = want[at + 1]
  return `${want[at] as string} does not stand ${next === undefined ? 'last' : `before ${next}`}`
}

/**
 * Compares a read-back with what a plan must have left, head by head.
 *
 * @param expected  lines of every head, conditions as written (`EditPlan.expected` or `.before`).
 * @param touched   names that the plan writes; differences of other rules are somebody else's doing.
 * @param present   as read back.
 */
export function compareHeads(
  expected: readonly RuleLine[],
  touched: readonly string[],
  present: ReadableRules,
): ReadBack {
  const ours = new Set(touched)
  const read = writtenRules(present)
  const found = { ours: new Map<string, number[]>(), foreign: new Map<string, number[]>() }
  const out: ReadBack & { differences: string[]; foreign: string[] } = { differences: [], foreign: [] }
  for (const queue of QUEUES) {
    const cpts = [...new Set([...cptsOf(expected, queue), ...cptsOf(read, queue)])].sort((a, b) => a - b)
    found.ours.clear()
    found.foreign.clear()
    for (const cpt of cpts) {
      const [want, have] = [headOf(expected, queue, cpt), headOf(read, queue, cpt)]
      const [wants, has] = [byName(want), byName(have)]
      const add = (isOurs: boolean, text: string | undefined): void => {
        const list = isOurs ? found.ours : found.foreign
        if (text !== undefined) list.set(text, [...(list.get(text) ?? []), cpt])
      }
      for (const name of new Set([...wants.keys(), ...has.keys()])) {
        const isOurs = ours.has(name) || isHelperRule(name)
        add(isOurs, differenceOf(name, isOurs, wants.get(name), has.get(name)))
      }
      // Places are compared among the rules that both have. Controllers stop theirs and start them again, first in the list.
      const inBoth = ({ name }: RuleLine): boolean =>
        wants.has(name) && has.has(name) && (ours.has(name) || !isControllerRule(name))
      const [wanted, had] = [want, have].map((l) => l.filter(inBoth).map((r) => r.name)) as [string[], string[]]
      const others = (list: readonly string[]): string[] => list.filter((n) => !ours.has(n))
      if (misplaced(others(wanted), others(had)) !== undefined) add(false, misplaced(others(wanted), others(had)))
      else add(true, misplaced(wanted, had))
    }
    for (const [text, on] of found.ours) out.differences.push(`${text} (${placeOf(queue, on, cpts)})`)
    for (const [text, on] of found.foreign) out.foreign.push(`${text} (${placeOf(queue, on, cpts)})`)
  }
  return out
}
