/**
 * What an operator stages, and the rule list that it asks for. Edits are taken in their order with the meaning that a server
 * gives them (spec/lustre 1.2, 2.4); so a start that is stopped again leaves nothing, and a start that is changed is one start.
 */
import { errnoText, type Errno } from '../lustre/errno.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import { DEFAULT_RULE } from './server-rules.ts'

/** Which queues an edit means. `both` is one where the service has no high-priority queue. */
export type QueueChoice = Queue | 'both'

export interface StartEdit {
  readonly verb: 'start'
  readonly name: string
  /** As written, for example `jobid={4690.*}&opcode={ost_write}`. */
  readonly conditions: string
  /** RPC/s per class. */
  readonly rate: number
  /** Rule to stand right before; absent: first in the list. */
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

/** An edit that is left out of a plan. */
export interface Refusal {
  /** Index of the edit. */
  readonly edit: number
  /** What the server would answer; undefined where only Sluice refuses it. */
  readonly errno: Errno | undefined
  readonly text: string
}

/** A rule in a list that is being planned. The same rule keeps its id however it is moved and changed. */
export interface Item {
  readonly id: number
  readonly name: string
  readonly conditions: string
  readonly rate: number
  /** undefined: not known, because servers do not print it. */
  readonly realtime: boolean | undefined
  /** Whether every CPT has it alike, but for its rate and place. */
  readonly isEven: boolean
  /** Rates that the CPTs have, more than one where they disagree; the same array as long as no edit names a rate. */
  readonly rates: readonly number[]
}

interface Applied {
  readonly list: readonly Item[]
  readonly refused: readonly Refusal[]
  /** Ids of the rules whose place was asked for. */
  readonly ranked: ReadonlySet<number>
}

const say = (errno: Errno, why: string): { errno: Errno; text: string } => ({
  errno,
  text: `${why}: ${errnoText(errno)}`,
})

/** One queue's list while edits are applied to it. */
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
      // The same start staged twice is one start.
      if (isSame && this.#isFresh(have)) return undefined
      return say('EEXIST', `${e.name} is there already`)
    }
    const at = e.rank === undefined ? 0 : this.#at(e.rank)
    if (at < 0) return say('ENOENT', `${e.rank ?? ''} is not there to stand before`)
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
    if (!have) return say('ENOENT', `${e.name} is not there`)
    if (e.rank !== undefined && this.#at(e.rank) < 0) return say('ENOENT', `${e.rank} is not there to stand before`)
    if (e.rank !== undefined && e.name === DEFAULT_RULE && e.rank !== DEFAULT_RULE) {
      return { errno: undefined, text: 'the place of default changes nothing: it is used only when no rule matches' }
    }
    let item = have
    if (e.rate !== undefined) item = { ...item, rate: e.rate, rates: [e.rate] }
    // On CPTs that lack it there is nothing to change: it is started anew on all of them.
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
    if (e.name === DEFAULT_RULE) return say('EPERM', 'default cannot be stopped')
    this.list = this.list.filter((i) => i.name !== e.name)
    return undefined
  }

  apply(e: RuleEdit): { errno: Errno | undefined; text: string } | undefined {
    return e.verb === 'start' ? this.start(e) : e.verb === 'change' ? this.change(e) : this.stop(e)
  }
}

/**
 * A rule stopped and started again with the same conditions is the rule it was, with another rate and place, as long as its
 * realtime flag is known to be the same: a change keeps its classes, a start would not.
 */
function recognise(present: readonly Item[], list: readonly Item[], ranked: Set<number>): Item[] {
  const old = new Map(present.map((i) => [i.name, i]))
  const kept = new Set(list.map((i) => i.id))
  return list.map((i) => {
    const was = old.get(i.name)
    if (!was?.isEven || kept.has(was.id) || was.conditions !== i.conditions || was.realtime !== i.realtime) return i
    ranked.add(was.id)
    return { ...was, rate: i.rate, rates: i.rates }
  })
}

/**
 * The list of one queue after edits. An edit that a server would refuse is left out and named; the others are applied.
 *
 * @param edits       those that mean this queue, with their index among all edits.
 * @param recognises  whether a rule that is stopped and started again may stay the rule it was.
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
