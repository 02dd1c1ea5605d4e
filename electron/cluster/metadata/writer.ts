/**
 * Brings the rules of metadata servers to what is wanted, as the loop of data RPCs does: under a timer on the server that
 * covers them, on record before they are sent, read back and compared.
 *
 * A rate is one sum over servers and services, so what is lowered anywhere is lowered and read back before anything is
 * raised or started anywhere: a failure on the way leaves less than the limit, never more.
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
import { UnderWay } from '../control/under-way.ts'

export interface ServiceState {
  readonly rules: readonly RuleLine[]
  readonly rulesText: string
}

/** One server as it was read, and after its rules were written. */
export interface WrittenServer {
  readonly node: NodeConnection
  readonly services: Record<MdsService, ServiceState>
}

export type DesiredServices = Readonly<Record<MdsService, readonly DesiredRule[]>>

/** Pause before a failed plan is tried again. */
const RETRY_NS = { least: NS_PER_S, most: 30 * NS_PER_S } as const

/** Rules are covered by service and name: two services of a server may have rules of one name. */
const keyOf = (service: MdsService, name: string): string => `${service}/${name}`
function stopOf(key: string): TimerStop {
  const at = key.indexOf('/')
  return { parameter: SERVICES[key.slice(0, at) as MdsService].rules, queue: 'reg', name: key.slice(at + 1) }
}

const ours = (rules: readonly RuleLine[]): RuleLine[] =>
  rules.filter((r) => r.queue === 'reg' && r.cpt === 0 && isControllerRule(r.name))

const conditionsOf = ({ conditions }: RuleLine): string =>
  conditions.startsWith('{') ? `jobid=${conditions}` : conditions

/** The part of a plan that only lowers: rules that are wanted with less than they have. */
function lowering(host: string, present: readonly RuleLine[], plan: Plan): Plan {
  const kept = ours(present).map((r) => {
    const conditions = conditionsOf(r)
    const want = plan.expected.get(r.name)
    const rate = want?.conditions === conditions ? Math.min(want.rate, r.rate) : r.rate
    return { name: r.name, conditions, rate }
  })
  return planRules(host, present, kept)
}

/** Plans that remove our rules but for those that are to stay. */
function keeping(
  { node, services }: WrittenServer,
  stays: (service: MdsService, r: RuleLine) => boolean,
): Work['plans'] {
  const of = (s: MdsService): Plan => {
    const { rules } = services[s]
    const kept = ours(rules).filter((r) => stays(s, r))
    return planRules(
      node.host,
      rules,
      kept.map((r) => ({ name: r.name, conditions: conditionsOf(r), rate: r.rate })),
    )
  }
  return { mdt: of('mdt'), mdt_readpage: of('mdt_readpage') }
}

/** How a writer stands to other writers of the cluster. */
export interface WriterOptions extends Pick<LeaseOptions, 'keeper' | 'may'> {
  /** Another console took a lease away. */
  readonly onTaken?: ((why: Failure) => void) | undefined
  /** Longest wait for the servers in one step of writing, wall ms; one that takes longer is left out of the next steps. */
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

  readonly #underWay = new UnderWay()
  readonly #options: WriterOptions

  constructor(source: ClusterSource, audit: Audit, session: string, options: WriterOptions) {
    this.#source = source
    this.#audit = audit
    this.#options = options
    const { keeper, may } = options
    for (const n of source.nodes) {
      if (n.roles.includes('mds'))
        this.#leases.set(n.host, new Lease(n, `${session}-md`, audit, { stop: stopOf, keeper, may }))
    }
  }

  /** Servers on which a command is under way. */
  get busy(): ReadonlySet<string> {
    return this.#underWay.hosts
  }

  /** Resolves when nothing is under way, or after so many ms of wall time; @returns servers on which something still is. */
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

  /** Whether rules or a timer of this session may be on a server. */
  isWritten(host: string): boolean {
    return this.#written.has(host) || this.#leases.get(host)?.isOpen === true
  }

  /** For a new mode: what failed under the old one says nothing any more. */
  forgetFailures(): void {
    this.#failures.clear()
    this.#retries.clear()
  }

  /** The literal commands that would bring a server to what is wanted. */
  static commandsOf(server: WrittenServer, desired: DesiredServices): string[] {
    return MDS_SERVICES.flatMap((s) =>
      planRules(server.node.host, server.services[s].rules, desired[s]).commands.map((c) =>
        setParamCommand(SERVICES[s].rules, c.value),
      ),
    )
  }

  /** What would be sent, and why it is not. */
  show(server: WrittenServer, desired: DesiredServices, detail: string): void {
    const { host } = server.node
    const atMs = this.#nowMs()
    for (const service of MDS_SERVICES) {
      const plan = planRules(host, server.services[service].rules, desired[service])
      if (plan.commands.length === 0) continue
      this.#outcomes.set(placeOf(host, service), { plan, atMs, state: 'shown', detail })
    }
  }

  /** Enforce: all servers that answered together. */
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
    // A server that is still being written to may have more than it is to have.
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
    // Two steps only where something is lowered and something else is raised.
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

  /** Does something on each server, beside each other. @returns what came of it where it ended in time. */
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
   * Removes our rules, also those that an earlier start of Sluice left behind.
   *
   * @returns  whether none is left.
   */
  async withdraw(server: WrittenServer): Promise<boolean> {
    if (this.#underWay.has(server.node.host)) return false
    const work = { server, plans: keeping(server, () => false) }
    const ended = await this.#onEach([work], () => this.#withdraw(server))
    return ended.get(work) === true
  }

  async #withdraw(server: WrittenServer): Promise<boolean> {
    const { host } = server.node
    const isAny = MDS_SERVICES.some((s) => ours(server.services[s].rules).length > 0)
    // Rules under the lease of another console are its own, although their names are the same.
    const others = (isAny ? await this.#leases.get(host)?.takenOver() : undefined) ?? []
    const isOthers = (service: MdsService, r: RuleLine): boolean =>
      others.some((o) => o.parameter === SERVICES[service].rules && o.name === r.name)
    const plans = keeping(server, isOthers)
    await this.#guard(host, () => this.#apply({ server, plans }, (_host, _present, plan) => plan))
    if (MDS_SERVICES.some((s) => ours(server.services[s].rules).some((r) => !isOthers(s, r)))) return false
    await this.#guard(host, () => this.#end(host))
    return true
  }

  async #end(host: string): Promise<boolean> {
    await this.#leases.get(host)?.end(this.#nowMs())
    this.#written.delete(host)
    this.#failures.delete(host)
    return true
  }

  /** A timer stands for every rule that is there or about to be; false where none could be made. */
  async #cover({ server, plans }: Work, nowNs: number): Promise<boolean> {
    const { host } = server.node
    const there = MDS_SERVICES.flatMap((s) => ours(server.services[s].rules).map((r) => keyOf(s, r.name)))
    const next = MDS_SERVICES.flatMap((s) => [...plans[s].expected.keys()].map((n) => keyOf(s, n)))
    const names = [...there, ...next]
    const covered = await this.#leases.get(host)?.cover(names, nowNs, this.#nowMs(), { there, next })
    if (!covered || covered.ok) {
      if (names.length > 0) this.#written.add(host)
      return true
    }
    if (covered.error.code === 'LEASE_TAKEN') this.#left(host, covered.error)
    else if (covered.error.code !== 'LEASE_REFUSED') this.#failures.set(host, covered.error)
    return false
  }

  /** Whoever took the lease keeps the rules, and removes them. */
  #left(host: string, why: Failure): void {
    this.#written.delete(host)
    this.#options.onTaken?.(why)
  }

  /** Applies a part of the plans of one server; false when the read-back is not what it must be. */
  async #apply(
    { server, plans }: Work,
    part: (host: string, present: readonly RuleLine[], plan: Plan) => Plan,
  ): Promise<boolean> {
    const { node, services } = server
    let isDone = true
    for (const service of MDS_SERVICES) {
      const plan = part(node.host, services[service].rules, plans[service])
      // The whole plan was made before the first part of it was applied.
      const left = planRules(node.host, services[service].rules, [...plan.expected.values()])
      if (left.commands.length === 0) continue
      const atMs = this.#nowMs()
      const done = await this.#guard(node.host, async () => {
        const { may } = this.#options
        const applied = await applyPlan(node, left, this.#audit, atMs, {
          parameter: SERVICES[service].rules,
          may,
          timerFile: this.#leases.get(node.host)?.state?.file,
        })
        if (applied.late) this.#underWay.add(node.host, applied.late)
        const taken = applied.isUncovered
          ? await this.#leases.get(node.host)?.endedElsewhere(this.#source.nowNs())
          : undefined
        if (taken) this.#left(node.host, taken)
        const { state, detail } = applied
        this.#outcomes.set(placeOf(node.host, service), { plan: plans[service], atMs, state, detail })
        if (applied.rules) services[service] = { rules: applied.rules, rulesText: applied.rulesText }
        return state === 'applied'
      })
      isDone &&= done
    }
    return isDone
  }

  /** A plan that did not come true is not sent again every cycle: the pause doubles up to half a minute. */
  async #settle({ server, plans }: Work, nowNs: number, isDone: boolean): Promise<void> {
    const { host } = server.node
    if (isDone) {
      this.#failures.delete(host)
      this.#retries.delete(host)
      const isEmpty = MDS_SERVICES.every(
        (s) => plans[s].expected.size === 0 && ours(server.services[s].rules).length === 0,
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
      what: `The metadata rules on ${host} are not what the controller wants`,
      why: failed.detail,
      unaffected: 'Nothing was raised on other servers meanwhile; sampling goes on.',
      next: `It is tried again every ${waitNs / NS_PER_S} s. If it stays, check the TBF type of the service.`,
    })
  }

  /** What could not be put on record is not sent. */
  async #guard(host: string, act: () => Promise<boolean>): Promise<boolean> {
    try {
      return await act()
    } catch (e) {
      if (e instanceof InvariantError) throw e
      this.#failures.set(host, {
        code: 'NOT_ON_RECORD',
        what: `Metadata rules on ${host} are not kept up`,
        why: `what would be sent could not be put on record: ${e instanceof Error ? e.message : String(e)}`,
        unaffected: 'Sampling goes on. Rules that are there are removed by their timer within a minute.',
        next: 'Free space for the history; writing starts again by itself.',
      })
      return false
    }
  }

  #nowMs(): number {
    return this.#source.toUnixMs(this.#source.nowNs())
  }
}
