/**
 * Commits one reviewed change: on one server first, then on the rest. On every server the expiry timers are made before the
 * rules they stop, everything is on record before it is sent, and the rules are read back and compared. Timers are taken away
 * only when the read-back says that they are no longer needed.
 *
 * A server on which a command fails, or whose read-back differs, is brought back to what it was; the servers after it get
 * nothing. What was done on the servers before it stays and is reported: end states are known or called unknown.
 */
import { compareHeads } from '#core/control/read-back.ts'
import type { EditPlan } from '#core/control/edit-plan.ts'
import { planBack } from '#core/control/plan-back.ts'
import type { QueueChoice } from '#core/control/rule-edit.ts'
import { QUEUES, serverRules, type ServerRules } from '#core/control/server-rules.ts'
import { getParamCommand, setParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseNrsPolicies } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { NodeConnection } from '../cluster/connection.ts'
import { within } from '../cluster/deadline.ts'
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
  /** Timers of rules that the change stops, or gives another one. */
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

/** A server that has not answered by then may still do what it was told, wall ms. */
const ANSWER_MS = 30_000

interface Answer {
  readonly ok: boolean
  readonly answered: boolean
  readonly why: string
}

async function run(node: NodeConnection, command: string): Promise<Answer> {
  const r = await within(node.exec(command), ANSWER_MS).catch(() => undefined)
  if (!r) return { ok: false, answered: false, why: 'the server did not answer' }
  const said = r.stderr.trim().split('\n').at(-1) ?? ''
  return { ok: r.code === 0, answered: true, why: said === '' ? `exit ${r.code}` : said }
}

/** The rules of a server as they stand now; undefined when they cannot be read. */
export async function readServer(
  node: NodeConnection,
  service: Service,
  like: Pick<ServerRules, 'profile' | 'realtime' | 'depth'>,
): Promise<ServerRules | undefined> {
  const command = getParamCommand(service.policies, service.rules)
  const r = await within(node.exec(command), ANSWER_MS).catch(() => undefined)
  const values = splitParams(r?.stdout ?? '')
  const policies = values.get(service.policies)
  if (policies === undefined) return undefined
  const text = detach(values.get(service.rules) ?? '')
  const { profile, realtime, depth } = like
  const { rules } = parseNrsTbfRule(text)
  const server = serverRules(node.host, parseNrsPolicies(policies).policies, rules, profile, { realtime, depth })
  // Where TBF does not run there are no rules to read, and that is known; where it runs there is always one.
  const runsTbf = QUEUES.some((q) => server.tbf[q] !== undefined)
  return runsTbf && rules.length === 0 ? undefined : server
}

/** Stops of rules that the server took and that are not among those it printed. */
function unseenStops({ plan }: ServerChange, taken: number, now: ServerRules): string[] {
  const isIn = (rules: readonly RuleLine[], name: string, queue: QueueChoice): boolean =>
    rules.some((r) => r.name === name && (queue === 'both' || queue === r.queue))
  return plan.commands
    .slice(0, taken)
    .filter((c) => c.verb === 'start' && !isIn(plan.before, c.rule, c.queue) && !isIn(now.rules, c.rule, c.queue))
    .map((c) => `${c.queue === 'both' ? '' : `${c.queue} `}stop ${c.rule}`)
}

/**
 * Brings a server back to what it was before the change, from wherever it stands.
 *
 * @param taken  rule commands that the server took.
 */
async function rollBack(
  node: NodeConnection,
  service: Service,
  change: ServerChange,
  taken: number,
  reason: string,
  record: Recorder,
): Promise<ServerEnd> {
  const { plan, found, timers } = change
  const host = plan.server
  const end = (state: EndState, more: string): ServerEnd => ({ host, state, detail: `${reason}${more}` })
  const now = await readServer(node, service, found)
  if (!now) return end('unknown', '; the rules could not be read to roll back')
  const back = planBack(now, plan.before, plan.touched).commands.map((c) => c.value)
  const commands = [...back, ...unseenStops(change, taken, now)].map((v) => setParamCommand(service.rules, v))
  const ends = timers.map((t) => endTimerCommand(t.unit))
  if (!record([...commands, ...ends])) return end('failed', '; not rolled back, because it could not be put on record')
  for (const command of commands) await run(node, command)
  const after = await readServer(node, service, found)
  if (!after) return end('unknown', '; rolled back, but the rules could not be read')
  const left = compareHeads(plan.before, plan.touched, after).differences
  // What is left is stopped by its timer.
  if (left.length > 0) return end('failed', `; left after the roll-back: ${left.join('; ')}`)
  for (const command of ends) await run(node, command)
  return end('rolled back', '')
}

async function commitOn(
  node: NodeConnection,
  service: Service,
  change: ServerChange,
  record: Recorder,
): Promise<ServerEnd> {
  const { plan, found, timers, endTimers } = change
  const host = plan.server
  const making = timers.map((t) => timerCommand(service, t))
  const commands = [...making, ...plan.commands.map(({ value }) => setParamCommand(service.rules, value))]
  for (const [i, command] of commands.entries()) {
    const answer = await run(node, command)
    if (!answer.answered) return { host, state: 'unknown', detail: `${command}: ${answer.why}` }
    if (!answer.ok) return rollBack(node, service, change, Math.max(0, i - making.length), answer.why, record)
  }
  const after = await readServer(node, service, found)
  if (!after) return { host, state: 'unknown', detail: 'the rules could not be read back' }
  const { differences } = compareHeads(plan.expected, plan.touched, after)
  if (differences.length > 0) {
    return rollBack(node, service, change, plan.commands.length, `read back: ${differences.join('; ')}`, record)
  }
  // A timer that is gone has fired already, and with it the rule.
  for (const unit of endTimers) await run(node, endTimerCommand(unit))
  return { host, state: 'done', detail: 'read back equal' }
}

/** Puts commands on record; false when that is not possible. */
type Recorder = (commands: readonly string[]) => boolean

/** What a commit needs of the console. */
export interface CommitParts {
  /** Connection of a server. */
  readonly nodeOf: (host: string) => NodeConnection | undefined
  readonly audit: Audit
  /** Instants for the audit, Unix ms on the source's clock. */
  readonly nowMs: () => number
  /** Whether the next server may still be written to: the operator may leave enforce while a change is sent. */
  readonly mayGoOn: () => boolean
}

/**
 * Sends a change to its servers.
 *
 * @returns  the end state of every server, in order; servers after the first that is not done are not sent anything. What
 *           cannot be put on record is not sent.
 */
export async function commitChange(
  service: Service,
  changes: readonly ServerChange[],
  { nodeOf, audit, nowMs, mayGoOn }: CommitParts,
): Promise<ServerEnd[]> {
  const ends: ServerEnd[] = []
  for (const change of changes) {
    const host = change.plan.server
    const notSent = (detail: string): void => void ends.push({ host, state: 'not sent', detail })
    const node = nodeOf(host)
    const write = (kind: 'intent' | 'outcome', text: string): boolean => {
      try {
        audit.write(nowMs(), host, kind, text)
        return true
      } catch {
        return false
      }
    }
    const record: Recorder = (commands) => write('intent', commands.join('\n'))
    if (ends.some((e) => e.state !== 'done')) notSent('an earlier server is not done')
    else if (!node) notSent('the server is gone')
    else if (!mayGoOn()) notSent('the mode is no longer enforce')
    else if (!record(commandsOf(service, change))) notSent('it could not be put on record')
    else {
      const end = await commitOn(node, service, change, record)
      const isOnRecord = write('outcome', `${end.state}: ${end.detail}`)
      ends.push(isOnRecord ? end : { ...end, detail: `${end.detail}; this could not be put on record` })
    }
  }
  return ends
}
