/**
 * Converts the condition of a rule between text and chips: `jobid={a b}&opcode={ost_write},uid={5}`. `&` joins with `and`, `,`
 * with `or`. The condition is only split and joined here; the host validates it.
 */
import type { Expression } from '#core/api/frames.ts'

export const fields = ['jobid', 'nid', 'opcode', 'uid', 'gid', 'projid', 'nodemap'] as const

/** Hints on the items of a field. */
export const itemHints: Readonly<Record<string, string>> = {
  jobid: 'job ids, * for any run of characters',
  nid: 'for example 10.4.0.[1-8]@o2ib',
  opcode: 'for example ost_read ost_write',
  uid: 'numbers',
  gid: 'numbers',
  projid: 'numbers',
  nodemap: 'names of nodemaps',
}

export interface Place {
  readonly at: number
  readonly length: number
}

/** Places of the expressions in a condition. Separators count only outside braces: older servers accept them inside. */
function places(conditions: string): Place[] {
  const out: Place[] = []
  let from = 0
  let depth = 0
  for (let i = 0; i <= conditions.length; i++) {
    const c = conditions[i]
    if (c === '{') depth++
    else if (c === '}') depth = Math.max(0, depth - 1)
    const isEnd = c === undefined
    if (!isEnd && (depth > 0 || (c !== '&' && c !== ','))) continue
    out.push({ at: from, length: i - from })
    from = i + 1
  }
  return out
}

/** Parses a condition into expressions; null if it is not of that form and must be edited as text. */
export function readConditions(conditions: string): Expression[] | null {
  if (conditions.trim() === '') return []
  const out: Expression[] = []
  for (const { at, length } of places(conditions)) {
    const m = /^\s*([^\s={}]+)\s*=\s*\{([^{}]*)\}\s*$/.exec(conditions.slice(at, at + length))
    const items = (m?.[2] ?? '').split(' ').filter((item) => item !== '')
    const field = m?.[1]
    if (field === undefined || items.length === 0) return null
    out.push({ join: at === 0 ? '' : conditions[at - 1] === '&' ? 'and' : 'or', field, items })
  }
  return out
}

export const writeConditions = (expressions: readonly Expression[]): string =>
  expressions
    .map(({ join, field, items }, i) => `${i === 0 ? '' : join === 'or' ? ',' : '&'}${field}={${items.join(' ')}}`)
    .join('')

/** Places of the expressions in the whole value; empty if the value does not contain the condition literally. */
export function expressionPlaces(text: string, conditions: string): Place[] {
  const start = conditions === '' ? -1 : text.indexOf(conditions)
  return start < 0 ? [] : places(conditions).map(({ at, length }) => ({ at: at + start, length }))
}

/** True if two places share a character; an empty place counts as the character after it. */
export const overlaps = (a: Place, b: Place): boolean =>
  a.at < b.at + Math.max(1, b.length) && b.at < a.at + Math.max(1, a.length)
