/**
 * Changes that were committed, newest first, each with the end of every server: the undo list. It is kept over a restart, and commands of the
 * same data folder add to it.
 */
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { ChangeRecord } from './change-record.ts'
import type { OperatorRules } from './operator-rules.ts'
import type { PastChange } from './past-change.ts'
import type { PendingUndos } from './pending-undo.ts'

/** Changes that are remembered. */
const CHANGES_KEPT = 20

export class ChangeLog {
  readonly pending: PendingUndos
  readonly #monitor: ClusterMonitor
  readonly #rules: OperatorRules
  readonly #record: ChangeRecord | undefined
  #changes: readonly PastChange[]

  /** @param record  where it is kept; memory only without. */
  constructor(monitor: ClusterMonitor, rules: OperatorRules, pending: PendingUndos, record: ChangeRecord | undefined) {
    this.#monitor = monitor
    this.#rules = rules
    this.pending = pending
    this.#record = record
    this.#changes = record?.load(pending) ?? []
    this.#sayDamaged()
  }

  get all(): readonly PastChange[] {
    return this.#changes
  }

  find(id: string | undefined): PastChange | undefined {
    return this.#changes.find((c) => c.id === id)
  }

  /** Puts a change on record before it is sent. @throws when that is not possible. */
  begin(past: PastChange): void {
    this.#record?.begin(past)
  }

  /** Adds a change that was sent. */
  add(past: PastChange): void {
    this.#changes = [past, ...this.#changes].slice(0, CHANGES_KEPT)
    this.note(past)
  }

  /** Keeps what is different about a change. */
  note(past: PastChange): void {
    try {
      this.#record?.keep(past, this.pending)
    } catch {
      // While the disk is full it is in memory only; on record it stays as it was begun, and is settled after a restart.
    }
  }

  /** Takes over what commands of the same data folder have noted meanwhile. */
  refresh(): void {
    if (!this.#record) return
    this.#record.refresh(this.#rules)
    const known = new Set(this.#changes.map((c) => c.id))
    const others = this.#record.others(known)
    this.#sayDamaged()
    if (others.length === 0) return
    this.#changes = [...others, ...this.#changes].sort((a, b) => b.atMs - a.atMs).slice(0, CHANGES_KEPT)
  }

  #sayDamaged(): void {
    const { source, events } = this.#monitor
    for (const id of this.#record?.takeDamaged() ?? []) {
      const text = `change ${id} on record could not be read: it was set aside, and cannot be undone here`
      const atMs = this.#monitor.nowMs()
      events.add({ atMs, kind: 'change', level: 'bad', subject: 'Rule', text, where: source.cluster })
    }
  }
}
