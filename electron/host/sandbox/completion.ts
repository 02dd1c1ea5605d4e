/**
 * Completion in a scenario, from its schema: keys of the map at the cursor, values of the key before it, names defined
 * in the text. Incomplete text is parsed as far as possible.
 */
import { isMap, isPair, isScalar, isSeq, parseDocument, visit, type Document, type Node, type Pair } from 'yaml'
import type * as z from 'zod'
import type { completion } from '#core/api/sandbox.ts'
import { namesIn } from './completion-names.ts'
import { branches, detailOf, inList, type Schema, scenarioJsonSchema, valuesOf } from './completion-schema.ts'

export type Completion = z.infer<typeof completion>
type Option = Completion['options'][number]

const OPTIONS_MAX = 200
/** Longer texts take too long to parse at every keystroke. */
const TEXT_MAX = 1_000_000
/** Placeholder at the cursor; does not occur in real texts. */
const MARK = 'zz__cursor__zz'

/**
 * Completes at a position.
 *
 * @param line    1-based.
 * @param column  1-based; the cursor is before this column.
 */
export function complete(text: string, line: number, column: number): Completion {
  const lines = text.split('\n')
  const at = lines[line - 1]
  const none = { fromColumn: Math.max(1, column), options: [] }
  if (at === undefined || text.length > TEXT_MAX || line < 1 || column < 1) return none
  const before = at.slice(0, column - 1)
  const token = /[\p{L}\p{N}_.@-]*$/u.exec(before)?.[0] ?? ''
  // A dash that begins an item is not part of the next word.
  const word = /^\s*-$/.test(before) ? '' : token
  const head = before.slice(0, before.length - word.length)
  if (isComment(head)) return none
  const rest = at.slice(column - 1).replace(/^[\p{L}\p{N}_.@-]*/u, '')
  const fromColumn = head.length + 1
  const put = (marked: string, tail: string): string =>
    [...lines.slice(0, line - 1), `${head}${marked}${tail}`, ...lines.slice(line)].join('\n')
  const isBehindKey = /[^\s{[,]:\s+$/.test(head)
  const tries = isBehindKey
    ? [() => valuesAt(put(MARK, rest))]
    : [() => keysAt(put(rest.startsWith(':') ? MARK : `${MARK}: 0`, rest)), () => valuesAt(put(MARK, rest))]
  for (const attempt of tries) {
    const options = attempt().filter((o) => o.label.toLowerCase().startsWith(word.toLowerCase()))
    if (options.length > 0) return { fromColumn, options: options.slice(0, OPTIONS_MAX) }
  }
  return none
}

/** True if a comment begins before the cursor. */
const isComment = (head: string): boolean => /(^|\s)#/.test(head.replace(/"[^"]*"|'[^']*'/g, ''))

interface Place {
  /** Keys from the root; numbers are list indices. */
  readonly path: readonly (string | number)[]
  /** Map that contains the mark, with its present entries. */
  readonly siblings: ReadonlyMap<string, unknown>
  readonly document: Document.Parsed
}

/** Place of the mark, as a key or as a value. */
function placeOf(text: string, as: 'key' | 'value'): Place | undefined {
  let document: Document.Parsed
  try {
    document = parseDocument(text, { uniqueKeys: false, logLevel: 'silent' })
  } catch {
    return undefined
  }
  let found: Place | undefined
  visit(document, {
    Scalar(position, node, ancestors) {
      if (node.value !== MARK) return undefined
      if ((position === 'key') !== (as === 'key')) return undefined
      found = { path: pathOf(ancestors, node), siblings: siblingsOf(ancestors), document }
      return visit.BREAK
    },
  })
  return found
}

function pathOf(ancestors: readonly (Document | Node | Pair)[], node: Node): (string | number)[] {
  const chain = [...ancestors, node]
  const path: (string | number)[] = []
  chain.forEach((a, i) => {
    const next = chain[i + 1]
    if (isPair(a) && next !== a.key) path.push(isScalar(a.key) ? String(a.key.value) : '')
    if (isSeq(a)) path.push(a.items.indexOf(next))
  })
  return path
}

/** Scalars of the innermost map, by key. */
function siblingsOf(ancestors: readonly (Document | Node | Pair)[]): ReadonlyMap<string, unknown> {
  const map = [...ancestors].reverse().find((a) => isMap(a))
  const out = new Map<string, unknown>()
  if (!isMap(map)) return out
  for (const { key, value } of map.items) {
    if (isScalar(key) && key.value !== MARK) out.set(String(key.value), isScalar(value) ? value.value : undefined)
  }
  return out
}

/** Schemas at a path; of unions the branches compatible with constants in the maps on the path. */
function schemasAt({ path, document }: Place): Schema[] {
  let now: Schema[] = branches(scenarioJsonSchema(), undefined)
  path.forEach((step, i) => {
    const node = document.getIn(path.slice(0, i + 1), true)
    now = now
      .flatMap((s) => (typeof step === 'number' ? (s.items ? [s.items] : []) : childOf(s, step)))
      .flatMap((s) => branches(s, isMap(node) ? constants(node) : undefined))
  })
  return now
}

function childOf(s: Schema, key: string): Schema[] {
  if (s.properties && Object.hasOwn(s.properties, key)) return [s.properties[key] as Schema]
  return typeof s.additionalProperties === 'object' ? [s.additionalProperties] : []
}

/** Text values of a map that select a branch, such as `kind: bursts`. */
function constants(node: { readonly items: readonly Pair[] }): ReadonlyMap<string, unknown> {
  const out = new Map<string, unknown>()
  for (const { key, value } of node.items) {
    if (isScalar(key) && isScalar(value) && value.value !== MARK) out.set(String(key.value), value.value)
  }
  return out
}

function keysAt(text: string): Option[] {
  const place = placeOf(text, 'key')
  if (!place) return []
  const options = new Map<string, Option>()
  for (const s of schemasAt(place)) {
    for (const [label, child] of Object.entries(s.properties ?? {})) {
      if (place.siblings.has(label) || options.has(label)) continue
      const isNeeded = s.required?.includes(label) ?? false
      options.set(label, { label, detail: `${isNeeded ? 'needed; ' : ''}${detailOf(child)}`, apply: `${label}: ` })
    }
    for (const label of s.propertyNames?.enum ?? []) {
      if (!place.siblings.has(label)) options.set(label, { label, detail: '', apply: `${label}: ` })
    }
  }
  return [...options.values()].sort(
    (a, b) => Number(b.detail.startsWith('needed')) - Number(a.detail.startsWith('needed')),
  )
}

function valuesAt(text: string): Option[] {
  const place = placeOf(text, 'value')
  if (!place) return []
  const schemas = schemasAt(place)
  if (schemas.length === 0) return []
  const options = new Map<string, Option>()
  const isList = schemas.every((s) => s.type === 'array')
  const names = namesIn(place.document, place.path).map((o) => (isList ? inList(o) : o))
  for (const o of [...schemas.flatMap((s) => valuesOf(s)), ...names]) {
    if (!options.has(o.label) && o.label !== MARK) options.set(o.label, o)
  }
  return [...options.values()]
}
