/**
 * Plan for changing a service's policy to TBF of some type, or away from it. A type change deletes all rules on the server, so the
 * inverse contains them all.
 *
 * Source: spec/lustre 1.1 (state machine); measured B8: on releases that do not wait for queued RPCs, a direct change of type loses those
 * RPCs and hangs the server, so the plan changes to fifo first, waits until TBF is stopped, and then starts the new type; B9: right after
 * fifo a server may answer EAGAIN, so the wait is part of every such plan.
 */
import { errnoText } from '../lustre/errno.ts'
import { primaryPolicy, type PolicyStatus, type Queue } from '../lustre/nrs-policies.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { LUSTRE_DEFAULTS } from '../tbf/rule-list.ts'
import { isSameType, parseTbfType } from '../tbf/tbf-type.ts'
import { queuesOf } from './edit-check.ts'
import { realtimeUnknownNote } from './edit-plan.ts'
import { disagreements } from './queue-list.ts'
import type { QueueChoice } from './rule-edit.ts'
import { areAlike } from './selectors.ts'
import { counted, grouped, listed } from './sentence.ts'
import { cptsOf, DEFAULT_RULE, headOf, typeOn, writtenRules, type ServerRules } from './server-rules.ts'

/** A policy by name with its argument; empty for none. */
export interface PolicyChoice {
  readonly name: string
  readonly arg: string
}

/** A policy on one queue. */
export interface QueuePolicy {
  readonly queue: Queue
  readonly policy: PolicyChoice
}

export type PolicyStep =
  | { readonly kind: 'write'; readonly parameter: 'nrs_policies' | 'nrs_tbf_rule'; readonly value: string }
  /** Polls nrs_policies until `policy` is stopped on all of these queues. */
  | { readonly kind: 'wait'; readonly policy: string; readonly queues: readonly Queue[] }

export interface PolicyPlan {
  readonly server: string
  readonly steps: readonly PolicyStep[]
  /** Restores policies, rules, rates and order. */
  readonly inverse: readonly PolicyStep[]
  /** Queues whose policy changes. */
  readonly queues: readonly Queue[]
  /** Current policies of those queues, and the policies after it. */
  readonly was: readonly QueuePolicy[]
  readonly wanted: readonly QueuePolicy[]
  /** Time until TBF is drained, s: at the combined rates of bound rules, and at the slowest of them. */
  readonly drain: { readonly queued: number; readonly expectedS: number; readonly mostS: number }
  /** Rules that are removed, without `default`; listed once if the same in both queues. */
  readonly lost: readonly string[]
  readonly notes: readonly string[]
  /** Reason why it is impossible; there are no steps then. */
  readonly refused: string | undefined
}

const NO_DRAIN = { queued: 0, expectedS: 0, mostS: 0 }
const NONE: Omit<PolicyPlan, 'server'> = {
  steps: [],
  inverse: [],
  queues: [],
  was: [],
  wanted: [],
  drain: NO_DRAIN,
  lost: [],
  notes: [],
  refused: undefined,
}
const writePolicy = (value: string): PolicyStep => ({ kind: 'write', parameter: 'nrs_policies', value })

/** Value that selects a policy on a queue; without selector for both. */
function policyValue({ name, arg }: PolicyChoice, queue: QueueChoice): string {
  const parts = [name, queue === 'both' ? '' : queue, arg]
  return parts.filter((w) => w !== '').join(' ')
}

/** Text form of a policy: `tbf jobid`. */
export const policyText = ({ name, arg }: PolicyChoice): string => (arg === '' ? name : `${name} ${arg}`)

/** Policy that a queue runs now. */
function policyOf(policies: readonly PolicyStatus[], queue: Queue): PolicyChoice {
  const p = primaryPolicy(policies, queue)
  return { name: p?.name ?? 'fifo', arg: p?.arg ?? '' }
}

/** Selects policies on queues: the same one on both in one command. */
function select(choices: readonly QueuePolicy[]): PolicyStep[] {
  const [a, b] = choices
  const isShared = a && b && policyText(a.policy) === policyText(b.policy)
  if (isShared) return [writePolicy(policyValue(a.policy, 'both'))]
  return choices.map((c) => writePolicy(policyValue(c.policy, c.queue)))
}

/** Starts the rules of one queue in their order: the last one first, because a started rule goes before the others. */
function startAll({ realtime }: Pick<ServerRules, 'realtime'>, rules: readonly RuleLine[], queue: Queue): string[] {
  const head = headOf(rules, queue, cptsOf(rules, queue)[0] ?? 0)
  const values = head
    .filter((r) => r.name !== DEFAULT_RULE)
    .toReversed()
    .map((r) => `start ${r.name} ${r.conditions} rate=${r.rate}${realtime?.get(r.name) ? ' realtime=1' : ''}`)
  const at = head.findIndex((r) => r.name === DEFAULT_RULE)
  const next = head[at + 1]
  if (at >= 0 && (head[at]?.rate !== LUSTRE_DEFAULTS.rate || next)) {
    const rate = head[at]?.rate === LUSTRE_DEFAULTS.rate ? '' : ` rate=${head[at]?.rate ?? 0}`
    values.push(`change ${DEFAULT_RULE}${rate}${next ? ` rank=${next.name}` : ''}`)
  }
  return values
}

/**
 * Starts rules again on several queues; equal lists are written to both at once.
 *
 * @param server  with the TBF type that runs when they are started.
 */
export function restoreRules(
  server: Pick<ServerRules, 'hp' | 'tbf' | 'profile' | 'realtime'>,
  rules: readonly RuleLine[],
  queues: readonly Queue[],
): PolicyStep[] {
  const of = (queue: Queue): string[] => (queues.includes(queue) ? startAll(server, rules, queue) : [])
  const reg = of('reg')
  const hp = of('hp')
  const isShared = queues.length === 2 && areAlike(server) && reg.join('\n') === hp.join('\n')
  const values = isShared ? reg : [...reg.map((v) => `reg ${v}`), ...hp.map((v) => `hp ${v}`)]
  return values.map((value) => ({ kind: 'write', parameter: 'nrs_tbf_rule', value }))
}

function lostRules(rules: readonly RuleLine[], queues: readonly Queue[]): string[] {
  const lost = rules.filter((r) => queues.includes(r.queue) && r.name !== DEFAULT_RULE)
  return [...new Set(lost.map((r) => `${r.name} ${r.conditions} ${r.rate}`))]
}

function refusal(
  server: ServerRules,
  policies: readonly PolicyStatus[],
  requested: readonly QueuePolicy[],
): string | undefined {
  const { rules } = server.profile
  const queues = requested.map((a) => a.queue)
  if (queues.includes('hp') && !server.hp) {
    return `the service has no high-priority queue: ${errnoText('ENODEV')}`
  }
  for (const { policy: to } of requested) {
    if (!policies.some((p) => p.name === to.name)) {
      return `${server.server} has no policy ${to.name}: ${errnoText('ENOENT')}`
    }
    const type = to.name === 'tbf' ? parseTbfType(to.arg === '' ? undefined : to.arg, rules) : undefined
    if (type && !type.ok) return `${type.error.why}: ${errnoText(type.error.errno)}`
  }
  const busy = policies.filter((p) => queues.includes(p.queue) && (p.state === 'stopping' || p.state === 'starting'))
  if (busy.length === 0) return undefined
  return `${busy[0]?.name ?? ''} is ${busy[0]?.state ?? ''} on ${busy[0]?.queue ?? ''}: ${errnoText('EAGAIN')}`
}

/** Time until TBF is empty, if drained at the rates of its rules. */
function drainOf(
  server: ServerRules,
  policies: readonly PolicyStatus[],
  queues: readonly Queue[],
): PolicyPlan['drain'] {
  const tbf = policies.filter((p) => p.name === 'tbf' && p.state === 'started' && queues.includes(p.queue))
  const queued = tbf.reduce((n, p) => n + p.queued, 0)
  if (queued === 0 || server.profile.rules.drainsByForce) return { ...NO_DRAIN, queued }
  const bound = server.rules.filter((r) => queues.includes(r.queue) && r.ref > 0 && r.rate > 0)
  const together = bound.reduce((n, r) => n + r.rate * r.ref, 0)
  const slowest = bound.reduce((n, r) => Math.min(n, r.rate), Infinity)
  // Without a bound rule the drain rate is unknown.
  const expectedS = together === 0 ? 0 : queued / together
  return { queued, expectedS, mostS: Number.isFinite(slowest) ? queued / slowest : 0 }
}

const seconds = (s: number): string => (s < 1 ? 'less than a second' : `${Math.ceil(s)} s`)

/** Effect of leaving TBF on its queued RPCs. */
function drainNotes(server: ServerRules, { queued, expectedS, mostS }: PolicyPlan['drain']): string[] {
  if (queued === 0) return []
  if (server.profile.rules.drainsByForce) return [`${counted(queued, 'queued RPC')} pass at once, without limit.`]
  const rest = `${counted(queued, 'queued RPC')} leave at the rates of their rules before TBF is stopped`
  if (mostS === 0) return [`${rest}.`]
  return [`${rest}: about ${seconds(expectedS)}, ${seconds(mostS)} if all are of the slowest rule.`]
}

/**
 * Plans a policy for a service.
 *
 * @param server  with its rules as read; empty if TBF does not run.
 * @param policies  parsed from nrs_policies.
 * @param to        for example `tbf` with `jobid`, or `fifo`.
 */
export function planPolicy(
  server: ServerRules,
  policies: readonly PolicyStatus[],
  to: PolicyChoice,
  choice: QueueChoice = 'both',
): PolicyPlan {
  const queues = queuesOf({ queue: choice }, server.hp)
  return planQueuePolicies(
    server,
    policies,
    queues.map((queue) => ({ queue, policy: to })),
  )
}

/** Plans a policy for each of some queues; the others keep theirs. */
export function planQueuePolicies(
  server: ServerRules,
  policies: readonly PolicyStatus[],
  requested: readonly QueuePolicy[],
): PolicyPlan {
  const refused = refusal(server, policies, requested)
  if (refused !== undefined) return { ...NONE, server: server.server, refused }
  const wanted = requested.filter(({ queue, policy }) => !isThere(server, queue, policyOf(policies, queue), policy))
  if (wanted.length === 0) {
    const running = [...new Set(requested.map((a) => policyText(a.policy)))].join(' and ')
    return { ...NONE, server: server.server, notes: [`${server.server} runs ${running} already; its rules stay.`] }
  }
  const was = wanted.map(({ queue }) => ({ queue, policy: policyOf(policies, queue) }))
  const leavingTbf = was.filter((c) => c.policy.name === 'tbf').map((c) => c.queue)
  const toTbf = wanted.filter((w) => w.policy.name === 'tbf').map((w) => w.queue)
  const fromType = leavingTbf.filter((q) => toTbf.includes(q))
  const drained = leavingTbf.filter((q) => !toTbf.includes(q))
  const waitFor = (queues: readonly Queue[]): PolicyStep[] =>
    queues.length === 0 ? [] : [{ kind: 'wait', policy: 'tbf', queues }]
  const fifo = fromType.map((queue) => ({ queue, policy: { name: 'fifo', arg: '' } }))
  // Change between two types, in either direction.
  const isGuarded = fromType.length > 0 && !server.profile.rules.waitsOnRestart
  const between = isGuarded ? [...select(fifo), ...waitFor(fromType)] : []
  const steps = [...between, ...select(wanted), ...waitFor(drained)]
  const rules = writtenRules(server)
  const inverse = [...between, ...select(was), ...restoreRules(server, rules, leavingTbf)]
  const lost = lostRules(rules, leavingTbf)
  const notes = policyNotes(server, rules, lost, leavingTbf, isGuarded)
  const drain = drainOf(server, policies, leavingTbf)
  if (toTbf.some((q) => !leavingTbf.includes(q))) {
    notes.push(`TBF limits every class to ${grouped(LUSTRE_DEFAULTS.rate)} RPC/s unless a rule sets another rate.`)
  }
  const runsTbf = (q: Queue): boolean => {
    const to = requested.find((a) => a.queue === q)
    return to ? to.policy.name === 'tbf' : server.tbf[q] !== undefined
  }
  if (server.hp && runsTbf('reg') && !runsTbf('hp')) {
    notes.push('Rules of reg cannot be read while hp does not run TBF: run it on both queues.')
  }
  return {
    server: server.server,
    steps,
    inverse,
    queues: wanted.map((c) => c.queue),
    was,
    wanted,
    drain,
    lost,
    notes: [...notes, ...drainNotes(server, drain)],
    refused: undefined,
  }
}

/**
 * Plans the rollback to the earlier policies and rules, from any state in which a policy change stopped.
 *
 * @param found     the server before the change, with its policies.
 * @param policies  parsed from nrs_policies now.
 * @param queues    queues of the change.
 */
export function planPolicyRollback(
  found: ServerRules,
  policies: readonly PolicyStatus[],
  was: readonly PolicyStatus[],
  queues: readonly Queue[],
): readonly PolicyStep[] {
  const wanted = queues.map((queue) => ({ queue, policy: policyOf(was, queue) }))
  const tbf = wanted.filter((w) => w.policy.name === 'tbf').map((w) => w.queue)
  const isOn = (queue: Queue): boolean => policyOf(policies, queue).name === 'tbf'
  const stop = queues.filter(isOn).map((queue) => ({ queue, policy: { name: 'fifo', arg: '' } }))
  const wait: PolicyStep = { kind: 'wait', policy: 'tbf', queues: [...queues] }
  // Also for releases that would wait by themselves: an unfinished change is completed first.
  return [...select(stop), wait, ...select(wanted), ...restoreRules(found, writtenRules(found), tbf)]
}

/** True if the queue runs the policy; an equivalent TBF type is left alone with its rules. */
function isThere(server: ServerRules, queue: Queue, policy: PolicyChoice, to: PolicyChoice): boolean {
  if (policy.name !== to.name) return false
  if (to.name !== 'tbf') return true
  const wanted = parseTbfType(to.arg === '' ? undefined : to.arg, server.profile.rules)
  const running = typeOn(server, queue)
  return wanted.ok && running !== undefined && isSameType(wanted.value, running)
}

function policyNotes(
  server: ServerRules,
  rules: readonly RuleLine[],
  lost: readonly string[],
  leavingTbf: readonly Queue[],
  isBetween: boolean,
): string[] {
  const notes: string[] = []
  if (lost.length > 0)
    notes.push(`${counted(lost.length, 'rule')} ${lost.length === 1 ? 'is' : 'are'} lost: ${listed(lost)}.`)
  if (isBetween) {
    notes.push('A direct change of type loses queued RPCs on this release: fifo first, then TBF once it is stopped.')
  }
  const unknown = rules.filter(
    (r) => leavingTbf.includes(r.queue) && r.name !== DEFAULT_RULE && !server.realtime?.has(r.name),
  )
  const names = [...new Set(unknown.map((r) => r.name))]
  if (names.length > 0) notes.push(realtimeUnknownNote(names))
  const uneven = leavingTbf.flatMap((q) => disagreements(rules, q))
  if (uneven.length > 0) notes.push(`${uneven.map((u) => u.text).join('; ')}. The rollback makes the CPTs equal.`)
  return notes
}
