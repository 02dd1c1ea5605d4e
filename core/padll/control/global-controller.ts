/**
 * Global controller: collects the stages' counts, computes and enforces their rates, sleeps. Messages of one connection
 * arrive in order, perhaps twice; no message makes it fail.
 *
 * Invariant: the rates in force in a scope sum to at most its limit, and the floor of each enforcement object beyond it
 * (RATE_FLOOR): rates fall before others rise, commands without an answer count as in force, and so do the rates of
 * stages out of reach until their leases have run out. The successor of another controller hands out no more than it
 * finds in force until the leases of stages that it has not heard of have run out, too.
 *
 * Source: spec/padll 4, 5, 6 (rows 8, 15, 16), 8. Deviations: policies per job and scope, all due ones applied at once;
 * leases, epochs, deadlines; of two controllers the older one stops.
 */
import { ok, type Result, type Failure } from '../../base/result.ts'
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import { isEnforced } from '../rules/policy.ts'
import { printPolicy } from '../rules/policy-text.ts'
import type { RuleFault } from '../rules/rule-fault.ts'
import type { PadllStatus } from '../status.ts'
import type { Scope } from '../vocabulary.ts'
import { type OutstandingRequests, Cycle, type Phase } from './cycle.ts'
import { withFloors, objectsOf } from './layout-objects.ts'
import type { GlobalToLocal, LocalToGlobal, StageEntry } from './messages.ts'
import { plan, type Plan } from './plan.ts'
import { ActivePolicies, policyFaults } from './active-policies.ts'
import { MISSES_MAX, NO_REQUEST } from './protocol.ts'
import { Roster } from './roster.ts'
import { changed, DEFAULT_SETTINGS, type GlobalChange, type GlobalSettings, usable } from './settings.ts'
import { type LocalPeer, type StageRecord, type StageScope, bounded } from './stage-record.ts'
import { statusOf } from './status-report.ts'

/** Jobs without stages whose sums are retained. */
const ABSENT_MAX = 1000

/** Operations of a job in one scope since the controller first saw it, and the sum of their waits, ns. */
interface JobSum {
  arrived: number
  served: number
  throttledNs: number
}

/** Sums of each job by scope; bounded for any number of jobs. */
class JobSums {
  readonly byScope = new Map<Scope, Map<string, JobSum>>()

  /** @param stages  present stages: at least as many as jobs. @param isPresent  true for a present job. */
  add(scope: Scope, job: string, counts: JobSum, stages: number, isPresent: (job: string) => boolean): void {
    let jobs = this.byScope.get(scope)
    if (!jobs) this.byScope.set(scope, (jobs = new Map<string, JobSum>()))
    let sum = jobs.get(job)
    if (!sum) {
      if (jobs.size > stages + ABSENT_MAX) for (const one of jobs.keys()) if (!isPresent(one)) jobs.delete(one)
      jobs.set(job, (sum = { arrived: 0, served: 0, throttledNs: 0 }))
    }
    sum.arrived += bounded(counts.arrived)
    sum.served += bounded(counts.served)
    sum.throttledNs += bounded(counts.throttledNs)
  }
}

interface Order {
  readonly of: StageScope
  readonly rate: number
}

/** Upper bound of the rounding error of summed rates, op/s. */
const ROUNDING_TOLERANCE = 1e-6

/**
 * Lowerings, and repeated commands that raise nothing.
 *
 * A plan is enforced in two steps, so that the rates in force never sum to more than the limit: first every lowering is
 * sent and awaited, then raises are sent as far as the rates in force leave headroom.
 *
 * If the rates that may be in force exceed the limit, a stage whose upper bound alone is known could rise by an
 * apparent lowering: it goes to its floor first. Stages that return after their leases ran out are such.
 */
export function lowerings(plan: Plan): Order[] {
  const orders: Order[] = []
  for (const { budget, limited, free } of plan.scopes) {
    const isOver = limited.reduce((sum, of) => sum + of.most, 0) > budget + ROUNDING_TOLERANCE
    const look = (of: StageScope): void => {
      const isDoubtful = isOver && of.isUnsure
      const rate = isDoubtful ? Math.min(of.floor, of.target) : of.target
      if (rate < of.most || (of.isUnsure && rate === of.most)) orders.push({ of, rate })
    }
    limited.forEach(look)
    free.forEach(look)
  }
  return orders
}

/** Raises. An unconfirmed lowering leaves less headroom; the next cycle tries again. */
export function raisings(plan: Plan): Order[] {
  const orders: Order[] = []
  for (const { budget, limited, free } of plan.scopes) {
    let headroom = budget === Infinity ? Infinity : budget - limited.reduce((sum, of) => sum + of.most, 0)
    for (const of of limited) {
      const more = of.target - of.most
      if (more <= 0) continue
      const given = more <= headroom + ROUNDING_TOLERANCE ? more : Math.floor(headroom)
      if (given <= 0) continue
      headroom -= given
      orders.push({ of, rate: of.most + given })
    }
    for (const of of free) if (of.target > of.most) orders.push({ of, rate: of.target })
  }
  return orders
}

/** Groups orders by connection. */
function byPeer(orders: readonly Order[], peerOf: (of: StageScope) => LocalPeer | undefined): Map<LocalPeer, Order[]> {
  const peers = new Map<LocalPeer, Order[]>()
  for (const order of orders) {
    const peer = peerOf(order.of)
    if (!peer) continue
    const some = peers.get(peer)
    if (some) some.push(order)
    else peers.set(peer, [order])
  }
  return peers
}

/** Refused commands that are kept. */
const REFUSALS_MAX = 100

interface CountsContext {
  readonly roster: Roster
  readonly sums: JobSums
  readonly nowNs: number
  readonly intervalNs: number
}

/**
 * Records counts; returns the stages that the local controller does not know although they joined before the request.
 */
function takeCounts(
  peer: LocalPeer,
  counts: Extract<LocalToGlobal, { kind: 'counts' }>,
  { roster, sums, nowNs, intervalNs }: CountsContext,
): StageRecord[] {
  const named = new Set<string>()
  for (const { key, channels } of counts.stages) {
    const stage = peer.stages.get(key)
    named.add(key)
    if (!stage) {
      peer.isUnsure = true
      continue
    }
    stage.take(channels, counts.windowNs, nowNs, intervalNs)
    for (const channel of channels) {
      sums.add(channel.scope, stage.identity.job, channel, roster.stages.size, (job) => roster.hasJob(job))
    }
  }
  for (const key of counts.silent) {
    named.add(key)
    peer.stages.get(key)?.missed(counts.windowNs)
  }
  return [...peer.stages.values()].filter((s) => !named.has(s.key) && s.joinedRequest < counts.request)
}

/** Records the answer to commands; `refusals` holds why some were not carried out, by job and scope. */
function takeAck(peer: LocalPeer, ack: Extract<LocalToGlobal, { kind: 'ack' }>, refusals: Map<string, string>): void {
  const orders = peer.commands.get(ack.request)
  if (!orders) return
  peer.commands.delete(ack.request)
  // Common case, no failure before or now: skips building names.
  if (ack.failed.length === 0 && refusals.size === 0) {
    for (const { of, rate } of orders) of.answered(ack.request, rate, true)
    return
  }
  const failed = new Map(ack.failed.map((f) => [`${f.key}\n${f.scope}`, f.why] as const))
  for (const { of, rate } of orders) {
    const why = failed.get(`${of.stage.key}\n${of.scope}`)
    of.answered(ack.request, rate, why === undefined)
    const where = `${of.stage.identity.job} ${of.scope}`
    if (why === undefined) refusals.delete(where)
    else if (refusals.size < REFUSALS_MAX && peer.stages.has(of.stage.key)) refusals.set(where, why)
  }
}

/** Records calls that a stage cannot limit. */
function takeUnlimited(stage: StageRecord | undefined, why: string): void {
  if (stage) stage.unlimited = why
}

/** Jobs with calls that their stages cannot limit, and why; the first REFUSALS_MAX of them. */
function unlimitedJobs(roster: Roster): Map<string, string> {
  const jobs = new Map<string, string>()
  for (const peer of roster.peers.values()) {
    for (const { unlimited, identity } of peer.stages.values()) {
      if (unlimited !== undefined && jobs.size < REFUSALS_MAX) jobs.set(identity.job, unlimited)
    }
  }
  return jobs
}

/** Controller that has replaced this one. */
interface Successor {
  readonly controller: string
  readonly epoch: number
}

const LOCALS_NAMED = 5

interface FailureInput {
  readonly successor: Successor | undefined
  readonly plan: Plan
  readonly roster: Roster
  /** Reasons for refused commands, by job and scope. */
  readonly refusals: ReadonlyMap<string, string>
  readonly nowNs: number
}

/**
 * Failures that a global controller reports. Codes: SUPERSEDED, NOT_ALLOCATED, OUT_OF_REACH, NOT_ENFORCED, NOT_LIMITED,
 * TAKING_OVER.
 */
function failuresOf({ successor, plan, roster, refusals, nowNs }: FailureInput): Failure[] {
  const failures: Failure[] = []
  const secondsTo = (ns: number): number => Math.max(0, Math.ceil((ns - nowNs) / NS_PER_S))
  if (successor) {
    const why = `controller ${successor.controller} with epoch ${successor.epoch} has taken over`
    failures.push({ code: 'SUPERSEDED', what: 'This controller is no longer in command', why })
  }
  for (const { scope, why } of plan.faults) {
    failures.push({ code: 'NOT_ALLOCATED', what: `The rates of ${scope} cannot be computed`, why })
  }
  const away = roster.reservations.all
  if (away.length > 0) {
    const locals = [...new Set(away.map((r) => r.local))].slice(0, LOCALS_NAMED).join(', ')
    const last = (of: 'untilNs' | 'forgetNs'): number => secondsTo(away.reduce((t, r) => Math.max(t, r[of]), 0))
    const isOver = !away.some((r) => r.later.size > 0)
    const until = isOver
      ? `for ${last('untilNs')} s more`
      : `until the stages or their nodes are back, ${last('forgetNs')} s at most`
    const why = `lost with ${locals}; they may still be in use ${until}`
    failures.push({ code: 'OUT_OF_REACH', what: `The rates of ${away.length} stages out of reach are reserved`, why })
  }
  for (const [where, why] of refusals) failures.push({ code: 'NOT_ENFORCED', what: `${where} was refused`, why })
  for (const [job, why] of unlimitedJobs(roster)) {
    failures.push({ code: 'NOT_LIMITED', what: `Some calls of ${job} are not limited`, why })
  }
  if (roster.caps) {
    const why = `rates granted by the previous controller may stay in force for ${secondsTo(roster.cautiousNs)} s`
    failures.push({ code: 'TAKING_OVER', what: 'Rates are not raised yet', why })
  }
  return failures
}

type Event = PadllStatus['events'][number]

const EVENTS_MAX = 200
const TEXT_MAX = 512

/** Latest events of a controller, numbered so that a reader can tell which are new. */
class EventLog {
  #events: Event[] = []
  #seq = 0

  add(atMs: number, kind: Event['kind'], text: string, where: string): void {
    this.#events.push({ seq: ++this.#seq, atMs, kind, text: text.slice(0, TEXT_MAX), where: where.slice(0, TEXT_MAX) })
    // Trimmed in batches, not at each event.
    if (this.#events.length >= 2 * EVENTS_MAX) this.#events = this.#events.slice(-EVENTS_MAX)
  }

  /** Oldest first. */
  get last(): Event[] {
    return this.#events.slice(-EVENTS_MAX)
  }
}

export type { GlobalSettings } from './settings.ts'

/** Transport. Both calls must act later, never synchronously. A link is any number that the host gives a connection. */
export interface GlobalIo {
  send(link: number, message: GlobalToLocal): void
  close(link: number): void
}

export interface GlobalOptions {
  /** Name for display. */
  readonly controller: string
  /** Unix ms at `startedNs` of the clock passed in. Of two controllers the one started later stays in command. */
  readonly startedMs: number
  readonly startedNs: number
  /** One higher than its predecessor's. Above 1 it takes over: see above. */
  readonly epoch?: number
  readonly housekeeping: readonly HousekeepingRule[]
  readonly settings?: Partial<GlobalSettings>
  readonly io: GlobalIo
}

const EPOCH_MAX = 2 ** 48
/** Unanswered commands to one local controller that are kept. */
const COMMANDS_MAX = 64
const NAME_MAX = 100

export class GlobalController {
  readonly name: string
  readonly startedMs: number
  readonly #startedNs: number
  /** Unique to this run; later runs sort after earlier ones. */
  readonly #id: string
  readonly #io: GlobalIo
  readonly #housekeeping: readonly HousekeepingRule[]
  readonly #baseRates: ReadonlyMap<string, number>
  readonly #events = new EventLog()
  readonly #roster: Roster
  readonly #policies: ActivePolicies
  readonly #sums = new JobSums()
  /** Reasons for refused commands, by job and scope. */
  readonly #refusals = new Map<string, string>()
  #epoch: number
  #settings: GlobalSettings
  #successor: Successor | undefined
  readonly #cycle: Cycle
  #request = 0
  #plan: Plan = { scopes: [], faults: [] }
  #nowNs: number

  constructor(options: GlobalOptions) {
    const { controller, startedMs, startedNs, epoch = 1 } = options
    this.name = controller.slice(0, NAME_MAX)
    this.startedMs = startedMs
    this.#startedNs = startedNs
    this.#nowNs = startedNs
    this.#id = `${Math.max(0, Math.floor(startedMs)).toString(36).padStart(9, '0')}.${this.name}`
    this.#io = options.io
    this.#housekeeping = options.housekeeping
    this.#baseRates = new Map(objectsOf(options.housekeeping).map((o) => [`${o.channel} ${o.object}`, o.rate]))
    this.#epoch = epoch
    this.#settings = usable({ ...DEFAULT_SETTINGS, ...options.settings })
    this.#roster = new Roster(this.#settings.lease, (...event) => this.#event(...event))
    this.#policies = new ActivePolicies(startedNs)
    this.#cycle = new Cycle(startedNs, {
      collect: () => this.#collect(),
      endRounds: () => {
        for (const stage of this.#roster.stages.keys()) for (const of of stage.scopes.values()) of.endRounds()
      },
      compute: () => this.#compute(),
      lower: () => this.#enforce(lowerings(this.#plan)),
      raise: () => this.#enforce(raisings(this.#plan)),
      missed: (phase, peers) => this.#missed(phase, peers),
    })
    if (epoch > 1) this.#roster.beCautious(startedNs)
    this.#event('controller', `started with epoch ${epoch}`, this.name)
  }

  get epoch(): number {
    return this.#epoch
  }

  get policiesText(): string {
    return this.#policies.text
  }

  get settings(): GlobalSettings {
    return this.#settings
  }

  /** False once another controller has taken over; this one then sends no commands. */
  get isCommanding(): boolean {
    return this.#successor === undefined
  }

  onOpen(link: number, nowNs: number): void {
    this.#nowNs = nowNs
    this.#roster.open(link, nowNs)
  }

  onGone(link: number, nowNs: number): void {
    this.#nowNs = nowNs
    const peer = this.#roster.peers.get(link)
    if (peer) this.#lose(peer, 'its connection is gone')
    this.#goOn()
  }

  onMessage(link: number, message: LocalToGlobal, nowNs: number): void {
    this.#nowNs = nowNs
    const peer = this.#roster.peers.get(link)
    if (!peer || this.#successor) return
    peer.lastSeenNs = nowNs
    switch (message.kind) {
      case 'hello':
        this.#onHello(peer, message)
        break
      case 'stage-joined':
        if (peer.isAccepted) this.#join(peer, message.stage, false)
        break
      case 'stage-left':
        this.#leave(peer, peer.stages.get(message.key), message.why)
        break
      case 'counts':
        this.#onCounts(peer, message)
        break
      case 'ack':
        if (message.request === NO_REQUEST) {
          for (const { key, why } of message.failed) takeUnlimited(peer.stages.get(key), why)
          break
        }
        takeAck(peer, message, this.#refusals)
        this.#cycle.answered(peer, message.request)
        break
      case 'stale':
        this.#onStale(message.epoch, message.controller)
        break
    }
    this.#goOn()
  }

  tick(nowNs: number): void {
    this.#nowNs = nowNs
    if (this.#successor) return
    if (nowNs >= this.#roster.cautiousNs) {
      this.#roster.endCaution()
      this.#cycle.isDue = true
    }
    if (nowNs >= this.#policies.nextNs) this.#cycle.isDue = true
    this.#cycle.tick(this.#settings, nowNs)
  }

  /** Latest time for the next `tick`. */
  nextNs(): number {
    if (this.#successor) return Infinity
    return Math.min(this.#cycle.nextNs(this.#settings, this.#policies.nextNs), this.#roster.cautiousNs)
  }

  /** Returns the faults of a policy text without applying it. */
  checkPolicies(text: string): readonly RuleFault[] {
    return policyFaults(text)
  }

  /**
   * Replaces the policies in force.
   *
   * @param startedNs  time of their second 0; in the past for policies that were in force before a restart.
   * @returns          POLICIES_FAULTY with the first fault; the old ones then stay.
   */
  setPolicies(text: string, nowNs: number, startedNs = nowNs): Result<undefined> {
    this.#nowNs = nowNs
    const set = this.#policies.set(text, startedNs)
    if (!set.ok) return set
    this.#cycle.isDue = true
    this.#event('policy', `${this.#policies.schedule.file.policies.length} policies loaded`, this.name)
    this.#goOn()
    return ok(undefined)
  }

  /** Changes settings; if any part of the change is not valid, all of it is refused. */
  change(change: GlobalChange, nowNs: number): Result<undefined> {
    this.#nowNs = nowNs
    const next = changed(this.#settings, change)
    if (!next.ok) return next
    this.#settings = next.value
    this.#event('policy', 'settings changed', this.name)
    this.#roster.gives(next.value.lease)
    // The previous plan raises nothing any more.
    this.#plan = { scopes: [], faults: [] }
    if (change.limits || change.lease) this.#welcomeAll()
    this.#cycle.changed(this.#settings, nowNs)
    this.#goOn()
    return ok(undefined)
  }

  status(nowMs: number): PadllStatus {
    const { peers } = this.#roster
    return statusOf({
      reservations: this.#roster.reservations.all,
      controller: this.name,
      epoch: this.#epoch,
      nowMs,
      startedMs: this.startedMs,
      cycle: this.#cycle.count,
      cycleMs: this.#cycle.tookNs / NS_PER_MS,
      settings: this.#settings,
      peers: [...peers.values()],
      housekeeping: this.#housekeeping,
      plan: this.#plan,
      policies: this.#policies.now,
      policiesText: this.#policies.text,
      policiesStartedMs: this.#msOf(this.#policies.fromNs),
      schedule: this.#policies.schedule,
      sums: this.#sums.byScope,
      events: this.#events.last,
      failures: failuresOf({
        successor: this.#successor,
        plan: this.#plan,
        roster: this.#roster,
        refusals: this.#refusals,
        nowNs: this.#nowNs,
      }),
      msOf: (ns) => this.#msOf(ns),
    })
  }

  #msOf(ns: number): number {
    return this.startedMs + (ns - this.#startedNs) / NS_PER_MS
  }

  #event(kind: PadllStatus['events'][number]['kind'], text: string, where: string): void {
    this.#events.add(this.#msOf(this.#nowNs), kind, text, where)
  }

  #onHello(peer: LocalPeer, hello: Extract<LocalToGlobal, { kind: 'hello' }>): void {
    peer.local = hello.local
    peer.hostname = hello.hostname
    if (!peer.isWelcomed) return this.#welcome(peer)
    // Sent by a local that obeys another controller, or before it got this one's welcome.
    if (hello.epoch !== this.#epoch) return
    if (!peer.isAccepted) {
      peer.isAccepted = true
      for (const other of [...this.#roster.peers.values()]) {
        if (other === peer || other.local !== peer.local) continue
        this.#lose(other, 'it has reconnected')
        this.#io.close(other.link)
      }
      this.#roster.accepted(peer, this.#nowNs)
    }
    peer.isUnsure = false
    for (const stage of hello.stages) {
      const known = peer.stages.get(stage.key)
      if (known) known.refresh(stage)
      else this.#join(peer, stage, true)
    }
    this.#cycle.isDue = true
  }

  #welcome(peer: LocalPeer): void {
    peer.isWelcomed = true
    const { limits, lease } = this.#settings
    const housekeeping = withFloors(this.#housekeeping, (scope) => limits.has(scope))
    this.#io.send(peer.link, { kind: 'welcome', epoch: this.#epoch, controller: this.#id, housekeeping, lease })
  }

  #welcomeAll(): void {
    for (const peer of this.#roster.peers.values()) if (peer.isWelcomed) this.#welcome(peer)
  }

  #join(peer: LocalPeer, entry: StageEntry, isBrought: boolean): void {
    this.#roster.join(peer, entry, { at: this.#request, nowNs: this.#nowNs, isBrought })
    this.#cycle.isDue = true
  }

  #leave(peer: LocalPeer, stage: StageRecord | undefined, why: string): void {
    if (!stage) return
    this.#roster.leave(peer, stage, why, this.#nowNs)
    for (const scope of stage.scopes.keys()) this.#refusals.delete(`${stage.identity.job} ${scope}`)
    this.#cycle.isDue = true
  }

  #lose(peer: LocalPeer, why: string): void {
    this.#roster.lose(peer, why, this.#nowNs)
    this.#cycle.lost(peer)
  }

  /** Handles a node that another controller commands: the controller started later stays, with an epoch above both. */
  #onStale(epoch: number, controller: string): void {
    const isOwn = controller === this.#id && epoch === this.#epoch
    if (isOwn || !(epoch >= this.#epoch) || epoch > EPOCH_MAX) return
    // A twin started at the same time differs only by its epoch.
    if (controller >= this.#id) {
      this.#successor = { controller: controller.slice(0, NAME_MAX + 10), epoch }
      this.#event('controller', `controller ${controller} with epoch ${epoch} has taken over`, this.name)
      return
    }
    this.#epoch = epoch + 1
    this.#roster.beCautious(this.#nowNs)
    this.#event('controller', `took over from ${controller} with epoch ${this.#epoch}`, this.name)
    this.#welcomeAll()
  }

  #onCounts(peer: LocalPeer, counts: Extract<LocalToGlobal, { kind: 'counts' }>): void {
    if (peer.collect !== counts.request) return
    peer.collect = undefined
    peer.misses = 0
    const context = { roster: this.#roster, sums: this.#sums, nowNs: this.#nowNs }
    for (const stage of takeCounts(peer, counts, { ...context, intervalNs: this.#settings.intervalNs })) {
      this.#leave(peer, stage, 'it is unknown to its local controller')
    }
    this.#cycle.answered(peer, counts.request)
  }

  #goOn(): void {
    if (!this.#successor) this.#cycle.advance(this.#settings, this.#nowNs)
  }

  #collect(): OutstandingRequests {
    if (this.#roster.reservations.expire(this.#nowNs)) this.#cycle.isDue = true
    const requests = new Map<LocalPeer, number>()
    for (const peer of this.#roster.peers.values()) {
      if (!peer.isAccepted) continue
      if (peer.isUnsure) this.#welcome(peer)
      peer.collect = ++this.#request
      this.#io.send(peer.link, { kind: 'collect', request: peer.collect, epoch: this.#epoch, controller: this.#id })
      requests.set(peer, peer.collect)
    }
    return requests
  }

  /** Continues without late answers; a peer that misses several collections in a row is dropped. */
  #missed(phase: Phase, peers: readonly LocalPeer[]): void {
    for (const peer of peers) {
      if (phase !== 'collect') {
        for (const orders of peer.commands.values()) for (const { of } of orders) of.isUnsure = true
      } else if (++peer.misses >= MISSES_MAX) {
        this.#lose(peer, `it did not answer ${MISSES_MAX} times`)
        this.#io.close(peer.link)
      }
    }
  }

  #compute(): void {
    for (const p of this.#policies.advance(this.#nowNs)) {
      if (isEnforced(p)) this.#event('policy', `in force: ${printPolicy(p)}`, p.job)
    }
    this.#plan = plan({
      stages: this.#roster.stages.keys(),
      policies: this.#policies.now,
      settings: this.#settings,
      reserved: this.#roster.reservations.sums(),
      caps: this.#roster.caps,
      baseRate: (channel, object) => this.#baseRates.get(`${channel} ${object}`) ?? 1,
    })
  }

  #enforce(orders: readonly Order[]): OutstandingRequests {
    const requests = new Map<LocalPeer, number>()
    for (const [peer, some] of byPeer(orders, (of) => this.#roster.stages.get(of.stage))) {
      const request = ++this.#request
      for (const { of, rate } of some) of.commanded(request, rate)
      peer.commands.set(request, some)
      const [oldest] = peer.commands.keys()
      if (peer.commands.size > COMMANDS_MAX && oldest !== undefined) peer.commands.delete(oldest)
      const rates = some.map(({ of, rate }) => ({ key: of.stage.key, scope: of.scope, rate }))
      this.#io.send(peer.link, { kind: 'enforce', request, epoch: this.#epoch, controller: this.#id, rates })
      requests.set(peer, request)
    }
    return requests
  }
}
