/**
 * The global controller: collects what the stages did, computes what each may do, enforces it, sleeps. Messages of one
 * connection arrive in order, perhaps twice; nothing that arrives makes it fail.
 *
 * Whatever happens on the way, the rates in force in a scope sum to at most its limit, and the floor of each enforcement object
 * beyond it (RATE_FLOOR): rates fall before others rise, commands without an answer count as in force, and so do the rates of
 * stages out of reach until their leases have run out. A successor of another controller gives no more than what it finds in
 * force until the leases of stages that it has not heard of have run out too.
 *
 * Source: spec/padll 4, 5, 6 (rows 8, 15, 16), 8. Deviations: policies per job and scope, all that are due taken at once;
 * leases, epochs, deadlines; two controllers find out which is the newer one and the other stops.
 */
import { ok, type Result } from '../../base/result.ts'
import { NS_PER_MS } from '../../base/units.ts'
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import { isEnforced } from '../rules/policy.ts'
import { printPolicy } from '../rules/policy-text.ts'
import type { RuleFault } from '../rules/rule-fault.ts'
import type { PadllStatus } from '../status.ts'
import { takeAck, takeCounts } from './answers.ts'
import { type Asked, Cycle, type Phase } from './cycle.ts'
import { byPeer, lowerings, type Order, raisings } from './enforcement.ts'
import { EventLog } from './event-log.ts'
import { failuresOf, type Successor } from './failures.ts'
import { cautious, objectsOf } from './layout-objects.ts'
import type { GlobalToLocal, LocalToGlobal, StageEntry } from './messages.ts'
import { plan, type Plan } from './plan.ts'
import { PoliciesInForce, policyFaults } from './policies-in-force.ts'
import { MISSES_MAX } from './protocol.ts'
import { Roster } from './roster.ts'
import { changed, DEFAULT_SETTINGS, type GlobalChange, type GlobalSettings, usable } from './settings.ts'
import type { LocalPeer, StageRecord } from './stage-record.ts'
import { statusOf } from './status-report.ts'
import { WaitSums } from './wait-sums.ts'

export type { GlobalSettings } from './settings.ts'

/** Both are to act later, never from within the call. A link is any number that the host gives a connection. */
export interface GlobalIo {
  send(link: number, message: GlobalToLocal): void
  close(link: number): void
}

export interface GlobalOptions {
  /** Its name, as people know it. */
  readonly controller: string
  /** Unix ms at `startedNs` of the clock that is handed in. Of two controllers the one that started later goes on. */
  readonly startedMs: number
  readonly startedNs: number
  /** One higher than that of its predecessor. Above 1 it takes over: see above. */
  readonly epoch?: number
  readonly housekeeping: readonly HousekeepingRule[]
  readonly settings?: Partial<GlobalSettings>
  readonly io: GlobalIo
}

const EPOCH_MAX = 2 ** 48
/** Commands to one local controller without an answer that are remembered. */
const COMMANDS_MAX = 64
const NAME_MAX = 100

export class GlobalController {
  readonly name: string
  readonly startedMs: number
  readonly #startedNs: number
  /** Unique to this run, and later ones sort behind. */
  readonly #id: string
  readonly #io: GlobalIo
  readonly #housekeeping: readonly HousekeepingRule[]
  readonly #baseRates: ReadonlyMap<string, number>
  readonly #events = new EventLog()
  readonly #roster: Roster
  readonly #policies: PoliciesInForce
  readonly #waits = new WaitSums()
  /** Why commands were refused, by job and scope. */
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
    this.#policies = new PoliciesInForce(startedNs)
    this.#cycle = new Cycle(startedNs, {
      collect: () => this.#collect(),
      endRounds: () => {
        for (const stage of this.#roster.stages.keys()) for (const of of stage.scopes.values()) of.endRounds()
      },
      compute: () => this.#compute(),
      lower: () => this.#tell(lowerings(this.#plan)),
      raise: () => this.#tell(raisings(this.#plan)),
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

  /** False: another controller has taken over, and this one commands nobody any more. */
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

  /** When `tick` is to be called at the latest. */
  nextNs(): number {
    if (this.#successor) return Infinity
    return Math.min(this.#cycle.nextNs(this.#settings, this.#policies.nextNs), this.#roster.cautiousNs)
  }

  /** Faults of a policy text; nothing is kept. */
  checkPolicies(text: string): readonly RuleFault[] {
    return policyFaults(text)
  }

  /**
   * Puts policies in force in place of those before.
   *
   * @param startedNs  when their second 0 was; in the past for policies that were in force before a restart.
   * @returns          POLICIES_FAULTY with the first fault; then the old ones stay.
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

  /** Changes settings; a change of which anything cannot be is refused as a whole. */
  change(change: GlobalChange, nowNs: number): Result<undefined> {
    this.#nowNs = nowNs
    const next = changed(this.#settings, change)
    if (!next.ok) return next
    this.#settings = next.value
    this.#event('policy', 'settings changed', this.name)
    this.#roster.gives(next.value.lease)
    // Nothing is raised any more by what was computed before.
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
      throttledNs: this.#waits.ns,
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
    // Said by one that obeys another controller, or before it was told whom to obey.
    if (hello.epoch !== this.#epoch) return
    if (!peer.isAccepted) {
      peer.isAccepted = true
      for (const other of [...this.#roster.peers.values()]) {
        if (other === peer || other.local !== peer.local) continue
        this.#lose(other, 'it has connected anew')
        this.#io.close(other.link)
      }
      this.#roster.accepted(peer, this.#nowNs)
    }
    peer.isUnsure = false
    for (const stage of hello.stages) {
      const known = peer.stages.get(stage.key)
      if (known) known.saidAgain(stage)
      else this.#join(peer, stage, true)
    }
    this.#cycle.isDue = true
  }

  #welcome(peer: LocalPeer): void {
    peer.isWelcomed = true
    const { limits, lease } = this.#settings
    const housekeeping = cautious(this.#housekeeping, (scope) => limits.has(scope))
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

  /** Another controller commands a node: the one that started later goes on, with an epoch above both. */
  #onStale(epoch: number, controller: string): void {
    const isOwnWord = controller === this.#id && epoch === this.#epoch
    if (isOwnWord || !(epoch >= this.#epoch) || epoch > EPOCH_MAX) return
    // A twin that started in the same instant is told apart by its epoch alone.
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
    const context = { roster: this.#roster, waits: this.#waits, nowNs: this.#nowNs }
    for (const stage of takeCounts(peer, counts, { ...context, intervalNs: this.#settings.intervalNs })) {
      this.#leave(peer, stage, 'nobody knows of it')
    }
    this.#cycle.answered(peer, counts.request)
  }

  #goOn(): void {
    if (!this.#successor) this.#cycle.goOn(this.#settings, this.#nowNs)
  }

  #collect(): Asked {
    if (this.#roster.reservations.expire(this.#nowNs)) this.#cycle.isDue = true
    const asked = new Map<LocalPeer, number>()
    for (const peer of this.#roster.peers.values()) {
      if (!peer.isAccepted) continue
      if (peer.isUnsure) this.#welcome(peer)
      peer.collect = ++this.#request
      this.#io.send(peer.link, { kind: 'collect', request: peer.collect, epoch: this.#epoch, controller: this.#id })
      asked.set(peer, peer.collect)
    }
    return asked
  }

  /** What did not come in time is done without; one that is silent again and again is given up. */
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

  #tell(orders: readonly Order[]): Asked {
    const asked = new Map<LocalPeer, number>()
    for (const [peer, some] of byPeer(orders, (of) => this.#roster.stages.get(of.stage))) {
      const request = ++this.#request
      for (const { of, rate } of some) of.told(request, rate)
      peer.commands.set(request, some)
      const [oldest] = peer.commands.keys()
      if (peer.commands.size > COMMANDS_MAX && oldest !== undefined) peer.commands.delete(oldest)
      const rates = some.map(({ of, rate }) => ({ key: of.stage.key, scope: of.scope, rate }))
      this.#io.send(peer.link, { kind: 'enforce', request, epoch: this.#epoch, controller: this.#id, rates })
      asked.set(peer, request)
    }
    return asked
  }
}
