/**
 * Completion in a scenario, from its schema: keys of the map at the cursor, values of the key before it, names defined
 * in the text. Incomplete text is parsed as far as possible.
 */
import { isMap, isPair, isScalar, isSeq, parseDocument, visit, type Document, type Node, type Pair } from 'yaml'
import type * as z from 'zod'
import type { completion } from '#core/api/sandbox.ts'
import { branches, detailOf, inList, type Schema, scenarioJsonSchema, valuesOf } from './completion-schema.ts'

export type Completion = z.infer<typeof completion>
type Option = Completion['options'][number]

const OPTIONS_MAX = 200
/** Longer texts take too long to parse at every keystroke. */
const TEXT_MAX = 1_000_000
/** Placeholder at the cursor; does not occur in real texts. */
const MARK = 'zz__cursor__zz'

const NAMES_MAX = 200
const POLICIES = ['fifo', 'tbf jobid', 'tbf nid', 'tbf opcode', 'tbf jobid+opcode', 'tbf uid', 'tbf'] as const
const RELEASES = ['2.12.9', '2.15.8', '2.16.1', '2.17.0', '2.17.57'] as const

/** Kind of names that a key refers to. */
const REFERENCES: Readonly<Record<string, 'targets' | 'servers' | 'jobs' | 'files'>> = {
  targets: 'targets',
  target: 'targets',
  servers: 'servers',
  server: 'servers',
  mounted_on: 'servers',
  job: 'jobs',
  file: 'files',
}

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
  const partial = /^\s*-$/.test(before) ? '' : token
  const head = before.slice(0, before.length - partial.length)
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
    const options = attempt().filter((o) => o.label.toLowerCase().startsWith(partial.toLowerCase()))
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

/** Quotes a name only if YAML would not read it as the same text. */
const quoted = (name: string): string =>
  /^[A-Za-z][\w.-]*$/.test(name) && !/^(true|false|null|yes|no|on|off)$/i.test(name) ? name : JSON.stringify(name)

/** Names that a scenario defines and refers to in other parts. */
function namesIn(document: Document.Parsed, path: readonly (string | number)[]): Option[] {
  const key = path.findLast((p) => typeof p === 'string')
  if (key === undefined) return []
  const fixed = key === 'policy' ? POLICIES : key === 'version' ? RELEASES : undefined
  if (fixed) return fixed.map((label) => ({ label, detail: '', apply: label }))
  const kind = Object.hasOwn(REFERENCES, key) ? REFERENCES[key] : undefined
  // ccPFS servers are defined there, not referred to.
  if (!kind || (path[0] === 'ccpfs' && kind === 'servers')) return []
  return listed(document, kind)
    .slice(0, NAMES_MAX)
    .map(([label, detail]) => ({ label, detail, apply: quoted(label) }))
}

function listed(document: Document.Parsed, kind: 'targets' | 'servers' | 'jobs' | 'files'): [string, string][] {
  const at = (path: readonly string[]): unknown => {
    try {
      const node: unknown = document.getIn(path, true)
      return typeof node === 'object' && node !== null && 'toJSON' in node
        ? (node as { toJSON(): unknown }).toJSON()
        : undefined
    } catch {
      return undefined
    }
  }
  const list = (value: unknown): Record<string, unknown>[] =>
    Array.isArray(value) ? value.filter((v): v is Record<string, unknown> => typeof v === 'object' && v !== null) : []
  const named = (items: readonly Record<string, unknown>[], field: string, detail: string): [string, string][] =>
    items.flatMap((i) =>
      typeof i[field] === 'string' && i[field] !== '' ? [[i[field], detail] as [string, string]] : [],
    )
  const oss = list(at(['oss']))
  const mds = list(at(['mds']))
  if (kind === 'jobs') return named(list(at(['jobs'])), 'id', 'a job')
  if (kind === 'files') return named(list(at(['ccpfs', 'files'])), 'name', 'a file')
  if (kind === 'servers') return [...named(oss, 'name', 'OSS'), ...named(mds, 'name', 'MDS')]
  return [
    ...oss.flatMap((o) => named(list(o['osts']), 'name', `OST of ${String(o['name'])}`)),
    ...mds.flatMap((m) => named(list(m['mdts']), 'name', `MDT of ${String(m['name'])}`)),
  ]
}
