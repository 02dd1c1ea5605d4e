/** The edits that bring the rules of a committed change back to what they were, whatever else has changed since. */
import { isOurs } from '#core/control/desired-rule.ts'
import { isHelper } from '#core/control/edit-plan.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'
import { headOf, QUEUES } from '#core/control/server-rules.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'

/** What a change did to one server. */
export interface DoneOn {
  readonly before: readonly RuleLine[]
  readonly expected: readonly RuleLine[]
  readonly touched: readonly string[]
  readonly realtime: ReadonlyMap<string, boolean>
}

function editsOf(done: DoneOn, queue: Queue): RuleEdit[] {
  const before = headOf(done.before, queue, 0)
  const after = headOf(done.expected, queue, 0)
  const out: RuleEdit[] = []
  // From the end, so that the rule that another one stands before is there when it is named.
  for (const [at, was] of [...before.entries()].reverse()) {
    if (!done.touched.includes(was.name) || isHelper(was.name)) continue
    const is = after.find((r) => r.name === was.name)
    const next = before.slice(at + 1).find((r) => !isOurs(r.name) && !isHelper(r.name))?.name
    if (is && is.conditions === was.conditions) {
      const follows = after[after.indexOf(is) + 1]?.name
      const isMoved = follows !== before[at + 1]?.name && done.touched.includes(was.name) && was.name !== 'default'
      const rate = is.rate === was.rate ? undefined : was.rate
      const rank = isMoved && rate === undefined ? next : undefined
      if (rate !== undefined || rank !== undefined) out.push({ verb: 'change', name: was.name, queue, rate, rank })
      continue
    }
    if (is) out.push({ verb: 'stop', name: was.name, queue })
    const { name, conditions, rate } = was
    out.push({ verb: 'start', name, conditions, rate, rank: next, queue, realtime: done.realtime.get(name) ?? false })
  }
  for (const r of after) {
    if (done.touched.includes(r.name) && !isHelper(r.name) && !before.some((b) => b.name === r.name)) {
      out.push({ verb: 'stop', name: r.name, queue })
    }
  }
  return out
}

/** Edits of both queues; what is the same on both is one edit. */
export function undoEdits(done: DoneOn): RuleEdit[] {
  const [reg = [], hp = []] = QUEUES.map((q) => editsOf(done, q))
  const key = (e: RuleEdit): string => JSON.stringify({ ...e, queue: '' })
  const onHp = new Set(hp.map(key))
  const onReg = new Set(reg.map(key))
  return [
    ...reg.map((e): RuleEdit => (onHp.has(key(e)) ? { ...e, queue: 'both' } : e)),
    ...hp.filter((e) => !onReg.has(key(e))),
  ]
}
