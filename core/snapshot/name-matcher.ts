/**
 * Finds many names in a text at once: leftmost first, the longest of those that begin there. Names are data, so the matcher is a tree of
 * code units in an open-addressed table and no expression is ever made of them.
 */

/** Of a pattern: whether it counts only as a word of its own, or anywhere. */
export type Boundary = 'word' | 'anywhere'

const isWordCode = (c: number): boolean =>
  (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95 || c >= 0xc0

const FIRST_SIZE = 1 << 12

export class NameMatcher<T> {
  /** Children by (node, code unit). */
  #nodes = new Int32Array(FIRST_SIZE)
  #codes = new Int32Array(FIRST_SIZE)
  #children = new Int32Array(FIRST_SIZE)
  #mask = FIRST_SIZE - 1
  #count = 1
  /** Children of the root, where nearly every search ends. */
  readonly #roots = new Int32Array(65_536)
  readonly #ends = new Map<number, { readonly value: T; readonly boundary: Boundary }>()

  /** A pattern that is there already stays what it was. */
  add(pattern: string, boundary: Boundary, value: T): void {
    if (pattern === '') return
    let node = 0
    for (let i = 0; i < pattern.length; i++) node = this.#descend(node, pattern.charCodeAt(i))
    if (!this.#ends.has(node)) this.#ends.set(node, { value, boundary })
  }

  has(pattern: string): boolean {
    let node = 0
    for (let i = 0; i < pattern.length; i++) {
      node = this.#child(node, pattern.charCodeAt(i))
      if (node === 0) return false
    }
    return this.#ends.has(node)
  }

  /**
   * The first match at or after `from`.
   *
   * @param accepts  a match that it refuses is passed over, and a shorter one at the same place is tried.
   * @complexity     O(text * longest pattern), and near O(text): most positions begin no name.
   */
  next(
    text: string,
    from: number,
    accepts?: (at: number, end: number, value: T) => boolean,
  ): { readonly at: number; readonly end: number; readonly value: T } | undefined {
    const { length } = text
    for (let at = from; at < length; at++) {
      let node = this.#roots[text.charCodeAt(at)] as number
      if (node === 0) continue
      let found: { at: number; end: number; value: T } | undefined
      for (let i = at + 1; ; i++) {
        const end = this.#ends.get(node)
        if (end && (end.boundary === 'anywhere' || isWord(text, at, i)) && (!accepts || accepts(at, i, end.value))) {
          found = { at, end: i, value: end.value }
        }
        if (i >= length) break
        node = this.#child(node, text.charCodeAt(i))
        if (node === 0) break
      }
      if (found) return found
    }
    return undefined
  }

  #child(node: number, code: number): number {
    if (node === 0) return this.#roots[code] as number
    for (let slot = mix(node, code) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const child = this.#children[slot] as number
      if (child === 0 || (this.#nodes[slot] === node && this.#codes[slot] === code)) return child
    }
  }

  #descend(node: number, code: number): number {
    const known = this.#child(node, code)
    if (known !== 0) return known
    const child = this.#count++
    if (node === 0) this.#roots[code] = child
    else {
      if (this.#count * 2 > this.#mask) this.#grow()
      this.#put(node, code, child)
    }
    return child
  }

  #put(node: number, code: number, child: number): void {
    let slot = mix(node, code) & this.#mask
    while (this.#children[slot] !== 0) slot = (slot + 1) & this.#mask
    this.#nodes[slot] = node
    this.#codes[slot] = code
    this.#children[slot] = child
  }

  #grow(): void {
    const [nodes, codes, children] = [this.#nodes, this.#codes, this.#children]
    const size = (this.#mask + 1) * 4
    this.#nodes = new Int32Array(size)
    this.#codes = new Int32Array(size)
    this.#children = new Int32Array(size)
    this.#mask = size - 1
    for (let i = 0; i < children.length; i++) {
      const child = children[i] as number
      if (child !== 0) this.#put(nodes[i] as number, codes[i] as number, child)
    }
  }
}

function mix(node: number, code: number): number {
  let h = Math.imul(node, 0x9e3779b1) ^ Math.imul(code, 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35)
  return (h ^ (h >>> 13)) >>> 0
}

/** Whether [at, end) does not go on as a word on either side; a pattern that begins or ends with a sign needs none there. */
export function isWord(text: string, at: number, end: number): boolean {
  if (at > 0 && isWordCode(text.charCodeAt(at)) && isWordCode(text.charCodeAt(at - 1))) return false
  return !(end < text.length && isWordCode(text.charCodeAt(end)) && isWordCode(text.charCodeAt(end - 1)))
}
