/**
 * Something costly that is shown: made anew when what was asked for is another thing, and else no more often than leaves nine
 * tenths of the time to the rest.
 */
export class Paced<T> {
  readonly #leastMs: number
  #kept: { readonly key: string; readonly value: T; readonly untilMs: number } | undefined

  /** @param leastMs  time for which a value stands at least. */
  constructor(leastMs: number) {
    this.#leastMs = leastMs
  }

  /** @param key  another key is another thing, made at once. */
  get(key: string, make: () => T): T {
    const beginMs = performance.now()
    if (this.#kept?.key === key && beginMs < this.#kept.untilMs) return this.#kept.value
    const value = make()
    const endMs = performance.now()
    this.#kept = { key, value, untilMs: endMs + Math.max(this.#leastMs, 9 * (endMs - beginMs)) }
    return value
  }
}
