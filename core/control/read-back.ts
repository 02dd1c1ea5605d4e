/** Comparison of a read-back with the expected result of a plan, over all CPTs and queues. */
import type { Queue } from '../lustre/nrs-policies.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { isControllerRule, isHelperRule } from '../controllers/registry.ts'
import { cptsOf, headOf, QUEUES, writtenRules, type ReadableRules } from './server-rules.ts'

export interface ReadBack {
  /** Deviations from the expected result, each with its place; empty if the plan was applied. */
  readonly differences: readonly string[]
  /** Rules not written by the plan that were changed meanwhile by others. */
  readonly foreign: readonly string[]
}

const placeOf = (queue: Queue, cpts: readonly number[], all: readonly number[]): string =>
  cpts.length === all.length ? queue : `${queue} CPT ${cpts.join(', ')}`

/** Returns the difference of one rule in one head; undefined if it is as expected. */
function differenceOf(
  name: string,
  isManaged: boolean,
  w: RuleLine | undefined,
  h: RuleLine | undefined,
): string | undefined {
  if (!w) return h && `${name} ${isManaged ? 'is still there' : 'is new'}`
  if (!h) return `${name} ${isManaged ? 'is missing' : 'is gone'}`
  if (w.conditions !== h.conditions) return `${name} matches ${h.conditions}, not ${w.conditions}`
  if (w.rate !== h.rate) return `${name} has rate ${h.rate}, not ${w.rate}`
  return undefined
}

const byName = (head: readonly RuleLine[]): Map<string, RuleLine> => new Map(head.map((r) => [r.name, r]))

/** Returns a message about the first name out of order; both lists contain the same names. */
function misplaced(want: readonly string[], have: readonly string[]): string | undefined {
  const at = want.findIndex((name, i) => name !== have[i])
  if (at < 0) return undefined
  const next = want[at + 1]
  return `${want[at] as string} is not ${next === undefined ? 'last' : `before ${next}`}`
}

/**
 * Compares a read-back with the expected result of a plan, head by head.
 *
 * @param expected  lines of every head, conditions as written (`EditPlan.expected` or `.before`).
 * @param touched   names that the plan writes; differences of other rules were made by others.
 * @param present   as read back.
 */
export function compareHeads(
  expected: readonly RuleLine[],
  touched: readonly string[],
  present: ReadableRules,
): ReadBack {
  const managed = new Set(touched)
  const read = writtenRules(present)
  const found = { managed: new Map<string, number[]>(), foreign: new Map<string, number[]>() }
  const out: ReadBack & { differences: string[]; foreign: string[] } = { differences: [], foreign: [] }
  for (const queue of QUEUES) {
    const cpts = [...new Set([...cptsOf(expected, queue), ...cptsOf(read, queue)])].sort((a, b) => a - b)
    found.managed.clear()
    found.foreign.clear()
    for (const cpt of cpts) {
      const want = headOf(expected, queue, cpt)
      const have = headOf(read, queue, cpt)
      const wants = byName(want)
      const has = byName(have)
      const add = (isManaged: boolean, text: string | undefined): void => {
        const list = isManaged ? found.managed : found.foreign
        if (text !== undefined) list.set(text, [...(list.get(text) ?? []), cpt])
      }
      for (const name of new Set([...wants.keys(), ...has.keys()])) {
        const isManaged = managed.has(name) || isHelperRule(name)
        add(isManaged, differenceOf(name, isManaged, wants.get(name), has.get(name)))
      }
      // Order is compared among the rules present in both. Controllers stop and restart their rules, at the top of the list.
      const inBoth = ({ name }: RuleLine): boolean =>
        wants.has(name) && has.has(name) && (managed.has(name) || !isControllerRule(name))
      const [wanted, had] = [want, have].map((l) => l.filter(inBoth).map((r) => r.name)) as [string[], string[]]
      const unmanaged = (list: readonly string[]): string[] => list.filter((n) => !managed.has(n))
      if (misplaced(unmanaged(wanted), unmanaged(had)) !== undefined)
        add(false, misplaced(unmanaged(wanted), unmanaged(had)))
      else add(true, misplaced(wanted, had))
    }
    for (const [text, on] of found.managed) out.differences.push(`${text} (${placeOf(queue, on, cpts)})`)
    for (const [text, on] of found.foreign) out.foreign.push(`${text} (${placeOf(queue, on, cpts)})`)
  }
  return out
}
