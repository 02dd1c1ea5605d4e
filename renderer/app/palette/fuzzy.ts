/** Fuzzy search of commands: words in any order, one typo per word; literal matches first, then recently used commands. */
import uFuzzy from '@leeoniya/ufuzzy'
import type { Item, Ranked } from './item.ts'

const fuzzy = new uFuzzy({
  unicode: true,
  intraMode: 1,
  interSplit: String.raw`[^\p{L}\d']+`,
  intraChars: String.raw`[\p{L}\d']`,
})
/** Most words matched in any order: each further one doubles the work. */
const WORDS_ANY_ORDER = 3
const INFO_MOST = 2_000
/** Places by which a recently used item moves up. */
const LATELY = 3

const unmatched = (item: Item): Ranked => ({ item, parts: [{ text: item.title, isHit: false }] })
/** Splits the title into matched and unmatched parts; matches in the keywords are not shown. */
function partsOf(title: string, ranges: readonly number[]): Ranked['parts'] {
  const parts: { text: string; isHit: boolean }[] = []
  let at = 0
  for (let i = 0; i + 1 < ranges.length; i += 2) {
    const from = Math.min(title.length, ranges[i] ?? 0)
    const to = Math.min(title.length, ranges[i + 1] ?? 0)
    if (from >= to) continue
    if (from > at) parts.push({ text: title.slice(at, from), isHit: false })
    parts.push({ text: title.slice(from, to), isHit: true })
    at = to
  }
  if (at < title.length) parts.push({ text: title.slice(at), isHit: false })
  return parts
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\d']+/u)
    .filter(Boolean)
/** Match quality, best first: words of the title, words of title or keywords, parts of words, typos. */
function qualityOf({ title, keywords = '' }: Item, words: readonly string[]): number {
  const begin = (of: readonly string[]): boolean => words.every((word) => of.some((w) => w.startsWith(word)))
  const own = wordsOf(title)
  if (begin(own)) return 0
  const all = [...own, ...wordsOf(keywords)]
  if (begin(all)) return 1
  return words.every((word) => all.some((w) => w.includes(word))) ? 2 : 3
}

/** Items that match a query, best first; all of them, in order, for an empty query. */
export function ranked(items: readonly Item[], query: string, lately: readonly string[] = []): Ranked[] {
  const text = query.trim()
  if (text === '') return items.map(unmatched)
  const hay = items.map(({ title, keywords }) => (keywords === undefined ? title : `${title} ${keywords}`))
  const [found, info, order] = fuzzy.search(hay, text, WORDS_ANY_ORDER, INFO_MOST)
  // A query without letters is matched literally.
  if (found === null) return items.filter((_, i) => hay[i]?.includes(text)).map(unmatched)
  const hits =
    info && order
      ? order.map((at) => ({ index: info.idx[at] ?? 0, ranges: info.ranges[at] ?? [] }))
      : found.map((index) => ({ index, ranges: [] as number[] }))
  const used = new Set(lately)
  const words = wordsOf(text)
  return hits
    .map(({ index, ranges }, at) => {
      const item = items[index]!
      const place = at - (used.has(item.id) ? LATELY : 0)
      return { quality: qualityOf(item, words), place, item, parts: partsOf(item.title, ranges) }
    })
    .sort((a, b) => a.quality - b.quality || a.place - b.place)
    .map(({ item, parts }) => ({ item, parts }))
}
