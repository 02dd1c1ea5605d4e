/** Parser and formatter of seed lists: numbers and ranges, `1-5` or `1, 2, 7`. */
import { SEEDS_MAX } from '#core/api/papers.ts'

export type SeedsRead = { readonly seeds: readonly number[] } | { readonly fault: string }

const fault = (text: string): SeedsRead => ({ fault: text })

/** @returns the distinct seeds in their order, or the fault of the text. */
export function readSeeds(text: string): SeedsRead {
  const seeds = new Set<number>()
  for (const part of text.split(/[,\s]+/).filter(Boolean)) {
    const match = /^(\d{1,15})(?:[-\u2013](\d{1,15}))?$/.exec(part)
    if (!match)
      return fault(`${part} is not a seed: use whole numbers of at most 15 digits, for example 1-5 or 1, 2, 7`)
    const from = Number(match[1])
    const to = Number(match[2] ?? match[1])
    if (to < from) return fault(`${part} is in descending order`)
    if (to - from >= SEEDS_MAX) return fault(`at most ${SEEDS_MAX} seeds per run`)
    for (let seed = from; seed <= to; seed++) seeds.add(seed)
  }
  if (seeds.size === 0) return fault('enter at least one seed, for example 1-5')
  if (seeds.size > SEEDS_MAX) return fault(`at most ${SEEDS_MAX} seeds per run`)
  return { seeds: [...seeds] }
}

/** Formats seeds as short as possible: `1–5`, `7`, `1, 4, 9`. */
export function seedsText(seeds: readonly number[]): string {
  const runs: [number, number][] = []
  for (const seed of seeds) {
    const last = runs.at(-1)
    if (last && seed === last[1] + 1) last[1] = seed
    else runs.push([seed, seed])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}\u2013${to}`)).join(', ')
}
