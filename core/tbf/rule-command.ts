/**
 * The commands written to `nrs_tbf_rule`: `[reg|hp] start NAME CONDS [PAIRS] | change NAME PAIRS | stop NAME`.
 *
 * Source: spec/lustre 1.2, with its order of checks: selector and space, verb, name, conditions' extent, pairs.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import { RATE_MAX, RATE_MIN } from '../lustre/nrs-tbf-rule.ts'

/** Longest rule name, characters. */
export const RULE_NAME_MAX = 15

interface Pairs {
  readonly rate: number | undefined
  readonly rank: string | undefined
  readonly realtime: boolean
}

export type RuleCommand = { readonly queue: Queue | undefined; readonly name: string } & (
  | ({ readonly verb: 'start'; readonly conditions: string } & Pairs)
  | ({ readonly verb: 'change' } & Pairs)
  | { readonly verb: 'stop' }
)

const NAME = /^[A-Za-z0-9_]+$/
// The kernel's number parser takes one newline after the digits, so `echo` works behind a number and nowhere else.
const NUMBER = /^\+?\d+\n?$/

function checkName(name: string): Errno | undefined {
  if (!NAME.test(name.slice(0, RULE_NAME_MAX + 1))) return 'EINVAL'
  return name.length > RULE_NAME_MAX ? 'ENAMETOOLONG' : undefined
}

function parsePairs(text: string): Pairs | undefined {
  let rate: number | undefined
  let rank: string | undefined
  let realtime = false
  const words = text === '' ? [] : (text.endsWith(' ') ? text.slice(0, -1) : text).split(' ')
  for (const word of words) {
    const [key, value, more] = word.split('=')
    if (value === undefined || more !== undefined) return undefined
    if (key === 'rate') {
      const n = NUMBER.test(value) ? Number(value) : NaN
      if (!(n >= RATE_MIN && n <= RATE_MAX)) return undefined
      rate = n
    } else if (key === 'rank') {
      if (checkName(value) !== undefined) return undefined
      rank = value
    } else if (key === 'realtime') {
      if (!NUMBER.test(value)) return undefined
      realtime = Number(value) > 0
    } else return undefined
  }
  return { rate, rank, realtime }
}

/** Reads one value written to nrs_tbf_rule; conditions are returned as typed and read by `parseConditions`. */
export function parseRuleCommand(value: string): Result<RuleCommand, Errno> {
  let text = value
  if (text.length > 4095 || !text.includes(' ')) return fail('EINVAL')
  let queue: Queue | undefined
  if (text.startsWith('reg ') || text.startsWith('hp ')) {
    queue = text.startsWith('reg ') ? 'reg' : 'hp'
    text = text.slice(queue.length + 1)
  }
  const space = text.indexOf(' ')
  const verb = space < 0 ? text : text.slice(0, space)
  if (space < 0 || (verb !== 'start' && verb !== 'change' && verb !== 'stop')) return fail('EINVAL')
  const rest = text.slice(space + 1)
  const nameEnd = rest.indexOf(' ')
  const name = nameEnd < 0 ? rest : rest.slice(0, nameEnd)
  const bad = checkName(name)
  if (bad) return fail(bad)
  const tail = nameEnd < 0 ? '' : rest.slice(nameEnd + 1)
  if (verb === 'stop') {
    const pairs = parsePairs(tail)
    const isBare = pairs && pairs.rate === undefined && pairs.rank === undefined
    return isBare ? ok({ verb, queue, name }) : fail('EINVAL')
  }
  if (verb === 'change') {
    const pairs = parsePairs(tail)
    if (!pairs || (pairs.rate === undefined && pairs.rank === undefined)) return fail('EINVAL')
    return ok({ verb, queue, name, ...pairs })
  }
  // Conditions end at the last closing brace of the command.
  const brace = tail.lastIndexOf('}')
  const after = tail.slice(brace + 1)
  if (brace < 0 || (after !== '' && !after.startsWith(' '))) return fail('EINVAL')
  const pairs = parsePairs(after.slice(1))
  if (!pairs) return fail('EINVAL')
  return ok({ verb, queue, name, conditions: tail.slice(0, brace + 1).trimStart(), ...pairs })
}
