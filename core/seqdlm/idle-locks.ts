/** GRANTED locks of one client that no operation holds, on all its resources, in order of last use. O(1) throughout. */
import type { ClientLock } from './client-lock.ts'

export class IdleLocks {
  #oldest: ClientLock | null = null
  #newest: ClientLock | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The least recently used one. */
  get oldest(): ClientLock | null {
    return this.#oldest
  }

  /** @param lock  was just used, and is not among them. */
  add(lock: ClientLock): void {
    lock.isIdle = true
    lock.older = this.#newest
    if (this.#newest === null) this.#oldest = lock
    else this.#newest.newer = lock
    this.#newest = lock
    this.#size++
  }

  /** Takes a lock out, where it is among them. */
  delete(lock: ClientLock): void {
    if (!lock.isIdle) return
    const { older, newer } = lock
    if (older === null) this.#oldest = newer
    else older.newer = newer
    if (newer === null) this.#newest = older
    else newer.older = older
    lock.isIdle = false
    lock.older = null
    lock.newer = null
    this.#size--
  }
}
