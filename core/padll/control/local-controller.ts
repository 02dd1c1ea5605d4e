/**
 * Local controller of a node: admits its stages, forwards the global controller's commands to them and their counts
 * back. It decides only how a stage's rate is split over its channels, and which controller it obeys.
 *
 * It obeys the global controller with the highest epoch, and of one epoch the one it obeyed first; it notifies the
 * others. If that one is silent for longer than the lease, leases of stages are no longer renewed, and the stages
 * follow them.
 *
 * Messages of one connection arrive in order, perhaps twice. Source: spec/padll 3, 8. Deviations: leases, epochs,
 * heartbeats.
 */
import { type Batch, CollectBatch, EnforceBatch } from './local-batch.ts'
import type { GlobalToLocal, Lease, LocalToGlobal, LocalToStage, StageRate, StageToLocal } from './messages.ts'
import {
  CONNECTION_GONE,
  HANDSHAKE_NS,
  MISSES_MAX,
  NO_REQUEST,
  RATE_FLOOR,
  RENEWALS_PER_LEASE,
  GOODBYE,
  STAGE_ANSWER_NS,
} from './protocol.ts'
import { equalPart } from './split.ts'
import { identityFault, nextStep } from './stage-handshake.ts'
import { StageSession, type Terms } from './stage-session.ts'

/** Transport. All calls must act later, never synchronously. Links are numbers that the host gives its connections. */
export interface LocalIo {
  toStage(link: number, message: LocalToStage): void
  closeStage(link: number): void
  toGlobal(link: number, message: LocalToGlobal): void
  closeGlobal(link: number): void
}

export interface LocalOptions {
  readonly local: string
  readonly hostname: string
  readonly io: LocalIo
}

/** Global controller that it obeys. */
interface Commander extends Terms {
  readonly controller: string
  readonly link: number
  /** Number of its last command: lower ones are late. */
  lastRequest: number
}

/** Characters of a stage's report on calls that it cannot limit. */
const UNLIMITED_MAX = 120

const isSame = (a: Lease, b: Lease): boolean =>
  a.ns === b.ns &&
  (a.onExpiry === 'hold' || b.onExpiry === 'hold' ? a.onExpiry === b.onExpiry : a.onExpiry.rate === b.onExpiry.rate)

/** Whole ns, so that a renewal due at a time is due when that time comes. */
const renewalNs = (lease: Lease): number => Math.max(1, Math.floor(lease.ns / RENEWALS_PER_LEASE))

export class LocalController {
  readonly #local: string
  readonly #hostname: string
  readonly #io: LocalIo
  readonly #sessions = new Map<number, StageSession>()
  readonly #byKey = new Map<string, StageSession>()
  readonly #globals = new Set<number>()
  readonly #batches = new Set<Batch>()
  /** Collections and commands that stages have not answered, by session and request. */
  readonly #unanswered = new Map<StageSession, Map<number, Batch>>()
  #commander: Commander | undefined
  #heardNs = 0
  #isLapsed = false
  #collectedNs: number | undefined
  #keys = 0
  #nextNs = Infinity

  constructor({ local, hostname, io }: LocalOptions) {
    this.#local = local
    this.#hostname = hostname
    this.#io = io
  }

  /** Highest epoch seen. */
  get epoch(): number {
    return this.#commander?.epoch ?? 0
  }

  /** Number of joined stages. */
  get stages(): number {
    let n = 0
    for (const s of this.#sessions.values()) if (s.state === 'joined') n++
    return n
  }

  onStageOpen(link: number, nowNs: number): void {
    if (this.#sessions.has(link)) return
    const session = new StageSession(link, `${++this.#keys}`)
    this.#sessions.set(link, session)
    this.#byKey.set(session.key, session)
    this.#await(session, nowNs)
  }

  onStageGone(link: number, _nowNs: number): void {
    const session = this.#sessions.get(link)
    if (session) this.#remove(session, CONNECTION_GONE)
  }

  onStageMessage(link: number, message: StageToLocal, nowNs: number): void {
    const session = this.#sessions.get(link)
    if (!session) return
    switch (message.kind) {
      case 'hello':
        return this.#onHello(session, message, nowNs)
      case 'ack':
        return this.#onAck(session, message.request, message.failed, nowNs)
      case 'counts': {
        const batch = this.#takeUnanswered(session, message.request)
        if (!(batch instanceof CollectBatch)) return
        session.misses = 0
        if (!batch.counts(session, message.channels)) session.addLate(message.channels)
        return this.#finishIfDone(batch)
      }
      case 'bye':
        this.#remove(session, GOODBYE)
        return this.#io.closeStage(link)
    }
  }

  onGlobalOpen(link: number, nowNs: number): void {
    this.#collectedNs ??= nowNs
    this.#globals.add(link)
    this.#sendHello(link)
  }

  onGlobalGone(link: number, _nowNs: number): void {
    this.#globals.delete(link)
    for (const batch of this.#batches) if (batch.link === link) this.#batches.delete(batch)
  }

  onGlobalMessage(link: number, message: GlobalToLocal, nowNs: number): void {
    if (!this.#globals.has(link)) return
    const { epoch, controller } = message
    const before = this.#commander
    const isCommander = before !== undefined && epoch === before.epoch && controller === before.controller
    const request = message.kind === 'welcome' ? 0 : message.request
    if (before && !isCommander && !(epoch > before.epoch)) {
      this.#io.toGlobal(link, { kind: 'stale', request, epoch: before.epoch, controller: before.controller })
      return
    }
    if (message.kind === 'welcome') {
      const { housekeeping, lease } = message
      const lastRequest = isCommander && before.link === link ? before.lastRequest : 0
      this.#commander = { epoch, controller, link, housekeeping, lease, lastRequest }
      this.#onHeard(nowNs)
      this.#sendHello(link)
      if (before && !isSame(before.lease, lease)) {
        for (const s of this.#sessions.values()) if (s.state === 'joined') this.#sendLease(s, lease, nowNs)
      }
      return
    }
    // Drops commands without a welcome, from an earlier connection, repeated or overtaken ones.
    if (!isCommander || before.link !== link || !(request > before.lastRequest)) return
    before.lastRequest = request
    this.#onHeard(nowNs)
    if (message.kind === 'collect') this.#collect(link, request, nowNs)
    else this.#enforce(link, request, message.rates, nowNs)
  }

  tick(nowNs: number): void {
    if (nowNs < this.#nextNs) return
    this.#nextNs = Infinity
    for (const batch of this.#batches) {
      if (nowNs >= batch.deadlineNs) this.#finish(batch)
      else this.#at(batch.deadlineNs)
    }
    for (const session of this.#sessions.values()) {
      if (nowNs >= session.deadlineNs) this.#drop(session, 'its handshake took too long')
      else this.#at(session.deadlineNs)
    }
    this.#renew(nowNs)
  }

  nextNs(): number {
    return this.#nextNs
  }

  /** Renews the leases of stages, unless its own has run out. */
  #renew(nowNs: number): void {
    const lease = this.#commander?.lease
    if (!lease) return
    if (!this.#isLapsed && nowNs >= this.#heardNs + lease.ns) {
      this.#isLapsed = true
      for (const s of this.#sessions.values()) s.isLapsed = s.state === 'joined'
    }
    if (this.#isLapsed) return
    this.#at(this.#heardNs + lease.ns)
    const everyNs = renewalNs(lease)
    for (const session of this.#sessions.values()) {
      if (session.state !== 'joined') continue
      if (nowNs >= session.lastSentNs + everyNs) this.#send(session, { kind: 'alive' }, nowNs)
      this.#at(session.lastSentNs + everyNs)
    }
  }

  /**
   * Handles any message of the global controller. Stages whose lease was allowed to lapse have fallen back, or will:
   * each gets an explicit command before anything renews its lease, so that a rate given to others meanwhile is not
   * used twice.
   */
  #onHeard(nowNs: number): void {
    this.#heardNs = nowNs
    const commander = this.#commander
    if (!commander) return
    this.#at(nowNs + commander.lease.ns)
    const wasLapsed = this.#isLapsed
    this.#isLapsed = false
    for (const s of this.#sessions.values()) if (s.state === 'waiting') this.#step(s, nowNs)
    if (!wasLapsed) return
    const { onExpiry } = commander.lease
    for (const session of this.#sessions.values()) {
      if (!session.isLapsed) continue
      session.isLapsed = false
      for (const object of session.objects) {
        if (onExpiry === 'hold' || !object.isLimiting) continue
        this.#command(session, object, Math.min(object.sentRate, onExpiry.rate), nowNs)
      }
    }
  }

  #sendLease(session: StageSession, lease: Lease, nowNs: number): void {
    this.#send(session, { kind: 'ready', request: ++session.request, lease }, nowNs)
  }

  #onHello(session: StageSession, hello: Extract<StageToLocal, { kind: 'hello' }>, nowNs: number): void {
    if (session.state !== 'silent') return
    const fault = identityFault(hello.protocol, hello.identity)
    if (fault !== undefined) return this.#drop(session, fault, true)
    session.identity = hello.identity
    session.state = 'waiting'
    session.deadlineNs = Infinity
    if (this.#commander && !this.#isLapsed) this.#step(session, nowNs)
  }

  #step(session: StageSession, nowNs: number): void {
    const commander = this.#commander
    if (!commander) return
    const messages = nextStep(session, session.terms ?? (session.terms = commander))
    for (const message of messages) this.#send(session, message, nowNs)
    if (messages.length > 0) return this.#await(session, nowNs)
    session.deadlineNs = Infinity
    session.isLapsed = this.#isLapsed
    if (session.terms && !isSame(session.terms.lease, commander.lease)) this.#sendLease(session, commander.lease, nowNs)
    const stage = session.entry
    if (stage) this.#toCommander({ kind: 'stage-joined', stage })
    this.#reportUnlimited(session)
  }

  #onAck(session: StageSession, request: number, failed: string | undefined, nowNs: number): void {
    session.misses = 0
    if (request === NO_REQUEST) {
      session.unlimited = failed
      if (session.state === 'joined') this.#reportUnlimited(session)
      return
    }
    if (session.handshake.delete(request)) {
      if (failed !== undefined) return this.#drop(session, `it refused its rules: ${failed.slice(0, 200)}`, true)
      if (session.handshake.size === 0) this.#step(session, nowNs)
      return
    }
    for (const object of session.objects) {
      if (failed === undefined) object.done(request)
      else object.refused(request)
    }
    const batch = this.#takeUnanswered(session, request)
    if (!(batch instanceof EnforceBatch)) return
    batch.ack(session, request, failed)
    this.#finishIfDone(batch)
  }

  #collect(link: number, request: number, nowNs: number): void {
    const sessions = new Set([...this.#sessions.values()].filter((s) => s.state === 'joined'))
    const windowNs = Math.max(0, nowNs - (this.#collectedNs ?? nowNs))
    this.#collectedNs = nowNs
    const batch = new CollectBatch({ link, request, windowNs, deadlineNs: nowNs + STAGE_ANSWER_NS }, new Set(sessions))
    for (const session of sessions) {
      this.#expect(session, ++session.request, batch)
      this.#send(session, { kind: 'collect', request: session.request }, nowNs)
    }
    this.#begin(batch)
  }

  #enforce(link: number, request: number, rates: readonly StageRate[], nowNs: number): void {
    const batch = new EnforceBatch({ link, request, deadlineNs: nowNs + STAGE_ANSWER_NS })
    for (const { key, scope, rate } of rates) {
      const session = this.#byKey.get(key)
      if (session?.state !== 'joined') {
        batch.fail(key, scope, 'the stage is unknown')
        continue
      }
      const objects = session.objects.filter((o) => o.isLimiting && o.layout.scope === scope)
      if (objects.length === 0 || !Number.isFinite(rate) || rate < 0) {
        batch.fail(key, scope, objects.length === 0 ? 'it has no channel for this scope' : 'the rate is not valid')
        continue
      }
      const integral = Math.floor(rate)
      for (const [i, object] of objects.entries()) {
        const part = equalPart(integral, objects.length, i) + (i === 0 ? rate - integral : 0)
        const sent = this.#command(session, object, Math.max(RATE_FLOOR, part), nowNs)
        batch.sent(session, sent, scope)
        this.#expect(session, sent, batch)
      }
    }
    this.#begin(batch)
  }

  /** Sends a stage the rate of one object; returns the request number. */
  #command(session: StageSession, object: StageSession['objects'][number], rate: number, nowNs: number): number {
    const request = ++session.request
    object.sent(request, rate)
    const { channel, object: number } = object.layout
    const command = { channel, object: number, rate }
    this.#send(session, { kind: 'enforce', request, epoch: this.epoch, command }, nowNs)
    return request
  }

  #expect(session: StageSession, request: number, batch: Batch): void {
    let unanswered = this.#unanswered.get(session)
    if (!unanswered) this.#unanswered.set(session, (unanswered = new Map<number, Batch>()))
    unanswered.set(request, batch)
    // A request that old will not be answered.
    const [oldest] = unanswered.keys()
    if (unanswered.size > 1024 && oldest !== undefined) unanswered.delete(oldest)
  }

  #takeUnanswered(session: StageSession, request: number): Batch | undefined {
    const unanswered = this.#unanswered.get(session)
    const batch = unanswered?.get(request)
    unanswered?.delete(request)
    return batch
  }

  #begin(batch: Batch): void {
    this.#batches.add(batch)
    this.#at(batch.deadlineNs)
    this.#finishIfDone(batch)
  }

  #finishIfDone(batch: Batch): void {
    if (batch.isDone) this.#finish(batch)
  }

  #finish(batch: Batch): void {
    if (!this.#batches.delete(batch)) return
    const { missing, answer } = batch.end()
    if (this.#globals.has(batch.link)) this.#io.toGlobal(batch.link, answer)
    if (!(batch instanceof CollectBatch)) return
    for (const session of missing) {
      if (++session.misses >= MISSES_MAX) this.#drop(session, `it did not answer ${MISSES_MAX} times`)
    }
  }

  #send(session: StageSession, message: LocalToStage, nowNs: number): void {
    session.lastSentNs = nowNs
    const lease = this.#commander?.lease
    if (lease) this.#at(nowNs + renewalNs(lease))
    this.#io.toStage(session.link, message)
  }

  #await(session: StageSession, nowNs: number): void {
    session.deadlineNs = nowNs + HANDSHAKE_NS
    this.#at(session.deadlineNs)
  }

  #drop(session: StageSession, why: string, isRefused = false): void {
    this.#remove(session, why)
    if (isRefused) this.#io.toStage(session.link, { kind: 'refused', why })
    this.#io.closeStage(session.link)
  }

  #remove(session: StageSession, why: string): void {
    this.#sessions.delete(session.link)
    this.#byKey.delete(session.key)
    const batches = new Set(this.#unanswered.get(session)?.values())
    this.#unanswered.delete(session)
    if (session.state === 'joined') this.#toCommander({ kind: 'stage-left', key: session.key, why })
    for (const batch of batches) {
      batch.lost(session, why)
      this.#finishIfDone(batch)
    }
  }

  /** Reports calls that a stage cannot limit. */
  #reportUnlimited({ key, unlimited }: StageSession): void {
    if (unlimited === undefined) return
    const why = unlimited.slice(0, UNLIMITED_MAX)
    this.#toCommander({ kind: 'ack', request: NO_REQUEST, failed: [{ key, scope: 'data_op', why }] })
  }

  #toCommander(message: LocalToGlobal): void {
    const link = this.#commander?.link
    if (link !== undefined && this.#globals.has(link)) this.#io.toGlobal(link, message)
  }

  #sendHello(link: number): void {
    const stages = [...this.#sessions.values()].flatMap((s) => (s.state === 'joined' ? (s.entry ?? []) : []))
    this.#io.toGlobal(link, {
      kind: 'hello',
      local: this.#local,
      hostname: this.#hostname,
      epoch: this.epoch,
      stages,
    })
    if (link !== this.#commander?.link) return
    for (const session of this.#sessions.values()) if (session.state === 'joined') this.#reportUnlimited(session)
  }

  #at(ns: number): void {
    if (ns < this.#nextNs) this.#nextNs = ns
  }
}
