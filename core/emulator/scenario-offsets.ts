/** Source offsets of parts of a scenario, for error messages. */
import { isMap, isNode, isPair, isScalar, visit, type Document } from 'yaml'
import type { TextPlace } from './scenario-padll.ts'

/** Offset of the deepest existing node on a path; for an unknown key, of the key itself. */
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
 * Offset of a place inside a text of the file; undefined unless the text is a literal block (`
 * `), whose lines match those of the file.
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

/** Offset of the first alias without a preceding anchor, else of the first alias. */
export function offsetOfAlias(document: Document.Parsed): number {
  const found: { offset: number; isKnown: boolean }[] = []
  visit(document, {
    Alias: (_, alias) => void found.push({ offset: alias.range?.[0] ?? 0, isKnown: !!alias.resolve(document) }),
  })
  return (found.find((a) => !a.isKnown) ?? found[0])?.offset ?? 0
}

/** Offsets of duplicate keys of maps. */
export function offsetsOfDuplicateKeys(document: Document.Parsed): number[] {
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
