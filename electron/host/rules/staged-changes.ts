/** Changes that were staged and not yet committed. They are in memory only: closing the console sends nothing. */
import type { RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'

/** What an operator says beside the rule itself. */
export interface ChangeTerms {
  /** Seconds after which a timer on the server stops a started rule; null = none. */
  readonly expiresS: number | null
  readonly reason: string
}

export interface StagedChange {
  /** Part of the names of its timers. */
  readonly id: string
  readonly service: ServiceName
  readonly edit: RuleEdit
  readonly form: RuleForm
  readonly terms: ChangeTerms
  readonly stagedMs: number
}

/** Most changes that may be staged for one service. */
export const STAGED_MAX = 100

export class StagedChanges {
  #list: readonly StagedChange[] = []
  #version = 0

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
   * Adds a change. One with the id `replaces` gives it its place; so does an earlier start or change of the same rule on the
   * same queue when this is one of the same kind.
   */
  put(change: StagedChange, replaces?: string): void {
    const isSame = (c: StagedChange): boolean =>
      c.service === change.service &&
      c.edit.name === change.edit.name &&
      c.edit.queue === change.edit.queue &&
      c.edit.verb === change.edit.verb
    const at = this.#list.findIndex((c) => (replaces === undefined ? isSame(c) : c.id === replaces))
    if (at < 0) this.#list = [...this.#list, change]
    else this.#list = this.#list.with(at, change)
    this.#version++
  }

  /** Takes one change back, or all of a service. */
  remove(service: ServiceName, id: string | null): void {
    this.#list = this.#list.filter((c) => c.service !== service || (id !== null && c.id !== id))
    this.#version++
  }
}
