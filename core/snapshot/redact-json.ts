/**
 * Redacts JSON documents, which are the messages of kept convoys: a field's name determines its kind. A string in an unlisted field
 * is treated as free text, as is the name of an unknown field.
 */
import type { PlainKind } from './names.ts'

/** Kind of a field: a kind of name, a term of the product, conditions of a rule, or free text. */
export type FieldKind = PlainKind | 'kept' | 'free'

/** Kinds of fields by `parent.field`, then by field alone. */
const DOCUMENT_FIELDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  ['resource.key', 'file'],
  ['resource.name', 'file'],
  ['resource.server', 'host'],
  ['clients.name', 'host'],
  ['jobId', 'job'],
  ['messages.kind', 'kept'],
  ['messageTimes', 'kept'],
  ['mode', 'kept'],
  ['askedMode', 'kept'],
  ['downgradedTo', 'kept'],
  ['behindUntil', 'kept'],
  ['ending', 'kept'],
])

/** Field names of a resource with its lock lives and messages, which are the product's own. */
export const FIELD_NAMES: ReadonlySet<string> = new Set(
  `resource key name server about clients number jobId moment endMs spanMs isFound isKept queue t waiting lives id client asked
   granted canceling released dataAt mode askedMode sn minSn start requiredEnd end isEarlyGrant isEarlyRevocation dirtyBytes bytes
   downgradedAt downgradedTo absorbed behind behindUntil rule ending moreLives past conflicts waitMean waitP95 messages sent
   arrived isUp kind life text moreMessages messageTimes early grants all revocations conversions`.split(/\s+/),
)

/** Replacement of a string, by the kind of its field. */
export type Replace = (kind: FieldKind, text: string) => string

/** Maximum depth; deeper values are dropped. */
const DEPTH_MOST = 64

/** Copies a document, with every string replaced according to its field. */
export function replaceStrings(value: unknown, replace: Replace, parent = '', field = '', depth = 0): unknown {
  if (typeof value === 'string') return replace(kindOf(parent, field, value), value)
  if (value === null || typeof value !== 'object') return value
  if (depth >= DEPTH_MOST) return null
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value
    // Most of a frame is numbers.
    return list.map((v) => (typeof v === 'number' ? v : replaceStrings(v, replace, parent, field, depth + 1)))
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => [
      FIELD_NAMES.has(key) ? key : replace('free', key),
      replaceStrings(v, replace, field, key, depth + 1),
    ]),
  )
}

function kindOf(parent: string, field: string, text: string): FieldKind {
  const kind = DOCUMENT_FIELDS.get(`${parent}.${field}`) ?? DOCUMENT_FIELDS.get(field) ?? 'free'
  // Numeric keys identify no one.
  return kind === 'file' && /^\d*$/.test(text) ? 'kept' : kind
}
