/**
 * Writes the ledger to the history once a second: token moves between jobs together with the state of the controllers,
 * so that the data on disk are consistent whenever the process ends.
 */
import type { PairMove } from '#core/adaptbf/pair-accounts.ts'
import type { History } from '../../history/history.ts'
import type { JobFacts, MoveRecord } from '../../history/records.ts'
import type { ServerPeriod } from './control-loop.ts'
import type { LedgerStateStore } from './ledger-state-store.ts'
import type { TargetControllers } from './target-controllers.ts'

export class LedgerWriter {
  readonly #history: History
  readonly #controllers: TargetControllers
  readonly #store: LedgerStateStore
  readonly #facts: (jobId: string) => JobFacts
  /** Moves of seconds not yet written: merged by second, pair and kind. */
  #moves = new Map<string, { -readonly [K in keyof MoveRecord]: MoveRecord[K] }>()
  #second = 0
  #hasDecided = false
  #atNs = 0

  constructor(
    history: History,
    controllers: TargetControllers,
    store: LedgerStateStore,
    facts: (jobId: string) => JobFacts,
  ) {
    this.#history = history
    this.#controllers = controllers
    this.#store = store
    this.#facts = facts
  }

  /** Takes the periods of one sample. */
  take(atNs: number, atMs: number, periods: readonly ServerPeriod[]): void {
    const second = Math.floor(atMs / 1000) * 1000
    for (const { host, reports } of periods) {
      for (const [target, { held, moves }] of reports) {
        if (!held) this.#hasDecided = true
        this.#enter(second, target, host, moves)
      }
    }
    this.#atNs = atNs
    if (second === this.#second) return
    this.#second = second
    this.handOver()
  }

  /** Takes moves on a target outside its periods: ended jobs left their debts to other jobs. */
  enter(atMs: number, target: string, node: string, moves: readonly PairMove[]): void {
    if (moves.length === 0) return
    // The state is written with them, also while no target decides.
    this.#hasDecided = true
    this.#enter(Math.floor(atMs / 1000) * 1000, target, node, moves)
  }

  /** Writes pending moves, also those of the current second. */
  handOver(): void {
    if (this.#moves.size > 0) this.#history.recordMoves([...this.#moves.values()], this.#facts)
    this.#moves = new Map()
    if (!this.#hasDecided) return
    this.#hasDecided = false
    if (this.#store.isOn) this.#store.keep(this.#atNs, this.#controllers.save())
  }

  #enter(second: number, target: string, node: string, moves: readonly PairMove[]): void {
    for (const { lender, borrower, lent, reclaimed } of moves) {
      this.#add({ atMs: second, target, node, lender, borrower, kind: 'lend', tokens: lent })
      this.#add({ atMs: second, target, node, lender, borrower, kind: 'reclaim', tokens: reclaimed })
    }
  }

  #add(move: MoveRecord): void {
    if (move.tokens === 0) return
    const key = `${move.atMs} ${move.kind} ${move.target}\u0000${move.lender}\u0000${move.borrower}`
    const open = this.#moves.get(key)
    if (open) open.tokens += move.tokens
    else this.#moves.set(key, { ...move })
  }
}
