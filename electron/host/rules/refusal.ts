/** Reasons why a plan cannot be committed now. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { Failure } from '#core/base/result.ts'
import { QUEUES } from '#core/control/server-rules.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { isWork, type RulePlan } from './rule-plan.ts'
import { isFor } from './staged-changes.ts'
import { silentText } from './servers.ts'

export const failure = (code: string, what: string, why: string, next: string): Failure => ({
  code,
  what,
  why,
  unaffected: 'Nothing was sent; the changes remain staged.',
  next,
})

const NOT_SENT = 'The change cannot be sent'

/** Servers with staged changes that do not answer. */
export function missingFor(
  monitor: ClusterMonitor,
  service: ServiceName,
  { staged }: Pick<RulePlan, 'staged'>,
): string[] {
  return monitor
    .serversOf(service)
    .filter((h) => monitor.missing.has(h) || !monitor.reading(h))
    .filter((h) => staged.some((s) => isFor(s, h)))
}

/** True if all staged changes are undos: these are sent to the servers that answer, and to the others later. */
export const isUndo = ({ staged }: Pick<RulePlan, 'staged'>): boolean =>
  staged.length > 0 && staged.every((s) => s.undoes !== undefined)

/** Obstacle of a plan on its servers; undefined for none. */
function planFault(plan: RulePlan): Failure | undefined {
  const blind = plan.changes.filter(({ found }) => {
    return found.rules.length === 0 && QUEUES.some((q) => found.tbf[q] !== undefined)
  })
  if (blind.length > 0) {
    return failure(
      'RULES_UNREADABLE',
      NOT_SENT,
      `${blind.map((c) => c.plan.server).join(', ')} runs TBF and does not show its rules`,
      'Servers show them only while both queues run TBF: run it on reg and hp.',
    )
  }
  const refused = plan.changes.flatMap((c) => c.plan.refused)[0]
  if (refused) {
    const hosts = plan.changes.filter((c) => c.plan.refused.some((r) => r.text === refused.text))
    const where = hosts.length === plan.changes.length ? '' : ` (${hosts.map((c) => c.plan.server).join(', ')})`
    return failure('EDIT_REFUSED', NOT_SENT, `${refused.text}${where}`, 'Discard or correct the change.')
  }
  const gate = plan.changes.flatMap((c) => c.gates).find((g) => g.action === 'refuse')
  if (gate) {
    const code = gate.id === 'VERSION' ? 'VERSION_UNKNOWN' : 'VERSION_GATE'
    const next =
      gate.id === 'VERSION'
        ? 'Allow the login to run lctl get_param -n version, then review again.'
        : 'Use a change that is safe on this release.'
    return failure(code, NOT_SENT, gate.text, next)
  }
  const laptop = plan.changes.filter(
    (c) =>
      c.keeps === 'none' &&
      c.terms.some((t) => t.start && t.start.terms.expiresS !== null && !t.start.terms.laptopBound),
  )
  if (laptop.length === 0) return undefined
  return failure(
    'NO_TIMER',
    NOT_SENT,
    `${laptop.map((c) => c.plan.server).join(', ')} supports no timers, so nothing would end the rule if this console is gone`,
    'Allow systemd-run or the helper there, or use a console timer: the rule then expires only while this console runs.',
  )
}

/** @param writeRefusal  reason against any write: safe mode, lock, another commit. */
export function planRefusal(
  monitor: ClusterMonitor,
  service: ServiceName,
  plan: RulePlan,
  writeRefusal: Failure | undefined,
): Failure | undefined {
  if (writeRefusal) return writeRefusal
  const missing = missingFor(monitor, service, plan)
  if (missing.length > 0 && !isUndo(plan)) {
    const why = missing.map((host) => silentText(monitor, host) ?? host).join('; ')
    return failure('SERVER_MISSING', NOT_SENT, why, 'Wait until every server answers.')
  }
  const fault = planFault(plan)
  if (fault) return fault
  if (plan.changes.some(isWork) || missing.length > 0) return undefined
  const why = 'every server already matches the changes'
  return failure('NO_CHANGE', 'There is nothing to send', why, 'Discard the changes.')
}
