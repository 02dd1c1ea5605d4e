/** Search match cost of names: a word may match as a whole, as a prefix, at the start of a part, or inside. */

export const WORDS_MOST = 8
const FIELD_CHARS = 512

/** Words of a search, folded like names. */
export const searchWords = (text: string): string[] => fold(text).split(/\s+/).filter(Boolean).slice(0, WORDS_MOST)

const fold = (text: string): string => text.slice(0, FIELD_CHARS).toLowerCase()
const isPartOfName = (code: number): boolean => (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || code > 127

function wordScore(word: string, name: string): number {
  const at = name.indexOf(word)
  if (at < 0) return Infinity
  if (at === 0) return name.length === word.length ? 0 : 1
  for (let from = at; from >= 0; from = name.indexOf(word, from + 1))
    if (!isPartOfName(name.charCodeAt(from - 1))) return 2
  return 3
}

/**
 * Returns the cost of a match, less is better; undefined if a word is in none of the fields. The first field is the
 * name, the others are descriptions. Every word must match somewhere.
 */
export function matchCost(words: readonly string[], fields: readonly string[]): number | undefined {
  if (words.length === 0) return undefined
  let cost = 0
  for (const word of words) {
    let best = Infinity
    // Called for every name at every keystroke: allocates no list.
    for (let i = 0; i < fields.length; i++) {
      const score = wordScore(word, fold(fields[i] as string)) + (i > 0 ? 4 : 0)
      if (score < best) best = score
    }
    if (best === Infinity) return undefined
    cost += best
  }
  // Of two equal matches the shorter one is preferred: a larger part of it was typed.
  return cost + Math.min(FIELD_CHARS, fields[0]?.length ?? 0) / 1024
}

/** The `most` cheapest, in order; equals in order of insertion. */
export class Cheapest<T> {
  readonly #most: number
  readonly #cheapest: { cost: number; item: T }[] = []
  /** Total number of items offered. */
  total = 0

  constructor(most: number) {
    this.#most = most
  }

  add(cost: number, item: T): void {
    this.total++
    const cheapest = this.#cheapest
    if (cheapest.length >= this.#most && cost >= cheapest[cheapest.length - 1]!.cost) return
    let at = cheapest.length
    while (at > 0 && cheapest[at - 1]!.cost > cost) at--
    cheapest.splice(at, 0, { cost, item })
    if (cheapest.length > this.#most) cheapest.pop()
  }

  get items(): T[] {
    return this.#cheapest.map(({ item }) => item)
  }
}
