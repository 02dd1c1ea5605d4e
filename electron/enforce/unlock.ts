/**
 * Write protection of a cluster: its safe mode, and the unlock that review+unlock requires.
 *
 * read-only: nothing is written; only another safe mode allows it. review: reviewed changes are sent. review+unlock:
 * the same, but only for 15 minutes after the cluster's name was typed; suspending the machine, a clock jump and a lost
 * connection end it early.
 *
 * A login as root writes only where the cluster allows that (ROOT_LOGIN).
 *
 * When the unlock ends, controllers leave enforce: they stop writing and remove their rules, which is allowed while
 * locked, since it only ends limits. If a server does not answer, the lease there expires within a minute. Rules that
 * were committed manually stay until their own timers fire.
 */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { SafeMode } from '#core/api/clusters.ts'
import type { Mode } from '#core/control/controller.ts'

export const UNLOCK_MS = 15 * 60_000
/** Allowed difference of wall clock and steady clock between two checks; more is a suspend, or a clock that was set. */
const JUMP_MS = 5_000

export interface UnlockParts {
  readonly cluster: string
  readonly safeMode: () => SafeMode
  /** Reason why nothing may be written, whatever the safe mode, for example a broken audit. */
  readonly refusal?: (() => Failure | undefined) | undefined
  /** Servers with root logins, and whether these may write on this cluster. */
  readonly root?: { readonly hosts: () => readonly string[]; readonly isAllowed: () => boolean } | undefined
  /** Called when the unlock has ended, by itself or manually: controllers must leave enforce. */
  readonly onLock: (why: string) => void
  /** Unix ms, and a monotonic clock that stops while the machine is suspended, ms. */
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

  /** End of the unlock, Unix ms; null while locked, and if none is needed. */
  get untilMs(): number | null {
    this.look()
    return this.#open?.untilMs ?? null
  }

  /** Checks every write: the reason for refusing it; undefined if allowed. */
  mayWrite(): Failure | undefined {
    this.look()
    const { cluster } = this.#parts
    const mode = this.#parts.safeMode()
    if (mode === 'read-only') {
      return {
        code: 'READ_ONLY',
        what: `Nothing is written to ${cluster}`,
        why: 'its safe mode is read-only',
        unaffected: 'Monitoring continues.',
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
      why: 'its safe mode requires an unlock, which lasts 15 minutes',
      unaffected: 'Monitoring continues, and changes can be planned.',
      next: `Unlock it: type ${cluster}.`,
    }
  }

  /** A root login may do anything on a server; writing with one must be allowed explicitly. */
  #rootRefusal(): Failure | undefined {
    const { cluster, root } = this.#parts
    const hosts = root && !root.isAllowed() ? root.hosts() : []
    if (hosts.length === 0) return undefined
    const shown = hosts.slice(0, 3).join(', ')
    return {
      code: 'ROOT_LOGIN',
      what: `Nothing is written to ${cluster}`,
      why: `the login is root on ${shown}${hosts.length > 3 ? ` and ${hosts.length - 3} more` : ''}`,
      unaffected: 'Monitoring continues; rules of Sluice can be removed.',
      next:
        'Use a separate login with the sudoers files, or allow root: `allow_root: true` beside `name` in the clusters file, ' +
        'or "Allow root writes" in the menu of its card.',
    }
  }

  /**
   * Reason why rules of Sluice may not be removed; undefined if they may. A removal only ends limits, so only read-only
   * prevents it: not a lock, a root login, or a record that cannot be written or was altered.
   */
  mayRemove(): Failure | undefined {
    const why = this.mayWrite()
    return why?.code === 'READ_ONLY' ? why : undefined
  }

  /** Checks that a mode may be entered. Failures: READ_ONLY, ROOT_LOGIN, LOCKED, those of `refusal`. */
  mayEnter(mode: Mode): Result<undefined> {
    const why = mode === 'enforce' ? this.mayWrite() : undefined
    return why ? fail(why) : ok(undefined)
  }

  /** Unlocks, or restarts the 15 minutes. Failures: NOT_TYPED, READ_ONLY, ROOT_LOGIN, NOT_LOCKED, those of `refusal`. */
  unlock(typed: string): Result<number> {
    this.look()
    const { cluster } = this.#parts
    const refuse = (code: string, why: string, next: string): Result<number> =>
      fail({ code, what: `${cluster} was not unlocked`, why, unaffected: 'Monitoring continues.', next })
    const mode = this.#parts.safeMode()
    if (mode === 'review') return refuse('NOT_LOCKED', 'its safe mode requires no unlock', 'Continue.')
    const why = this.mayWrite()
    if (why && why.code !== 'LOCKED') return fail(why)
    if (typed !== cluster) return refuse('NOT_TYPED', 'the typed name does not match', `Type ${cluster}.`)
    const untilMs = this.#nowMs() + this.#lengthMs
    this.#open = { untilMs, untilSteadyMs: this.#steadyMs() + this.#lengthMs }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.look(), this.#lengthMs + 1)
    this.#timer.unref()
    return ok(untilMs)
  }

  /** Ends the unlock: manually, after a suspend, or with the connection. */
  lock(why = 'it was locked'): void {
    const wasOpen = this.#open !== undefined
    this.#open = undefined
    clearTimeout(this.#timer)
    if (wasOpen) this.#parts.onLock(why)
  }

  /**
   * Compares the clocks; to be called at every sample, so that a suspend is noticed before the next write. The steady
   * clock is `performance.now()`, which on Linux stops while the machine is suspended; on other systems the sampler
   * notices that nothing ran (SleepWatch). Waiting for a server advances both alike.
   */
  look(): void {
    const now = { nowMs: this.#nowMs(), steadyMs: this.#steadyMs() }
    const jumpMs = now.nowMs - this.#last.nowMs - (now.steadyMs - this.#last.steadyMs)
    this.#last = now
    if (!this.#open) return
    if (Math.abs(jumpMs) > JUMP_MS) this.lock('this machine was suspended, or its clock was set')
    else if (now.nowMs >= this.#open.untilMs || now.steadyMs >= this.#open.untilSteadyMs)
      this.lock('the 15 minutes are over')
  }
}
