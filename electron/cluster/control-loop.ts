/**
 * The control loop of a cluster: one controller per target, their decisions joined to one plan per server, and the plan
 * shown (advise) or applied under a lease and read back (enforce).
 *
 * A server that did not answer is left alone in that period: never tightened blind.
 */
import { type ControllerName, isControllerRule } from '#core/controllers/registry.ts'
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { PeriodReport } from '#core/adaptbf/controller.ts'
import type { LoopOptions } from '#core/adaptbf/loop-options.ts'
import { withDeadband } from '#core/adaptbf/rule-changes.ts'
import { InvariantError, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { Decision, Mode } from '#core/control/controller.ts'
import { desiredRules, type DesiredRule } from '#core/control/desired-rule.ts'
import { fenced, LIVE_FENCES, MODEL_FENCES, type Fences } from '#core/control/fences.ts'
import { planRemoval, planRules, type Plan } from '#core/control/plan.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { Audit } from '../base/audit.ts'
import { applyPlan, type Applied } from '../enforce/executor.ts'
import { Lease, type LeaseKeeper, type LeaseState } from '../enforce/lease.ts'
import { stopsInMemory, WritePermit, type StopRecords } from '../enforce/store-stops.ts'
import type { NodeReading } from './collector.ts'
import type { ClusterSource, NodeConnection } from '../base/connection.ts'
import type { JobIdWatch } from './job-id-watch.ts'
import type { JobRegistry } from './job-registry.ts'
import { TargetControllers } from './target-controllers.ts'
import type { KeptRecords } from './kept-records.ts'
import { UnderWay } from './under-way.ts'
import { Watchdog } from './watchdog.ts'

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
  /** Whose rules these are. */
  readonly service: ServiceName
  /** One a target; of a target that was not measured the last one again, which moves no record. */
  readonly decisions: readonly Decision[]
  /** What they do not say, by target; only of controllers with a ledger. */
  readonly reports: ReadonlyMap<string, PeriodReport>
  /** Time of the controllers, and of writing and reading back, ms of wall time. */
  readonly allocateMs: number
  readonly applyMs: number
  /** Rules in force for the next period. */
  readonly rules: readonly RuleLine[]
  readonly rulesText: string
  /** The same of the other services of its role. */
  readonly others?: readonly {
    readonly service: ServiceName
    readonly rules: readonly RuleLine[]
    readonly rulesText: string
  }[]
}

/** A period in which nothing was decided for a server. */
export const idlePeriod = (host: string, rules: readonly RuleLine[] = [], rulesText = ''): ServerPeriod => ({
  ...{ host, service: 'ost_io', rules, rulesText },
  ...{ decisions: [], reports: new Map(), allocateMs: 0, applyMs: 0 },
})

/** One period of one server, begun. */
export interface BegunPeriod {
  /** With the rules as they were read. */
  readonly period: ServerPeriod
  /** The same when its rules were written and read back; undefined where nothing is written. */
  readonly written: Promise<ServerPeriod> | undefined
}

/** Jobs without the rule that the controller wants for them, on one server. */
export interface LeftOut {
  readonly unmatchable: number
  readonly overCap: number
  /** The system's own, which are never limited. */
  readonly exempt: number
  /** With no place behind rules of somebody else. */
  readonly shut: number
}
const NOTHING_LEFT: LeftOut = { unmatchable: 0, overCap: 0, exempt: 0, shut: 0 }

const versionUnknown = (host: string): Failure => ({
  code: 'VERSION_UNKNOWN',
  what: `No rule is written on ${host}`,
  why: 'its release could not be read, and releases differ in what they survive',
  unaffected: 'It is read and shown; other servers are controlled.',
  next: 'Let the login read the parameter version.',
})

const partlySeen = (host: string): Failure => ({
  code: 'OBSERVATION_PARTIAL',
  what: `The rules on ${host} were removed`,
  why: 'some of its targets are not measured, so nothing can be decided for it',
  unaffected: 'Other servers are controlled.',
  next: 'It is taken up again when all of its targets are measured, or a minute after some are gone.',
})

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
  readonly controllers: TargetControllers
  readonly #leases = new Map<string, Lease>()
  readonly #outcomes = new Map<string, PlanOutcome>()
  /** Servers on which this session may have rules. */
  readonly #written = new Set<string>()
  /** What keeps rules from being written, by server: one that works must not hide one that does not. */
  readonly #failures = new Map<string, Failure>()
  /** When a server whose plan failed is tried again. */
  readonly #retries = new Map<string, { readonly atNs: number; readonly waitNs: number }>()
  readonly #left = new Map<string, LeftOut>()
  readonly #fences: Fences
  readonly #jobIds: Pick<JobIdWatch, 'isSystem'>
  readonly #watchdog: Watchdog
  readonly #permit: WritePermit
  readonly #underWay = new UnderWay()
  /** Rates of our rules as they were left, by server and name. */
  readonly #leftAs = new Map<string, ReadonlyMap<string, number>>()
  #mode: Mode
  /** Why it left enforce by itself; until somebody chooses a mode. */
  #leftWhy: Failure | undefined
  /** Told when it leaves enforce by itself. */
  onLeave: (why: Failure) => void = () => undefined
  /** Until then plans are shown and not written: a controller is looked at before it acts. */
  #shadowNs: number
  /** Since when plans have been shown. */
  #shownSinceNs: number | undefined

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
      /** Where leases are noted for other processes. */
      readonly leases?: LeaseKeeper | undefined
      /** Which jobs are never limited. */
      readonly jobIds: Pick<JobIdWatch, 'isSystem'>
      /** Stops of the cluster, by whichever process; of this one alone without. */
      readonly stops?: StopRecords | undefined
    },
    kept?: KeptRecords,
  ) {
    this.#source = source
    this.#jobIds = start.jobIds
    this.#permit = new WritePermit(source.cluster, start.stops ?? stopsInMemory())
    this.#fences = start.fences ?? (source.kind === 'LIVE' ? LIVE_FENCES : MODEL_FENCES)
    this.#watchdog = new Watchdog(this.#fences.holdNs)
    const nowNs = source.nowNs()
    this.#shownSinceNs = start.mode === 'advise' ? nowNs : undefined
    this.#shadowNs = nowNs + this.#fences.shadowNs
    this.#audit = audit
    this.#mode = start.mode
    this.controllers = new TargetControllers(source, start.controller, start.options, kept)
    for (const n of source.nodes) {
      const options = { keeper: start.leases, may: this.may }
      if (n.roles.includes('oss')) this.#leases.set(n.host, new Lease(n, session, audit, options))
    }
  }

  get mode(): Mode {
    return this.#mode
  }

  get controller(): ControllerName {
    return this.controllers.name
  }

  /** What keeps rules from being written, one a server at most; and records that could not be restored. */
  get failures(): readonly Failure[] {
    return [...(this.#leftWhy ? [this.#leftWhy] : []), ...this.#failures.values(), ...this.controllers.failures]
  }

  /** What keeps rules from being written on a server. */
  failureOf(host: string): Failure | undefined {
    return this.#failures.get(host)
  }

  /** Why it left enforce by itself; undefined where somebody chose the mode. */
  get leftWhy(): Failure | undefined {
    return this.#leftWhy
  }

  /** Servers on which a command is under way. */
  get busy(): ReadonlySet<string> {
    return this.#underWay.hosts
  }

  /** Resolves when nothing is under way, or after so many ms of wall time; @returns servers on which something still is. */
  over(ms: number): Promise<ReadonlySet<string>> {
    return this.#underWay.over(ms)
  }

  /** Why nothing may be made or tightened on a server now; undefined while it may. A stop by whichever process ends enforce. */
  readonly may = (): string | undefined => {
    if (this.#mode === 'enforce') {
      const refused = this.#permit.refusal()
      if (refused?.code === 'STOPPED') this.leave(refused)
      if (refused) return refused.why ?? refused.what
      return undefined
    }
    return this.#leftWhy?.why ?? `the mode is ${this.#mode}`
  }

  /** Leaves enforce by itself: its rules go. */
  leave(why: Failure): void {
    if (this.#mode !== 'enforce') return
    this.setMode('observe')
    this.#leftWhy = why
    this.onLeave(why)
  }

  outcome(host: string): PlanOutcome | undefined {
    return this.#outcomes.get(host)
  }

  lease(host: string): Lease | undefined {
    return this.#leases.get(host)
  }

  /** Jobs that got no rule although the controller wants one, on the server with most of them. */
  get left(): LeftOut {
    let out = NOTHING_LEFT
    for (const l of this.#left.values()) {
      out = {
        unmatchable: Math.max(out.unmatchable, l.unmatchable),
        overCap: Math.max(out.overCap, l.overCap),
        exempt: Math.max(out.exempt, l.exempt),
        shut: Math.max(out.shut, l.shut),
      }
    }
    return out
  }

  /** What a controller may do at most. */
  get fences(): Fences {
    return this.#fences
  }

  /** Time for which plans are still only shown although the mode is enforce, ns. */
  get shadowLeftNs(): number {
    return this.#mode === 'enforce' ? Math.max(0, this.#shadowNs - this.#source.nowNs()) : 0
  }

  setMode(mode: Mode): void {
    const nowNs = this.#source.nowNs()
    if (mode === 'advise') this.#shownSinceNs ??= nowNs
    // Time in which its plans were shown already counts.
    if (mode === 'enforce') this.#shadowNs = (this.#shownSinceNs ?? nowNs) + this.#fences.shadowNs
    if (mode === 'observe') this.#shownSinceNs = undefined
    if (mode === 'enforce') this.#permit.renew()
    this.#mode = mode
    this.#leftWhy = undefined
    this.#leftAs.clear()
    this.#failures.clear()
    this.#retries.clear()
    this.#left.clear()
  }

  /** Another controller starts without records; those of the old one are gone with it. */
  setController(name: ControllerName): void {
    if (name === this.controller) return
    this.controllers.setName(name)
    const nowNs = this.#source.nowNs()
    if (this.#mode === 'advise') this.#shownSinceNs = nowNs
    this.#shadowNs = nowNs + this.#fences.shadowNs
  }

  /** Evaluates one period of one server, with what is written in it. */
  async step(node: NodeConnection, reading: NodeReading, jobs: JobRegistry, nowNs: number): Promise<ServerPeriod> {
    const { period, written } = this.begin(node, reading, jobs, nowNs)
    return (await written) ?? period
  }

  /**
   * Begins one period of one server: it is decided at once, and written beside those of others. What keeps rules from being written is a
   * failure to show. A server on which the last period is still being written is held.
   */
  begin(node: NodeConnection, reading: NodeReading, jobs: JobRegistry, nowNs: number): BegunPeriod {
    const began = performance.now()
    const { host } = node
    if (this.#underWay.has(host)) {
      return { period: this.#period(host, this.#hold(reading.targets, nowNs), reading), written: undefined }
    }
    // After a gap the first reading is a base only; the rules are held until there is something to judge by. The rules of
    // a server are sums over its targets, so one target without a measure holds all of them, and after a while removes them.
    const seen = this.#watchdog.look(host, reading.targets, nowNs)
    const decides = this.#mode !== 'observe' && seen === 'act'
    const decisions = decides ? this.#decide(reading, jobs, nowNs) : this.#hold(reading.targets, nowNs)
    const desired = decides ? this.#desired(reading, decisions, jobs) : []
    const asRead = this.#period(host, decisions, reading)
    const decided = performance.now()
    const period = { ...asRead, allocateMs: decided - began }
    const work = this.#workOn(node, reading, desired, { seen, asRead, nowNs })
    if (!work) {
      if (decides) this.#show(this.#planFor(host, reading, desired))
      return { period, written: undefined }
    }
    const written = work.then((after) => ({
      ...{ ...after, allocateMs: period.allocateMs },
      applyMs: performance.now() - decided,
    }))
    this.#underWay.add(host, written)
    return { period, written }
  }

  /** What is written to a server in one period; undefined where nothing is. */
  #workOn(
    node: NodeConnection,
    reading: NodeReading,
    desired: readonly DesiredRule[],
    { seen, asRead, nowNs }: { seen: 'act' | 'hold' | 'relax'; asRead: ServerPeriod; nowNs: number },
  ): Promise<ServerPeriod> | undefined {
    const { host } = node
    const isEnforcing = this.#mode === 'enforce'
    const guarded = async (act: () => Promise<ServerPeriod>): Promise<ServerPeriod> => {
      try {
        return await act()
      } catch (e) {
        if (e instanceof InvariantError) throw e
        this.#failures.set(host, notOnRecord(host, e))
        return asRead
      }
    }
    if (isEnforcing && seen === 'relax') return guarded(() => this.#relax(node, reading, asRead))
    if (isEnforcing && this.shadowLeftNs === 0) {
      return seen === 'act' ? guarded(() => this.#keep(node, reading, desired, asRead, nowNs)) : undefined
    }
    if (isEnforcing && seen === 'act' && desired.length > 0 && !this.#written.has(host)) {
      this.#show(this.#planFor(host, reading, desired))
      return guarded(() => this.#announce(node, reading, desired, asRead, nowNs))
    }
    const isLeft = this.#written.has(host) || (!isEnforcing && this.#leases.get(host)?.isOpen === true)
    return isLeft ? guarded(() => this.#withdraw(node, reading, asRead)) : undefined
  }

  /** A period of a server that did not answer: its targets keep their records, its rules are left alone. */
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

  /** The rules that the decisions come to, within the fences. */
  #desired(reading: NodeReading, decisions: readonly Decision[], jobs: JobRegistry): readonly DesiredRule[] {
    const { host } = reading
    const { rules, left } = desiredRules(this.controller, host, decisions)
    const jobOf = new Map(decisions.flatMap((d) => d.allocations).map((a) => [`jobid={${a.jobId}}`, a.jobId]))
    const served = new Map<string, number>()
    for (const t of reading.targets) {
      for (const d of t.deltas ?? []) served.set(d.jobId, (served.get(d.jobId) ?? 0) + d.rpcs * t.scale)
    }
    const seconds = this.#source.periodNs / NS_PER_S
    const within = fenced(rules, this.#fences, {
      inForce: new Map(reading.rules.filter((r) => r.queue === 'reg' && r.cpt === 0).map((r) => [r.name, r.rate])),
      servedBy: (r) => (served.get(jobOf.get(r.conditions) ?? '') ?? 0) / seconds,
      isExempt: (r) => {
        const jobId = jobOf.get(r.conditions) ?? ''
        return this.#jobIds.isSystem(jobId, jobs.find(jobId)?.user ?? '')
      },
    })
    const overCap = left.overCap + within.left.overCap
    this.#left.set(host, { unmatchable: left.unmatchable, overCap, exempt: within.left.exempt, shut: 0 })
    return within.rules
  }

  /** A server that is seen in part for long gets rid of our rules. */
  async #relax(node: NodeConnection, reading: NodeReading, asRead: ServerPeriod): Promise<ServerPeriod> {
    const isOn = this.#written.has(node.host) || reading.rules.some((r) => isControllerRule(r.name))
    const after = isOn ? await this.#withdraw(node, reading, asRead) : asRead
    this.#failures.set(node.host, partlySeen(node.host))
    return after
  }

  #decide(reading: NodeReading, jobs: JobRegistry, nowNs: number): Decision[] {
    const isWritten = this.#mode === 'enforce' && this.shadowLeftNs === 0
    const names = isWritten ? new Set(reading.rules.map((r) => r.name)) : undefined
    return reading.targets.map((t) => this.controllers.decide(t, jobs, nowNs, { host: reading.host, names }))
  }

  #hold(targets: readonly { readonly target: string }[], nowNs: number): Decision[] {
    if (this.#mode === 'observe') return []
    return targets.flatMap(({ target }) => this.controllers.hold(target, nowNs) ?? [])
  }

  /** Makes the lease while its plans are still only shown: other consoles know by it that this one enforces, and can end it. */
  async #announce(
    node: NodeConnection,
    reading: NodeReading,
    desired: readonly DesiredRule[],
    asRead: ServerPeriod,
    nowNs: number,
  ): Promise<ServerPeriod> {
    if (!reading.version) return asRead
    const ours = reading.rules.filter((r) => isControllerRule(r.name)).map((r) => r.name)
    const names = [...ours, ...desired.map((r) => r.name)]
    const covered = await this.#leases.get(node.host)?.cover(names, nowNs, this.#nowMs())
    if (covered && !covered.ok) this.#notCovered(node.host, covered)
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
    if (!reading.version) {
      this.#failures.set(node.host, versionUnknown(node.host))
      return asRead
    }
    if (nowNs < (this.#retries.get(node.host)?.atNs ?? -Infinity)) return asRead
    const plan = this.#planFor(node.host, reading, desired)
    const ours = reading.rules.filter((r) => isControllerRule(r.name)).map((r) => r.name)
    const next = [...plan.expected.keys()]
    const isChanged = this.#isChanged(node.host, reading.rules)
    const seen = { there: ours, next, isChanged }
    const covered = await this.#leases.get(node.host)?.cover([...ours, ...next], nowNs, this.#nowMs(), seen)
    if (covered && !covered.ok) {
      this.#notCovered(node.host, covered)
      return asRead
    }
    this.#written.add(node.host)
    const after = plan.commands.length === 0 ? asRead : await this.#enforce(node, plan, asRead, nowNs)
    this.#leftAs.set(node.host, ratesOf(after.rules))
    // Left meanwhile: what was not sent is no fault.
    if (this.#mode === 'enforce') this.#judge(node.host, plan, nowNs)
    return after
  }

  /** Whether rules of ours have other rates than they were left with, or there are others. */
  #isChanged(host: string, present: readonly RuleLine[]): boolean {
    const left = this.#leftAs.get(host)
    return left !== undefined && [...ratesOf(present)].some(([name, rate]) => left.get(name) !== rate)
  }

  #notCovered(host: string, { error }: Extract<Result<LeaseState | undefined>, { ok: false }>): void {
    // Whoever took it keeps the rules, and removes them.
    if (error.code === 'LEASE_TAKEN') {
      this.#written.delete(host)
      this.leave(error)
    } else if (this.#mode === 'enforce') this.#failures.set(host, error)
  }

  /** A server without TBF gets no rules. */
  #planFor(host: string, reading: NodeReading, desired: readonly DesiredRule[]): Plan {
    const plan = planRules(host, reading.rules, reading.rules.length > 0 ? this.#settled(reading.rules, desired) : [])
    const left = this.#left.get(host)
    if (left) this.#left.set(host, { ...left, shut: plan.shut.length })
    return plan
  }

  /** Rates within the deadband of the ones in force stay as they are: every change hands each class a fresh bucket. */
  #settled(present: readonly RuleLine[], desired: readonly DesiredRule[]): readonly DesiredRule[] {
    const percent = this.controllers.options.deadbandPercent
    if (percent === 0) return desired
    const inForce = new Map(present.filter((r) => r.queue === 'reg' && r.cpt === 0).map((r) => [r.name, r.rate]))
    const rates = desired.map((r) => ({ jobId: r.name, ratePerSec: r.rate }))
    const settled = withDeadband(inForce, rates, { percent, ratePerSec: 0 })
    return desired.map((r, i) => ({ ...r, rate: settled[i]?.ratePerSec ?? r.rate }))
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
    const lease = this.#leases.get(node.host)
    const isAny = planRemoval(node.host, reading.rules).commands.length > 0
    const others = new Set((isAny ? await lease?.takenOver() : undefined)?.map((s) => s.name))
    const plan = planRemoval(
      node.host,
      reading.rules.filter((r) => !others.has(r.name)),
    )
    const after = plan.commands.length > 0 ? await this.#enforce(node, plan, asRead) : asRead
    if (after.rules.some((r) => isControllerRule(r.name) && !others.has(r.name))) return after
    await lease?.end(this.#nowMs())
    this.#written.delete(node.host)
    this.#failures.delete(node.host)
    return after
  }

  #show(plan: Plan): void {
    if (plan.commands.length === 0) return
    const atMs = this.#nowMs()
    const leftS = Math.ceil(this.shadowLeftNs / NS_PER_S)
    const detail = leftS > 0 ? `shown first, written in ${leftS} s` : 'advise: not written'
    this.#outcomes.set(plan.server, { plan, atMs, state: 'shown', detail })
  }

  /** @param nowNs  of a period; undefined where rules are removed, which needs no lease. */
  async #enforce(node: NodeConnection, plan: Plan, asRead: ServerPeriod, nowNs?: number): Promise<ServerPeriod> {
    const atMs = this.#nowMs()
    const applied: Applied = await applyPlan(node, plan, this.#audit, atMs, {
      may: this.may,
      timerFile: this.#leases.get(node.host)?.state?.file,
    })
    if (applied.late) this.#underWay.add(node.host, applied.late)
    const taken =
      applied.isUncovered && nowNs !== undefined ? await this.#leases.get(node.host)?.endedElsewhere(nowNs) : undefined
    if (taken) this.#notCovered(node.host, { ok: false, error: taken })
    this.#outcomes.set(node.host, { plan, atMs, state: applied.state, detail: applied.detail })
    return applied.rules ? { ...asRead, rules: applied.rules, rulesText: applied.rulesText } : asRead
  }

  #nowMs(): number {
    return this.#source.toUnixMs(this.#source.nowNs())
  }
}

/** Rates of our rules by name. */
const ratesOf = (rules: readonly RuleLine[]): Map<string, number> =>
  new Map(
    rules.filter((r) => r.queue === 'reg' && r.cpt === 0 && isControllerRule(r.name)).map((r) => [r.name, r.rate]),
  )
