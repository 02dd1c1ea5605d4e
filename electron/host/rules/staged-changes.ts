/** Changes staged but not committed. They are in memory only: closing the console sends nothing. */
import type { RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'

/** Terms that an operator sets besides the rule itself. */
export interface ChangeTerms {
  /** Seconds after which a timer on the server stops a started rule; null = none. */
  readonly expiresS: number | null
  /** A change that gives the rule this expiry, in place of its present one. */
  readonly renews?: boolean | undefined
  readonly reason: string
  /** Accepts that this console stops the rule if a server has no timers. */
  readonly laptopBound?: boolean | undefined
}

export interface StagedChange {
  /** Part of the names of its timers. */
  readonly id: string
  readonly service: ServiceName
  readonly edit: RuleEdit
  readonly form: RuleForm
  readonly terms: ChangeTerms
  readonly stagedMs: number
  /** Servers it applies to; undefined for all. */
  readonly hosts: readonly string[] | undefined
  /** Committed change that it undoes. */
  readonly undoes: string | undefined
  /** Commits that tried to send it, and the servers on which it is done: a commit may end halfway. */
  readonly tries: number
  readonly doneOn: readonly string[]
}

/** Most changes that may be staged for one service. */
export const STAGED_MAX = 100
/** Reverted or replaced changes kept; the newest can be restored. */
const GONE_MAX = 200

const hostsOf = (c: Pick<StagedChange, 'hosts'>): string => c.hosts?.join(' ') ?? ''

/** True if a change only replaces the expiry of its rule: no command writes the rule. */
export const isRenewal = ({ edit, terms }: Pick<StagedChange, 'edit' | 'terms'>): boolean =>
  terms.renews === true && edit.verb === 'change' && edit.rate === undefined && edit.rank === undefined

/** True if the rule gets the terms of the change. */
export const setsTerms = ({ edit, terms }: Pick<StagedChange, 'edit' | 'terms'>): boolean =>
  edit.verb === 'start' || (edit.verb === 'change' && terms.renews === true)

/** True if a change still has to be sent to a server. */
export const isFor = (c: StagedChange, host: string): boolean =>
  !c.doneOn.includes(host) && (c.hosts?.includes(host) ?? true)

export class StagedChanges {
  #list: readonly StagedChange[] = []
  #version = 0
  /** Removed changes with their former position, by id. */
  readonly #gone = new Map<string, { readonly change: StagedChange; readonly at: number }>()

  /** Incremented by every change, so that plans can be cached. */
  get version(): number {
    return this.#version
  }

  get count(): number {
    return this.#list.length
  }

  of(service: ServiceName): readonly StagedChange[] {
    return this.#list.filter((c) => c.service === service)
  }

  /**
   * Index of the change that another one replaces: the one with the id `replaces`, or the last change of the same rule
   * if it has the same verb, queue and servers and was not sent yet; -1 if it is appended.
   */
  #placeOf(change: StagedChange, replaces: string | undefined): number {
    if (replaces !== undefined) return this.#list.findIndex((c) => c.id === replaces && c.service === change.service)
    const at = this.#list.findLastIndex((c) => c.service === change.service && c.edit.name === change.edit.name)
    const last = this.#list[at]
    const isSame =
      last?.edit.verb === change.edit.verb &&
      last.edit.queue === change.edit.queue &&
      hostsOf(last) === hostsOf(change) &&
      last.tries === 0
    return isSame ? at : -1
  }

  /** Adds a change, or replaces one; false if the list is full. */
  put(change: StagedChange, replaces?: string): boolean {
    const at = this.#placeOf(change, replaces)
    if (at < 0 && this.of(change.service).length >= STAGED_MAX) return false
    const replaced = this.#list[at]
    if (replaced !== undefined) this.#keepForRestore(replaced, at)
    this.#list = at < 0 ? [...this.#list, change] : this.#list.with(at, change)
    this.#version++
    return true
  }

  #keepForRestore(change: StagedChange, at: number): void {
    this.#gone.delete(change.id)
    this.#gone.set(change.id, { change, at })
    for (const [oldest] of this.#gone) {
      if (this.#gone.size <= GONE_MAX) break
      this.#gone.delete(oldest)
    }
  }

  /**
   * Restores reverted changes, or changes replaced by `replaces`, at their former positions.
   *
   * @returns  false, without any change, if one of them is no longer known or the list is full.
   */
  restore(service: ServiceName, ids: readonly string[], replaces?: string): boolean {
    const back = ids.map((id) => this.#gone.get(id)).filter((g) => g?.change.service === service)
    const place = replaces === undefined ? -1 : this.#list.findIndex((c) => c.id === replaces && c.service === service)
    if (back.some((g) => g === undefined) || back.length !== ids.length) return false
    if (replaces !== undefined && (place < 0 || ids.length !== 1)) return false
    if (ids.some((id) => this.#list.some((c) => c.id === id))) return false
    if (place < 0 && this.of(service).length + ids.length > STAGED_MAX) return false
    const list = [...this.#list]
    for (const gone of back.toSorted((a, b) => (a?.at ?? 0) - (b?.at ?? 0))) {
      if (gone === undefined) continue
      const replaced = list[place]
      if (replaced !== undefined) this.#keepForRestore(replaced, place)
      list.splice(place < 0 ? gone.at : place, replaced === undefined ? 0 : 1, gone.change)
      this.#gone.delete(gone.change.id)
    }
    this.#list = list
    this.#version++
    return true
  }

  /** @returns  function that restores the present staged changes, whatever was staged since. */
  mark(): () => void {
    const list = this.#list
    return () => {
      this.#list = list
      this.#version++
    }
  }

  /** Unstages one change, or all of a service; they can be restored. */
  unstage(service: ServiceName, id: string | null): void {
    this.#list.forEach((c, at) => {
      if (c.service === service && (id === null || c.id === id)) this.#keepForRestore(c, at)
    })
    this.remove(service, id)
  }

  /** Removes one change, or all of a service. */
  remove(service: ServiceName, id: string | null): void {
    this.#list = this.#list.filter((c) => c.service !== service || (id !== null && c.id !== id))
    this.#version++
  }

  /** Marks changes as sent, and stores the servers where they are done. */
  sent(ids: ReadonlySet<string>, doneOn: readonly string[]): void {
    this.#list = this.#list.map((c) =>
      ids.has(c.id) ? { ...c, tries: c.tries + 1, doneOn: [...c.doneOn, ...doneOn] } : c,
    )
    this.#version++
  }
}
