/**
 * Finds many names in a text at once, ignoring case: leftmost first, the longest of those that start there. Names are data, so
 * the matcher is a trie of code units in an open-addressed table and never builds a regular expression from them.
 */
import { PRODUCT_IDENTIFIERS } from './names.ts'

/** Boundary of a pattern: a separate word, also a part between underscores (`run_ana`), or anywhere. */
export type Boundary = 'word' | 'joined' | 'anywhere'

const isWordCode = (c: number): boolean =>
  (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95 || c >= 0xc0

const FIRST_SIZE = 1 << 12

/** Lower case by code unit; a letter with a longer lower case stays. */
const FOLDED = ((): Uint16Array => {
  const of = new Uint16Array(65_536)
  for (let c = 0; c < of.length; c++) {
    const small = String.fromCharCode(c).toLowerCase()
    of[c] = small.length === 1 ? small.charCodeAt(0) : c
  }
  return of
})()
const fold = (code: number): number => FOLDED[code] as number

interface End<T> {
  readonly pattern: string
  readonly value: T
  readonly boundary: Boundary
  /** Patterns that differ only in case; each has its own value. */
  others: End<T>[] | undefined
}

export class NameMatcher<T> {
  /** Children by (node, code unit). */
  #nodes = new Int32Array(FIRST_SIZE)
  #codes = new Int32Array(FIRST_SIZE)
  #children = new Int32Array(FIRST_SIZE)
  #mask = FIRST_SIZE - 1
  #count = 1
  /** Children of the root, at which nearly every search ends. */
  readonly #roots = new Int32Array(65_536)
  readonly #ends = new Map<number, End<T>>()

  /** Adds a pattern; an existing one keeps its value. */
  add(pattern: string, boundary: Boundary, value: T): void {
    if (pattern === '') return
    let node = 0
    for (let i = 0; i < pattern.length; i++) node = this.#descend(node, fold(pattern.charCodeAt(i)))
    const end: End<T> = { pattern, value, boundary, others: undefined }
    const first = this.#ends.get(node)
    if (!first) this.#ends.set(node, end)
    else if (first.pattern !== pattern && first.others?.some((o) => o.pattern === pattern) !== true) {
      first.others = [...(first.others ?? []), end]
    }
  }

  has(pattern: string): boolean {
    let node = 0
    for (let i = 0; i < pattern.length; i++) {
      node = this.#child(node, fold(pattern.charCodeAt(i)))
      if (node === 0) return false
    }
    return this.#ends.has(node)
  }

  /**
   * First match at or after `from`.
   *
   * @param accepts  false rejects a match; a shorter one at the same position is tried next.
   * @complexity     O(text * longest pattern), and near O(text): most positions begin no name.
   */
  next(
    text: string,
    from: number,
    accepts?: (at: number, end: number, value: T) => boolean,
  ): { readonly at: number; readonly end: number; readonly value: T } | undefined {
    const { length } = text
    for (let at = from; at < length; at++) {
      let node = this.#roots[fold(text.charCodeAt(at))] as number
      if (node === 0) continue
      let found: { at: number; end: number; value: T } | undefined
      for (let i = at + 1; ; i++) {
        const first = this.#ends.get(node)
        if (first) {
          const end = first.others ? exactOf(first, text.slice(at, i)) : first
          if (isBounded(end.boundary, text, at, i) && (!accepts || accepts(at, i, end.value))) {
            found = { at, end: i, value: end.value }
          }
        }
        if (i >= length) break
        node = this.#child(node, fold(text.charCodeAt(i)))
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
    const nodes = this.#nodes
    const codes = this.#codes
    const children = this.#children
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

const exactOf = <T>(first: End<T>, text: string): End<T> =>
  first.pattern === text ? first : (first.others?.find((o) => o.pattern === text) ?? first)

const isBounded = (boundary: Boundary, text: string, at: number, end: number): boolean =>
  boundary === 'anywhere' || isWord(text, at, end) || (boundary === 'joined' && isJoined(text, at, end))

const UNDERSCORE = 95
const isGoingOn = (text: string, i: number): boolean => {
  const c = text.charCodeAt(i)
  return c !== UNDERSCORE && isWordCode(c)
}
/** Longest identifier that is looked up; Lustre has no longer ones. */
const IDENTIFIER_MOST = 64

/**
 * True if [at, end) is a part between underscores of an identifier that is not the product's: `ost_io` stays even if a user is
 * called io.
 */
function isJoined(text: string, at: number, end: number): boolean {
  if (at > 0 && isGoingOn(text, at) && isGoingOn(text, at - 1)) return false
  if (end < text.length && isGoingOn(text, end) && isGoingOn(text, end - 1)) return false
  let from = at
  let to = end
  while (from > 0 && at - from <= IDENTIFIER_MOST && isWordCode(text.charCodeAt(from - 1))) from--
  while (to < text.length && to - end <= IDENTIFIER_MOST && isWordCode(text.charCodeAt(to))) to++
  return !PRODUCT_IDENTIFIERS.has(text.slice(from, to))
}

/**
 * True if [at, end) is not extended by word characters on either side; a pattern that begins or ends with punctuation needs no
 * boundary there.
 */
export function isWord(text: string, at: number, end: number): boolean {
  if (at > 0 && isWordCode(text.charCodeAt(at)) && isWordCode(text.charCodeAt(at - 1))) return false
  return !(end < text.length && isWordCode(text.charCodeAt(end)) && isWordCode(text.charCodeAt(end - 1)))
}
