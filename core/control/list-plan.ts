/**
 * From one rule list to another in commands, in an order in which no job is ever limited less than both before and after.
 *
 * A job's limit is the rate of the first rule that matches it. The order: lower rates; then what is put in, from the top of
 * the list downwards; then what is taken out, from the bottom upwards; then raise rates. While rules are put in, the first
 * match of a job is its match of before or of after, because everything that will stand above a new rule stands there
 * already; while rules are taken out, because everything that stood above an old rule stands there still. Moving a rule up
 * is putting it in, moving it down is taking it out: its other copy would never be the first match. Rates are at the lower of
 * their two values all the while. This is tightening before loosening without knowing which rule covers which.
 *
 * New rules that come first in the list can also be put in from the last to the first, without naming any rule that is there:
 * each starts at the lowest rate of those that will stand before it, and is raised in the end.
 *
 * A server judges a known class anew only when a rule is started (measured part 2, 4): after moves a rule that matches
 * nothing is started and stopped, unless another start follows anyway, and rates are raised only after that.
 */
import { keptRules } from './kept-rules.ts'
import type { Item } from './rule-edit.ts'
import { DEFAULT_RULE } from './server-rules.ts'

/** Steps of a plan in their order; commands of two queues are put together step by step. */
export const STEPS = ['lower', 'put in', 'take out', 'swap', 'match anew', 'raise'] as const
export type Step = (typeof STEPS)[number]

/** One command without its queue. */
export interface Op {
  readonly step: Step
  readonly verb: 'start' | 'change' | 'stop'
  readonly name: string
  /** What is written behind the selector. */
  readonly text: string
  /** Whether the rate of a rule with classes is written: each class starts full again. */
  readonly refills: boolean
}

/** Names that a plan may use for rules of its own, which are gone when it is through. */
export interface HelperRules {
  /** A rule that matches nothing, with its conditions and rate; started last in the list and stopped again. */
  readonly rematch: { readonly name: string; readonly conditions: string; readonly rate: number }
  /** Holds the limit of a rule while that is replaced under the same name. */
  readonly standIn: (name: string) => string
  /** Whether new rules that come first go in without naming one that is there, because that may be gone any moment. */
  readonly namesNone?: boolean
}

const stopOp = (step: Step, name: string): Op => ({ step, verb: 'stop', name, text: `stop ${name}`, refills: false })

const startOp = (step: Step, r: Pick<Item, 'name' | 'conditions' | 'rate' | 'realtime'>, rank?: string): Op => ({
  step,
  verb: 'start',
  name: r.name,
  text:
    `start ${r.name} ${r.conditions} rate=${r.rate}` +
    (rank === undefined ? '' : ` rank=${rank}`) +
    (r.realtime ? ' realtime=1' : ''),
  refills: false,
})

const changeOp = (step: Step, name: string, rate: number | undefined, rank?: string): Op => ({
  step,
  verb: 'change',
  name,
  text: `change ${name}${rate === undefined ? '' : ` rate=${rate}`}${rank === undefined ? '' : ` rank=${rank}`}`,
  refills: rate !== undefined,
})

/** How many kept rules stand before each rule: its slot. Rules of one slot may stand in any order among the kept ones. */
function slots(list: readonly Item[], kept: ReadonlySet<number>): Map<number, number> {
  let slot = 0
  return new Map(list.map((i) => [i.id, kept.has(i.id) ? slot++ : slot]))
}

class ListPlan {
  readonly ops: Op[] = []
  readonly #from: readonly Item[]
  readonly #to: readonly Item[]
  readonly #helpers: HelperRules
  readonly #old: ReadonlyMap<number, Item>
  readonly #next: ReadonlyMap<number, Item>
  readonly #kept: ReadonlySet<number>
  /** Rules of one name, one stopped and one started. */
  readonly #swapped: ReadonlySet<number>
  readonly #raised = new Set<number>()
  readonly #startedLow = new Set<number>()
  /** The list as it stands while the plan is made, and which of its rules are in their final place. */
  #state: { readonly id: number; readonly name: string }[]
  readonly #placed: Set<number>

  constructor(from: readonly Item[], to: readonly Item[], movable: ReadonlySet<number>, helpers: HelperRules) {
    this.#from = from
    this.#to = to
    this.#helpers = helpers
    this.#old = new Map(from.map((i) => [i.id, i]))
    this.#next = new Map(to.map((i) => [i.id, i]))
    this.#kept = keptRules(from, to, movable)
    const oldNames = new Set(from.map((i) => i.name))
    this.#swapped = new Set(to.filter((i) => !this.#old.has(i.id) && oldNames.has(i.name)).map((i) => i.id))
    this.#state = from.map(({ id, name }) => ({ id, name }))
    this.#placed = new Set(this.#kept)
  }

  make(): Op[] {
    const was = slots(this.#from, this.#kept)
    const will = slots(this.#to, this.#kept)
    const isMoved = (i: Item): boolean => this.#old.has(i.id) && this.#next.has(i.id) && !this.#kept.has(i.id)
    const goesUp = (i: Item): boolean => isMoved(i) && (will.get(i.id) as number) < (was.get(i.id) as number)
    const goesDown = (i: Item): boolean => isMoved(i) && !goesUp(i)
    const putIn = this.#to.filter((i) => !this.#old.has(i.id) || goesUp(i))
    const isOnly = putIn.length === 1 && !this.#from.some(goesDown)
    this.#lower()
    const first = this.#startFirst()
    for (const i of putIn) {
      if (first.has(i.id)) continue
      if (goesUp(i)) this.#move('put in', i, isOnly)
      else this.#start(i)
    }
    for (const i of this.#from.toReversed()) {
      if (goesDown(i)) this.#move('take out', this.#next.get(i.id) as Item, false)
      else if (!this.#next.has(i.id)) this.#stop(i)
    }
    this.#swap()
    this.#matchAnew()
    this.#raise()
    return this.ops
  }

  /** Whether a rule's rate must be written, and whether that lets more through on any CPT. */
  #rateOf(to: Item): { differs: boolean; isRaise: boolean } {
    const from = this.#old.get(to.id) as Item
    const differs = from.rates !== to.rates && from.rates.some((r) => r !== to.rate)
    return { differs, isRaise: from.rates.some((r) => r < to.rate) }
  }

  #lower(): void {
    for (const to of this.#to) {
      if (!this.#kept.has(to.id)) continue
      const { differs, isRaise } = this.#rateOf(to)
      if (differs && !isRaise) this.ops.push(changeOp('lower', to.name, to.rate))
    }
  }

  /** New rules at the top of the list, where they must not name the rule that follows; their ids. */
  #startFirst(): Set<number> {
    const end = this.#to.findIndex((i) => this.#old.has(i.id))
    const list = this.#to.slice(0, end < 0 ? this.#to.length : end)
    if (!this.#helpers.namesNone || list.length < 2) return new Set()
    let least = Infinity
    const starts = list.map((i) => ({ i, rate: (least = Math.min(least, i.rate)) }))
    for (const { i, rate } of starts.toReversed()) {
      const name = this.#startedAs(i)
      this.ops.push(startOp('put in', { ...i, name, rate }))
      this.#place(i.id, name, this.#state[0])
      if (rate < i.rate && name === i.name) this.#startedLow.add(i.id)
    }
    return new Set(list.map((i) => i.id))
  }

  #raise(): void {
    for (const to of this.#to) {
      if (this.#startedLow.has(to.id)) this.ops.push(changeOp('raise', to.name, to.rate))
      if (!this.#old.has(to.id) || this.#raised.has(to.id)) continue
      const { differs, isRaise } = this.#rateOf(to)
      if (differs && isRaise) this.ops.push(changeOp('raise', to.name, to.rate))
    }
  }

  /** The rule that a rule is to stand right before; undefined at the end of the list. */
  #successor(of: Item): { readonly id: number; readonly name: string } | undefined {
    for (let at = this.#to.indexOf(of) + 1; at < this.#to.length; at++) {
      const next = this.#to[at] as Item
      if (!this.#placed.has(next.id) || !next.isEven) continue
      const there = this.#state.find((s) => s.id === next.id)
      if (there) return there
    }
    return undefined
  }

  #place(id: number, name: string, before: { readonly id: number } | undefined): void {
    this.#state = this.#state.filter((s) => s.id !== id)
    const at = before ? this.#state.findIndex((s) => s.id === before.id) : this.#state.length
    this.#state.splice(at, 0, { id, name })
    this.#placed.add(id)
  }

  /** There is no way to put a rule last: it goes before the last one, which then goes before it. */
  #putLast(id: number, name: string, make: (rank: string) => Op): void {
    const last = this.#state.findLast((s) => s.id !== id)
    if (!last) return
    const op = make(last.name)
    this.ops.push(op, changeOp(op.step, last.name, undefined, name))
    this.#place(id, name, undefined)
  }

  #startedAs(i: Item): string {
    return this.#swapped.has(i.id) ? this.#helpers.standIn(i.name) : i.name
  }

  #start(i: Item): void {
    const name = this.#startedAs(i)
    const next = this.#successor(i)
    if (!next) return this.#putLast(i.id, name, (rank) => startOp('put in', { ...i, name }, rank))
    // A started rule goes first by itself, before rules that will be gone as well.
    const isFirst = !this.#to.slice(0, this.#to.indexOf(i)).some((t) => this.#placed.has(t.id))
    this.ops.push(startOp('put in', { ...i, name }, isFirst ? undefined : next.name))
    this.#place(i.id, name, isFirst ? this.#state[0] : next)
  }

  #move(step: Step, to: Item, isOnly: boolean): void {
    const { differs, isRaise } = this.#rateOf(to)
    const rate = differs && (!isRaise || isOnly) ? to.rate : undefined
    if (rate !== undefined) this.#raised.add(to.id)
    const next = this.#successor(to)
    if (!next) return this.#putLast(to.id, to.name, (rank) => changeOp(step, to.name, rate, rank))
    this.ops.push(changeOp(step, to.name, rate, next.name))
    this.#place(to.id, to.name, next)
  }

  #stop(i: Item): void {
    this.ops.push(stopOp('take out', i.name))
    this.#state = this.#state.filter((s) => s.id !== i.id)
  }

  /** The stand-in of a replaced rule gives its place to the rule itself. */
  #swap(): void {
    for (const i of this.#to) {
      if (!this.#swapped.has(i.id)) continue
      const standIn = this.#helpers.standIn(i.name)
      this.ops.push(startOp('swap', i, standIn), stopOp('swap', standIn))
    }
  }

  #matchAnew(): void {
    const lastMove = this.ops.findLastIndex((o) => o.text.includes(' rank=') && o.verb === 'change' && !isDefault(o))
    if (lastMove < 0 || this.ops.findLastIndex((o) => o.verb === 'start') > lastMove) return
    const { rematch } = this.#helpers
    const rule = { ...rematch, realtime: false }
    this.ops.push(startOp('match anew', rule, DEFAULT_RULE), stopOp('match anew', rematch.name))
  }
}

const isDefault = (o: Op): boolean => o.name === DEFAULT_RULE

/**
 * The commands that turn one list into another.
 *
 * @param movable  ids of rules whose place was asked for; no other rule is moved, but for the last one of a list in which
 *                 somebody moved `default` up, when a rule must go behind it.
 */
export const planList = (
  from: readonly Item[],
  to: readonly Item[],
  movable: ReadonlySet<number>,
  helpers: HelperRules,
): Op[] => new ListPlan(from, to, movable, helpers).make()
