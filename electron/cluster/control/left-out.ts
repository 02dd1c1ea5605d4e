/** Jobs that the controller gives tokens to but that no rule holds: they run as fast as they like. */
import type { Failure } from '#core/base/result.ts'
import { RULES_MAX } from '#core/control/desired-rule.ts'
import type { ControlLoop } from './control-loop.ts'

export function leftOut({ unmatchable, overCap, shut }: ControlLoop['left']): Failure[] {
  const count = unmatchable + overCap + shut
  if (count === 0) return []
  const why =
    unmatchable > 0
      ? 'their ids hold characters that a rule cannot match'
      : overCap > 0
        ? `a server takes ${RULES_MAX} rules of Sluice`
        : 'a rule of somebody else is the last of the list, and none of Sluice goes before it'
  return [
    {
      code: 'JOBS_WITHOUT_RULE',
      what: `${count} ${count === 1 ? 'job is' : 'jobs are'} not held by any rule`,
      why,
      unaffected: 'All other jobs are controlled.',
      next: 'Limit them by uid or nid on the server, or ask their owners for plain job names.',
    },
  ]
}
