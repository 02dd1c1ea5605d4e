/**
 * Control loop of a cluster: one controller per target, their decisions merged into one plan per server, and the plan
 * shown (advise) or applied under a lease and read back (enforce).
 *
 * A server that did not answer is skipped in that period: never tightened blindly.
 */
import { type ControllerName, isControllerRule } from '#core/controllers/registry.ts'
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { PeriodReport } from '#core/adaptbf/controller.ts'
import type { LoopOptions } from '#core/adaptbf/loop-options.ts'
import { InvariantError, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { ControlLag, Decision, Mode } from '#core/control/controller.ts'
import {
  ControlSteps,
  type Action,
  type UnthrottledJobs,
  type ServerSeen,
  type ServerStep,
} from '#core/control/control-step.ts'
import { LIVE_FENCES, MODEL_FENCES, type Fences } from '#core/control/fences.ts'
import { planRemoval, type Plan } from '#core/control/plan.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { Audit } from '../../base/audit.ts'
import { applyPlan, type Applied } from '../../enforce/executor.ts'
import { Lease, type LeaseOptions, type LeaseState, type LeaseStore } from '../../enforce/lease.ts'
import { stopsInMemory, WritePermit, type StopRecords } from '../../enforce/store-stops.ts'
import type { NodeReading } from '../read/collector.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import type { JobIdWatch } from '../state/job-id-watch.ts'
import type { JobRegistry } from '../state/job-registry.ts'
import { JobStatsClearing } from './job-stats-clearing.ts'
import { TargetControllers } from './target-controllers.ts'
import type { LedgerStateStore } from './ledger-state-store.ts'
import { PendingWork } from './pending-work.ts'

/** Latest plan of a server with changes, and its outcome. */
export interface PlanOutcome {
  readonly plan: Plan
  readonly atMs: number
  readonly state: 'applied' | 'shown' | 'failed' | 'unknown'
  readonly detail: string
  /** Starts and changes put off to a later period by the limit on writes. @default 0 */
  readonly putOff?: number
}

/** Result of one server in one period. */
export interface ServerPeriod {
  readonly host: string
  /** Service of the rules. */
  readonly service: ServiceName
  /** One per target; for a target that was not measured the last one again, which changes no record. */
  readonly decisions: readonly Decision[]
  /** Details of the decisions, by target; only of controllers with a ledger. */
  readonly reports: ReadonlyMap<string, PeriodReport>
  /** Time of the controllers, and of writing and reading back, ms of wall time. */
  readonly allocateMs: number
  readonly applyMs: number
  /** Starts and changes of rules that were put off to a later period by the limit on writes; counted when it is written. */
  readonly putOff: number
  /** Time of the read-back, part of `applyMs`; undefined if nothing was read back. */
  readonly readBackMs?: number | undefined
  /** Rules in force for the next period. */
  readonly rules: readonly RuleLine[]
  readonly rulesText: string
  /** Rules of the other services of its role. */
  readonly others?: readonly {
    readonly service: ServiceName
    readonly rules: readonly RuleLine[]
    readonly rulesText: string
  }[]
}

/** Period without decisions for a server. */
export const idlePeriod = (host: string, rules: readonly RuleLine[] = [], rulesText = ''): ServerPeriod => ({
  host,
  service: 'ost_io',
  rules,
  rulesText,
  decisions: [],
  reports: new Map(),
  allocateMs: 0,
  applyMs: 0,
  putOff: 0,
})

/** Started period of one server. */
export interface BegunPeriod {
  /** The period with the rules as read. */
  readonly period: ServerPeriod
  /** The period once its rules are written and read back; undefined if nothing is written. */
  readonly written: Promise<ServerPeriod> | undefined
}

const NONE_UNTHROTTLED: UnthrottledJobs = { unmatchable: 0, overCap: 0, exempt: 0, unplaceable: 0 }

const versionUnknown = (host: string): Failure => ({
  code: 'VERSION_UNKNOWN',
  what: `No rule is written on ${host}`,
  why: 'its release is not known, and not every command is safe on every release',
  unaffected: 'Monitoring continues; other servers are controlled.',
  next: 'Let the login run lctl get_param version there. A release that Sluice does not know is monitored only.',
})

const partlySeen = (host: string): Failure => ({
  code: 'OBSERVATION_PARTIAL',
  what: `The rules on ${host} were removed`,
  why: 'some of its targets are not measured, so nothing can be decided for it',
  unaffected: 'Other servers are controlled.',
  next: 'It is controlled again when all of its targets are measured, or a minute after some are gone.',
})

const notOnRecord = (host: string, e: unknown): Failure => ({
  code: 'NOT_ON_RECORD',
  what: `Rules on ${host} are not updated`,
  why: `the commands could not be recorded: ${e instanceof Error ? e.message : String(e)}`,
  unaffected: 'Sampling continues. Active rules are removed by their timer within a minute.',
  next: 'Free space for the history; writing resumes automatically.',
})

/** One server in one period, while its rules are written. */
interface WorkedOn {
  readonly node: NodeConnection
  readonly reading: NodeReading
  readonly asRead: ServerPeriod
  readonly nowNs: number
}

/** RPCs served per job in the period, over all targets of a server. */
function servedBy(reading: NodeReading): Map<string, number> {
  const served = new Map<string, number>()
  for (const t of reading.targets) {
    for (const d of t.deltas ?? []) served.set(d.jobId, (served.get(d.jobId) ?? 0) + d.rpcs * t.scale)
  }
  return served
}

export class ControlLoop {
  readonly #source: ClusterSource
  readonly #audit: Audit
  readonly controllers: TargetControllers
  /** Clearing of job_stats after each period; off unless an operator chose it. */
  readonly clearing: JobStatsClearing
  readonly #leases = new Map<string, Lease>()
  readonly #outcomes = new Map<string, PlanOutcome>()
  /** Servers on which this session may have rules. */
  readonly #written = new Set<string>()
  /** Failures that keep rules from being written, by server: a working server must not hide a failing one. */
  readonly #failures = new Map<string, Failure>()
  readonly #unthrottled = new Map<string, UnthrottledJobs>()
  readonly #steps: ControlSteps
  readonly #jobIds: Pick<JobIdWatch, 'systemJobs'>
  readonly #permit: WritePermit
  readonly #underWay = new PendingWork()
  /** Times of the last write of a plan that was read back, by server: of its first command, and of the end of the read-back, ns. */
  readonly #writes = new Map<string, { readonly sentNs: number; readonly readBackNs: number }>()
  /** Rates of Sluice's rules after the last write, by server and name. */
  readonly #writtenRates = new Map<string, ReadonlyMap<string, number>>()
  /** Reason for leaving enforce automatically; cleared when a mode is chosen. */
  #leaveReason: Failure | undefined
  /** Called after job_stats of a server were cleared, with the source's time before and after it. */
  onCleared: (host: string, sentNs: number, clearedNs: number) => void = () => undefined
  /** Called when it leaves enforce automatically. */
  onLeave: (why: Failure) => void = () => undefined

  /** @param session  part of the names of the servers' timers. */
  constructor(
    source: ClusterSource,
    audit: Audit,
    session: string,
    start: {
      readonly mode: Mode
      readonly controller: ControllerName
      readonly options: LoopOptions
      /** @default by the kind of the source: narrower on real servers */
      readonly fences?: Fences | undefined
      /** Records leases for other processes. */
      readonly leases?: LeaseStore | undefined
      /** Identifies jobs that are never limited. */
      readonly jobIds: Pick<JobIdWatch, 'systemJobs'>
      /** Stops of the cluster by any process; by default only those of this one. */
      readonly stops?: StopRecords | undefined
    },
    ledgerStates?: LedgerStateStore,
  ) {
    this.#source = source
    this.#jobIds = start.jobIds
    this.#permit = new WritePermit(source.cluster, start.stops ?? stopsInMemory())
    const fences = start.fences ?? (source.kind === 'LIVE' ? LIVE_FENCES : MODEL_FENCES)
    const terms = { controller: start.controller, fences, periodNs: source.periodNs, deadbandPercent: 0 }
    this.#steps = new ControlSteps(terms, start.mode, source.nowNs())
    this.#audit = audit
    this.clearing = new JobStatsClearing(source, audit, (...cleared) => this.onCleared(...cleared))
    this.controllers = new TargetControllers(source, start.controller, start.options, ledgerStates)
    const servers = source.nodes.filter((n) => n.roles.includes('oss'))
    for (const [i, n] of servers.entries()) {
      const options: LeaseOptions = { store: start.leases, may: this.may, phase: i / servers.length }
      this.#leases.set(n.host, new Lease(n, session, audit, options))
    }
  }

  get mode(): Mode {
    return this.#steps.mode
  }

  get controller(): ControllerName {
    return this.controllers.name
  }

  /** Failures that keep rules from being written, at most one per server; and records that could not be restored. */
  get failures(): readonly Failure[] {
    return [...(this.#leaveReason ? [this.#leaveReason] : []), ...this.#failures.values(), ...this.controllers.failures]
  }

  /** Failure that keeps rules from being written on a server. */
  failureOf(host: string): Failure | undefined {
    return this.#failures.get(host)
  }

  /** Reason for leaving enforce automatically; undefined if the mode was chosen. */
  get leaveReason(): Failure | undefined {
    return this.#leaveReason
  }

  /** Servers with a pending command. */
  get busy(): ReadonlySet<string> {
    return this.#underWay.hosts
  }

  /** Resolves when no command is pending, or after so many ms of wall time; @returns servers that still have one. */
  over(ms: number): Promise<ReadonlySet<string>> {
    return this.#underWay.over(ms)
  }

  /**
   * Reason why no rule may be started or tightened on a server now; undefined if allowed. A stop by any process ends
   * enforce.
   */
  readonly may = (): string | undefined => {
    if (this.mode === 'enforce') {
      const refused = this.#permit.refusal()
      if (refused?.code === 'STOPPED') this.leave(refused)
      if (refused) return refused.why ?? refused.what
      return undefined
    }
    return this.#leaveReason?.why ?? `the mode is ${this.mode}`
  }

  /** Leaves enforce automatically: its rules are removed. */
  leave(why: Failure): void {
    if (this.mode !== 'enforce') return
    this.setMode('observe')
    this.#leaveReason = why
    this.onLeave(why)
  }

  outcome(host: string): PlanOutcome | undefined {
    return this.#outcomes.get(host)
  }

  lease(host: string): Lease | undefined {
    return this.#leases.get(host)
  }

  /** Unthrottled jobs, which got no rule although the controller wants one, on the server with most of them. */
  get unthrottled(): UnthrottledJobs {
    let out = NONE_UNTHROTTLED
    for (const l of this.#unthrottled.values()) {
      out = {
        unmatchable: Math.max(out.unmatchable, l.unmatchable),
        overCap: Math.max(out.overCap, l.overCap),
        exempt: Math.max(out.exempt, l.exempt),
        unplaceable: Math.max(out.unplaceable, l.unplaceable),
      }
    }
    return out
  }

  /** Limits on the controller. */
  get fences(): Fences {
    return this.#steps.fences
  }

  /** Time for which plans are still only shown although the mode is enforce, ns. */
  get shadowRemainingNs(): number {
    return this.#steps.shadowRemainingNs(this.#source.nowNs())
  }

  setMode(mode: Mode): void {
    this.#steps.setMode(mode, this.#source.nowNs())
    if (mode !== 'enforce') this.clearing.end()
    if (mode === 'enforce') this.#permit.renew()
    this.#leaveReason = undefined
    this.#writtenRates.clear()
    this.#failures.clear()
    this.#unthrottled.clear()
  }

  /** Switches the controller; records of the old one are dropped. */
  setController(name: ControllerName): void {
    if (name === this.controller) return
    this.controllers.setName(name)
    this.#steps.setController(name, this.#source.nowNs())
  }

  /** Evaluates one period of one server, with what is written in it. */
  async step(node: NodeConnection, reading: NodeReading, jobs: JobRegistry, nowNs: number): Promise<ServerPeriod> {
    const { period, written } = this.begin(node, reading, jobs, nowNs)
    return (await written) ?? period
  }

  /**
   * Begins one period of one server: decided at once, written in parallel with those of other servers. Whatever keeps
   * rules from being written is reported as a failure. A server on which the last period is still being written is
   * held.
   */
  begin(node: NodeConnection, reading: NodeReading, jobs: JobRegistry, nowNs: number): BegunPeriod {
    const began = performance.now()
    const { host } = node
    this.clearing.look(reading)
    if (this.#underWay.has(host)) {
      return { period: this.#period(host, this.#hold(reading.targets, nowNs), reading), written: undefined }
    }
    // After a gap the first reading is only a base; the rules are held until there are counts to judge by.
    this.#steps.setTerms({
      periodNs: reading.periodNs,
      deadbandPercent: this.controllers.options.deadbandPercent,
    })
    const seen = this.#seen(reading, jobs)
    const deciding = {
      decide: () => this.#decide(reading, seen, jobs, nowNs),
      hold: () => this.#hold(reading.targets, nowNs),
    }
    const step = this.#steps.take(seen, deciding, nowNs)
    if (step.sight === 'act' && this.mode !== 'observe') this.#unthrottled.set(host, step.unthrottled)
    const asRead = this.#period(host, step.decisions, reading)
    const decided = performance.now()
    const period = { ...asRead, allocateMs: decided - began }
    const session = { isWritten: this.#written.has(host), isCovered: this.#leases.get(host)?.isOpen === true }
    const action = this.#steps.actionOf(step, session, nowNs)
    const isClearing = this.#mayClear(reading, nowNs)
    const at = { node, reading, asRead, nowNs }
    const work = isClearing
      ? this.clearing.clear(node).then(() => this.#carryOut(action, step, at) ?? asRead)
      : this.#carryOut(action, step, at)
    if (!work) return { period, written: undefined }
    const written = work.then((after) => ({
      ...after,
      allocateMs: period.allocateMs,
      applyMs: performance.now() - decided,
    }))
    this.#underWay.add(host, written)
    return { period, written }
  }

  /** True if a server is cleared after this reading: all of its counters were read. */
  #mayClear({ targets }: NodeReading, nowNs: number): boolean {
    const isRead = targets.length > 0 && targets.every((t) => t.deltas !== undefined)
    return this.clearing.isOn && isRead && this.#steps.isWriting(nowNs) && this.may() === undefined
  }

  /** Input of the control step for a server. */
  #seen(reading: NodeReading, jobs: JobRegistry): ServerSeen {
    let served: Map<string, number> | undefined
    const seconds = reading.periodNs / NS_PER_S
    const isSystem = this.#jobIds.systemJobs()
    return {
      server: reading.host,
      rules: reading.rules,
      targets: reading.targets,
      servedPerSec: (jobId) => {
        served ??= servedBy(reading)
        return (served.get(jobId) ?? 0) / seconds
      },
      isSystem: (jobId) => isSystem(jobId, jobs.find(jobId)?.user ?? ''),
    }
  }

  /** Writes to a server in one period; undefined if there is nothing to write. */
  #carryOut(action: Action, step: ServerStep, at: WorkedOn): Promise<ServerPeriod> | undefined {
    const { host } = at.node
    const guarded = async (act: () => Promise<ServerPeriod>): Promise<ServerPeriod> => {
      try {
        return await act()
      } catch (e) {
        if (e instanceof InvariantError) throw e
        this.#failures.set(host, notOnRecord(host, e))
        return at.asRead
      }
    }
    switch (action) {
      case 'none':
        return undefined
      case 'show':
        this.#show(step.plan)
        return undefined
      case 'announce':
        this.#show(step.plan)
        return guarded(() => this.#announce(step, at))
      case 'write':
        return guarded(() => this.#keep(step, at))
      case 'relax':
        return guarded(() => this.#relax(at))
      case 'withdraw':
        return guarded(() => this.#withdraw(at))
    }
  }

  /** Period of a server that did not answer: its targets keep their records, its rules are unchanged. */
  gap(host: string, targets: readonly string[], nowNs: number): ServerPeriod {
    const decisions = this.#hold(
      targets.map((target) => ({ target })),
      nowNs,
    )
    return this.#period(host, decisions, { rules: [], rulesText: '' })
  }

  #period(host: string, decisions: readonly Decision[], read: Pick<NodeReading, 'rules' | 'rulesText'>): ServerPeriod {
    const reports = new Map<string, PeriodReport>()
    for (const { target } of decisions) {
      const report = this.controllers.report(target)
      if (report) reports.set(target, report)
    }
    return { ...idlePeriod(host, read.rules, read.rulesText), decisions, reports }
  }

  /** Removes Sluice's rules from a server that has been partially visible for long. */
  async #relax(at: WorkedOn): Promise<ServerPeriod> {
    const { host } = at.node
    const isOn = this.#written.has(host) || at.reading.rules.some((r) => isControllerRule(r.name))
    const after = isOn ? await this.#withdraw(at) : at.asRead
    this.#failures.set(host, partlySeen(host))
    return after
  }

  #decide(reading: NodeReading, { isSystem }: ServerSeen, jobs: JobRegistry, nowNs: number): Decision[] {
    const names = this.#steps.isWriting(nowNs) ? new Set(reading.rules.map((r) => r.name)) : undefined
    const last = { host: reading.host, names, isSystem, lag: this.#lagOf(reading) }
    const { periodNs } = reading
    return reading.targets.map((t) => this.controllers.decide({ ...t, periodNs }, jobs, nowNs, last))
  }

  /** Lag of a server's observation: how old it is now, and when the last write came into force in its period. */
  #lagOf({ host, atNs, targets, periodNs }: NodeReading): ControlLag {
    const ageNs = Math.max(0, this.#source.nowNs() - atNs)
    const last = this.#writes.get(host)
    // Counts are scaled to one period, and so are the times in it.
    const scale = targets[0]?.scale ?? 1
    const startNs = atNs - periodNs / scale
    if (!last || last.readBackNs <= startNs) return { ageNs, write: undefined }
    const leastNs = Math.max(0, last.sentNs - startNs) * scale
    return { ageNs, write: { leastNs, mostNs: (last.readBackNs - startNs) * scale } }
  }

  #hold(targets: readonly { readonly target: string }[], nowNs: number): Decision[] {
    if (this.mode === 'observe') return []
    return targets.flatMap(({ target }) => this.controllers.hold(target, nowNs) ?? [])
  }

  /**
   * Takes the lease while plans are still only shown: it tells other consoles that this one enforces, and they can end
   * it.
   */
  async #announce(step: ServerStep, { node, reading, asRead, nowNs }: WorkedOn): Promise<ServerPeriod> {
    if (!reading.version) return asRead
    const controllerRules = reading.rules.filter((r) => isControllerRule(r.name)).map((r) => r.name)
    const names = [...controllerRules, ...step.rules.map((r) => r.name)]
    const covered = await this.#leases.get(node.host)?.cover(names, nowNs, this.#nowMs())
    if (covered && !covered.ok) this.#notCovered(node.host, covered)
    return asRead
  }

  /** Applies the wanted rules of one server under a timer that covers them. */
  async #keep(step: ServerStep, { node, reading, asRead, nowNs }: WorkedOn): Promise<ServerPeriod> {
    if (!reading.version) {
      this.#failures.set(node.host, versionUnknown(node.host))
      return asRead
    }
    const { plan, putOff } = this.#steps.planToWrite(step, nowNs)
    const controllerRules = reading.rules.filter((r) => isControllerRule(r.name)).map((r) => r.name)
    const next = [...plan.expected.keys()]
    const isChanged = this.#isChanged(node.host, reading.rules)
    const seen = { there: controllerRules, next, isChanged }
    // Also rules that are put off, so that one timer serves until all are started.
    const names = [...controllerRules, ...step.plan.expected.keys()]
    const covered = await this.#leases.get(node.host)?.cover(names, nowNs, this.#nowMs(), seen)
    if (covered && !covered.ok) {
      this.#notCovered(node.host, covered)
      return asRead
    }
    this.#written.add(node.host)
    const after = plan.commands.length === 0 ? asRead : await this.#enforce(node, plan, asRead, { nowNs, putOff })
    this.#writtenRates.set(node.host, ratesOf(after.rules))
    // Enforce was left meanwhile: unsent commands are no failure.
    if (this.mode === 'enforce') this.#judge(node.host, plan, nowNs)
    return { ...after, putOff }
  }

  /** True if rules of Sluice have other rates than after the last write, or new ones exist. */
  #isChanged(host: string, present: readonly RuleLine[]): boolean {
    const lastRates = this.#writtenRates.get(host)
    return lastRates !== undefined && [...ratesOf(present)].some(([name, rate]) => lastRates.get(name) !== rate)
  }

  #notCovered(host: string, { error }: Extract<Result<LeaseState | undefined>, { ok: false }>): void {
    // The console that took the lease now manages the rules, and removes them.
    if (error.code === 'LEASE_TAKEN') {
      this.#written.delete(host)
      this.leave(error)
    } else if (this.mode === 'enforce') this.#failures.set(host, error)
  }

  /** A plan whose read-back failed is not sent again every period: the pause doubles up to half a minute. */
  #judge(host: string, plan: Plan, nowNs: number): void {
    const outcome = plan.commands.length === 0 ? undefined : this.#outcomes.get(host)
    if (!outcome || outcome.state === 'applied') {
      this.#failures.delete(host)
      this.#steps.planApplied(host)
      return
    }
    const pauseNs = this.#steps.refused(host, nowNs)
    this.#failures.set(host, {
      code: 'RULES_NOT_APPLIED',
      what: `The rules on ${host} differ from those of the controller`,
      why: outcome.detail,
      unaffected: 'Other servers are controlled; sampling continues.',
      next: `It is retried every ${pauseNs / NS_PER_S} s. If it persists, check the TBF type of the server: jobid is needed.`,
    })
  }

  /**
   * Removes Sluice's rules. Also those left behind by an earlier start of Sluice: in enforce they were taken over,
   * because their names are the same.
   */
  async #withdraw({ node, reading, asRead }: WorkedOn): Promise<ServerPeriod> {
    const lease = this.#leases.get(node.host)
    const isAny = planRemoval(node.host, reading.rules).commands.length > 0
    const takenOver = new Set((isAny ? await lease?.takenOver() : undefined)?.map((s) => s.name))
    const plan = planRemoval(
      node.host,
      reading.rules.filter((r) => !takenOver.has(r.name)),
    )
    const after = plan.commands.length > 0 ? await this.#enforce(node, plan, asRead) : asRead
    if (after.rules.some((r) => isControllerRule(r.name) && !takenOver.has(r.name))) return after
    await lease?.end(this.#nowMs())
    this.#written.delete(node.host)
    this.#failures.delete(node.host)
    return after
  }

  #show(plan: Plan): void {
    if (plan.commands.length === 0) return
    const atMs = this.#nowMs()
    const remainingS = Math.ceil(this.shadowRemainingNs / NS_PER_S)
    const detail = remainingS > 0 ? `shown first, written in ${remainingS} s` : 'advise: not written'
    this.#outcomes.set(plan.server, { plan, atMs, state: 'shown', detail })
  }

  /** @param writing  time of the period, and changes put off; undefined if rules are removed, which needs no lease. */
  async #enforce(
    node: NodeConnection,
    plan: Plan,
    asRead: ServerPeriod,
    writing?: { readonly nowNs: number; readonly putOff: number },
  ): Promise<ServerPeriod> {
    const atMs = this.#nowMs()
    const sentNs = this.#source.nowNs()
    const applied: Applied = await applyPlan(node, plan, this.#audit, atMs, {
      may: this.may,
      timerFile: this.#leases.get(node.host)?.state?.file,
    })
    if (applied.late) this.#underWay.add(node.host, applied.late)
    if (applied.rules) this.#writes.set(node.host, { sentNs, readBackNs: this.#source.nowNs() })
    const taken =
      applied.isUncovered && writing ? await this.#leases.get(node.host)?.endedElsewhere(writing.nowNs) : undefined
    if (taken) this.#notCovered(node.host, { ok: false, error: taken })
    const putOff = writing?.putOff ?? 0
    const late = putOff > 0 ? `; ${this.#putOffText(putOff)}` : ''
    this.#outcomes.set(node.host, { plan, atMs, state: applied.state, detail: `${applied.detail}${late}`, putOff })
    const after = { ...asRead, readBackMs: applied.readBackMs }
    return applied.rules ? { ...after, rules: applied.rules, rulesText: applied.rulesText } : after
  }

  #putOffText(putOff: number): string {
    const changes = putOff === 1 ? '1 change' : `${putOff} changes`
    return `${changes} put off: at most ${this.fences.changesPerSec} changes/s on a server`
  }

  #nowMs(): number {
    return this.#source.toUnixMs(this.#source.nowNs())
  }
}

/** Rates of Sluice's rules by name. */
const ratesOf = (rules: readonly RuleLine[]): Map<string, number> =>
  new Map(
    rules.filter((r) => r.queue === 'reg' && r.cpt === 0 && isControllerRule(r.name)).map((r) => [r.name, r.rate]),
  )
