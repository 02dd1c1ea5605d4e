/**
 * The parameters of crrn, orr, trr and delay: `nrs_crrn_quantum` and its like.
 *
 * Source: spec/lustre 3.3, measured A11. A value names a queue (`reg_quantum:64`), or applies to both; each start of the policy
 * resets the defaults.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import type { DelaySettings } from './delay-queue.ts'
import type { PolicyName } from './policy-command.ts'
import type { RoundRobinSettings } from './round-robin.ts'

export const CRRN_DEFAULTS: RoundRobinSettings = { quantum: 8, supported: 'reads', offsetType: 'physical' }
export const ORR_DEFAULTS: RoundRobinSettings = { ...CRRN_DEFAULTS, quantum: 256 }
export const DELAY_DEFAULTS: DelaySettings = { min: 5, max: 300, pct: 100 }

type Settings = RoundRobinSettings & DelaySettings

export interface PolicyParameter {
  readonly policy: PolicyName
  /** Keyword, as in `reg_quantum:8`. */
  readonly word: string
  readonly key: keyof Settings
  /** Numbers: smallest and largest, and the width they are padded to. */
  readonly range?: readonly [least: number, most: number, width: number]
  readonly words?: readonly string[]
}

const quantum = (policy: PolicyName): PolicyParameter => ({
  policy,
  word: 'quantum',
  key: 'quantum',
  range: [1, 65_535, 5],
})
const offsetType = (policy: PolicyName): PolicyParameter => ({
  policy,
  word: 'offset_type',
  key: 'offsetType',
  words: ['physical', 'logical'],
})
const supported = (policy: PolicyName): PolicyParameter => ({
  policy,
  word: 'supported',
  key: 'supported',
  words: ['reads', 'writes', 'reads_and_writes'],
})
const delay = (key: keyof DelaySettings, most: number, width: number): PolicyParameter => ({
  policy: 'delay',
  word: `delay_${key}`,
  key,
  range: [0, most, width],
})

/** Parameters of the policies, by the last part of their name. */
export const POLICY_PARAMETERS = {
  nrs_crrn_quantum: quantum('crrn'),
  nrs_orr_quantum: quantum('orr'),
  nrs_orr_offset_type: offsetType('orr'),
  nrs_orr_supported: supported('orr'),
  nrs_trr_quantum: quantum('trr'),
  nrs_trr_offset_type: offsetType('trr'),
  nrs_trr_supported: supported('trr'),
  nrs_delay_min: delay('min', 65_535, 5),
  nrs_delay_max: delay('max', 65_535, 5),
  nrs_delay_pct: delay('pct', 100, 3),
} as const satisfies Record<string, PolicyParameter>
export type PolicyParameterName = keyof typeof POLICY_PARAMETERS

/** Head state that they are read from and written to. */
interface TunedHead {
  refusal(policy: PolicyName): Errno | undefined
  slot(policy: PolicyName): { readonly settings: RoundRobinSettings | DelaySettings | undefined } | undefined
}
type TunedQueues = readonly { readonly queue: Queue; readonly heads: readonly TunedHead[] }[]

/** Value as read, from CPT 0; the last queue determines ENODEV, except that delay is empty when stopped. */
export function readSetting(p: PolicyParameter, queues: TunedQueues): Result<string, Errno> {
  let out = ''
  let last: Errno | undefined
  for (const { queue, heads } of queues) {
    last = heads[0]?.refusal(p.policy)
    if (last !== undefined && last !== 'ENODEV') return fail(last)
    const settings = heads[0]?.slot(p.policy)?.settings as Settings | undefined
    if (last !== undefined || !settings) continue
    const value = String(settings[p.key])
    out += `${queue}_${p.word}:${p.range ? value.padEnd(p.range[2]) : value}\n`
  }
  return last === undefined || p.policy === 'delay' ? ok(out) : fail(last)
}

function parseValue(p: PolicyParameter, text: string): number | string | undefined {
  if (p.words) return p.words.includes(text) ? text : undefined
  // As in the kernel: digits up to the first other character.
  const n = Number(/^\d{1,15}/.exec(text)?.[0] ?? NaN)
  const [least, most] = p.range ?? [0, 0]
  return n >= least && n <= most ? n : undefined
}

/** Text for each named queue, or for both if none is named. */
function textsOf(p: PolicyParameter, value: string): Partial<Record<Queue, string>> {
  const named: Partial<Record<Queue, string>> = {}
  for (const queue of ['reg', 'hp'] as const) {
    const word = `${queue}_${p.word}:`
    const at = value.indexOf(word)
    if (at >= 0) named[queue] = /\S*/.exec(value.slice(at + word.length).trimStart())?.[0] ?? ''
  }
  const bare = value.trim()
  return Object.keys(named).length === 0 ? { reg: bare, hp: bare } : named
}

/** Writes to all CPTs. Errors: EINVAL, ENODEV (no such queue, or the policy runs on none of the addressed queues), EAGAIN. */
export function writeSetting(p: PolicyParameter, queues: TunedQueues, value: string): Result<undefined, Errno> {
  const texts = textsOf(p, value)
  const isOneQueue = queues.length === 1
  if (isOneQueue && texts.hp !== undefined && value.includes(`hp_${p.word}:`)) return fail('ENODEV')
  const values = new Map<Queue, number | string>()
  for (const [queue, text] of Object.entries(texts) as [Queue, string][]) {
    const read = parseValue(p, text)
    if (read === undefined) return fail('EINVAL')
    values.set(queue, read)
  }
  let isDone = false
  for (const { queue, heads } of queues) {
    if (!values.has(queue)) continue
    for (const head of heads) {
      const refused = head.refusal(p.policy)
      if (refused === 'ENODEV') break
      if (refused !== undefined) return fail(refused)
      const settings = head.slot(p.policy)?.settings as Settings
      const next: Settings = { ...settings, [p.key]: values.get(queue) }
      // The minimum delay must not exceed the maximum.
      if (p.policy === 'delay' && next.min > next.max) return fail('EINVAL')
      Object.assign(settings, next)
      isDone = true
    }
  }
  return isDone ? ok(undefined) : fail('ENODEV')
}
