/** Index for finding a rule that matches everything another one does, without testing every pair. */
import { covers, type Shape } from './condition-shape.ts'

/** Literal prefix of the job ids that an item matches. */
const prefixOf = (item: string): string => {
  const star = item.indexOf('*')
  return star < 0 ? item : item.slice(0, star)
}

/**
 * Conditions in insertion order. One that covers another must, in one of its alternatives, have an item with a prefix of the other's job
 * id, or no job id condition at all.
 */
export class CoverIndex<T> {
  readonly #all: { readonly value: T; readonly shape: Shape }[] = []
  readonly #byPrefix = new Map<string, number[]>()
  /** Indices of conditions with an alternative that accepts any job id. */
  readonly #open: number[] = []
  /** Length of the longest prefix, characters. */
  #longest = 0

  add(value: T, shape: Shape): void {
    const at = this.#all.push({ value, shape }) - 1
    const prefixes = new Set<string>()
    let isOpen = false
    for (const clauses of shape) {
      const ids = clauses.find((c) => c.field === 'jobid' && !c.items.some((i) => /^\*+$/.test(i)))
      if (!ids) isOpen = true
      for (const item of ids?.items ?? []) prefixes.add(prefixOf(item))
    }
    if (isOpen) this.#open.push(at)
    for (const prefix of prefixes) {
      this.#longest = Math.max(this.#longest, prefix.length)
      const list = this.#byPrefix.get(prefix)
      if (list) list.push(at)
      else this.#byPrefix.set(prefix, [at])
    }
  }

  /** Returns the first one known to match everything that `shape` does; undefined if there is none. */
  firstCovering(shape: Shape): T | undefined {
    const [narrow] = shape
    if (!narrow) return undefined
    const candidates = new Set(this.#open)
    for (const clause of narrow) {
      const [id] = clause.items
      if (clause.field !== 'jobid' || id === undefined) continue
      const length = Math.min(id.length, this.#longest)
      for (let n = 0; n <= length; n++) for (const at of this.#byPrefix.get(id.slice(0, n)) ?? []) candidates.add(at)
    }
    for (const at of [...candidates].sort((a, b) => a - b)) {
      const { value, shape: wide } = this.#all[at] as { value: T; shape: Shape }
      if (covers(wide, shape)) return value
    }
    return undefined
  }
}
