/** Reads the current policy and rules of one service on one server. */
import { QUEUES, serverRules, type ServerRules } from '#core/control/server-rules.ts'
import { getParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseNrsPolicies, type PolicyStatus } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { parseVersion, type LustreVersion } from '#core/lustre/version.ts'
import type { NodeConnection } from '../base/connection.ts'
import { within } from '../base/deadline.ts'
import { detach } from '../base/detach.ts'
import type { Service } from '../base/service.ts'

/** Deadline of an answer, wall ms; an unresponsive server may still execute its command. */
export const ANSWER_MS = 30_000

export interface ServerNow extends ServerRules {
  readonly policies: readonly PolicyStatus[]
}

/**
 * Reads a server; undefined if it cannot be read, or lists no rule although TBF runs.
 *
 * @param rulesAre  `may be hidden`: also accepts one of two queues running TBF, when servers show no rules; for policy
 *                  changes.
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
  // Without TBF there are certainly no rules; with TBF there is always at least one.
  const on = QUEUES.filter((q) => server.tbf[q] !== undefined).length
  const isHidden = rulesAre === 'may be hidden' && server.hp && on === 1
  return on > 0 && rules.length === 0 && !isHidden ? undefined : { ...server, policies: statuses }
}

/** Reads the server's current release; undefined if it cannot be read. */
export async function readVersion(node: NodeConnection, answerMs = ANSWER_MS): Promise<LustreVersion | undefined> {
  const ran = await within(node.exec('lctl get_param -n version'), answerMs)
  return ran.ok && ran.value.code === 0 ? parseVersion(ran.value.stdout) : undefined
}
