/** State of a server that a plan depends on: its policies and rules, except controllers' rules, which change all the time. */
import { shortHash } from '../base/hash.ts'
import { isControllerRule } from '../controllers/registry.ts'
import { compareHeads } from './read-back.ts'
import { QUEUES, writtenRules, type ServerRules } from './server-rules.ts'

type PlanBase = Pick<ServerRules, 'server' | 'rules' | 'tbf' | 'profile' | 'hp'>

const policyLabel = (arg: string | undefined): string =>
  arg === undefined ? 'no TBF' : arg === '' ? 'tbf' : `tbf ${arg}`

/** Returns a hash of the release, the policies, and every rule with its position, without controllers' rules and class counts. */
export function planBaseHash(server: PlanBase): string {
  const rules = writtenRules(server)
    .filter((r) => !isControllerRule(r.name))
    .map((r) => `${r.queue} ${r.cpt} ${r.name} ${r.conditions} ${r.rate}`)
  return shortHash(
    [server.server, server.profile.release, ...QUEUES.map((q) => policyLabel(server.tbf[q])), ...rules].join('\n'),
  )
}

/**
 * Returns the differences of a server from `then` as text; empty if a plan made on `then` is still valid.
 *
 * @param policiesOnly  ignores rules, which all change with a restart or another policy.
 */
export function planBaseDiff(then: PlanBase, now: PlanBase, policiesOnly = false): string[] {
  const out: string[] = []
  for (const q of QUEUES) {
    const was = policyLabel(then.tbf[q])
    const is = policyLabel(now.tbf[q])
    if (was !== is) out.push(`${q} runs ${is}, no longer ${was}: restarted, or its policy was changed`)
  }
  if (then.profile.release !== now.profile.release) out.push(`its release is ${now.profile.release} now`)
  if (policiesOnly) return out
  const foreign = (server: PlanBase): PlanBase => ({
    ...server,
    rules: server.rules.filter((r) => !isControllerRule(r.name)),
  })
  return [...out, ...compareHeads(writtenRules(foreign(then)), [], foreign(now)).foreign]
}
