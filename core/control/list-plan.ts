/**
 * Commands from one rule list to another, in an order in which no job is ever limited less than both before and after.
 *
 * A job's limit is the rate of the first rule that matches it. The order: lower rates; then insert rules, from the top of the list
 * downwards; then remove rules, from the bottom upwards; then raise rates. During insertion, the first match of a job is its old or its
 * new one, because all rules that belong above a new rule are already there; during removal, because all rules that were above an old
 * rule are still there. Moving a rule up is an insertion, moving it down a removal: its other copy would never be the first match. Rates
 * are at the lower of their two values throughout. This tightens before it loosens without knowing which rule covers which.
 *
 * New rules at the top of the list can also be inserted from the last to the first, without naming an existing rule: each starts at the
 * lowest rate of the rules that will precede it, and is raised at the end.
 *
 * A server reclassifies existing classes only when a rule is started (measured part 2, 4): after moves a rule that matches nothing is
 * started and stopped, unless another start follows anyway, and rates are raised only after that.
 */
import type { Item } from './rule-edit.ts'
import { DEFAULT_RULE } from './server-rules.ts'

/** Steps of a plan in their order; commands of two queues are merged step by step. */
export const STEPS = ['lower', 'put in', 'take out', 'swap', 'match again', 'raise'] as const
export type Step = (typeof STEPS)[number]

/** One command without its queue. */
export interface Op {
  readonly step: Step
  readonly verb: 'start' | 'change' | 'stop'
  readonly name: string
  /** Text after the selector. */
  readonly text: string
  /** True if the rate of a rule with classes is written: each class starts with a full bucket. */
  readonly refills: boolean
}

/** Names for temporary rules of a plan, which are removed by its end. */
export interface HelperRules {
  /** A rule that matches nothing, with its conditions and rate; started last in the list and stopped again. */
  readonly rematch: { readonly name: string; readonly conditions: string; readonly rate: number }
  /** Name of the rule that holds the limit of another while that is replaced under the same name. */
  readonly temporaryName: (name: string) => string
  /** True if new rules at the top are started without naming an existing one, because that may be stopped at any time. */
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

/** Returns the slot of each rule: the number of kept rules before it. Rules of one slot may be in any order among the kept ones. */
function slots(list: readonly Item[], unmoved: ReadonlySet<number>): Map<number, number> {
  let slot = 0
  return new Map(list.map((i) => [i.id, unmoved.has(i.id) ? slot++ : slot]))
}

/**
 * Returns the ids of the rules that keep their place when a list becomes another one, so that the fewest rules are moved: the heaviest set
 * with the same order in both lists. All rules with a requested place together weigh less than one other rule, so an unrelated rule is
 * never moved in their place.
 *
 * @complexity O(n log n) for n rules in both lists.
 */
function unmovedRules(from: readonly Item[], to: readonly Item[], movable: ReadonlySet<number>): Set<number> {
  const place = new Map(to.map((i, at) => [i.id, at]))
  const common = from.filter((i) => place.has(i.id))
  // Prefix-maximum tree over places in `to`: the best chain that ends at or before a place.
  const tree: ({ weight: number; last: number } | undefined)[] = Array.from({ length: to.length + 1 })
  const before: number[] = []
  const best = (at: number): { weight: number; last: number } => {
    let out = { weight: 0, last: -1 }
    for (let i = at; i > 0; i -= i & -i) {
      const t = tree[i]
      if (t && t.weight > out.weight) out = t
    }
    return out
  }
  common.forEach((item, k) => {
    const at = (place.get(item.id) as number) + 1
    const chain = best(at - 1)
    before[k] = chain.last
    const weight = chain.weight + (movable.has(item.id) ? 1 : common.length + 1)
    for (let i = at; i <= to.length; i += i & -i) {
      const t = tree[i]
      if (!t || weight > t.weight) tree[i] = { weight, last: k }
    }
  })
  const unmoved = new Set<number>()
  for (let k = best(to.length).last; k >= 0; k = before[k] as number) unmoved.add((common[k] as Item).id)
  return unmoved
}

class ListPlan {
  readonly ops: Op[] = []
  readonly #from: readonly Item[]
  readonly #to: readonly Item[]
  readonly #helpers: HelperRules
  readonly #old: ReadonlyMap<number, Item>
  readonly #next: ReadonlyMap<number, Item>
  readonly #unmoved: ReadonlySet<number>
  /** Rules of one name, one stopped and one started. */
  readonly #swapped: ReadonlySet<number>
  readonly #raised = new Set<number>()
  readonly #startedLow = new Set<number>()
  /** Current list during planning, and its rules in final position. */
  #state: { readonly id: number; readonly name: string }[]
  readonly #placed: Set<number>

  constructor(from: readonly Item[], to: readonly Item[], movable: ReadonlySet<number>, helpers: HelperRules) {
    this.#from = from
    this.#to = to
    this.#helpers = helpers
    this.#old = new Map(from.map((i) => [i.id, i]))
    this.#next = new Map(to.map((i) => [i.id, i]))
    this.#unmoved = unmovedRules(from, to, movable)
    const oldNames = new Set(from.map((i) => i.name))
    this.#swapped = new Set(to.filter((i) => !this.#old.has(i.id) && oldNames.has(i.name)).map((i) => i.id))
    this.#state = from.map(({ id, name }) => ({ id, name }))
    this.#placed = new Set(this.#unmoved)
  }

  make(): Op[] {
    const was = slots(this.#from, this.#unmoved)
    const will = slots(this.#to, this.#unmoved)
    const isMoved = (i: Item): boolean => this.#old.has(i.id) && this.#next.has(i.id) && !this.#unmoved.has(i.id)
    const isRaised = (i: Item): boolean => isMoved(i) && (will.get(i.id) as number) < (was.get(i.id) as number)
    const isLowered = (i: Item): boolean => isMoved(i) && !isRaised(i)
    const putIn = this.#to.filter((i) => !this.#old.has(i.id) || isRaised(i))
    const isOnly = putIn.length === 1 && !this.#from.some(isLowered)
    this.#lower()
    const first = this.#startFirst()
    for (const i of putIn) {
      if (first.has(i.id)) continue
      if (isRaised(i)) this.#move('put in', i, isOnly)
      else this.#start(i)
    }
    for (const i of this.#from.toReversed()) {
      if (isLowered(i)) this.#move('take out', this.#next.get(i.id) as Item, false)
      else if (!this.#next.has(i.id)) this.#stop(i)
    }
    this.#swap()
    this.#rematch()
    this.#raise()
    return this.ops
  }

  /** Returns if a rule's rate must be written, and if that raises the limit on any CPT. */
  #rateOf(to: Item): { differs: boolean; isRaise: boolean } {
    const from = this.#old.get(to.id) as Item
    const differs = from.rates !== to.rates && from.rates.some((r) => r !== to.rate)
    return { differs, isRaise: from.rates.some((r) => r < to.rate) }
  }

  #lower(): void {
    for (const to of this.#to) {
      if (!this.#unmoved.has(to.id)) continue
      const { differs, isRaise } = this.#rateOf(to)
      if (differs && !isRaise) this.ops.push(changeOp('lower', to.name, to.rate))
    }
  }

  /** Starts the new rules at the top of the list, which must not name the rule that follows; returns their ids. */
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

  /** Rule before which a rule must be placed; undefined at the end of the list. */
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

  /** Rules cannot be placed last: the rule goes before the last one, which is then moved before it. */
  #putLast(id: number, name: string, make: (rank: string) => Op): void {
    const last = this.#state.findLast((s) => s.id !== id)
    if (!last) return
    const op = make(last.name)
    this.ops.push(op, changeOp(op.step, last.name, undefined, name))
    this.#place(id, name, undefined)
  }

  #startedAs(i: Item): string {
    return this.#swapped.has(i.id) ? this.#helpers.temporaryName(i.name) : i.name
  }

  #start(i: Item): void {
    const name = this.#startedAs(i)
    const next = this.#successor(i)
    if (!next) return this.#putLast(i.id, name, (rank) => startOp('put in', { ...i, name }, rank))
    // A started rule is placed first by default, also before rules that will be removed.
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

  /** Replaces the stand-in by the rule itself, at the same place. */
  #swap(): void {
    for (const i of this.#to) {
      if (!this.#swapped.has(i.id)) continue
      const temporary = this.#helpers.temporaryName(i.name)
      this.ops.push(startOp('swap', i, temporary), stopOp('swap', temporary))
    }
  }

  #rematch(): void {
    const lastMove = this.ops.findLastIndex((o) => o.text.includes(' rank=') && o.verb === 'change' && !isDefault(o))
    if (lastMove < 0 || this.ops.findLastIndex((o) => o.verb === 'start') > lastMove) return
    const { rematch } = this.#helpers
    const rule = { ...rematch, realtime: false }
    this.ops.push(startOp('match again', rule, DEFAULT_RULE), stopOp('match again', rematch.name))
  }
}

const isDefault = (o: Op): boolean => o.name === DEFAULT_RULE

/**
 * Returns the commands that turn one list into another.
 *
 * @param movable  ids of rules with a requested place; no other rule is moved, except the last one of a list in which
 *                 `default` was moved up, if a rule must go behind it.
 */
export const planList = (
  from: readonly Item[],
  to: readonly Item[],
  movable: ReadonlySet<number>,
  helpers: HelperRules,
): Op[] => new ListPlan(from, to, movable, helpers).make()
