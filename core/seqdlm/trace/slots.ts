/** Slots of tables, indexed and linked without an object for each: a hash index, and lists whose links are columns. */

const FIRST_CAPACITY = 1024

/** No slot. */
export const NONE = -1

/** Hash of two numbers; consecutive numbers get consecutive hashes, as they are looked up consecutively. */
export function hashOf(a: number, b: number): number {
  const high = a > 0xffffffff ? Math.floor(a / 0x100000000) : 0
  return ((a | 0) + Math.imul(high, 0xc2b2ae35) + Math.imul(b | 0, 0x9e3779b1)) | 0
}

/** Slots by hash, the newest of a hash first; the caller compares their content. */
export class SlotIndex {
  /** Slot + 1; 0 for none. At least as many as slots in it. */
  #heads = new Int32Array(FIRST_CAPACITY)
  /** Slot + 2; 1 for none, 0 for one that is not in it. */
  #next = new Int32Array(FIRST_CAPACITY)
  #hash = new Int32Array(FIRST_CAPACITY)
  #size = 0

  /** @param slot  not in it. */
  add(slot: number, hash: number): void {
    if (slot >= this.#next.length) this.#grow(slot)
    if (++this.#size > this.#heads.length) this.#widen()
    this.#hash[slot] = hash
    this.#link(slot)
  }

  /** Removes a slot; no effect if it is not in the index. */
  remove(slot: number): void {
    const next = this.#next
    if (slot >= next.length || next[slot] === 0) return
    const head = this.#hash[slot]! & (this.#heads.length - 1)
    const after = next[slot]!
    next[slot] = 0
    this.#size--
    let at = this.#heads[head]! - 1
    if (at === slot) {
      this.#heads[head] = after - 1
      return
    }
    while (next[at]! - 2 !== slot) at = next[at]! - 2
    next[at] = after
  }

  /** First candidate for a hash; `NONE` for none. May include slots of other hashes. */
  first(hash: number): number {
    return this.#heads[hash & (this.#heads.length - 1)]! - 1
  }

  next(slot: number): number {
    return this.#next[slot]! - 2
  }

  #link(slot: number): void {
    const head = this.#hash[slot]! & (this.#heads.length - 1)
    this.#next[slot] = this.#heads[head]! + 1
    this.#heads[head] = slot + 1
  }

  #widen(): void {
    const chains = this.#heads
    const oldestFirst: number[] = []
    for (let h = 0; h < chains.length; h++) {
      const from = oldestFirst.length
      for (let s = chains[h]! - 1; s !== NONE; s = this.next(s)) oldestFirst.push(s)
      oldestFirst.push(...oldestFirst.splice(from).reverse())
    }
    this.#heads = new Int32Array(2 * chains.length)
    for (const slot of oldestFirst) this.#link(slot)
  }

  #grow(slot: number): void {
    let capacity = this.#next.length
    while (capacity <= slot) capacity *= 2
    this.#next = grown(this.#next, capacity)
    this.#hash = grown(this.#hash, capacity)
  }
}

/** Ends of a list and its length. */
export interface SlotList {
  first: number
  last: number
  size: number
}

export const emptyList = (): SlotList => ({ first: NONE, last: NONE, size: 0 })

/** Links of lists; a slot is in one of them at a time. */
export class SlotLinks {
  /** Slot + 1; 0 for none. */
  #previous = new Int32Array(FIRST_CAPACITY)
  #next = new Int32Array(FIRST_CAPACITY)

  next(slot: number): number {
    return this.#next[slot]! - 1
  }

  previous(slot: number): number {
    return this.#previous[slot]! - 1
  }

  append(list: SlotList, slot: number): void {
    if (slot >= this.#next.length) this.#grow(slot)
    const { last } = list
    this.#previous[slot] = last + 1
    this.#next[slot] = 0
    if (last === NONE) list.first = slot
    else this.#next[last] = slot + 1
    list.last = slot
    list.size++
  }

  /** @param slot  in that list. */
  remove(list: SlotList, slot: number): void {
    const before = this.#previous[slot]! - 1
    const after = this.#next[slot]! - 1
    if (before === NONE) list.first = after
    else this.#next[before] = after + 1
    if (after === NONE) list.last = before
    else this.#previous[after] = before + 1
    list.size--
  }

  #grow(slot: number): void {
    let capacity = this.#next.length
    while (capacity <= slot) capacity *= 2
    this.#next = grown(this.#next, capacity)
    this.#previous = grown(this.#previous, capacity)
  }
}

function grown(from: Int32Array<ArrayBuffer>, capacity: number): Int32Array<ArrayBuffer> {
  const to = new Int32Array(capacity)
  to.set(from)
  return to
}

export function grownBytes(from: Uint8Array<ArrayBuffer>, capacity: number): Uint8Array<ArrayBuffer> {
  const to = new Uint8Array(capacity)
  to.set(from)
  return to
}

export function grownNumbers(from: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const to = new Float64Array(capacity)
  to.set(from)
  return to
}
