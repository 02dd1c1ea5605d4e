/** The policies of a controller: their text, its clock, and which of them hold now. */
import { fail, ok, type Result } from '../../base/result.ts'
import { NS_PER_S } from '../../base/units.ts'
import type { Policy } from '../rules/policy.ts'
import { parsePolicies, PolicySchedule } from '../rules/policy-schedule.ts'
import type { RuleFault } from '../rules/rule-fault.ts'
import { byScope, type PoliciesByScope } from './plan.ts'

const TEXT_MAX = 1_000_000

/** Faults of a policy text; nothing is kept. */
export function policyFaults(text: string): readonly RuleFault[] {
  if (text.length <= TEXT_MAX) return parsePolicies(text).faults
  const message = `the text has more than ${TEXT_MAX} characters`
  return [{ line: 1, column: 1, length: 1, severity: 'error', message }]
}

export class PoliciesInForce {
  text = ''
  /** When second 0 was. */
  fromNs: number
  schedule = new PolicySchedule(parsePolicies(''))
  now: PoliciesByScope = new Map()

  constructor(fromNs: number) {
    this.fromNs = fromNs
  }

  /** Puts a text in the place of the one before. @returns POLICIES_FAULTY with the first fault; then the old one stays. */
  set(text: string, fromNs: number): Result<undefined> {
    const errors = policyFaults(text).filter((f) => f.severity === 'error')
    const [first] = errors
    if (first) {
      const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
      return fail({
        code: 'POLICIES_FAULTY',
        what: 'The policies are not put in force',
        why: `line ${first.line}, column ${first.column}: ${first.message}${more}`,
        unaffected: 'The policies of before stay in force.',
      })
    }
    this.text = text
    this.fromNs = fromNs
    this.schedule = new PolicySchedule(parsePolicies(text))
    this.now = new Map()
    return ok(undefined)
  }

  /** When the next one is due; Infinity when none waits. */
  get nextNs(): number {
    const next = this.schedule.nextS
    return next === undefined ? Infinity : this.fromNs + next * NS_PER_S
  }

  /** Takes all that are due. */
  advance(nowNs: number): readonly Policy[] {
    const due = this.schedule.advance(Math.floor((nowNs - this.fromNs) / NS_PER_S))
    this.now = byScope(this.schedule.now)
    return due
  }
}
