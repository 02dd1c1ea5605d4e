/**
 * Index of the unreleased locks of one kind on one resource, by range: a treap ordered by (start, lock id) whose nodes
 * hold the furthest end and the least SN of their subtree.
 *
 * Every query of a grant (overlap, next start, oldest SN) takes O(log n) expected, so that tens of thousands of
 * CANCELING locks on a resource cost almost nothing. Priorities are hashes of the lock id: the shape depends only on
 * the locks in it.
 */
import type { LockRange } from './ranges.ts'

export interface IndexedLock {
  readonly lockId: number
  readonly range: LockRange
  /** Least SN of data that may still arrive under the lock. */
  readonly minSn: number
}

interface Node<T> {
  readonly lock: T
  readonly start: number
  readonly end: number
  readonly priority: number
  left: Node<T> | null
  right: Node<T> | null
  maxEnd: number
  leastSn: number
}

function mix(id: number): number {
  let h = (id % 4294967296) ^ Math.floor(id / 4294967296)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

function update<T extends IndexedLock>(n: Node<T>): Node<T> {
  const { left, right } = n
  let maxEnd = n.end
  let leastSn = n.lock.minSn
  if (left !== null) {
    if (left.maxEnd > maxEnd) maxEnd = left.maxEnd
    if (left.leastSn < leastSn) leastSn = left.leastSn
  }
  if (right !== null) {
    if (right.maxEnd > maxEnd) maxEnd = right.maxEnd
    if (right.leastSn < leastSn) leastSn = right.leastSn
  }
  n.maxEnd = maxEnd
  n.leastSn = leastSn
  return n
}

const isBefore = <T extends IndexedLock>(start: number, id: number, n: Node<T>): boolean =>
  start < n.start || (start === n.start && id < n.lock.lockId)

export class LockIndex<T extends IndexedLock> {
  #root: Node<T> | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  /** @param lock  not in the index yet; its start and id must not change while it is. */
  add(lock: T): void {
    this.#size++
    const { start, end } = lock.range
    // One literal: an object spread costs as much as the insertion.
    this.#root = insert(this.#root, {
      lock,
      start,
      end,
      priority: mix(lock.lockId),
      left: null,
      right: null,
      maxEnd: end,
      leastSn: lock.minSn,
    })
  }

  /** @param lock  in the index. */
  delete(lock: T): void {
    this.#size--
    this.#root = remove(this.#root, lock)
  }

  /**
   * Returns the first lock that overlaps the hull of a range and is accepted by `accept`; undefined if there is none.
   */
  find(range: LockRange, accept: (lock: T) => boolean): T | undefined {
    return this.#root === null ? undefined : find(this.#root, range.start, range.end, accept)
  }

  /** Returns the start of the first lock that starts after `offset`; Infinity if there is none. */
  startAfter(offset: number): number {
    let best = Infinity
    for (let n = this.#root; n !== null;) {
      if (n.start > offset) {
        best = n.start
        n = n.left
      } else n = n.right
    }
    return best
  }

  /**
   * Returns the least `minSn` of the locks that overlap start..end (inclusive), if it is below `bound`; else `bound`.
   */
  leastSn(start: number, end: number, bound: number): number {
    return this.#root === null ? bound : least(this.#root, start, end, bound)
  }

  /** Iterates over the locks, in order of start. */
  *[Symbol.iterator](): Generator<T, void, void> {
    const path: Node<T>[] = []
    let n = this.#root
    while (n !== null || path.length > 0) {
      for (; n !== null; n = n.left) path.push(n)
      const top = path.pop() as Node<T>
      yield top.lock
      n = top.right
    }
  }
}

function insert<T extends IndexedLock>(at: Node<T> | null, node: Node<T>): Node<T> {
  if (at === null) return node
  if (node.priority > at.priority) {
    const [left, right] = split(at, node)
    node.left = left
    node.right = right
    return update(node)
  }
  if (isBefore(node.start, node.lock.lockId, at)) at.left = insert(at.left, node)
  else at.right = insert(at.right, node)
  return update(at)
}

/** Splits a tree before and after the key of a node. */
function split<T extends IndexedLock>(at: Node<T> | null, key: Node<T>): [Node<T> | null, Node<T> | null] {
  if (at === null) return [null, null]
  if (isBefore(key.start, key.lock.lockId, at)) {
    const [left, right] = split(at.left, key)
    at.left = right
    return [left, update(at)]
  }
  const [left, right] = split(at.right, key)
  at.right = left
  return [update(at), right]
}

function remove<T extends IndexedLock>(at: Node<T> | null, lock: T): Node<T> | null {
  if (at === null) return null
  if (at.lock === lock) return merge(at.left, at.right)
  if (isBefore(lock.range.start, lock.lockId, at)) at.left = remove(at.left, lock)
  else at.right = remove(at.right, lock)
  return update(at)
}

function merge<T extends IndexedLock>(a: Node<T> | null, b: Node<T> | null): Node<T> | null {
  if (a === null) return b
  if (b === null) return a
  if (a.priority > b.priority) {
    a.right = merge(a.right, b)
    return update(a)
  }
  b.left = merge(a, b.left)
  return update(b)
}

function find<T>(n: Node<T>, start: number, end: number, accept: (lock: T) => boolean): T | undefined {
  if (n.maxEnd < start) return undefined
  if (n.left !== null) {
    const found = find(n.left, start, end, accept)
    if (found !== undefined) return found
  }
  if (n.start > end) return undefined
  if (n.end >= start && accept(n.lock)) return n.lock
  return n.right === null ? undefined : find(n.right, start, end, accept)
}

function least<T extends IndexedLock>(n: Node<T>, start: number, end: number, bound: number): number {
  if (n.leastSn >= bound || n.maxEnd < start) return bound
  let best = bound
  if (n.left !== null) best = least(n.left, start, end, best)
  if (n.start > end) return best
  if (n.end >= start && n.lock.minSn < best) best = n.lock.minSn
  return n.right === null ? best : least(n.right, start, end, best)
}
