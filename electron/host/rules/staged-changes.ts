/** Changes that were staged and not yet committed. They are in memory only: closing the console sends nothing. */
import type { RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'

/** What an operator says beside the rule itself. */
export interface ChangeTerms {
  /** Seconds after which a timer on the server stops a started rule; null = none. */
  readonly expiresS: number | null
  readonly reason: string
  /** Accepts that this console stops the rule where a server keeps no timers. */
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
  /** Servers that it is meant for; undefined for all. */
  readonly hosts: readonly string[] | undefined
  /** Committed change that it takes back. */
  readonly undoes: string | undefined
  /** Commits that tried to send it, and the servers on which it is done: a commit may end halfway. */
  readonly tries: number
  readonly doneOn: readonly string[]
}

/** Most changes that may be staged for one service. */
export const STAGED_MAX = 100
/** Changes that were taken back or replaced, of which the newest can be put back. */
const GONE_MAX = 200

const hostsOf = (c: Pick<StagedChange, 'hosts'>): string => c.hosts?.join(' ') ?? ''

/** Whether a change has still to be sent to a server. */
export const isFor = (c: StagedChange, host: string): boolean =>
  !c.doneOn.includes(host) && (c.hosts?.includes(host) ?? true)

export class StagedChanges {
  #list: readonly StagedChange[] = []
  #version = 0
  /** By id: with the place that it had. */
  readonly #gone = new Map<string, { readonly change: StagedChange; readonly at: number }>()

  /** Grows with every change, so that plans can be kept until something is different. */
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
   * Index of the change whose place another one takes: that with the id `replaces`, or one that says the same of the same rule
   * with nothing about that rule behind it; -1 when it comes last.
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

  /** Adds a change, or gives it the place of one that it replaces; false when there is no room. */
  put(change: StagedChange, replaces?: string): boolean {
    const at = this.#placeOf(change, replaces)
    if (at < 0 && this.of(change.service).length >= STAGED_MAX) return false
    const replaced = this.#list[at]
    if (replaced !== undefined) this.#bury(replaced, at)
    this.#list = at < 0 ? [...this.#list, change] : this.#list.with(at, change)
    this.#version++
    return true
  }

  #bury(change: StagedChange, at: number): void {
    this.#gone.delete(change.id)
    this.#gone.set(change.id, { change, at })
    for (const [oldest] of this.#gone) {
      if (this.#gone.size <= GONE_MAX) break
      this.#gone.delete(oldest)
    }
  }

  /**
   * Puts changes that were taken back, or replaced by the change `replaces`, where they were, as they were.
   *
   * @returns  false, and nothing is different, where one of them is not known any more or there is no room.
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
      if (replaced !== undefined) this.#bury(replaced, place)
      list.splice(place < 0 ? gone.at : place, replaced === undefined ? 0 : 1, gone.change)
      this.#gone.delete(gone.change.id)
    }
    this.#list = list
    this.#version++
    return true
  }

  /** @returns  brings back what is staged now, whatever was staged and replaced since. */
  mark(): () => void {
    const list = this.#list
    return () => {
      this.#list = list
      this.#version++
    }
  }

  /** The operator takes one change back, or all of a service; they can be restored. */
  takeBack(service: ServiceName, id: string | null): void {
    this.#list.forEach((c, at) => {
      if (c.service === service && (id === null || c.id === id)) this.#bury(c, at)
    })
    this.remove(service, id)
  }

  /** Lets go of one change, or of all of a service. */
  remove(service: ServiceName, id: string | null): void {
    this.#list = this.#list.filter((c) => c.service !== service || (id !== null && c.id !== id))
    this.#version++
  }

  /** Notes that changes were sent, and where they are done. */
  sent(ids: ReadonlySet<string>, doneOn: readonly string[]): void {
    this.#list = this.#list.map((c) =>
      ids.has(c.id) ? { ...c, tries: c.tries + 1, doneOn: [...c.doneOn, ...doneOn] } : c,
    )
    this.#version++
  }
}
