/**
 * Undos for servers that do not answer: kept per server, and sent when one answers again, if this console may write
 * then. Planned on the server's state at that time; only the rules of the change are restored.
 */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { StagedChange } from './staged-changes.ts'

export interface PendingUndo {
  readonly service: ServiceName
  readonly host: string
  /** Committed undo that it is part of, and the change that it undoes. */
  readonly changeId: string
  readonly undoes: string
  readonly edits: readonly StagedChange[]
  /** Reason why it is not sent yet. */
  why: string
}

/** Most waiting undos, servers times changes: the undo list is short, but clusters are large. */
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
