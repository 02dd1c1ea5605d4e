/**
 * Commits one reviewed change: on one server first, then on the rest. On every server the expiry timers are made before the
 * rules they stop, everything is on record before it is sent, and the rules are read back and compared.
 *
 * A server on which a command fails, or whose read-back differs, is brought back to what it was; the servers after it get
 * nothing. What was done on the servers before it stays and is reported: end states are known or called unknown.
 */
import { compareHeads } from '#core/control/read-back.ts'
import type { EditPlan } from '#core/control/edit-plan.ts'
import { planBack } from '#core/control/plan-back.ts'
import { serverRules, type ServerRules } from '#core/control/server-rules.ts'
import { getParamCommand, setParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseNrsPolicies } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import type { NodeConnection } from '../cluster/connection.ts'
import { detach } from '../cluster/detach.ts'
import type { Service } from '../cluster/service.ts'
import type { Audit } from './audit.ts'

/** A transient timer on a server that stops one rule. */
export interface ExpiryTimer {
  readonly unit: string
  readonly rule: string
  /** Value written to nrs_tbf_rule when it fires. */
  readonly value: string
  readonly seconds: number
}

/** What one server gets. */
export interface ServerChange {
  readonly plan: EditPlan
  /** The server as the plan found it. */
  readonly found: ServerRules
  readonly timers: readonly ExpiryTimer[]
  /** Timers of rules that the change stops. */
  readonly endTimers: readonly string[]
}

export type EndState = 'done' | 'failed' | 'rolled back' | 'unknown' | 'not sent'
export interface ServerEnd {
  readonly host: string
  readonly state: EndState
  /** For people: what the server answered, or that the read-back is equal. */
  readonly detail: string
}

/** The command that makes an expiry timer, and the one that takes it away. */
export const timerCommand = (service: Service, t: ExpiryTimer): string =>
  `systemd-run --on-active=${t.seconds}s --unit=${t.unit} ${setParamCommand(service.rules, t.value)}`
export const endTimerCommand = (unit: string): string => `systemctl stop ${unit}.timer`

/** The literal commands of one server, in the order in which they are sent. */
export const commandsOf = (service: Service, c: ServerChange): string[] => [
  ...c.timers.map((t) => timerCommand(service, t)),
  ...c.plan.commands.map(({ value }) => setParamCommand(service.rules, value)),
  ...c.endTimers.map(endTimerCommand),
]

/** The literal commands that undo a change, in order. */
export const inverseOf = (service: Service, c: ServerChange): string[] => [
  ...c.plan.inverse.map(({ value }) => setParamCommand(service.rules, value)),
  ...c.timers.map((t) => endTimerCommand(t.unit)),
]

interface Answer {
  readonly ok: boolean
  readonly answered: boolean
  readonly why: string
}

async function run(node: NodeConnection, command: string): Promise<Answer> {
  const r = await node.exec(command).catch(() => undefined)
  if (!r) return { ok: false, answered: false, why: 'the server did not answer' }
  return { ok: r.code === 0, answered: true, why: r.stderr.trim().split('\n').at(-1) ?? `exit ${r.code}` }
}

/** The rules of a server as they stand now; undefined when they cannot be read. */
export async function readServer(
  node: NodeConnection,
  service: Service,
  like: Pick<ServerRules, 'profile' | 'realtime' | 'depth'>,
): Promise<ServerRules | undefined> {
  const r = await node.exec(getParamCommand(service.policies, service.rules)).catch(() => undefined)
  const values = splitParams(r?.stdout ?? '')
  const policies = values.get(service.policies)
  if (policies === undefined) return undefined
  // Where TBF does not run there are no rules to read, and that is known.
  const rules = parseNrsTbfRule(detach(values.get(service.rules) ?? '')).rules
  const { profile, realtime, depth } = like
  return serverRules(node.host, parseNrsPolicies(policies).policies, rules, profile, { realtime, depth })
}

/** Brings a server back to what it was before the change, from wherever it stands. */
async function rollBack(
  node: NodeConnection,
  service: Service,
  { plan, found, timers }: ServerChange,
  reason: string,
  record: (commands: readonly string[]) => void,
): Promise<ServerEnd> {
  const host = plan.server
  const now = await readServer(node, service, found)
  if (!now) return { host, state: 'unknown', detail: `${reason}; the rules could not be read to roll back` }
  const commands = [
    ...planBack(now, plan.before, plan.touched).commands.map(({ value }) => setParamCommand(service.rules, value)),
    ...timers.map((t) => endTimerCommand(t.unit)),
  ]
  record(commands)
  for (const command of commands) await run(node, command)
  const after = await readServer(node, service, found)
  if (!after) return { host, state: 'unknown', detail: `${reason}; rolled back, but the rules could not be read` }
  const left = compareHeads(plan.before, plan.touched, after).differences
  if (left.length > 0) {
    return { host, state: 'failed', detail: `${reason}; left after the roll-back: ${left.join('; ')}` }
  }
  return { host, state: 'rolled back', detail: reason }
}

async function commitOn(
  node: NodeConnection,
  service: Service,
  change: ServerChange,
  record: (commands: readonly string[]) => void,
): Promise<ServerEnd> {
  const { plan, found, timers, endTimers } = change
  const host = plan.server
  const commands = [
    ...timers.map((t) => timerCommand(service, t)),
    ...plan.commands.map(({ value }) => setParamCommand(service.rules, value)),
  ]
  for (const command of commands) {
    const answer = await run(node, command)
    if (!answer.answered) return { host, state: 'unknown', detail: `${command}: ${answer.why}` }
    if (!answer.ok) return rollBack(node, service, change, answer.why, record)
  }
  // A timer that is gone has fired already, and with it the rule.
  for (const unit of endTimers) await run(node, endTimerCommand(unit))
  const after = await readServer(node, service, found)
  if (!after) return { host, state: 'unknown', detail: 'the rules could not be read back' }
  const { differences } = compareHeads(plan.expected, plan.touched, after)
  if (differences.length > 0) {
    return rollBack(node, service, change, `read back: ${differences.join('; ')}`, record)
  }
  return { host, state: 'done', detail: 'read back equal' }
}

/**
 * Sends a change to its servers.
 *
 * @param nodeOf  connection of a server.
 * @param nowMs   instants for the audit, Unix ms on the source's clock.
 * @returns       the end state of every server, in order; servers after the first that is not done are not sent anything.
 * @throws        when the audit cannot be written; the server it was about got nothing then.
 */
export async function commitChange(
  service: Service,
  changes: readonly ServerChange[],
  nodeOf: (host: string) => NodeConnection | undefined,
  audit: Audit,
  nowMs: () => number,
): Promise<ServerEnd[]> {
  const ends: ServerEnd[] = []
  for (const change of changes) {
    const host = change.plan.server
    const node = nodeOf(host)
    const isStopped = ends.some((e) => e.state !== 'done')
    if (isStopped || !node) {
      ends.push({ host, state: 'not sent', detail: isStopped ? 'an earlier server is not done' : 'the server is gone' })
      continue
    }
    const record = (commands: readonly string[]): void => audit.write(nowMs(), host, 'intent', commands.join('\n'))
    record(commandsOf(service, change))
    const end = await commitOn(node, service, change, record)
    audit.write(nowMs(), host, 'outcome', `${end.state}: ${end.detail}`)
    ends.push(end)
  }
  return ends
}
