/**
 * The condition of a TBF rule: expressions `field={items}` joined by `&` (and) and `,` (or; binds weaker).
 *
 * Source: spec/lustre 1.2. The fields are a table: one more field is one more line in it. `jobid` and `nid` are here.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import { nidMatches, parseNidRange, type NidRange } from './nid.ts'

/** What TBF classifies an RPC by. */
export interface RequestKey {
  readonly jobId: string
  readonly nid: string
}

type Match = (request: RequestKey) => boolean

/** How one field reads its list of items. */
interface FieldGrammar {
  readonly parse: (items: readonly string[]) => Result<Match, Errno>
  /** The field's part of a class key. */
  readonly key: (request: RequestKey) => string
}

/** `*` matches any run of characters, also none; everything else is literal and case-sensitive. */
function jobIdPattern(item: string): (id: string) => boolean {
  if (!item.includes('*')) return (id) => id === item
  const parts = item.split('*')
  const first = parts[0] as string
  const last = parts[parts.length - 1] as string
  const middle = parts.slice(1, -1)
  return (id) => {
    if (id.length < first.length + last.length || !id.startsWith(first) || !id.endsWith(last)) return false
    let from = first.length
    for (const part of middle) {
      const at = id.indexOf(part, from)
      if (at < 0 || at + part.length > id.length - last.length) return false
      from = at + part.length
    }
    return true
  }
}

const FIELDS = {
  jobid: {
    parse: (items) => {
      const patterns = items.map(jobIdPattern)
      return ok((r: RequestKey) => patterns.some((p) => p(r.jobId)))
    },
    key: (r) => r.jobId,
  },
  nid: {
    parse: (items) => {
      const ranges: NidRange[] = []
      for (const item of items) {
        const range = parseNidRange(item)
        if (!range.ok) return range
        ranges.push(range.value)
      }
      return ok((r: RequestKey) => ranges.some((range) => nidMatches(range, r.nid)))
    },
    key: (r) => r.nid,
  },
} satisfies Record<string, FieldGrammar>

export type Field = keyof typeof FIELDS
export const isField = (name: string): name is Field => Object.hasOwn(FIELDS, name)

/** The class that an RPC falls into under a TBF type: one bucket per distinct key. */
export const classKey = (fields: readonly Field[], request: RequestKey): string =>
  fields.length === 1
    ? FIELDS[fields[0] as Field].key(request)
    : fields.map((f) => FIELDS[f].key(request)).join('\u0000')

/** One `field={items}` with how it hangs on the one before it. */
export interface ExpressionText {
  readonly join: '' | 'and' | 'or'
  readonly field: string
  readonly items: readonly string[]
}

/** Takes conditions apart for display; undefined when they are not well-formed (also for the built-in `*`). */
export function splitConditions(text: string): ExpressionText[] | undefined {
  const out: ExpressionText[] = []
  for (const [i, conjunction] of text.split(',').entries()) {
    for (const [k, expression] of conjunction.split('&').entries()) {
      const m = /^\s*([^\s=]+)\s*=\s*\{(.*)\}\s*$/.exec(expression)
      const items = (m?.[2] ?? '').split(' ').filter((s) => s !== '')
      if (!m || items.length === 0) return undefined
      out.push({ join: k > 0 ? 'and' : i > 0 ? 'or' : '', field: m[1] as string, items })
    }
  }
  return out
}

/** A parsed condition and its text as typed; the text is what servers echo. */
export interface Conditions {
  readonly text: string
  readonly matches: Match
}

/**
 * Reads a rule's conditions under a TBF type.
 *
 * @param enabled  fields of the running TBF type; any other field is EINVAL, as on a server.
 */
export function parseConditions(text: string, enabled: readonly Field[]): Result<Conditions, Errno> {
  const expressions = splitConditions(text)
  if (!expressions) return fail('EINVAL')
  const disjunction: Match[][] = []
  for (const e of expressions) {
    if (!isField(e.field) || !enabled.includes(e.field)) return fail('EINVAL')
    const match = FIELDS[e.field].parse(e.items)
    if (!match.ok) return match
    if (e.join === 'and') disjunction.at(-1)?.push(match.value)
    else disjunction.push([match.value])
  }
  return ok({ text, matches: (r) => disjunction.some((all) => all.every((m) => m(r))) })
}
