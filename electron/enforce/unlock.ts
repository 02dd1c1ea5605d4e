/**
 * What stands between an operator and a write: the safe mode of a cluster, and the unlock that it asks for.
 *
 * read-only: nothing is written, and there is no way to it but another safe mode. review: what was reviewed is sent. review+unlock:
 * the same, and only for 15 minutes after the cluster's name was typed; closing the lid, a clock that jumps and a lost connection end
 * it early.
 *
 * A login as root writes only where the cluster allows that (ROOT_LOGIN).
 *
 * When the unlock ends, controllers leave enforce: they stop writing and take their rules away, which is allowed while locked, since it
 * gives back what was taken. Where a server does not answer, the lease there runs out within a minute. Rules that were committed by
 * hand stay until their own timers.
 */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { SafeMode } from '#core/api/clusters.ts'
import type { Mode } from '#core/control/controller.ts'

export const UNLOCK_MS = 15 * 60_000
/** Wall clock and steady clock may differ by this between two looks; more is a sleep, or somebody who set the clock. */
const JUMP_MS = 5_000

export interface UnlockParts {
  readonly cluster: string
  readonly safeMode: () => SafeMode
  /** Why nothing may be written whoever asks, for example a broken audit. */
  readonly refusal?: (() => Failure | undefined) | undefined
  /** Servers that are logged into as root, and whether that may write on this cluster. */
  readonly root?: { readonly hosts: () => readonly string[]; readonly isAllowed: () => boolean } | undefined
  /** The unlock has ended, by itself or by hand: controllers must leave enforce. */
  readonly onLock: (why: string) => void
  /** Unix ms, and a clock that nobody sets and that stands still while the machine sleeps, ms. */
  readonly nowMs?: () => number
  readonly steadyMs?: () => number
  /** @default UNLOCK_MS */
  readonly lengthMs?: number
}

export class Unlock {
  readonly #parts: UnlockParts
  readonly #nowMs: () => number
  readonly #steadyMs: () => number
  readonly #lengthMs: number
  #open: { readonly untilMs: number; readonly untilSteadyMs: number } | undefined
  #last: { readonly nowMs: number; readonly steadyMs: number }
  #timer: NodeJS.Timeout | undefined

  constructor(parts: UnlockParts) {
    this.#parts = parts
    this.#nowMs = parts.nowMs ?? Date.now
    this.#steadyMs = parts.steadyMs ?? (() => performance.now())
    this.#lengthMs = parts.lengthMs ?? UNLOCK_MS
    this.#last = { nowMs: this.#nowMs(), steadyMs: this.#steadyMs() }
  }

  /** End of the unlock, Unix ms; null while locked, and where none is needed. */
  get untilMs(): number | null {
    this.look()
    return this.#open?.untilMs ?? null
  }

  /** The one guard of everything that writes: why it may not; undefined when it may. */
  mayWrite(): Failure | undefined {
    this.look()
    const { cluster } = this.#parts
    const mode = this.#parts.safeMode()
    if (mode === 'read-only') {
      return {
        code: 'READ_ONLY',
        what: `Nothing is written to ${cluster}`,
        why: 'its safe mode is read-only',
        unaffected: 'It can be watched.',
        next: 'Choose another safe mode under Connections.',
      }
    }
    const refused = this.#parts.refusal?.()
    if (refused) return refused
    const asRoot = this.#rootRefusal()
    if (asRoot) return asRoot
    if (mode === 'review' || this.#open) return undefined
    return {
      code: 'LOCKED',
      what: `${cluster} is locked`,
      why: 'its safe mode asks for an unlock, which holds for 15 minutes',
      unaffected: 'It can be watched, and changes can be planned.',
      next: `Unlock it: type ${cluster}.`,
    }
  }

  /** A login as root may do anything on a server; writing by one is a choice of its own. */
  #rootRefusal(): Failure | undefined {
    const { cluster, root } = this.#parts
    const hosts = root && !root.isAllowed() ? root.hosts() : []
    if (hosts.length === 0) return undefined
    const shown = hosts.slice(0, 3).join(', ')
    return {
      code: 'ROOT_LOGIN',
      what: `Nothing is written to ${cluster}`,
      why: `the login is root on ${shown}${hosts.length > 3 ? ` and ${hosts.length - 3} more` : ''}`,
      unaffected: 'It can be watched; rules of Sluice can be removed.',
      next:
        'Use a login of its own with the sudoers files, or allow root: `allow_root: true` beside `name` in the clusters file, ' +
        'or "Root may write" in the menu of its card.',
    }
  }

  /**
   * Why rules of Sluice may not be removed; undefined when they may. A removal ends a limit and makes none, so that only read-only is
   * in its way: not a lock, nor a login as root, nor a record that cannot be written or was altered.
   */
  mayRemove(): Failure | undefined {
    const why = this.mayWrite()
    return why?.code === 'READ_ONLY' ? why : undefined
  }

  /** Whether a mode may be chosen. Failures: READ_ONLY, LOCKED, those of `refusal`. */
  mayEnter(mode: Mode): Result<undefined> {
    const why = mode === 'enforce' ? this.mayWrite() : undefined
    return why ? fail(why) : ok(undefined)
  }

  /** Unlocks, or begins the 15 minutes anew. Failures: NOT_TYPED, READ_ONLY, NOT_LOCKED, those of `refusal`. */
  unlock(typed: string): Result<number> {
    this.look()
    const { cluster } = this.#parts
    const refuse = (code: string, why: string, next: string): Result<number> =>
      fail({ code, what: `${cluster} was not unlocked`, why, unaffected: 'It can be watched.', next })
    const mode = this.#parts.safeMode()
    if (mode === 'review') return refuse('NOT_LOCKED', 'its safe mode asks for no unlock', 'Go on.')
    const why = this.mayWrite()
    if (why && why.code !== 'LOCKED') return fail(why)
    if (typed !== cluster) return refuse('NOT_TYPED', 'what was typed is not its name', `Type ${cluster}.`)
    const untilMs = this.#nowMs() + this.#lengthMs
    this.#open = { untilMs, untilSteadyMs: this.#steadyMs() + this.#lengthMs }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.look(), this.#lengthMs + 1)
    this.#timer.unref()
    return ok(untilMs)
  }

  /** Ends the unlock: by hand, after a sleep, with the connection. */
  lock(why = 'it was locked'): void {
    const wasOpen = this.#open !== undefined
    this.#open = undefined
    clearTimeout(this.#timer)
    if (wasOpen) this.#parts.onLock(why)
  }

  /**
   * Compares the clocks; to be called at every sample, so that a sleep is noticed before the next write. The steady clock is
   * `performance.now()`, which on Linux stands still while the machine is suspended; where it does not, whoever samples notices that
   * nothing ran (SleepWatch). Waiting for a server moves both alike.
   */
  look(): void {
    const now = { nowMs: this.#nowMs(), steadyMs: this.#steadyMs() }
    const jumpMs = now.nowMs - this.#last.nowMs - (now.steadyMs - this.#last.steadyMs)
    this.#last = now
    if (!this.#open) return
    if (Math.abs(jumpMs) > JUMP_MS) this.lock('this machine slept, or its clock was set')
    else if (now.nowMs >= this.#open.untilMs || now.steadyMs >= this.#open.untilSteadyMs)
      this.lock('the 15 minutes are over')
  }
}
