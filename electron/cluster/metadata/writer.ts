/**
 * Applies the wanted rules of metadata servers, as the loop of data RPCs does: under a timer on the server that covers
 * them, recorded before they are sent, read back and compared.
 *
 * A rate is one sum over servers and services, so everything that is lowered is lowered and read back before anything
 * is raised or started: a failure on the way leaves less than the limit, never more.
 */
import { isControllerRule } from '#core/controllers/registry.ts'
import { InvariantError, type Failure } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { DesiredRule } from '#core/control/desired-rule.ts'
import { planRules, type Plan } from '#core/control/plan.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { MDS_SERVICES, type MdsService } from '#core/padll/mds/operations.ts'
import type { Audit } from '../../base/audit.ts'
import { applyPlan } from '../../enforce/executor.ts'
import type { TimerStop } from '../../enforce/expiry-spec.ts'
import { Lease, type LeaseOptions } from '../../enforce/lease.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import { endsWithin } from '../../base/deadline.ts'
import type { PlanOutcome } from '../control/control-loop.ts'
import { placeOf, SERVICES } from '../../base/service.ts'
import { PendingWork } from '../control/pending-work.ts'

export interface ServiceState {
  readonly rules: readonly RuleLine[]
  readonly rulesText: string
}

/** One server as read, and after its rules were written. */
export interface WrittenServer {
  readonly node: NodeConnection
  readonly services: Record<MdsService, ServiceState>
}

export type DesiredServices = Readonly<Record<MdsService, readonly DesiredRule[]>>

/** Pause before a failed plan is retried. */
const RETRY_NS = { least: NS_PER_S, most: 30 * NS_PER_S } as const

/** Key by service and name: two services of a server may have rules of one name. */
const keyOf = (service: MdsService, name: string): string => `${service}/${name}`
function stopOf(key: string): TimerStop {
  const at = key.indexOf('/')
  return { parameter: SERVICES[key.slice(0, at) as MdsService].rules, queue: 'reg', name: key.slice(at + 1) }
}

const managed = (rules: readonly RuleLine[]): RuleLine[] =>
  rules.filter((r) => r.queue === 'reg' && r.cpt === 0 && isControllerRule(r.name))

const conditionsOf = ({ conditions }: RuleLine): string =>
  conditions.startsWith('{') ? `jobid=${conditions}` : conditions

/** Part of a plan that only lowers rates of wanted rules. */
function lowering(host: string, present: readonly RuleLine[], plan: Plan): Plan {
  const kept = managed(present).map((r) => {
    const conditions = conditionsOf(r)
    const want = plan.expected.get(r.name)
    const rate = want?.conditions === conditions ? Math.min(want.rate, r.rate) : r.rate
    return { name: r.name, conditions, rate }
  })
  return planRules(host, present, kept)
}

/** Plans that remove Sluice's rules except those to be kept. */
function keeping(
  { node, services }: WrittenServer,
  stays: (service: MdsService, r: RuleLine) => boolean,
): Work['plans'] {
  const of = (s: MdsService): Plan => {
    const { rules } = services[s]
    const kept = managed(rules).filter((r) => stays(s, r))
    return planRules(
      node.host,
      rules,
      kept.map((r) => ({ name: r.name, conditions: conditionsOf(r), rate: r.rate })),
    )
  }
  return { mdt: of('mdt'), mdt_readpage: of('mdt_readpage') }
}

/** Options that concern other writers of the cluster. */
export interface WriterOptions extends Pick<LeaseOptions, 'store' | 'may'> {
  /** Called when another console took a lease. */
  readonly onTaken?: ((why: Failure) => void) | undefined
  /** Longest wait for the servers in one step of writing, wall ms; a slower one is left out of the next steps. */
  readonly waitMs: () => number
}

interface Work {
  readonly server: WrittenServer
  readonly plans: Readonly<Record<MdsService, Plan>>
}

export class MetadataWriter {
  readonly #source: ClusterSource
  readonly #audit: Audit
  readonly #leases = new Map<string, Lease>()
  readonly #outcomes = new Map<string, PlanOutcome>()
  /** Servers on which this session may have rules. */
  readonly #written = new Set<string>()
  readonly #failures = new Map<string, Failure>()
  readonly #retries = new Map<string, { readonly atNs: number; readonly waitNs: number }>()

  readonly #underWay = new PendingWork()
  readonly #options: WriterOptions

  constructor(source: ClusterSource, audit: Audit, session: string, options: WriterOptions) {
    this.#source = source
    this.#audit = audit
    this.#options = options
    const { store, may } = options
    for (const n of source.nodes) {
      if (n.roles.includes('mds'))
        this.#leases.set(n.host, new Lease(n, `${session}-md`, audit, { stop: stopOf, store, may }))
    }
  }

  /** Servers with a pending command. */
  get busy(): ReadonlySet<string> {
    return this.#underWay.hosts
  }

  /** Resolves when no command is pending, or after so many ms of wall time; @returns servers that still have one. */
  over(ms: number): Promise<ReadonlySet<string>> {
    return this.#underWay.over(ms)
  }

  get failures(): readonly Failure[] {
    return [...this.#failures.values()]
  }

  outcome(host: string, service: MdsService): PlanOutcome | undefined {
    return this.#outcomes.get(placeOf(host, service))
  }

  lease(host: string): Lease | undefined {
    return this.#leases.get(host)
  }

  /** True while rules or a timer of this session may be on a server. */
  isWritten(host: string): boolean {
    return this.#written.has(host) || this.#leases.get(host)?.isOpen === true
  }

  /** Clears the failures of the previous mode, which do not apply to a new one. */
  forgetFailures(): void {
    this.#failures.clear()
    this.#retries.clear()
  }

  /** Literal commands that would apply the wanted rules of a server. */
  static commandsOf(server: WrittenServer, desired: DesiredServices): string[] {
    return MDS_SERVICES.flatMap((s) =>
      planRules(server.node.host, server.services[s].rules, desired[s]).commands.map((c) =>
        setParamCommand(SERVICES[s].rules, c.value),
      ),
    )
  }

  /** Shows the plan, with the reason why it is not sent. */
  show(server: WrittenServer, desired: DesiredServices, detail: string): void {
    const { host } = server.node
    const atMs = this.#nowMs()
    for (const service of MDS_SERVICES) {
      const plan = planRules(host, server.services[service].rules, desired[service])
      if (plan.commands.length === 0) continue
      this.#outcomes.set(placeOf(host, service), { plan, atMs, state: 'shown', detail })
    }
  }

  /** Enforce: writes to all servers that answered, together. */
  async keep(
    servers: readonly { readonly server: WrittenServer; readonly desired: DesiredServices }[],
    nowNs: number,
  ): Promise<void> {
    const planned: Work[] = []
    for (const { server, desired } of servers) {
      const { host } = server.node
      const retry = this.#retries.get(host)
      if ((retry && nowNs < retry.atNs) || this.#underWay.has(host)) continue
      const plan = (s: MdsService): Plan => planRules(host, server.services[s].rules, desired[s])
      planned.push({ server, plans: { mdt: plan('mdt'), mdt_readpage: plan('mdt_readpage') } })
    }
    // A server that is still being written to may exceed its share.
    const isFree = this.#underWay.hosts.size === 0
    const covered = await this.#onEach(planned, (work) =>
      this.#guard(work.server.node.host, () => this.#cover(work, nowNs)),
    )
    const works = planned.filter((w) => covered.get(w) === true)
    const isMoving = works.some(({ plans }) => MDS_SERVICES.some((s) => plans[s].commands.length > 0))
    if (!isMoving) {
      for (const work of works) await this.#settle(work, nowNs, true)
      return
    }
    // Two steps only if something is lowered and something else is raised.
    const lowered = await this.#onEach(works, (work) => this.#apply(work, lowering))
    const isLow = isFree && works.every((w) => lowered.get(w) === true)
    await this.#onEach(
      works.filter((w) => lowered.has(w)),
      async (work) => {
        const isDone = isLow && (await this.#apply(work, (_host, _present, plan) => plan))
        await this.#settle(work, nowNs, isDone)
        return isDone
      },
    )
  }

  /** Runs an action on each server in parallel. @returns results of those that ended in time. */
  async #onEach(works: readonly Work[], act: (work: Work) => Promise<boolean>): Promise<ReadonlyMap<Work, boolean>> {
    const ended = new Map<Work, boolean>()
    const all = works.map(async (work) => {
      const acting = act(work)
      this.#underWay.add(work.server.node.host, acting)
      ended.set(work, await acting)
    })
    await endsWithin(Promise.all(all), this.#options.waitMs())
    return new Map(ended)
  }

  /**
   * Removes Sluice's rules, also those left behind by an earlier start of Sluice.
   *
   * @returns  true if none is left.
   */
  async withdraw(server: WrittenServer): Promise<boolean> {
    if (this.#underWay.has(server.node.host)) return false
    const work = { server, plans: keeping(server, () => false) }
    const ended = await this.#onEach([work], () => this.#withdraw(server))
    return ended.get(work) === true
  }

  async #withdraw(server: WrittenServer): Promise<boolean> {
    const { host } = server.node
    const isAny = MDS_SERVICES.some((s) => managed(server.services[s].rules).length > 0)
    // Rules under the lease of another console belong to it, although their names are the same.
    const takenOver = (isAny ? await this.#leases.get(host)?.takenOver() : undefined) ?? []
    const isTakenOver = (service: MdsService, r: RuleLine): boolean =>
      takenOver.some((o) => o.parameter === SERVICES[service].rules && o.name === r.name)
    const plans = keeping(server, isTakenOver)
    await this.#guard(host, () => this.#apply({ server, plans }, (_host, _present, plan) => plan))
    if (MDS_SERVICES.some((s) => managed(server.services[s].rules).some((r) => !isTakenOver(s, r)))) return false
    await this.#guard(host, () => this.#end(host))
    return true
  }

  async #end(host: string): Promise<boolean> {
    await this.#leases.get(host)?.end(this.#nowMs())
    this.#written.delete(host)
    this.#failures.delete(host)
    return true
  }

  /** Ensures a timer for every rule that exists or is about to; false if none could be made. */
  async #cover({ server, plans }: Work, nowNs: number): Promise<boolean> {
    const { host } = server.node
    const there = MDS_SERVICES.flatMap((s) => managed(server.services[s].rules).map((r) => keyOf(s, r.name)))
    const next = MDS_SERVICES.flatMap((s) => [...plans[s].expected.keys()].map((n) => keyOf(s, n)))
    const names = [...there, ...next]
    const covered = await this.#leases.get(host)?.cover(names, nowNs, this.#nowMs(), { there, next })
    if (!covered || covered.ok) {
      if (names.length > 0) this.#written.add(host)
      return true
    }
    if (covered.error.code === 'LEASE_TAKEN') this.#onLeaseLost(host, covered.error)
    else if (covered.error.code !== 'LEASE_REFUSED') this.#failures.set(host, covered.error)
    return false
  }

  /** The console that took the lease now manages the rules, and removes them. */
  #onLeaseLost(host: string, why: Failure): void {
    this.#written.delete(host)
    this.#options.onTaken?.(why)
  }

  /** Applies a part of the plans of one server; false if the read-back differs. */
  async #apply(
    { server, plans }: Work,
    part: (host: string, present: readonly RuleLine[], plan: Plan) => Plan,
  ): Promise<boolean> {
    const { node, services } = server
    let isDone = true
    for (const service of MDS_SERVICES) {
      const plan = part(node.host, services[service].rules, plans[service])
      // The whole plan was made before its first part was applied.
      const remainingPlan = planRules(node.host, services[service].rules, [...plan.expected.values()])
      if (remainingPlan.commands.length === 0) continue
      const atMs = this.#nowMs()
      const done = await this.#guard(node.host, async () => {
        const { may } = this.#options
        const applied = await applyPlan(node, remainingPlan, this.#audit, atMs, {
          parameter: SERVICES[service].rules,
          may,
          timerFile: this.#leases.get(node.host)?.state?.file,
        })
        if (applied.late) this.#underWay.add(node.host, applied.late)
        const taken = applied.isUncovered
          ? await this.#leases.get(node.host)?.endedElsewhere(this.#source.nowNs())
          : undefined
        if (taken) this.#onLeaseLost(node.host, taken)
        const { state, detail } = applied
        this.#outcomes.set(placeOf(node.host, service), { plan: plans[service], atMs, state, detail })
        if (applied.rules) services[service] = { rules: applied.rules, rulesText: applied.rulesText }
        return state === 'applied'
      })
      isDone &&= done
    }
    return isDone
  }

  /** A plan whose read-back failed is not sent again every cycle: the pause doubles up to half a minute. */
  async #settle({ server, plans }: Work, nowNs: number, isDone: boolean): Promise<void> {
    const { host } = server.node
    if (isDone) {
      this.#failures.delete(host)
      this.#retries.delete(host)
      const isEmpty = MDS_SERVICES.every(
        (s) => plans[s].expected.size === 0 && managed(server.services[s].rules).length === 0,
      )
      if (isEmpty && this.#written.has(host)) await this.#guard(host, () => this.#end(host))
      return
    }
    const outcomes = MDS_SERVICES.map((s) => this.outcome(host, s)).filter((o) => o !== undefined)
    const failed = outcomes.find((o) => o.state === 'failed' || o.state === 'unknown')
    // Held back by a failure elsewhere.
    if (!failed) return
    const waitNs = Math.min(RETRY_NS.most, (this.#retries.get(host)?.waitNs ?? RETRY_NS.least / 2) * 2)
    this.#retries.set(host, { atNs: nowNs + waitNs, waitNs })
    this.#failures.set(host, {
      code: 'RULES_NOT_APPLIED',
      what: `The metadata rules on ${host} differ from those of the controller`,
      why: failed.detail,
      unaffected: 'No rate was raised on other servers meanwhile; sampling continues.',
      next: `It is retried every ${waitNs / NS_PER_S} s. If it persists, check the TBF type of the service.`,
    })
  }

  /** Nothing is sent that cannot be recorded. */
  async #guard(host: string, act: () => Promise<boolean>): Promise<boolean> {
    try {
      return await act()
    } catch (e) {
      if (e instanceof InvariantError) throw e
      this.#failures.set(host, {
        code: 'NOT_ON_RECORD',
        what: `Metadata rules on ${host} are not updated`,
        why: `the commands could not be recorded: ${e instanceof Error ? e.message : String(e)}`,
        unaffected: 'Sampling continues. Active rules are removed by their timer within a minute.',
        next: 'Free space for the history; writing resumes automatically.',
      })
      return false
    }
  }

  #nowMs(): number {
    return this.#source.toUnixMs(this.#source.nowNs())
  }
}
