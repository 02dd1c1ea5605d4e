/** Plan of the staged changes: rules and their timers, on every server. */
import { createHash } from 'node:crypto'
import type { NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import { queuesOf } from '#core/control/edit-check.ts'
import { planEdits, type EditPlan } from '#core/control/edit-plan.ts'
import { QUEUES, type ServerRules } from '#core/control/server-rules.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'
import { planBaseHash } from '#core/control/plan-base.ts'
import { gatesOf, type GateHit } from '#core/control/version-gates.ts'
import type { LustreVersion } from '#core/lustre/version.ts'
import type { TimerKind } from '../../base/connection.ts'
import { SERVICES } from '../../base/service.ts'
import { commandsOf, type ExpiryTimer, type ServerChange } from '../../enforce/server-change.ts'
import type { OperatorRules, RulePlace } from './operator-rules.ts'
import { isFor, isRenewal, setsTerms, type StagedChange } from './staged-changes.ts'

/** New terms of one rule: those of its start or renewal, or none because the rule is removed. */
export interface NewTerms {
  readonly place: RulePlace
  readonly start: StagedChange | undefined
}

export interface PlannedChange extends ServerChange {
  readonly terms: readonly NewTerms[]
  /** Release as the server reports it; empty if it could not be read. */
  readonly version: string
  readonly gates: readonly GateHit[]
}

/** Facts about a server besides its rules. */
export interface ServerFacts {
  readonly version: LustreVersion | undefined
  readonly keeps: TimerKind
}

/** Plan of the staged changes of a service. */
export interface RulePlan {
  readonly staged: readonly StagedChange[]
  readonly changes: readonly PlannedChange[]
  /** Identifies exactly these commands on these servers in their current state: releases, policies and rules. */
  readonly planId: string
}

/** An earlier attempt of the change may have left its timer on a server. */
const unitOf = ({ id, tries }: StagedChange): string => `sluice-${id}${tries === 0 ? '' : `-${tries + 1}`}`

/**
 * Rules that get new terms, even if the rules themselves are not written: stop and start, or a renewal, may only replace a
 * timer.
 *
 * @param sent  changes that were planned, in the order of the plan.
 */
function newTerms(
  service: ServiceName,
  plan: EditPlan,
  hp: boolean,
  ownChanges: readonly StagedChange[],
  sent: readonly StagedChange[],
): NewTerms[] {
  const refused = new Set(plan.refused.map((r) => sent[r.edit]))
  const taken = ownChanges.filter((s) => !refused.has(s))
  const names = new Set([...plan.touched, ...taken.map((s) => s.edit.name)])
  const out: NewTerms[] = []
  for (const queue of QUEUES) {
    const there = (list: EditPlan['before']): Set<string> =>
      new Set(list.filter((r) => r.queue === queue).map((r) => r.name))
    const before = there(plan.before)
    const after = there(plan.expected)
    for (const name of names) {
      const place = { service, host: plan.server, queue, name }
      const start = taken.findLast((s) => setsTerms(s) && s.edit.name === name && queuesOf(s.edit, hp).includes(queue))
      if (after.has(name) ? start : before.has(name)) out.push({ place, start: after.has(name) ? start : undefined })
    }
  }
  return out
}

function timersOf(terms: readonly NewTerms[], hp: boolean): ExpiryTimer[] {
  const queues = new Map<StagedChange, Queue[]>()
  for (const { place, start } of terms) {
    if (start && start.terms.expiresS !== null) queues.set(start, [...(queues.get(start) ?? []), place.queue])
  }
  return [...queues].map(([start, on]) => {
    const isAll = start.edit.queue === 'both' && queuesOf(start.edit, hp).every((q) => on.includes(q))
    const selector = isAll ? '' : `${on[0] as Queue} `
    const { name } = start.edit
    return {
      unit: unitOf(start),
      rule: name,
      value: `${selector}stop ${name}`,
      seconds: start.terms.expiresS as number,
    }
  })
}

/** Timers of rules that are removed or get another timer, unless a rule of the other queue still depends on them. */
function endTimersOf(terms: readonly NewTerms[], rules: OperatorRules): string[] {
  const units = new Set<string>()
  for (const { place } of terms) {
    const { unit, stop } = rules.find(place)?.timer ?? {}
    // Rules that this console stops have no timer on the server.
    if (unit === undefined || stop !== undefined) continue
    const remains = rules
      .underTimer(place.service, place.host, unit)
      .some((p) => !terms.some((t) => t.place.queue === p.queue && t.place.name === p.name))
    if (!remains) units.add(unit)
  }
  return [...units]
}

function changeOf(
  service: ServiceName,
  staged: readonly StagedChange[],
  found: ServerRules,
  rules: OperatorRules,
  { version, keeps }: ServerFacts,
): PlannedChange {
  const ownChanges = staged.filter((s) => isFor(s, found.server))
  const sent = ownChanges.filter((s) => !isRenewal(s))
  const plan = planEdits(
    found,
    sent.map((s) => s.edit),
  )
  const terms = newTerms(service, plan, found.hp, ownChanges, sent)
  const gates = gatesOf(version, found, plan.commands)
  const timers = timersOf(terms, found.hp)
  return {
    plan,
    found,
    terms,
    timers,
    endTimers: endTimersOf(terms, rules),
    keeps,
    version: version?.text ?? '',
    gates,
  }
}

/** True if anything is sent to a server. */
export const isWork = (c: ServerChange): boolean => c.plan.commands.length + c.timers.length + c.endTimers.length > 0

/** Plans the staged changes on the servers' state. */
export function planStaged(
  service: ServiceName,
  staged: readonly StagedChange[],
  servers: readonly ServerRules[],
  rules: OperatorRules,
  factsOf: (host: string) => ServerFacts,
): RulePlan {
  const changes = servers.map((found) => changeOf(service, staged, found, rules, factsOf(found.server)))
  const commands = changes.map((c) => [
    c.plan.server,
    commandsOf(SERVICES[service], c),
    // If a server has no timers, its commands do not contain the expiry of a rule.
    ...(isWork(c) ? [planBaseHash(c.found), c.version, c.keeps === 'none' ? c.timers : []] : []),
  ])
  const planId = createHash('sha256')
    .update(JSON.stringify([service, commands]))
    .digest('hex')
    .slice(0, 16)
  return { staged, changes, planId }
}

type SettledChange = Pick<PlannedChange, 'terms' | 'timers' | 'keeps'> & { readonly plan: Pick<EditPlan, 'server'> }

/** Stores the terms of the rules on a server; if the change is not done there, only of rules with a timer. */
export function settleTerms(
  { changes }: { readonly changes: readonly SettledChange[] },
  { host, state }: NodeEnd,
  rules: OperatorRules,
  atMs: number,
): void {
  if (state === 'not sent' || state === 'rolled back' || state === 'pending') return
  const change = changes.find((c) => c.plan.server === host)
  for (const { place, start } of change?.terms ?? []) {
    const timer = start && change?.timers.find((t) => t.unit === unitOf(start))
    if (!start && state === 'done') rules.forget(place)
    if (!start || !(state === 'done' || timer)) continue
    const { edit } = start
    rules.keep(place, {
      reason: start.terms.reason,
      createdMs: atMs,
      timer: timer && {
        unit: timer.unit,
        expiresMs: atMs + timer.seconds * 1000,
        ...(change?.keeps === 'none' ? { stop: timer.value } : {}),
      },
      realtime: (edit.verb === 'start' ? edit.realtime : rules.find(place)?.realtime) ?? false,
    })
  }
}
