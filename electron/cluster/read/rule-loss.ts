/** Rules that are gone at once: a server that was restarted, whose targets moved, or whose policy somebody changed. */
import { isControllerRule } from '#core/controllers/registry.ts'
import { DEFAULT_RULE } from '#core/control/server-rules.ts'
import { primaryPolicy } from '#core/lustre/nrs-policies.ts'
import type { NodeReading, ServiceReading } from '../probes/reading.ts'

/** Rules of others; ours come and go by our own hand. */
const foreign = (s: ServiceReading): string[] => [
  ...new Set(s.rules.filter((r) => r.name !== DEFAULT_RULE && !isControllerRule(r.name)).map((r) => r.name)),
]

function lostOf(before: ServiceReading, now: ServiceReading | undefined): string {
  if (!now?.isRead || !before.isRead) return ''
  const [had, has] = [foreign(before), foreign(now)]
  const hadTbf = before.rules.length > 0
  const isGone = had.length > 0 && has.length === 0
  const { name } = now.service
  if (hadTbf && now.rules.length === 0) {
    const policy = primaryPolicy(now.policies, 'reg')?.name ?? 'no policy'
    const rules = had.length === 0 ? 'TBF is' : `${counted(had.length)} of others and TBF are`
    return `${rules} gone from ${name} at once, ${policy} schedules it: the server was restarted, or its policy changed`
  }
  return isGone && had.length > 1 ? `${counted(had.length)} of others are gone from ${name} at once` : ''
}

const counted = (n: number): string => (n === 1 ? '1 rule' : `${n} rules`)

/** What two readings of a server that follow each other say of it; empty as a rule. */
export function lostRules(before: NodeReading | undefined, now: NodeReading): string {
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
