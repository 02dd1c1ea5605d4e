/**
 * Removes rules of Sluice from one server: stops, read-back, then the timers that have nothing left to stop. Remaining
 * rules are read, never assumed. A removal only ends limits, so it needs no unlock; it is recorded before it is sent,
 * or as soon as that is possible.
 */
import type { NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import { getParamCommand, setParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseNrsPolicies, type Queue } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { NodeConnection } from '../base/connection.ts'
import { within } from '../base/deadline.ts'
import { detach } from '../base/detach.ts'
import { SERVICES, servicesOf, type Service } from '../base/service.ts'
import { sendCommand } from './send-command.ts'
import type { Audit } from '../base/audit.ts'
import { endTimerCommand, readTimers, type FoundTimer } from './expiry.ts'
import { stopValue, type TimerStop } from './expiry-spec.ts'
import type { RuleSpot } from './managed-names.ts'

/** Rule on one queue, regardless of CPTs. */
export interface ActiveRule extends RuleSpot {
  readonly line: RuleLine
}

/** Reads the rules of a server's services; undefined if it does not answer. A service that does not exist has none. */
export async function readActiveRules(node: NodeConnection, answerMs: number): Promise<ActiveRule[] | undefined> {
  const found: ActiveRule[] = []
  for (const service of servicesOf(node.roles)) {
    const lines = await readService(node, service, answerMs)
    if (!lines) return undefined
    const seen = new Set<string>()
    for (const line of lines) {
      const { queue, name } = line
      const key = `${queue} ${name}`
      if (name === 'default' || seen.has(key)) continue
      seen.add(key)
      found.push({ host: node.host, service: service.name, queue, name, line })
    }
  }
  return found
}

async function readService(node: NodeConnection, s: Service, answerMs: number): Promise<RuleLine[] | undefined> {
  const ran = await within(node.exec(getParamCommand(s.policies, s.rules)), answerMs)
  if (!ran.ok) return undefined
  const { stdout, stderr } = ran.value
  const values = splitParams(stdout)
  const policies = values.get(s.policies)
  // A service that does not exist has no rules; one that cannot be read may have some.
  if (policies === undefined) return /No such file or directory/.test(stderr) ? [] : undefined
  const { rules } = parseNrsTbfRule(detach(values.get(s.rules) ?? ''))
  const runsTbf = parseNrsPolicies(policies).policies.some((p) => p.name === 'tbf' && p.state !== 'stopped')
  return runsTbf && rules.length === 0 ? undefined : rules
}

export interface RemovalParts {
  readonly node: NodeConnection
  /** Rules to remove. */
  readonly rules: readonly RuleSpot[]
  /** Timers to end once none of their rules is left. */
  readonly units: readonly string[]
  readonly audit: Audit
  /** Unix ms on the source's clock. */
  readonly nowMs: () => number
  /** Deadline of one command. */
  readonly answerMs: number
}

export interface RemovalEnd extends NodeEnd {
  readonly removed: number
}

const spotKey = (s: Pick<RuleSpot, 'service' | 'queue' | 'name'>): string => `${s.service} ${s.queue} ${s.name}`

const stopCommand = ({ service, queue, name }: RuleSpot): string =>
  setParamCommand(SERVICES[service].rules, stopValue({ queue, name }))

/** Rules that a timer's stop refers to, one per queue. */
export function spotsOf(host: string, s: TimerStop): RuleSpot[] {
  const service = Object.values(SERVICES).find((x) => x.rules === s.parameter)?.name as ServiceName
  const queues: Queue[] = s.queue === 'both' ? ['reg', 'hp'] : [s.queue]
  return queues.map((queue) => ({ host, service, queue, name: s.name }))
}

/** Removes the rules. Never rejects. */
export async function removeRules(parts: RemovalParts): Promise<RemovalEnd> {
  const { node, rules, audit, nowMs, answerMs } = parts
  const { host } = node
  const end = (state: NodeEnd['state'], removed: number, detail: string): RemovalEnd => {
    const why = audit.note(nowMs(), host, 'outcome', `${state}: ${detail}`)
    return { host, state, removed, detail: why === undefined ? detail : `${detail}; not recorded yet: ${why}` }
  }
  const commands = rules.map(stopCommand)
  if (commands.length === 0 && parts.units.length === 0)
    return { host, state: 'done', removed: 0, detail: 'no rules of Sluice' }
  // A record that cannot be written must not keep a limit in force.
  audit.note(nowMs(), host, 'intent', [...commands, ...parts.units.flatMap((u) => endText(node, u))].join('\n'))
  const complaints: string[] = []
  let isOpen = false
  for (const [i, command] of commands.entries()) {
    const r = await sendCommand(node, command, answerMs)
    if (r.kind === 'done') continue
    isOpen ||= r.kind === 'late'
    complaints.push(`${rules[i]?.name ?? ''}: ${r.why}`)
    // An unresponsive server will not answer the next command either; the effect is read below.
    if (r.kind !== 'refused') break
  }
  const after = await readActiveRules(node, answerMs)
  if (!after) return end('unknown', 0, [...complaints, 'the rules could not be read back'].join('; '))
  const there = new Set(after.map(spotKey))
  const remaining = rules.filter((r) => there.has(spotKey(r)))
  const removed = rules.length - remaining.length
  if (remaining.length > 0) {
    const names = remaining.map((r) => r.name).slice(0, 10)
    return end('failed', removed, [...complaints, `still there: ${names.join(', ')}`].join('; '))
  }
  const pending = await endTimers(parts, (s) => spotsOf(host, s).some((spot) => there.has(spotKey(spot))))
  if (isOpen) return end('unknown', removed, `${complaints.join('; ')}; it may still act`)
  const more = pending.length === 0 ? '' : `; remaining timers, without effect: ${pending.join(', ')}`
  return end('done', removed, `${removed} ${removed === 1 ? 'rule' : 'rules'} removed, read back${more}`)
}

function endText(node: NodeConnection, unit: string): string[] {
  const command = endTimerCommand(node.timers ?? 'systemd', unit)
  return command.ok ? [command.value] : []
}

/** Ends timers that have no rule left. @returns those that may still exist. */
async function endTimers(
  { node, units, answerMs }: Pick<RemovalParts, 'node' | 'units' | 'answerMs'>,
  isThere: (s: TimerStop) => boolean,
): Promise<string[]> {
  if (units.length === 0) return []
  const listed = await readTimers(node, answerMs)
  const found = new Map((listed.ok ? listed.value : []).map((t): [string, FoundTimer] => [t.unit, t]))
  const pending: string[] = []
  for (const unit of units) {
    const timer = found.get(unit)
    if (listed.ok && !timer) continue
    const [command] = endText(node, unit)
    if (!timer || timer.stops.some(isThere) || command === undefined) pending.push(unit)
    else if ((await sendCommand(node, command, answerMs)).kind !== 'done') pending.push(unit)
  }
  return pending
}

/**
 * Ends timers only, recorded before or as soon as that is possible. Never rejects.
 *
 * @param parts.evenNeeded  true to end also timers that still have a rule to stop, which another timer then covers.
 * @returns  timers that may still exist.
 */
export async function endTimerUnits(
  parts: Omit<RemovalParts, 'rules'> & { readonly evenNeeded?: boolean },
): Promise<string[]> {
  const { node, units, audit, nowMs, answerMs } = parts
  if (units.length === 0) return []
  audit.note(nowMs(), node.host, 'intent', units.flatMap((u) => endText(node, u)).join('\n'))
  const active = parts.evenNeeded ? [] : await readActiveRules(node, answerMs)
  const there = new Set(active?.map(spotKey))
  const isThere = (s: TimerStop): boolean =>
    active === undefined || spotsOf(node.host, s).some((spot) => there.has(spotKey(spot)))
  const pending = await endTimers(parts, isThere)
  const outcome = pending.length === 0 ? 'done: timers ended' : `failed: still there: ${pending.join(', ')}`
  audit.note(nowMs(), node.host, 'outcome', outcome)
  return pending
}
