/**
 * Persistent state of controllers across restarts of the console: one entry per target of a cluster.
 *
 * Only for a live cluster. An emulated one is a new world at every start, also with the same scenario, seed and epoch:
 * its clock begins at 0 again, without debts, and a run must not depend on the previous one.
 */
import { checkAdapTbfState, type AdapTbfState } from '#core/adaptbf/controller-state.ts'
import { ok, type Result } from '#core/base/result.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { History } from '../../history/history.ts'
import type { ClusterSource } from '../../base/connection.ts'

/** Stored form: the state, and its time by both clocks, because the source's own restarts with the console. */
interface Envelope {
  readonly atNs: number
  readonly state: AdapTbfState
}

export interface StoredState {
  readonly state: AdapTbfState
  readonly savedMs: number
}

export class LedgerStateStore {
  readonly #source: ClusterSource
  readonly #history: History
  /** Number of times that the states were deleted: a state from before is not kept afterwards. */
  generation = 0

  constructor(source: ClusterSource, history: History) {
    this.#source = source
    this.#history = history
  }

  get isOn(): boolean {
    return this.#source.kind === 'LIVE'
  }

  /** Stored state of a target, with times converted to the source's current clock; undefined if there is none. */
  load(target: string): Result<StoredState | undefined> {
    const row = this.isOn ? this.#history.controllerState(this.#source.cluster, target) : undefined
    if (!row) return ok(undefined)
    const envelope = parse(row.state)
    const checked = checkAdapTbfState(envelope.state)
    if (!checked.ok) return checked
    const nowNs = this.#source.nowNs()
    const savedNs = nowNs - (this.#source.toUnixMs(nowNs) - row.atMs) * NS_PER_MS
    const shift = savedNs - envelope.atNs
    const pairs = checked.value.pairs.pairs.map((p) => ({
      ...p,
      sinceNs: p.sinceNs + shift,
      movedNs: p.movedNs + shift,
    }))
    const state = { ...checked.value, pairs: { ...checked.value.pairs, pairs } }
    return ok({ state, savedMs: row.atMs })
  }

  /** Hands the state of a target to the history; it is on disk with its next flush. */
  keep(atNs: number, target: string, state: AdapTbfState): void {
    if (!this.isOn) return
    const envelope: Envelope = { atNs, state }
    const atMs = this.#source.toUnixMs(atNs)
    this.#history.keepControllerState(this.#source.cluster, target, atMs, JSON.stringify(envelope))
  }

  /** Deletes the states: another controller starts without records. */
  forget(): void {
    this.generation++
    if (this.isOn) this.#history.forgetControllerStates(this.#source.cluster)
  }
}

/** Text without an envelope holds no state: the check of the state reports it. */
function parse(text: string): { readonly atNs: number; readonly state: unknown } {
  const none = { atNs: 0, state: undefined }
  try {
    const envelope: unknown = JSON.parse(text)
    if (typeof envelope !== 'object' || envelope === null || !('state' in envelope) || !('atNs' in envelope))
      return none
    const { atNs, state } = envelope
    return typeof atNs === 'number' ? { atNs, state } : none
  } catch {
    return none
  }
}
