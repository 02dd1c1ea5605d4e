/** Selection of the rules that keep their place when a list becomes another one, so that the fewest rules are moved. */
import type { Item } from './rule-edit.ts'

/**
 * Returns the ids of the rules that keep their place: the heaviest set with the same order in both lists. All rules with a requested
 * place together weigh less than one other rule, so an unrelated rule is never moved in their place.
 *
 * @complexity O(n log n) for n rules in both lists.
 */
export function keptRules(from: readonly Item[], to: readonly Item[], movable: ReadonlySet<number>): Set<number> {
  const place = new Map(to.map((i, at) => [i.id, at]))
  const common = from.filter((i) => place.has(i.id))
  // Prefix-maximum tree over places in `to`: the best chain that ends at or before a place.
  const tree: ({ weight: number; last: number } | undefined)[] = Array.from({ length: to.length + 1 })
  const before: number[] = []
  const best = (at: number): { weight: number; last: number } => {
    let out = { weight: 0, last: -1 }
    for (let i = at; i > 0; i -= i & -i) {
      const t = tree[i]
      if (t && t.weight > out.weight) out = t
    }
    return out
  }
  common.forEach((item, k) => {
    const at = (place.get(item.id) as number) + 1
    const chain = best(at - 1)
    before[k] = chain.last
    const weight = chain.weight + (movable.has(item.id) ? 1 : common.length + 1)
    for (let i = at; i <= to.length; i += i & -i) {
      const t = tree[i]
      if (!t || weight > t.weight) tree[i] = { weight, last: k }
    }
  })
  const kept = new Set<number>()
  for (let k = best(to.length).last; k >= 0; k = before[k] as number) kept.add((common[k] as Item).id)
  return kept
}
