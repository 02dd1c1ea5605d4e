/** Where in the text of a scenario a thing stands, as an offset: what messages point at. */
import { isMap, isNode, isPair, isScalar, visit, type Document } from 'yaml'
import type { TextPlace } from './scenario-padll.ts'

/** Offset of the deepest node on a path that the file really has; for an unknown key, of the key itself. */
export function offsetOf(document: Document.Parsed, path: readonly PropertyKey[], key?: string): number {
  for (let n = path.length; n >= 0; n--) {
    const node: unknown = n === 0 ? document.contents : document.getIn(path.slice(0, n), true)
    if (key !== undefined && n === path.length && isMap(node)) {
      const pair = node.items.find((p) => isPair(p) && isScalar(p.key) && String(p.key.value) === key)
      if (pair && isNode(pair.key) && pair.key.range) return pair.key.range[0]
    }
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

/**
 * Offset of a place inside a text of the file; undefined where the text does not stand there line by line (only in a block
 * that begins with `|` does it).
 */
export function offsetInText(
  document: Document.Parsed,
  path: readonly PropertyKey[],
  at: TextPlace,
  source: string,
): number | undefined {
  const node: unknown = document.getIn(path, true)
  if (!isScalar(node) || node.type !== 'BLOCK_LITERAL' || !node.range) return undefined
  let from = node.range[0]
  for (let line = 0; line < at.line; line++) from = source.indexOf('\n', from) + 1
  const first = source.indexOf('\n', node.range[0]) + 1
  const indent = /^ */.exec(source.slice(first))?.[0].length ?? 0
  return from + indent + at.column - 1
}

/** Offset of the first alias that no anchor stands before, else of the first alias. */
export function offsetOfAlias(document: Document.Parsed): number {
  const found: { offset: number; isKnown: boolean }[] = []
  visit(document, {
    Alias: (_, alias) => void found.push({ offset: alias.range?.[0] ?? 0, isKnown: !!alias.resolve(document) }),
  })
  return (found.find((a) => !a.isKnown) ?? found[0])?.offset ?? 0
}

/** Offsets of keys that stand a second time in their map. */
export function offsetsOfTwins(document: Document.Parsed): number[] {
  const twins: number[] = []
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) twins.push(key.range?.[0] ?? 0)
        seen.add(key.value)
      }
    },
  })
  return twins
}
