/**
 * Converts rule commands in the syntax of 2013, `start loginnode {192.168.1.1@tcp} 10000` and `change loginnode 1000`, to
 * modern form.
 *
 * Source: NRS TBF policy, version 1.0 (29 July 2013), section 3; spec/lustre 1.2 and 8. Servers refuse the old form since
 * 2.8.54.
 */
import { POLICIES } from './policy-command.ts'
import type { Field } from './request-key.ts'
import { RPC_OPCODES } from './rpc-opcodes.ts'

/** Field of a list without one: the running type's, else guessed from its items. */
function guessField(list: string, type: readonly Field[]): Field {
  const [only] = type
  if (type.length === 1 && only) return only
  const items = list.split(' ').filter((i) => i !== '')
  if (items.some((i) => i.includes('@'))) return 'nid'
  return items.length > 0 && items.every((i) => RPC_OPCODES.has(i)) ? 'opcode' : 'jobid'
}

/** Adds the field to a bare `{items}`; anything else stays. */
export function withField(conditions: string, type: readonly Field[], notes: string[]): string {
  if (!conditions.startsWith('{')) return conditions
  const field = guessField(conditions.slice(1, -1), type)
  notes.push(`${field}= is written before the list`)
  return `${field}=${conditions}`
}

/** Collapses blanks outside braces and trims both ends: servers refuse two in a row. */
function tidy(value: string, notes: string[]): string {
  let out = ''
  let depth = 0
  for (const c of value.trim()) {
    const isSpace = /\s/.test(c)
    if (c === '{') depth++
    else if (c === '}') depth = Math.max(0, depth - 1)
    if (isSpace && depth === 0 && out.endsWith(' ')) continue
    out += isSpace ? ' ' : c
  }
  if (out !== value) notes.push('blanks and line breaks were put right')
  return out
}

const SELECTOR = /^(reg|hp) /

/** True if a value is a rule command rather than a policy. */
export const isRuleValue = (value: string): boolean =>
  /^(?:(?:reg|hp)\s+)?(?:start|change|stop)(?:\s|$)/.test(value.trim())
export const isPolicyValue = (value: string): boolean =>
  (POLICIES as readonly string[]).includes(value.trim().split(/\s/, 1)[0] ?? '')

/** Converts a rule command to modern form; adds each change to `notes`. */
export function modernRule(value: string, type: readonly Field[], notes: string[]): string {
  const tidied = tidy(value, notes)
  const selector = SELECTOR.exec(tidied)?.[0] ?? ''
  const [verb = '', name = '', ...words] = tidied.slice(selector.length).split(' ')
  const tail = words.join(' ')
  const rate = (text: string): string => {
    if (!/^\d+$/.test(text)) return text
    notes.push(`the rate is written rate=${text}`)
    return `rate=${text}`
  }
  const head = `${selector}${verb} ${name}`
  if (verb === 'change') return tail === '' ? tidied : `${head} ${rate(tail)}`
  const brace = tail.lastIndexOf('}')
  if (verb !== 'start' || brace < 0) return tidied
  const after = tail.slice(brace + 1).trim()
  const conditions = withField(tail.slice(0, brace + 1), type, notes)
  return `${head} ${conditions}${after === '' ? '' : ` ${rate(after)}`}`
}
