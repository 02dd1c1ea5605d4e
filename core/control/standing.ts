/** What a plan stands on: the policies and rules of a server, controllers' own left aside, which they move all the time. */
import { shortHash } from '../base/hash.ts'
import { isControllerRule } from '../controllers/registry.ts'
import { compareHeads } from './read-back.ts'
import { QUEUES, writtenRules, type ServerRules } from './server-rules.ts'

type Stands = Pick<ServerRules, 'server' | 'rules' | 'tbf' | 'profile' | 'hp'>

const policyWords = (arg: string | undefined): string =>
  arg === undefined ? 'no TBF' : arg === '' ? 'tbf' : `tbf ${arg}`

/** Hash of the release, the policies, and every rule with its place, but for controllers' rules and counts of classes. */
export function standingHash(server: Stands): string {
  const rules = writtenRules(server)
    .filter((r) => !isControllerRule(r.name))
    .map((r) => `${r.queue} ${r.cpt} ${r.name} ${r.conditions} ${r.rate}`)
  return shortHash(
    [server.server, server.profile.release, ...QUEUES.map((q) => policyWords(server.tbf[q])), ...rules].join('\n'),
  )
}

/**
 * What is different on a server now, in words; empty when a plan made on `then` still holds.
 *
 * @param policiesOnly  leaves the rules aside: after a restart, or another policy, all of them are others anyway.
 */
export function standingDiff(then: Stands, now: Stands, policiesOnly = false): string[] {
  const out: string[] = []
  for (const q of QUEUES) {
    const [was, is] = [policyWords(then.tbf[q]), policyWords(now.tbf[q])]
    if (was !== is) out.push(`${q} runs ${is}, not ${was} any more: restarted, or its policy was changed`)
  }
  if (then.profile.release !== now.profile.release) out.push(`it is a server of ${now.profile.release} now`)
  if (policiesOnly) return out
  const others = (server: Stands): Stands => ({
    ...server,
    rules: server.rules.filter((r) => !isControllerRule(r.name)),
  })
  return [...out, ...compareHeads(writtenRules(others(then)), [], others(now)).foreign]
}
