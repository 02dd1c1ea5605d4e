/**
 * What undoes a change on servers that do not answer: kept per server, and sent when one answers again, as long as this console
 * may write then. It is planned on the server as it is found, and only the rules of the change are brought back.
 */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { StagedChange } from './staged-changes.ts'

export interface PendingUndo {
  readonly service: ServiceName
  readonly host: string
  /** The committed undoing that it is part of, and the change that is taken back. */
  readonly changeId: string
  readonly undoes: string
  readonly edits: readonly StagedChange[]
  /** Why it is not sent yet. */
  why: string
}

/** Servers times changes that may wait: the undo list is short, clusters are not. */
const PENDING_MAX = 4_000

export class PendingUndos {
  #list: readonly PendingUndo[] = []

  get all(): readonly PendingUndo[] {
    return this.#list
  }

  of(changeId: string): readonly PendingUndo[] {
    return this.#list.filter((p) => p.changeId === changeId || p.undoes === changeId)
  }

  put(pending: PendingUndo): void {
    this.#list = [...this.#list, pending].slice(-PENDING_MAX)
  }

  remove(pending: PendingUndo): void {
    this.#list = this.#list.filter((p) => p !== pending)
  }
}
