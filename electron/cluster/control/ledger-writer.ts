/**
 * Writes the ledger to the history: token moves between jobs together with the state of the controllers, target by target, so that the
 * data of a target on disk are consistent whenever the process ends.
 *
 * Moves of a second are added up. On a live cluster the targets of a second are written in slices, the first one at once: thousands of rows
 * in one piece would delay the control periods of all servers. On an emulated cluster they are written at once.
 */
import type { AdapTbfState } from '#core/adaptbf/controller-state.ts'
import type { PairMove } from '#core/adaptbf/pair-accounts.ts'
import type { History } from '../../history/history.ts'
import type { JobFacts, MoveRecord } from '../../history/records.ts'
import type { ServerPeriod } from './control-loop.ts'
import type { LedgerStateStore } from './ledger-state-store.ts'
import type { TargetControllers } from './target-controllers.ts'

/** Time between two slices, and rows after which one ends. */
const SLICE_MS = 100
const SLICE_ROWS = 500

type OpenMove = { -readonly [K in keyof MoveRecord]: MoveRecord[K] }

/** Data of one target that are written together. */
interface TargetData {
  readonly target: string
  readonly moves: readonly MoveRecord[]
  readonly state?: { readonly atNs: number; readonly generation: number; readonly state: AdapTbfState }
}

export class LedgerWriter {
  readonly #history: History
  readonly #controllers: TargetControllers
  readonly #store: LedgerStateStore
  readonly #facts: (jobId: string) => JobFacts
  /** Moves of seconds not yet handed over, by target: merged by second, pair and kind. */
  #moves = new Map<string, Map<string, OpenMove>>()
  /** Targets that wait to be written, in order. */
  readonly #waiting: TargetData[] = []
  #timer: NodeJS.Timeout | undefined
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
    this.#endSecond()
    this.#write(this.#store.isOn ? SLICE_ROWS : Infinity)
    if (this.#waiting.length > 0) this.#timer ??= setInterval(() => this.#slice(), SLICE_MS).unref()
  }

  /** Takes moves on a target outside its periods: ended jobs left their debts to other jobs. */
  enter(atMs: number, target: string, node: string, moves: readonly PairMove[]): void {
    if (moves.length === 0) return
    // The state is written with them, also while no target decides.
    this.#hasDecided = true
    this.#enter(Math.floor(atMs / 1000) * 1000, target, node, moves)
  }

  /** Hands over everything, also moves of the current second; no slice follows. */
  close(): void {
    clearInterval(this.#timer)
    this.#endSecond()
    this.#write(Infinity)
  }

  /** Queues the moves so far with the state of their controllers, which is that after these moves. */
  #endSecond(): void {
    const moves = this.#moves
    this.#moves = new Map()
    if (this.#hasDecided && this.#store.isOn) {
      for (const [target, state] of this.#controllers.save()) {
        this.#waiting.push({
          target,
          moves: [...(moves.get(target)?.values() ?? [])],
          state: { atNs: this.#atNs, generation: this.#store.generation, state },
        })
        moves.delete(target)
      }
    }
    this.#hasDecided = false
    for (const [target, open] of moves) this.#waiting.push({ target, moves: [...open.values()] })
  }

  #slice(): void {
    this.#write(SLICE_ROWS)
    if (this.#waiting.length === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    try {
      this.#history.flush()
    } catch {
      // Kept by the history, and reported by its next sample.
    }
  }

  /** Hands targets over until they have that many rows. */
  #write(rows: number): void {
    let written = 0
    while (written < rows) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      const { target, moves, state } = next
      if (moves.length > 0) this.#history.recordMoves(moves, this.#facts)
      if (state?.generation === this.#store.generation) this.#store.keep(state.atNs, target, state.state)
      written += moves.length + 1
    }
  }

  #enter(second: number, target: string, node: string, moves: readonly PairMove[]): void {
    for (const { lender, borrower, lent, reclaimed } of moves) {
      this.#add({ atMs: second, target, node, lender, borrower, kind: 'lend', tokens: lent })
      this.#add({ atMs: second, target, node, lender, borrower, kind: 'reclaim', tokens: reclaimed })
    }
  }

  #add(move: MoveRecord): void {
    if (move.tokens === 0) return
    const open = this.#moves.get(move.target) ?? new Map<string, OpenMove>()
    this.#moves.set(move.target, open)
    const key = `${move.atMs} ${move.kind} ${move.lender}\u0000${move.borrower}`
    const same = open.get(key)
    if (same) same.tokens += move.tokens
    else open.set(key, { ...move })
  }
}
