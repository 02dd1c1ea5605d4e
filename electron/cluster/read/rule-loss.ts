/** Rules that disappeared at once: the server was restarted, its targets moved, or its policy was changed. */
import { isControllerRule } from '#core/controllers/registry.ts'
import { DEFAULT_RULE } from '#core/control/server-rules.ts'
import { primaryPolicy } from '#core/lustre/nrs-policies.ts'
import type { NodeReading, ServiceReading } from '../probes/reading.ts'

/** Rules not managed by controllers; these come and go by themselves. */
const foreign = (s: ServiceReading): string[] => [
  ...new Set(s.rules.filter((r) => r.name !== DEFAULT_RULE && !isControllerRule(r.name)).map((r) => r.name)),
]

function lostOf(before: ServiceReading, now: ServiceReading | undefined): string {
  if (!now?.isRead || !before.isRead) return ''
  const had = foreign(before)
  const has = foreign(now)
  const hadTbf = before.rules.length > 0
  const isGone = had.length > 0 && has.length === 0
  const { name } = now.service
  if (hadTbf && now.rules.length === 0) {
    const policy = primaryPolicy(now.policies, 'reg')?.name ?? 'no policy'
    const rules = had.length === 0 ? 'TBF is' : `${counted(had.length)} not managed by Sluice and TBF are`
    return `${rules} gone from ${name} at once, ${policy} is active: the server was restarted, or its policy changed`
  }
  return isGone && had.length > 1 ? `${counted(had.length)} not managed by Sluice are gone from ${name} at once` : ''
}

const counted = (n: number): string => (n === 1 ? '1 rule' : `${n} rules`)

/** Lost rules between two consecutive readings of a server; usually empty. */
export function describeLostRules(before: NodeReading | undefined, now: NodeReading): string {
  if (!before) return ''
  return [before, ...before.others]
    .map((s) =>
      lostOf(
        s,
        [now, ...now.others].find((o) => o.service === s.service),
      ),
    )
    .filter((t) => t !== '')
    .join('; ')
}
