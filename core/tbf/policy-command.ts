/**
 * Commands written to `nrs_policies`: `POLICY [reg|hp] [ARGUMENT]`.
 *
 * Source: spec/lustre 1.1. No newline is trimmed; the argument is everything after the selector, blanks included.
 */
import { ok, type Result } from '../base/result.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import { cut, piece, splitOnce } from './kernel-text.ts'
import { fault, nearest, shown, type RuleFault } from './rule-fault.ts'

/** Policies in the order in which they are printed. */
export const POLICIES = ['fifo', 'crrn', 'orr', 'trr', 'tbf', 'delay'] as const
export type PolicyName = (typeof POLICIES)[number]

/** Policies of `ost_io`, and of every other service. */
export const OST_IO_POLICIES: readonly PolicyName[] = POLICIES
export const OTHER_POLICIES: readonly PolicyName[] = ['fifo', 'crrn', 'tbf', 'delay']

/** Longest policy name, bytes, and longest value: name, ` reg` and 1024 bytes of argument. */
const NAME_MAX = 15
const VALUE_MAX = 16 + 4 + 1024 - 1

export interface PolicyCommand {
  readonly policy: PolicyName
  readonly queue: Queue | undefined
  /** undefined = none; an empty one is distinct. */
  readonly argument: string | undefined
  /** Offset of the argument in the value. */
  readonly argumentAt: number
}

export interface PolicyGrammar {
  /** True if the service has a high-priority queue. */
  readonly hp: boolean
  readonly policies: readonly PolicyName[]
}

/** Parses one value written to nrs_policies. Errors: EINVAL (too long), ENODEV (no such queue), ENOENT (no such policy). */
export function parsePolicyCommand(value: string, grammar: PolicyGrammar): Result<PolicyCommand, RuleFault> {
  if (value.length > VALUE_MAX)
    return fault(VALUE_MAX, value.length - VALUE_MAX, `a value has at most ${VALUE_MAX} bytes`)
  const nul = value.indexOf('\u0000')
  const text = piece(nul < 0 ? value : value.slice(0, nul))
  const [name, rest] = splitOnce(text, ' ') ?? [text, undefined]
  if (name.text.length > NAME_MAX)
    return fault(0, name.text.length, `a policy's name has at most ${NAME_MAX} characters`)
  let argument = rest
  let queue: Queue | undefined
  if (rest) {
    const [word, more] = splitOnce(rest, ' ') ?? [rest, undefined]
    if (word.text === 'reg' || word.text === 'hp') {
      queue = word.text
      argument = more
      if (queue === 'hp' && !grammar.hp) return fault(word.at, 2, 'this service has no high-priority queue', 'ENODEV')
    }
  }
  const policy = grammar.policies.find((p) => p === name.text)
  if (policy === undefined) {
    return fault(
      0,
      name.text.length,
      `unknown policy ${shown(name.text)}${nearest(name.text, grammar.policies)}`,
      'ENOENT',
    )
  }
  const end = cut(text, text.text.length)
  return ok({ policy, queue, argument: argument?.text, argumentAt: (argument ?? end).at })
}
