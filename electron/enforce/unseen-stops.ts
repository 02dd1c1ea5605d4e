/** Stops of rules that a server took and that are not among those it printed: what is not seen may stand all the same. */
import type { QueueChoice } from '#core/control/rule-edit.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { ServerChange } from './server-change.ts'

/** @param taken  rule commands that the server took, or may have taken. */
export function unseenStops({ plan }: ServerChange, taken: number, now: ServerRules): string[] {
  const isIn = (rules: readonly RuleLine[], name: string, queue: QueueChoice): boolean =>
    rules.some((r) => r.name === name && (queue === 'both' || queue === r.queue))
  return plan.commands
    .slice(0, taken)
    .filter((c) => c.verb === 'start' && !isIn(plan.before, c.rule, c.queue) && !isIn(now.rules, c.rule, c.queue))
    .map((c) => `${c.queue === 'both' ? '' : `${c.queue} `}stop ${c.rule}`)
}
