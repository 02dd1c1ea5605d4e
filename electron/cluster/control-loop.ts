/**
 * The control loop of a cluster: one controller per target, their decisions joined to one plan per server, and the plan
 * shown (advise) or applied under a lease and read back (enforce).
 *
 * A server that did not answer is left alone in that period: never tightened blind.
 */
import { AdapTbfController } from '#core/adaptbf/controller.ts'
import { InvariantError, type Failure } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { Controller, ControllerName, Decision, Mode } from '#core/control/controller.ts'
import { desiredRules, isOurs, type DesiredRule } from '#core/control/desired-rule.ts'
import { NoneController } from '#core/control/none.ts'
import { planRemoval, planRules, type Plan } from '#core/control/plan.ts'
import { StaticController } from '#core/control/static.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { Audit } from '../enforce/audit.ts'
import { applyPlan, type Applied } from '../enforce/executor.ts'
import { Lease } from '../enforce/lease.ts'
import type { NodeReading } from './collector.ts'
import type { ClusterSource, NodeConnection } from './connection.ts'
import type { JobRegistry } from './job-registry.ts'

/** The newest plan of a server that had anything to do, and what came of it. */
export interface PlanOutcome {
  readonly plan: Plan
  readonly atMs: number
  readonly state: 'applied' | 'shown' | 'failed' | 'unknown'
  readonly detail: string
}

/** What the loop did to one server in one period. */
export interface ServerPeriod {
  readonly host: string
  readonly decisions: readonly Decision[]
  /** Rules in force for the next period. */
  readonly rules: readonly RuleLine[]
  readonly rulesText: string
}

const notOnRecord = (host: string, e: unknown): Failure => ({
  code: 'NOT_ON_RECORD',
  what: `Rules on ${host} are not kept up`,
  why: `what would be sent could not be put on record: ${e instanceof Error ? e.message : String(e)}`,
  unaffected: 'Sampling goes on. Rules that are there are removed by their timer within a minute.',
  next: 'Free space for the history; writing starts again by itself.',
})

/** Pause before a failed plan is tried again. */
const RETRY_NS = { least: NS_PER_S, most: 30 * NS_PER_S } as const

export class ControlLoop {
  readonly #source: ClusterSource
  readonly #audit: Audit
  readonly #controllers = new Map<string, Controller>()
  readonly #leases = new Map<string, Lease>()
  readonly #outcomes = new Map<string, PlanOutcome>()
  /** Servers on which this session may have rules. */
  readonly #written = new Set<string>()
  /** What keeps rules from being written, by server: one that works must not hide one that does not. */
  readonly #failures = new Map<string, Failure>()
  /** When a server whose plan failed is tried again. */
  readonly #retries = new Map<string, { readonly atNs: number; readonly waitNs: number }>()
  readonly #left = new Map<string, { readonly unmatchable: number; readonly overCap: number }>()
  #mode: Mode
  #name: ControllerName

  /** @param session  part of the names of the servers' timers. */
  constructor(source: ClusterSource, audit: Audit, session: string, mode: Mode, controller: ControllerName) {
    this.#source = source
    this.#audit = audit
    this.#mode = mode
    this.#name = controller
    for (const n of source.nodes) this.#leases.set(n.host, new Lease(n, session, audit))
  }

  get mode(): Mode {
    return this.#mode
  }

  get controller(): ControllerName {
    return this.#name
  }

  /** What keeps rules from being written, one a server at most. */
  get failures(): readonly Failure[] {
    return [...this.#failures.values()]
  }

  outcome(host: string): PlanOutcome | undefined {
    return this.#outcomes.get(host)
  }

  lease(host: string): Lease | undefined {
    return this.#leases.get(host)
  }

  /** Jobs that got no rule although the controller wants one, all servers. */
  get left(): { readonly unmatchable: number; readonly overCap: number } {
    let [unmatchable, overCap] = [0, 0]
    for (const l of this.#left.values()) {
      unmatchable = Math.max(unmatchable, l.unmatchable)
      overCap = Math.max(overCap, l.overCap)
    }
    return { unmatchable, overCap }
  }

  setMode(mode: Mode): void {
    this.#mode = mode
    this.#failures.clear()
    this.#retries.clear()
    this.#left.clear()
  }

  /** Another controller starts without records; those of the old one are gone with it. */
  setController(name: ControllerName): void {
    if (name === this.#name) return
    this.#name = name
    this.#controllers.clear()
  }

  /** Evaluates one period of one server. What keeps rules from being written is a failure to show. */
  async step(node: NodeConnection, reading: NodeReading, jobs: JobRegistry, nowNs: number): Promise<ServerPeriod> {
    // After a gap the first reading is a base only; the rules are held until there is something to judge by.
    const isBase = reading.targets.some((t) => t.deltas === undefined)
    const decides = this.#mode !== 'observe' && !isBase
    const decisions = decides ? reading.targets.map((t) => this.#decide(t, jobs, nowNs)) : []
    const { rules: desired, left } = desiredRules(this.#name, node.host, decisions)
    this.#left.set(node.host, left)
    const asRead = { host: node.host, decisions, rules: reading.rules, rulesText: reading.rulesText }
    try {
      if (this.#mode === 'enforce' && isBase) return asRead
      if (this.#mode === 'enforce') return await this.#keep(node, reading, desired, asRead, nowNs)
      if (this.#written.has(node.host)) return await this.#withdraw(node, reading, asRead)
      if (decides) this.#show(this.#planFor(node.host, reading, desired))
    } catch (e) {
      if (e instanceof InvariantError) throw e
      this.#failures.set(node.host, notOnRecord(node.host, e))
    }
    return asRead
  }

  /** Brings the rules of one server to what is desired, under a timer that covers them. */
  async #keep(
    node: NodeConnection,
    reading: NodeReading,
    desired: readonly DesiredRule[],
    asRead: ServerPeriod,
    nowNs: number,
  ): Promise<ServerPeriod> {
    const retry = this.#retries.get(node.host)
    if (retry && nowNs < retry.atNs) return asRead
    const plan = this.#planFor(node.host, reading, desired)
    const ours = reading.rules.filter((r) => isOurs(r.name)).map((r) => r.name)
    const lease = this.#leases.get(node.host)
    const covered = await lease?.cover([...ours, ...plan.expected.keys()], nowNs, this.#nowMs())
    if (covered && !covered.ok) {
      this.#failures.set(node.host, covered.error)
      return asRead
    }
    this.#written.add(node.host)
    const after = plan.commands.length === 0 ? asRead : await this.#enforce(node, plan, asRead)
    this.#judge(node.host, plan, nowNs)
    return after
  }

  /** A server without TBF gets no rules. */
  #planFor(host: string, reading: NodeReading, desired: readonly DesiredRule[]): Plan {
    return planRules(host, reading.rules, reading.rules.length > 0 ? desired : [])
  }

  /** A plan that did not come true is not sent again every period: the pause doubles up to half a minute. */
  #judge(host: string, plan: Plan, nowNs: number): void {
    const outcome = plan.commands.length === 0 ? undefined : this.#outcomes.get(host)
    if (!outcome || outcome.state === 'applied') {
      this.#failures.delete(host)
      if (outcome) this.#retries.delete(host)
      return
    }
    const waitNs = Math.min(RETRY_NS.most, (this.#retries.get(host)?.waitNs ?? RETRY_NS.least / 2) * 2)
    this.#retries.set(host, { atNs: nowNs + waitNs, waitNs })
    this.#failures.set(host, {
      code: 'RULES_NOT_APPLIED',
      what: `The rules on ${host} are not what the controller wants`,
      why: outcome.detail,
      unaffected: 'Other servers are controlled; sampling goes on.',
      next: `It is tried again every ${waitNs / NS_PER_S} s. If it stays, check the TBF type of the server: jobid is needed.`,
    })
  }

  /**
   * Removes our rules. Also those that an earlier start of Sluice left behind: in enforce they were taken over, because
   * their names are the same.
   */
  async #withdraw(node: NodeConnection, reading: NodeReading, asRead: ServerPeriod): Promise<ServerPeriod> {
    const plan = planRemoval(node.host, reading.rules)
    const after = plan.commands.length > 0 ? await this.#enforce(node, plan, asRead) : asRead
    if (after.rules.some((r) => isOurs(r.name))) return after
    await this.#leases.get(node.host)?.end(this.#nowMs())
    this.#written.delete(node.host)
    this.#failures.delete(node.host)
    return after
  }

  #decide(t: NodeReading['targets'][number], jobs: JobRegistry, nowNs: number): Decision {
    let c = this.#controllers.get(t.target)
    if (!c) this.#controllers.set(t.target, (c = this.#make()))
    return c.step({
      target: t.target,
      atNs: nowNs,
      periodNs: this.#source.periodNs,
      jobs: (t.deltas ?? []).map((d) => ({ jobId: d.jobId, nodes: jobs.find(d.jobId)?.nodes, served: d.rpcs })),
    })
  }

  #make(): Controller {
    const options = { maxRatePerSec: this.#source.maxRate }
    if (this.#name === 'adaptbf') return new AdapTbfController(options)
    return this.#name === 'static' ? new StaticController(options) : new NoneController()
  }

  #show(plan: Plan): void {
    if (plan.commands.length === 0) return
    const atMs = this.#nowMs()
    this.#outcomes.set(plan.server, { plan, atMs, state: 'shown', detail: 'advise: not written' })
  }

  async #enforce(node: NodeConnection, plan: Plan, asRead: ServerPeriod): Promise<ServerPeriod> {
    const atMs = this.#nowMs()
    const applied: Applied = await applyPlan(node, plan, this.#audit, atMs)
    this.#outcomes.set(node.host, { plan, atMs, state: applied.state, detail: applied.detail })
    return applied.rules ? { ...asRead, rules: applied.rules, rulesText: applied.rulesText } : asRead
  }

  #nowMs(): number {
    return this.#source.toUnixMs(this.#source.nowNs())
  }
}
