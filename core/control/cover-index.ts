/** Finds a rule that matches all that another one does, without trying every pair. */
import { covers, type Shape } from './condition-shape.ts'

/** What the job ids that an item matches begin with. */
const headOf = (item: string): string => {
  const star = item.indexOf('*')
  return star < 0 ? item : item.slice(0, star)
}

/**
 * Conditions in the order in which they are added. One that covers another must, in one of its alternatives, have an item that
 * begins as the other's job id does, or not ask for job ids at all.
 */
export class CoverIndex<T> {
  readonly #all: { readonly value: T; readonly shape: Shape }[] = []
  readonly #byHead = new Map<string, number[]>()
  /** Indices of those with an alternative that takes any job id. */
  readonly #open: number[] = []
  #longest = 0

  add(value: T, shape: Shape): void {
    const at = this.#all.push({ value, shape }) - 1
    const heads = new Set<string>()
    let isOpen = false
    for (const all of shape) {
      const ids = all.find((c) => c.field === 'jobid' && !c.items.some((i) => /^\*+$/.test(i)))
      if (!ids) isOpen = true
      for (const item of ids?.items ?? []) heads.add(headOf(item))
    }
    if (isOpen) this.#open.push(at)
    for (const head of heads) {
      this.#longest = Math.max(this.#longest, head.length)
      const list = this.#byHead.get(head)
      if (list) list.push(at)
      else this.#byHead.set(head, [at])
    }
  }

  /** The first one that matches all that `shape` does; undefined where none is known to. */
  firstCovering(shape: Shape): T | undefined {
    const [narrow] = shape
    if (!narrow) return undefined
    const candidates = new Set(this.#open)
    for (const clause of narrow) {
      const [id] = clause.items
      if (clause.field !== 'jobid' || id === undefined) continue
      const length = Math.min(id.length, this.#longest)
      for (let n = 0; n <= length; n++) for (const at of this.#byHead.get(id.slice(0, n)) ?? []) candidates.add(at)
    }
    for (const at of [...candidates].sort((a, b) => a - b)) {
      const { value, shape: wide } = this.#all[at] as { value: T; shape: Shape }
      if (covers(wide, shape)) return value
    }
    return undefined
  }
}
