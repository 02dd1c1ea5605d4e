/**
 * The condition of a rule between its text and the chips of the form: `jobid={a b}&opcode={ost_write},uid={5}`. `&` joins
 * with `and`, `,` with `or`. What is wrong in it only the host says; here it is only taken apart and put together.
 */
import type { Expression } from '#core/api/frames.ts'

export const fields = ['jobid', 'nid', 'opcode', 'uid', 'gid', 'projid', 'nodemap'] as const

/** What the items of a field look like, for whoever fills them in. */
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

/** Where each expression of a condition stands in it. Separators count only between braces: older servers take them inside. */
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

/** The chips of a condition; null where the text is not of that form, then it is shown and edited as text. */
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

/** Where each expression stands in the whole value; empty when the condition is not in it as it is. */
export function expressionPlaces(text: string, conditions: string): Place[] {
  const start = conditions === '' ? -1 : text.indexOf(conditions)
  return start < 0 ? [] : places(conditions).map(({ at, length }) => ({ at: at + start, length }))
}

/** Whether two places share a character; an empty place shares the one it stands before. */
export const overlaps = (a: Place, b: Place): boolean =>
  a.at < b.at + Math.max(1, b.length) && b.at < a.at + Math.max(1, a.length)
