/**
 * Operator edits and the resulting rule list. Edits are applied in order with the semantics of a server (spec/lustre 1.2, 2.4); so a
 * start that is stopped again leaves nothing, and a start that is changed is one start.
 */
import { errnoText, type Errno } from '../lustre/errno.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import { DEFAULT_RULE } from './server-rules.ts'

/** Queues of an edit. `both` means one queue if the service has no high-priority queue. */
export type QueueChoice = Queue | 'both'

export interface StartEdit {
  readonly verb: 'start'
  readonly name: string
  /** As written, for example `jobid={4690.*}&opcode={ost_write}`. */
  readonly conditions: string
  /** RPC/s per class. */
  readonly rate: number
  /** Rule to be placed before; absent: first in the list. */
  readonly rank?: string | undefined
  readonly realtime?: boolean | undefined
  readonly queue: QueueChoice
}

export interface ChangeEdit {
  readonly verb: 'change'
  readonly name: string
  readonly rate?: number | undefined
  readonly rank?: string | undefined
  readonly queue: QueueChoice
}

export interface StopEdit {
  readonly verb: 'stop'
  readonly name: string
  readonly queue: QueueChoice
}

export type RuleEdit = StartEdit | ChangeEdit | StopEdit

/** An edit left out of a plan. */
export interface Refusal {
  /** Index of the edit. */
  readonly edit: number
  /** Error of the server; undefined if only Sluice refuses it. */
  readonly errno: Errno | undefined
  readonly text: string
}

/** A rule in a list that is being planned. A rule keeps its id through moves and changes. */
export interface Item {
  readonly id: number
  readonly name: string
  readonly conditions: string
  readonly rate: number
  /** undefined: unknown, because servers do not print it. */
  readonly realtime: boolean | undefined
  /** True if every CPT has the same rule, apart from rate and position. */
  readonly isEven: boolean
  /** Rates on the CPTs, more than one if they disagree; the same array as long as no edit sets a rate. */
  readonly rates: readonly number[]
}

interface Applied {
  readonly list: readonly Item[]
  readonly refused: readonly Refusal[]
  /** Ids of the rules with a requested place. */
  readonly ranked: ReadonlySet<number>
}

const failure = (errno: Errno, why: string): { errno: Errno; text: string } => ({
  errno,
  text: `${why}: ${errnoText(errno)}`,
})

/** List of one queue while edits are applied to it. */
class EditedList {
  list: Item[]
  readonly ranked = new Set<number>()
  #nextId: number

  constructor(present: readonly Item[]) {
    this.list = [...present]
    this.#nextId = present.reduce((n, i) => Math.max(n, i.id + 1), 0)
  }

  #at(name: string): number {
    return this.list.findIndex((i) => i.name === name)
  }

  start(e: StartEdit): { errno: Errno | undefined; text: string } | undefined {
    const have = this.list[this.#at(e.name)]
    if (have) {
      const isSame = have.conditions === e.conditions && have.rate === e.rate
      // A start staged twice is one start.
      if (isSame && this.#isFresh(have)) return undefined
      return failure('EEXIST', `${e.name} already exists`)
    }
    const at = e.rank === undefined ? 0 : this.#at(e.rank)
    if (at < 0) return failure('ENOENT', `cannot be placed before ${e.rank ?? ''}, which does not exist`)
    const item: Item = {
      id: this.#nextId++,
      name: e.name,
      conditions: e.conditions,
      rate: e.rate,
      realtime: e.realtime ?? false,
      isEven: true,
      rates: [e.rate],
    }
    this.#fresh.add(item.id)
    this.list.splice(at, 0, item)
    return undefined
  }

  readonly #fresh = new Set<number>()
  #isFresh = (i: Item): boolean => this.#fresh.has(i.id)

  change(e: ChangeEdit): { errno: Errno | undefined; text: string } | undefined {
    const at = this.#at(e.name)
    const have = this.list[at]
    if (!have) return failure('ENOENT', `${e.name} does not exist`)
    if (e.rank !== undefined && this.#at(e.rank) < 0)
      return failure('ENOENT', `cannot be placed before ${e.rank}, which does not exist`)
    if (e.rank !== undefined && e.name === DEFAULT_RULE && e.rank !== DEFAULT_RULE) {
      return { errno: undefined, text: 'the position of default has no effect: it applies only when no rule matches' }
    }
    let item = have
    if (e.rate !== undefined) item = { ...item, rate: e.rate, rates: [e.rate] }
    // CPTs that lack it cannot be changed: it is started on all of them.
    if (!have.isEven) {
      item = { ...item, id: this.#nextId++, isEven: true, rates: [item.rate] }
      this.#fresh.add(item.id)
    }
    this.list[at] = item
    if (e.rank !== undefined && e.rank !== e.name) {
      this.list.splice(at, 1)
      this.list.splice(this.#at(e.rank), 0, item)
      this.ranked.add(item.id)
    }
    return undefined
  }

  stop(e: StopEdit): { errno: Errno | undefined; text: string } | undefined {
    if (e.name === DEFAULT_RULE) return failure('EPERM', 'default cannot be stopped')
    this.list = this.list.filter((i) => i.name !== e.name)
    return undefined
  }

  apply(e: RuleEdit): { errno: Errno | undefined; text: string } | undefined {
    return e.verb === 'start' ? this.start(e) : e.verb === 'change' ? this.change(e) : this.stop(e)
  }
}

/**
 * Treats a rule that is stopped and started again with the same conditions as the same rule, with another rate and place, if its realtime
 * flag is known to be equal: a change keeps its classes, a start would not.
 */
function recognise(present: readonly Item[], list: readonly Item[], ranked: Set<number>): Item[] {
  const old = new Map(present.map((i) => [i.name, i]))
  const remaining = new Set(list.map((i) => i.id))
  return list.map((i) => {
    const was = old.get(i.name)
    if (!was?.isEven || remaining.has(was.id) || was.conditions !== i.conditions || was.realtime !== i.realtime)
      return i
    ranked.add(was.id)
    return { ...was, rate: i.rate, rates: i.rates }
  })
}

/**
 * Returns the list of one queue after edits. An edit that a server would refuse is left out and reported; the others are applied.
 *
 * @param edits       edits for this queue, with their index among all edits.
 * @param recognises  true if a rule that is stopped and started again may count as the same rule.
 */
export function applyEdits(
  present: readonly Item[],
  edits: readonly { readonly edit: RuleEdit; readonly index: number }[],
  recognises = true,
): Applied {
  const edited = new EditedList(present)
  const refused: Refusal[] = []
  for (const { edit, index } of edits) {
    const why = edited.apply(edit)
    if (why) refused.push({ edit: index, ...why })
  }
  const ranked = new Set(edited.ranked)
  const list = recognises ? recognise(present, edited.list, ranked) : edited.list
  return { list, refused, ranked }
}
