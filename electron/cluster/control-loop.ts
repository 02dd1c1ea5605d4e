/**
 * The control loop of a cluster: one controller per target, their decisions joined to one plan per server, and the plan
 * shown (advise) or applied under a lease and read back (enforce).
 *
 * A server that did not answer is left alone in that period: never tightened blind.
 */
import { AdapTbfController } from '#core/adaptbf/controller.ts'
import type { Failure } from '#core/base/result.ts'
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

export class ControlLoop {
  readonly #source: ClusterSource
  readonly #audit: Audit
  readonly #controllers = new Map<string, Controller>()
  readonly #leases = new Map<string, Lease>()
  readonly #outcomes = new Map<string, PlanOutcome>()
  /** Servers on which this session may have rules. */
  readonly #written = new Set<string>()
  #failure: Failure | undefined
  #mode: Mode
  #name: ControllerName

  /** @param session  part of the names of the servers' timers. */
  constructor(source: ClusterSource, audit: Audit, session: string, mode: Mode, controller: ControllerName) {
    this.#source = source
    this.#audit = audit
    this.#mode = mode
    this.#name = controller
    for (const n of source.nodes) this.#leases.set(n.host, new Lease(n, session))
  }

  get mode(): Mode {
    return this.#mode
  }

  get controller(): ControllerName {
    return this.#name
  }

  /** What keeps rules from being written, if anything does. */
  get failure(): Failure | undefined {
    return this.#failure
  }

  outcome(host: string): PlanOutcome | undefined {
    return this.#outcomes.get(host)
  }

  lease(host: string): Lease | undefined {
    return this.#leases.get(host)
  }

  setMode(mode: Mode): void {
    this.#mode = mode
    this.#failure = undefined
  }

  /** Another controller starts without records; those of the old one are gone with it. */
  setController(name: ControllerName): void {
    if (name === this.#name) return
    this.#name = name
    this.#controllers.clear()
  }

  /** Evaluates one period of one server. */
  async step(node: NodeConnection, reading: NodeReading, jobs: JobRegistry, nowNs: number): Promise<ServerPeriod> {
    const decisions = this.#mode === 'observe' ? [] : reading.targets.map((t) => this.#decide(t, jobs, nowNs))
    const { rules: desired } = desiredRules(this.#name, node.host, decisions)
    const asRead = { host: node.host, decisions, rules: reading.rules, rulesText: reading.rulesText }
    if (this.#mode !== 'enforce') {
      if (this.#written.has(node.host)) return this.#withdraw(node, reading, decisions, asRead)
      if (this.#mode === 'advise') this.#show(planRules(node.host, reading.rules, desired))
      return asRead
    }
    const runsTbf = reading.rules.length > 0
    const plan = planRules(node.host, reading.rules, runsTbf ? desired : [])
    const failure = await this.#cover(node.host, desired, nowNs)
    if (failure) return asRead
    this.#written.add(node.host)
    return plan.commands.length === 0 ? asRead : this.#enforce(node, plan, decisions, asRead)
  }

  /** Removes what this session wrote; rules that an earlier one left behind are not its business here. */
  async #withdraw(
    node: NodeConnection,
    reading: NodeReading,
    decisions: readonly Decision[],
    asRead: ServerPeriod,
  ): Promise<ServerPeriod> {
    const plan = planRemoval(node.host, reading.rules)
    const after = plan.commands.length > 0 ? await this.#enforce(node, plan, decisions, asRead) : asRead
    if (after.rules.some((r) => isOurs(r.name))) return after
    this.#written.delete(node.host)
    await this.#leases.get(node.host)?.end()
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

  async #cover(host: string, desired: readonly DesiredRule[], nowNs: number): Promise<Failure | undefined> {
    const covered = await this.#leases.get(host)?.cover(
      desired.map((r) => r.name),
      nowNs,
    )
    this.#failure = covered && !covered.ok ? covered.error : undefined
    return this.#failure
  }

  #show(plan: Plan): void {
    if (plan.commands.length === 0) return
    const atMs = this.#nowMs()
    this.#outcomes.set(plan.server, { plan, atMs, state: 'shown', detail: 'advise: not written' })
  }

  async #enforce(
    node: NodeConnection,
    plan: Plan,
    decisions: readonly Decision[],
    asRead: ServerPeriod,
  ): Promise<ServerPeriod> {
    const atMs = this.#nowMs()
    const applied: Applied = await applyPlan(node, plan, this.#audit, atMs)
    this.#outcomes.set(node.host, { plan, atMs, state: applied.state, detail: applied.detail })
    return applied.rules
      ? { host: node.host, decisions, rules: applied.rules, rulesText: applied.rulesText }
      : { ...asRead, decisions }
  }

  #nowMs(): number {
    return this.#source.toUnixMs(this.#source.nowNs())
  }
}
