/**
 * Committed changes, newest first, each with the outcome of every server: the undo list. It survives restarts, and
 * commands of the same data folder add to it.
 */
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { ChangeRecord } from './change-record.ts'
import type { OperatorRules } from './operator-rules.ts'
import type { PastChange } from './past-change.ts'
import type { PendingUndos } from './pending-undo.ts'

/** Most changes remembered. */
const CHANGES_MAX = 20

export class ChangeLog {
  readonly pending: PendingUndos
  readonly #monitor: ClusterMonitor
  readonly #rules: OperatorRules
  readonly #record: ChangeRecord | undefined
  #changes: readonly PastChange[]

  /** @param record  persistent store; in memory only without. */
  constructor(monitor: ClusterMonitor, rules: OperatorRules, pending: PendingUndos, record: ChangeRecord | undefined) {
    this.#monitor = monitor
    this.#rules = rules
    this.pending = pending
    this.#record = record
    this.#changes = record?.load(pending) ?? []
    this.#reportDamaged()
  }

  get all(): readonly PastChange[] {
    return this.#changes
  }

  find(id: string | undefined): PastChange | undefined {
    return this.#changes.find((c) => c.id === id)
  }

  /** Records a change before it is sent. @throws if that is not possible. */
  begin(past: PastChange): void {
    this.#record?.begin(past)
  }

  /** Adds a change that was sent. */
  add(past: PastChange): void {
    this.#changes = [past, ...this.#changes].slice(0, CHANGES_MAX)
    this.note(past)
  }

  /** Saves the new state of a change. */
  note(past: PastChange): void {
    try {
      this.#record?.keep(past, this.pending)
    } catch {
      // While the disk is full the state is in memory only; the record keeps the state from before sending, and is
      // resolved after a restart.
    }
  }

  /** Loads changes that commands of the same data folder have recorded meanwhile. */
  refresh(): void {
    if (!this.#record) return
    this.#record.refresh(this.#rules)
    const known = new Set(this.#changes.map((c) => c.id))
    const otherChanges = this.#record.otherChanges(known)
    this.#reportDamaged()
    if (otherChanges.length === 0) return
    this.#changes = [...otherChanges, ...this.#changes].sort((a, b) => b.atMs - a.atMs).slice(0, CHANGES_MAX)
  }

  #reportDamaged(): void {
    const { source, events } = this.#monitor
    for (const id of this.#record?.takeDamaged() ?? []) {
      const text = `recorded change ${id} could not be read: it was skipped and cannot be reverted here`
      const atMs = this.#monitor.nowMs()
      events.add({ atMs, kind: 'change', level: 'bad', subject: 'Rule', text, where: source.cluster })
    }
  }
}
