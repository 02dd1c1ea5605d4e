/** The policy and the rules of one service on one server, as they stand now. */
import { QUEUES, serverRules, type ServerRules } from '#core/control/server-rules.ts'
import { getParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseNrsPolicies, type PolicyStatus } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { parseVersion, type LustreVersion } from '#core/lustre/version.ts'
import type { NodeConnection } from '../base/connection.ts'
import { within } from '../base/deadline.ts'
import { detach } from '../base/detach.ts'
import type { Service } from '../base/service.ts'

/** A server that has not answered by then may still do what it was told, wall ms. */
export const ANSWER_MS = 30_000

export interface ServerNow extends ServerRules {
  readonly policies: readonly PolicyStatus[]
}

/**
 * Reads a server; undefined when it cannot be read, or prints no rule although TBF runs.
 *
 * @param rulesAre  `may be hidden`: also where one of two queues runs TBF, when servers show no rules; for changes of policy.
 */
export async function readServer(
  node: NodeConnection,
  service: Service,
  like: Pick<ServerRules, 'profile' | 'realtime' | 'depth'>,
  answerMs = ANSWER_MS,
  rulesAre: 'shown' | 'may be hidden' = 'shown',
): Promise<ServerNow | undefined> {
  const command = getParamCommand(service.policies, service.rules)
  const ran = await within(node.exec(command), answerMs)
  if (!ran.ok) return undefined
  const values = splitParams(ran.value.stdout)
  const policies = values.get(service.policies)
  if (policies === undefined) return undefined
  const text = detach(values.get(service.rules) ?? '')
  const { profile, realtime, depth } = like
  const { rules } = parseNrsTbfRule(text)
  const statuses = parseNrsPolicies(policies).policies
  const server = serverRules(node.host, statuses, rules, profile, { realtime, depth })
  // Where TBF does not run there are no rules to read, and that is known; where it runs there is always one.
  const on = QUEUES.filter((q) => server.tbf[q] !== undefined).length
  const isHidden = rulesAre === 'may be hidden' && server.hp && on === 1
  return on > 0 && rules.length === 0 && !isHidden ? undefined : { ...server, policies: statuses }
}

/** The release that a server names now; undefined when it cannot be read. */
export async function readVersion(node: NodeConnection, answerMs = ANSWER_MS): Promise<LustreVersion | undefined> {
  const ran = await within(node.exec('lctl get_param -n version'), answerMs)
  return ran.ok && ran.value.code === 0 ? parseVersion(ran.value.stdout) : undefined
}
