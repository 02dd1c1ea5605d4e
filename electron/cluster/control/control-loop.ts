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
import { InvariantError, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { Decision, Mode } from '#core/control/controller.ts'
import {
  ControlSteps,
  type Action,
  type LeftOut,
  type ServerSeen,
  type ServerStep,
} from '#core/control/control-step.ts'
import { LIVE_FENCES, MODEL_FENCES, type Fences } from '#core/control/fences.ts'
import { planRemoval, type Plan } from '#core/control/plan.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { Audit } from '../../base/audit.ts'
import { applyPlan, type Applied } from '../../enforce/executor.ts'
import { Lease, type LeaseKeeper, type LeaseState } from '../../enforce/lease.ts'
import { stopsInMemory, WritePermit, type StopRecords } from '../../enforce/store-stops.ts'
import type { NodeReading } from '../read/collector.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import type { JobIdWatch } from '../state/job-id-watch.ts'
import type { JobRegistry } from '../state/job-registry.ts'
import { TargetControllers } from './target-controllers.ts'
import type { KeptRecords } from './kept-records.ts'
import { UnderWay } from './under-way.ts'

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

/** One server in one period, as its rules are written. */
interface WorkedOn {
  readonly node: NodeConnection
  readonly reading: NodeReading
  readonly asRead: ServerPeriod
  readonly nowNs: number
}

/** RPCs that each job was served in the period, all targets of a server. */
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
  readonly #leases = new Map<string, Lease>()
  readonly #outcomes = new Map<string, PlanOutcome>()
  /** Servers on which this session may have rules. */
  readonly #written = new Set<string>()
  /** What keeps rules from being written, by server: one that works must not hide one that does not. */
  readonly #failures = new Map<string, Failure>()
  readonly #left = new Map<string, LeftOut>()
  readonly #steps: ControlSteps
  readonly #jobIds: Pick<JobIdWatch, 'isSystem'>
  readonly #permit: WritePermit
  readonly #underWay = new UnderWay()
  /** Rates of our rules as they were left, by server and name. */
  readonly #leftAs = new Map<string, ReadonlyMap<string, number>>()
  /** Why it left enforce by itself; until somebody chooses a mode. */
  #leftWhy: Failure | undefined
  /** Told when it leaves enforce by itself. */
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
    const fences = start.fences ?? (source.kind === 'LIVE' ? LIVE_FENCES : MODEL_FENCES)
    const terms = { controller: start.controller, fences, periodNs: source.periodNs, deadbandPercent: 0 }
    this.#steps = new ControlSteps(terms, start.mode, source.nowNs())
    this.#audit = audit
    this.controllers = new TargetControllers(source, start.controller, start.options, kept)
    for (const n of source.nodes) {
      const options = { keeper: start.leases, may: this.may }
      if (n.roles.includes('oss')) this.#leases.set(n.host, new Lease(n, session, audit, options))
    }
  }

  get mode(): Mode {
    return this.#steps.mode
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
    if (this.mode === 'enforce') {
      const refused = this.#permit.refusal()
      if (refused?.code === 'STOPPED') this.leave(refused)
      if (refused) return refused.why ?? refused.what
      return undefined
    }
    return this.#leftWhy?.why ?? `the mode is ${this.mode}`
  }

  /** Leaves enforce by itself: its rules go. */
  leave(why: Failure): void {
    if (this.mode !== 'enforce') return
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
    return this.#steps.fences
  }

  /** Time for which plans are still only shown although the mode is enforce, ns. */
  get shadowLeftNs(): number {
    return this.#steps.shadowLeftNs(this.#source.nowNs())
  }

  setMode(mode: Mode): void {
    this.#steps.setMode(mode, this.#source.nowNs())
    if (mode === 'enforce') this.#permit.renew()
    this.#leftWhy = undefined
    this.#leftAs.clear()
    this.#failures.clear()
    this.#left.clear()
  }

  /** Another controller starts without records; those of the old one are gone with it. */
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
   * Begins one period of one server: it is decided at once, and written beside those of others. What keeps rules from being written is a
   * failure to show. A server on which the last period is still being written is held.
   */
  begin(node: NodeConnection, reading: NodeReading, jobs: JobRegistry, nowNs: number): BegunPeriod {
    const began = performance.now()
    const { host } = node
    if (this.#underWay.has(host)) {
      return { period: this.#period(host, this.#hold(reading.targets, nowNs), reading), written: undefined }
    }
    // After a gap the first reading is a base only; the rules are held until there is something to judge by.
    this.#steps.setTerms({
      periodNs: this.#source.periodNs,
      deadbandPercent: this.controllers.options.deadbandPercent,
    })
    const seen = this.#seen(reading, jobs)
    const deciding = {
      decide: () => this.#decide(reading, seen, jobs, nowNs),
      hold: () => this.#hold(reading.targets, nowNs),
    }
    const step = this.#steps.take(seen, deciding, nowNs)
    if (step.sight === 'act' && this.mode !== 'observe') this.#left.set(host, step.left)
    const asRead = this.#period(host, step.decisions, reading)
    const decided = performance.now()
    const period = { ...asRead, allocateMs: decided - began }
    const standing = { isWritten: this.#written.has(host), isCovered: this.#leases.get(host)?.isOpen === true }
    const action = this.#steps.actionOf(step, standing, nowNs)
    const work = this.#carryOut(action, step, { node, reading, asRead, nowNs })
    if (!work) return { period, written: undefined }
    const written = work.then((after) => ({
      ...after,
      allocateMs: period.allocateMs,
      applyMs: performance.now() - decided,
    }))
    this.#underWay.add(host, written)
    return { period, written }
  }

  /** A server as the step takes it. */
  #seen(reading: NodeReading, jobs: JobRegistry): ServerSeen {
    let served: Map<string, number> | undefined
    const seconds = this.#source.periodNs / NS_PER_S
    return {
      server: reading.host,
      rules: reading.rules,
      targets: reading.targets,
      servedPerSec: (jobId) => {
        served ??= servedBy(reading)
        return (served.get(jobId) ?? 0) / seconds
      },
      isSystem: (jobId) => this.#jobIds.isSystem(jobId, jobs.find(jobId)?.user ?? ''),
    }
  }

  /** What is written to a server in one period; undefined where nothing is. */
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

  /** A server that is seen in part for long gets rid of our rules. */
  async #relax(at: WorkedOn): Promise<ServerPeriod> {
    const { host } = at.node
    const isOn = this.#written.has(host) || at.reading.rules.some((r) => isControllerRule(r.name))
    const after = isOn ? await this.#withdraw(at) : at.asRead
    this.#failures.set(host, partlySeen(host))
    return after
  }

  #decide(reading: NodeReading, { isSystem }: ServerSeen, jobs: JobRegistry, nowNs: number): Decision[] {
    const names = this.#steps.isWriting(nowNs) ? new Set(reading.rules.map((r) => r.name)) : undefined
    const last = { host: reading.host, names, isSystem }
    return reading.targets.map((t) => this.controllers.decide(t, jobs, nowNs, last))
  }

  #hold(targets: readonly { readonly target: string }[], nowNs: number): Decision[] {
    if (this.mode === 'observe') return []
    return targets.flatMap(({ target }) => this.controllers.hold(target, nowNs) ?? [])
  }

  /** Makes the lease while its plans are still only shown: other consoles know by it that this one enforces, and can end it. */
  async #announce(step: ServerStep, { node, reading, asRead, nowNs }: WorkedOn): Promise<ServerPeriod> {
    if (!reading.version) return asRead
    const ours = reading.rules.filter((r) => isControllerRule(r.name)).map((r) => r.name)
    const names = [...ours, ...step.rules.map((r) => r.name)]
    const covered = await this.#leases.get(node.host)?.cover(names, nowNs, this.#nowMs())
    if (covered && !covered.ok) this.#notCovered(node.host, covered)
    return asRead
  }

  /** Brings the rules of one server to what is wanted, under a timer that covers them. */
  async #keep({ plan }: ServerStep, { node, reading, asRead, nowNs }: WorkedOn): Promise<ServerPeriod> {
    if (!reading.version) {
      this.#failures.set(node.host, versionUnknown(node.host))
      return asRead
    }
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
    if (this.mode === 'enforce') this.#judge(node.host, plan, nowNs)
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
    } else if (this.mode === 'enforce') this.#failures.set(host, error)
  }

  /** A plan that did not come true is not sent again every period: the pause doubles up to half a minute. */
  #judge(host: string, plan: Plan, nowNs: number): void {
    const outcome = plan.commands.length === 0 ? undefined : this.#outcomes.get(host)
    if (!outcome || outcome.state === 'applied') {
      this.#failures.delete(host)
      this.#steps.cameTrue(host)
      return
    }
    const pauseNs = this.#steps.refused(host, nowNs)
    this.#failures.set(host, {
      code: 'RULES_NOT_APPLIED',
      what: `The rules on ${host} are not what the controller wants`,
      why: outcome.detail,
      unaffected: 'Other servers are controlled; sampling goes on.',
      next: `It is tried again every ${pauseNs / NS_PER_S} s. If it stays, check the TBF type of the server: jobid is needed.`,
    })
  }

  /**
   * Removes our rules. Also those that an earlier start of Sluice left behind: in enforce they were taken over, because
   * their names are the same.
   */
  async #withdraw({ node, reading, asRead }: WorkedOn): Promise<ServerPeriod> {
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
