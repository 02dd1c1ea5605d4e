/** Which commands are meant by a few letters: in any order of words, with one slip a word, those that were used lately first. */
import uFuzzy from '@leeoniya/ufuzzy'
import type { Item, Ranked } from './item.ts'

const fuzzy = new uFuzzy({
  unicode: true,
  intraMode: 1,
  interSplit: String.raw`[^\p{L}\d']+`,
  intraChars: String.raw`[\p{L}\d']`,
})
/** Words that are taken in any order: each more makes twice the work. */
const WORDS_ANY_ORDER = 3
const INFO_MOST = 2_000
/** Places by which one that was used lately goes before others. */
const LATELY = 3

const whole = (item: Item): Ranked => ({ item, parts: [{ text: item.title, isHit: false }] })
/** The title in parts; ranges that lie in the words beside it are not shown. */
function partsOf(title: string, ranges: readonly number[]): Ranked['parts'] {
  const parts: { text: string; isHit: boolean }[] = []
  let at = 0
  for (let i = 0; i + 1 < ranges.length; i += 2) {
    const [from, to] = [Math.min(title.length, ranges[i] ?? 0), Math.min(title.length, ranges[i + 1] ?? 0)]
    if (from >= to) continue
    if (from > at) parts.push({ text: title.slice(at, from), isHit: false })
    parts.push({ text: title.slice(from, to), isHit: true })
    at = to
  }
  if (at < title.length) parts.push({ text: title.slice(at), isHit: false })
  return parts
}

/** The items that a query means, best first; of an empty one all, in their order. */
export function ranked(items: readonly Item[], query: string, lately: readonly string[] = []): Ranked[] {
  const text = query.trim()
  if (text === '') return items.map(whole)
  const hay = items.map(({ title, words }) => (words === undefined ? title : `${title} ${words}`))
  const [found, info, order] = fuzzy.search(hay, text, WORDS_ANY_ORDER, INFO_MOST)
  // What has no letter is looked for as it is.
  if (found === null) return items.filter((_, i) => hay[i]?.includes(text)).map(whole)
  const hits =
    info && order
      ? order.map((at) => ({ index: info.idx[at] ?? 0, ranges: info.ranges[at] ?? [] }))
      : found.map((index) => ({ index, ranges: [] as number[] }))
  const used = new Set(lately)
  return hits
    .map(({ index, ranges }, place) => {
      const item = items[index]!
      return { place: place - (used.has(item.id) ? LATELY : 0), item, parts: partsOf(item.title, ranges) }
    })
    .sort((a, b) => a.place - b.place)
    .map(({ item, parts }) => ({ item, parts }))
}
