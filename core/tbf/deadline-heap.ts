/**
 * The heap of classes with queued RPCs, ordered by deadline, then check time, then age of the class.
 *
 * Source: spec/lustre 2.3 ("smaller DL first, then smaller C"). Positions are kept in the classes, so that a class can be
 * moved or taken out in O(log n).
 */
export interface HeapItem {
  /** DL, ns. */
  deadline: number
  /** C, ns. */
  readonly checkTime: number
  /** Order of creation; breaks the remaining ties. */
  readonly id: number
  /** Index in the heap, -1 outside; kept by the heap. */
  position: number
}

const before = (a: HeapItem, b: HeapItem): boolean =>
  a.deadline !== b.deadline
    ? a.deadline < b.deadline
    : a.checkTime !== b.checkTime
      ? a.checkTime < b.checkTime
      : a.id < b.id

export class DeadlineHeap<T extends HeapItem> {
  #items: T[] = []

  get root(): T | undefined {
    return this.#items[0]
  }

  get size(): number {
    return this.#items.length
  }

  insert(item: T): void {
    item.position = this.#items.length
    this.#items.push(item)
    this.#up(item)
  }

  remove(item: T): void {
    const last = this.#items.pop() as T
    if (last !== item) {
      this.#place(last, item.position)
      this.resift(last)
    }
    item.position = -1
  }

  /** Restores the order after the deadline or check time of `item` changed. */
  resift(item: T): void {
    this.#up(item)
    this.#down(item)
  }

  #place(item: T, at: number): void {
    this.#items[at] = item
    item.position = at
  }

  #up(item: T): void {
    let i = item.position
    while (i > 0) {
      const parent = this.#items[(i - 1) >> 1] as T
      if (!before(item, parent)) break
      this.#place(parent, i)
      i = (i - 1) >> 1
    }
    this.#place(item, i)
  }

  #down(item: T): void {
    const n = this.#items.length
    let i = item.position
    for (;;) {
      let child = 2 * i + 1
      if (child >= n) break
      if (child + 1 < n && before(this.#items[child + 1] as T, this.#items[child] as T)) child++
      const c = this.#items[child] as T
      if (!before(c, item)) break
      this.#place(c, i)
      i = child
    }
    this.#place(item, i)
  }
}
