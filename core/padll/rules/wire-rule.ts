/**
 * Rules as single texts, as the public control plane writes them between its parts:
 *
 *     4|<rule>|create_channel|<channel>|…|      housekeeping, fields in the order of the file's words
 *     6|<rule>|<channel>|<object>|drl|rate|<value>     a new rate; `refill` and a period in us
 *     6|.0|<job>|<operation or class>|*<instance>:<rate>*<instance>:<rate>*.     a job's rates, one a stage
 *
 * Source: spec/padll 2. Only for import and export: our parts speak the messages of control/messages.ts.
 */
import { fail, ok, type Result } from '../../base/result.ts'
import { isScope, type Scope } from '../vocabulary.ts'
import { type HousekeepingRule, parseHousekeeping, printHousekeeping } from './housekeeping.ts'
import { jobNameFault, POLICY_RATE_MAX } from './policy.ts'
import { shown, wholeOf } from './rule-fault.ts'

export type WireRule =
  | { readonly kind: 'housekeeping'; readonly rule: HousekeepingRule }
  | {
      readonly kind: 'object'
      readonly rule: number
      readonly channel: number
      readonly object: number
      readonly set: 'rate' | 'refill'
      /** op/s, or us. */
      readonly value: number
    }
  | {
      readonly kind: 'job'
      readonly job: string
      readonly scope: Scope
      readonly rates: readonly { readonly instance: number; readonly rate: number }[]
    }

const WHOLE_MAX = Number.MAX_SAFE_INTEGER

/** Reads one text; the error says what was expected. */
export function parseWireRule(text: string): Result<WireRule, string> {
  if (text.startsWith('6|.0|')) return parseJob(text)
  if (text.startsWith('4|')) return parseHousekeepingRule(text)
  if (text.startsWith('6|')) return parseObject(text)
  return fail(`"${shown(text)}" is no rule: expected one that begins with 4| or 6|`)
}

function parseHousekeepingRule(text: string): Result<WireRule, string> {
  const words = text.replace(/\|$/, '').split('|').slice(1)
  if (words.some((w) => /^$|[\s#]/.test(w))) return fail(`"${shown(text)}" has an empty field, or one with blanks`)
  // A single object has no channel line before it: one is put there and left out of the answer.
  const isObject = words[1] === 'create_object'
  const before = isObject ? `0 create_channel ${words[2]} general 0 no_op no_op\n` : ''
  const { rules, faults } = parseHousekeeping(before + words.join(' '))
  const rule = rules.at(-1)
  const [fault] = faults
  if (fault || !rule) return fail(fault?.message ?? 'expected a rule')
  return ok({ kind: 'housekeeping', rule })
}

function parseObject(text: string): Result<WireRule, string> {
  const m = /^6\|([^|]*)\|([^|]*)\|([^|]*)\|drl\|(rate|refill)\|([^|]*)\|?$/.exec(text)
  if (!m) return fail('expected 6|rule|channel|object|drl|rate|value')
  const [rule, channel, object, value] = [m[1], m[2], m[3], m[5]].map((t) => wholeOf(t ?? '', 0, WHOLE_MAX))
  if (rule === undefined || channel === undefined || object === undefined || value === undefined) {
    return fail('rule, channel, object and value are whole numbers')
  }
  if (value === 0)
    return fail(m[4] === 'rate' ? 'a rate of 0 would stop the job for good' : 'a refill period is above 0')
  return ok({ kind: 'object', rule, channel, object, set: m[4] === 'rate' ? 'rate' : 'refill', value })
}

function parseJob(text: string): Result<WireRule, string> {
  const m = /^6\|\.0\|([^|]*)\|([^|]*)\|\*(.*)\*\.$/.exec(text)
  const [job, scope, list] = [m?.[1] ?? '', m?.[2] ?? '', m?.[3] ?? '']
  if (!m) return fail('expected 6|.0|job|operation|*instance:rate*.')
  const nameFault = jobNameFault(job)
  if (nameFault !== undefined) return fail(nameFault)
  if (!isScope(scope)) return fail(`"${shown(scope)}" is no operation and no class`)
  const rates: { instance: number; rate: number }[] = []
  for (const part of list.split('*')) {
    const [instance, rate] = part.split(':').map((t) => wholeOf(t, 0, WHOLE_MAX))
    const isGood = instance !== undefined && rate !== undefined && rate >= 1 && rate <= POLICY_RATE_MAX
    if (!isGood || part.split(':').length !== 2) return fail(`"${shown(part)}" is no instance:rate`)
    rates.push({ instance, rate })
  }
  return ok({ kind: 'job', job, scope, rates })
}

export function printWireRule(r: WireRule): string {
  if (r.kind === 'housekeeping') return `4|${printHousekeeping(r.rule).replaceAll(' ', '|')}|`
  if (r.kind === 'object') return `6|${r.rule}|${r.channel}|${r.object}|drl|${r.set}|${r.value}`
  return `6|.0|${r.job}|${r.scope}|*${r.rates.map(({ instance, rate }) => `${instance}:${rate}*`).join('')}.`
}
