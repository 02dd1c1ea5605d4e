/** Cache of an expensive result: recomputed at once for another key, otherwise at most for a tenth of the time. */
export class ThrottledCache<T> {
  readonly #leastMs: number
  #cached: { readonly key: string; readonly value: T; readonly untilMs: number } | undefined

  /** @param leastMs  minimum time for which a value is reused. */
  constructor(leastMs: number) {
    this.#leastMs = leastMs
  }

  /** @param key  a different key is computed at once. */
  get(key: string, make: () => T): T {
    const beginMs = performance.now()
    if (this.#cached?.key === key && beginMs < this.#cached.untilMs) return this.#cached.value
    const value = make()
    const endMs = performance.now()
    this.#cached = { key, value, untilMs: endMs + Math.max(this.#leastMs, 9 * (endMs - beginMs)) }
    return value
  }
}
