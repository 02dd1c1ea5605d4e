/** Jobs with an allocation but no rule (unthrottled). */
import type { Failure } from '#core/base/result.ts'
import { RULES_MAX } from '#core/control/desired-rule.ts'
import type { ControlLoop } from './control-loop.ts'

export function unthrottledJobs({ unmatchable, overCap, unplaceable }: ControlLoop['unthrottled']): Failure[] {
  const count = unmatchable + overCap + unplaceable
  if (count === 0) return []
  const why =
    unmatchable > 0
      ? 'their ids hold characters that a rule cannot match'
      : overCap > 0
        ? `a server takes ${RULES_MAX} rules of Sluice`
        : 'the last rule of the list is not managed by Sluice, which inserts none before it'
  return [
    {
      code: 'JOBS_WITHOUT_RULE',
      what: `${count} ${count === 1 ? 'job is' : 'jobs are'} not limited by any rule`,
      why,
      unaffected: 'All other jobs are controlled.',
      next: `Limit them by uid or nid on the server${unmatchable > 0 ? ', or ask their owners for plain job names' : ''}.`,
    },
  ]
}
