/** Policies of a controller: their text, its clock, and those in force. */
import { fail, ok, type Result } from '../../base/result.ts'
import { NS_PER_S } from '../../base/units.ts'
import type { Policy } from '../rules/policy.ts'
import { parsePolicies, PolicySchedule } from '../rules/policy-schedule.ts'
import type { RuleFault } from '../rules/rule-fault.ts'
import { byScope, type PoliciesByScope } from './plan.ts'

const TEXT_MAX = 1_000_000

/** Returns the faults of a policy text without applying it. */
export function policyFaults(text: string): readonly RuleFault[] {
  if (text.length <= TEXT_MAX) return parsePolicies(text).faults
  const message = `the text has more than ${TEXT_MAX} characters`
  return [{ line: 1, column: 1, length: 1, severity: 'error', message }]
}

export class ActivePolicies {
  text = ''
  /** Time of second 0. */
  fromNs: number
  schedule = new PolicySchedule(parsePolicies(''))
  now: PoliciesByScope = new Map()

  constructor(fromNs: number) {
    this.fromNs = fromNs
  }

  /** Replaces the text. @returns POLICIES_FAULTY with the first fault; the old text then stays. */
  set(text: string, fromNs: number): Result<undefined> {
    const errors = policyFaults(text).filter((f) => f.severity === 'error')
    const [first] = errors
    if (first) {
      const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
      return fail({
        code: 'POLICIES_FAULTY',
        what: 'The policies were not applied',
        why: `line ${first.line}, column ${first.column}: ${first.message}${more}`,
        unaffected: 'The previous policies stay in force.',
      })
    }
    this.text = text
    this.fromNs = fromNs
    this.schedule = new PolicySchedule(parsePolicies(text))
    this.now = new Map()
    return ok(undefined)
  }

  /** Time of the next policy; Infinity when none is pending. */
  get nextNs(): number {
    const next = this.schedule.nextS
    return next === undefined ? Infinity : this.fromNs + next * NS_PER_S
  }

  /** Applies all due policies. */
  advance(nowNs: number): readonly Policy[] {
    const due = this.schedule.advance(Math.floor((nowNs - this.fromNs) / NS_PER_S))
    this.now = byScope(this.schedule.now)
    return due
  }
}
