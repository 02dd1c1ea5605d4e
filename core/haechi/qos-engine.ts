/**
 * QoS engine of a client: requests become data I/Os only in `pump`, each against a token.
 *
 * A state machine without clock, transport or memory: it receives events (requests, completions, FAA replies, messages, its wake-up) and
 * acts through its port. The same engine runs on simulated verbs and on shared memory. A port must not call back before the call into it
 * has returned. Source: spec/haechi 3, 4, 5, 10.
 *
 * Tokens are accounted for at all times: pushed = used + yielded + voided + xi, and likewise claimed global tokens.
 */
import { fail, ok, type Failure, type Result } from '../base/result.ts'
import { usablePart } from './claim.ts'
import { poolWindow, reservedWindow } from './deadline.ts'
import { decayed, residualBound } from './decay.ts'
import type { EngineState, EngineTotals, EngineWait } from './engine-state.ts'
import type { ClientReport, PeriodStart, StartReport, TokenKind } from './messages.ts'
import type { HaechiSettings } from './settings.ts'

export interface EnginePort {
  /** Posts `n` one-sided data I/Os, each backed by a token that is now consumed. */
  postIo(n: number, token: TokenKind): void
  /** FAA(POOL, -take); the reply arrives through `onFaaReply`. */
  faa(take: number): void
  /** One-sided WRITE to the engine's report slot. */
  writeReport(report: ClientReport): void
}

const NO_LIMIT = 2 ** 30
const NEVER = Infinity

export class QosEngine {
  readonly #settings: HaechiSettings
  readonly #port: EnginePort
  /** Outstanding I/Os with reservation tokens; by deadline they depend on the reservation. */
  #window: number
  readonly #phase2Window: number
  readonly #localTokens: number | undefined
  #epoch = 0
  #reservation = 0
  #limit = NO_LIMIT
  #xi = 0
  #g = 0
  #gEpoch = 0
  #completed = 0
  #issued = 0
  #inflight = 0
  #queued = 0
  #wait: EngineWait = 'none'
  #throttled = false
  #departed = false
  #yielded = 0
  #bound = 0
  #reporting = false
  #beat = 0
  #reported = -1
  #periodStart = 0
  #tickAt = NEVER
  #retryAt = NEVER
  readonly totals: EngineTotals = {
    pushed: 0,
    claimed: 0,
    usedReservation: 0,
    usedGlobal: 0,
    yielded: 0,
    voidedReservation: 0,
    voidedGlobal: 0,
    completed: 0,
    faas: 0,
    faaFull: 0,
    faaPartial: 0,
    faaEmpty: 0,
    faaLate: 0,
    refused: 0,
    dropped: 0,
  }

  /** @param localTokens  I/Os that one client can do in a period, C_L T: input of the `deadline` rule. */
  constructor(settings: HaechiSettings, port: EnginePort, state?: EngineState, localTokens?: number) {
    this.#settings = settings
    this.#port = port
    this.#localTokens = localTokens
    this.#window = settings.window
    const isDeadline = settings.conversion === 'deadline' && localTokens !== undefined
    this.#phase2Window = isDeadline ? poolWindow(settings.phase2Window) : settings.phase2Window
    if (state) this.#restore(state)
  }

  get epoch(): number {
    return this.#epoch
  }
  get reservation(): number {
    return this.#reservation
  }
  /** I/Os a period, null for no limit. */
  get limit(): number | null {
    return this.#limit === NO_LIMIT ? null : this.#limit
  }
  /** xi: reservation tokens left. */
  get reservationTokens(): number {
    return this.#xi
  }
  /** g: global tokens held. */
  get globalTokens(): number {
    return this.#g
  }
  /** X at the last tick. */
  get bound(): number {
    return this.#bound
  }
  /** N: completed since T1. */
  get completed(): number {
    return this.#completed
  }
  get issued(): number {
    return this.#issued
  }
  get inflight(): number {
    return this.#inflight
  }
  /** Requests waiting in the engine. */
  get queued(): number {
    return this.#queued
  }
  get wait(): EngineWait {
    return this.#wait
  }
  get isThrottled(): boolean {
    return this.#throttled
  }
  get hasLeft(): boolean {
    return this.#departed
  }
  /** Reservation tokens yielded since T1. */
  get yielded(): number {
    return this.#yielded
  }
  get phase(): TokenKind {
    return this.#xi > 0 ? 'reservation' : 'global'
  }
  /** True if a completion, or a request on an empty queue, lets `pump` proceed. */
  get isReady(): boolean {
    return this.#wait === 'none' && !this.#throttled && !this.#departed
  }
  /** True if one more I/O may be outstanding. */
  get canPost(): boolean {
    return this.#inflight < (this.#xi > 0 ? this.#window : this.#phase2Window)
  }
  /** Time of the next `onWake`, ns; Infinity for never. */
  get wakeAt(): number {
    return this.#tickAt < this.#retryAt ? this.#tickAt : this.#retryAt
  }

  state(): EngineState {
    return {
      epoch: this.#epoch,
      reservation: this.#reservation,
      limit: this.limit,
      reservationTokens: this.#xi,
      globalTokens: this.#g,
      globalEpoch: this.#gEpoch,
      completed: this.#completed,
      issued: this.#issued,
      inflight: this.#inflight,
      queued: this.#queued,
      wait: this.#wait,
    }
  }

  /** Adds `n` requests of the client; after `leave` they are dropped. */
  onRequest(n: number): void {
    if (this.#departed) {
      this.totals.dropped += n
      return
    }
    this.#queued += n
    this.#pump()
  }

  /** Drops the queued requests (those of a period that ended, A17). */
  dropQueue(): number {
    const dropped = this.#queued
    this.#queued = 0
    this.totals.dropped += dropped
    return dropped
  }

  /** Records `n` completed data I/Os. */
  onCompletion(n: number): void {
    this.#inflight -= n
    this.#completed += n
    this.totals.completed += n
    if (this.#queued > 0) this.#pump()
  }

  /**
   * The pool held `before` when the FAA(-take) was executed, in `epoch`.
   *
   * A grant of a past period is void; one of the next period, which overtook its T1, is kept (A10).
   */
  onFaaReply(now: number, before: number, take: number, epoch: number): void {
    if (this.#wait === 'faa') this.#wait = 'none'
    const usable = usablePart(before, take)
    if (usable > 0) this.totals.claimed += usable
    if (epoch < this.#epoch || this.#departed) {
      if (usable > 0) {
        this.totals.faaLate++
        this.totals.voidedGlobal += usable
      }
      this.#pump()
      return
    }
    if (usable === 0) {
      this.totals.faaEmpty++
      this.#wait = 'pool'
      this.#retryAt = now + this.#settings.retryNs
      // The report stays valid until the pool is refilled (A12).
      if (this.#reporting && this.#reported !== this.#completed) this.#report()
      return
    }
    if (usable < take) this.totals.faaPartial++
    else this.totals.faaFull++
    if (this.#gEpoch !== epoch) this.#voidGlobal()
    this.#g += usable
    this.#gEpoch = epoch
    this.#pump()
  }

  /** T1. A period that is not newer than the current one is ignored. */
  onPeriodStart(now: number, { epoch, reservation, limit }: PeriodStart): void {
    if (epoch <= this.#epoch || this.#departed) return
    this.totals.voidedReservation += this.#xi
    if (this.#gEpoch !== epoch) this.#voidGlobal()
    this.#epoch = epoch
    this.#reservation = reservation
    const { conversion, window } = this.#settings
    if (conversion === 'deadline') this.#window = reservedWindow(window, reservation, this.#localTokens)
    this.#limit = limit ?? NO_LIMIT
    this.#xi = reservation
    this.#bound = reservation
    this.totals.pushed += reservation
    this.#completed = 0
    this.#issued = 0
    this.#yielded = 0
    this.#throttled = false
    this.#reporting = false
    this.#reported = -1
    this.#periodStart = now
    this.#tickAt = now + this.#settings.tickNs
    this.#retryAt = NEVER
    if (this.#wait === 'pool') this.#wait = 'none'
    this.#pump()
  }

  /** S3. */
  onStartReport({ epoch }: StartReport): void {
    if (epoch !== this.#epoch || this.#reporting || this.#departed) return
    this.#reporting = true
    this.#report()
  }

  /** Performs the actions due at `now`: decay and report every delta, and the next retry on an empty pool. */
  onWake(now: number): void {
    if (now >= this.#tickAt) this.#tick(now)
    if (now >= this.#retryAt) {
      this.#retryAt = NEVER
      if (this.#wait === 'pool') this.#wait = 'none'
      this.#pump()
    }
  }

  /** Leaves mid-period: reservation tokens are yielded, global tokens and waiting requests are discarded (A19). */
  leave(): void {
    if (this.#departed) return
    this.#yield(this.#xi)
    this.#voidGlobal()
    this.dropQueue()
    this.#tickAt = NEVER
    this.#retryAt = NEVER
    this.#report()
    this.#departed = true
  }

  /** Posts one I/O bypassing the queue, as a program would that circumvents the engine: still only against a token. */
  postDirect(): Result<void> {
    const refusal = this.#refusal()
    if (refusal) {
      this.totals.refused++
      return fail(refusal)
    }
    this.#spend(1)
    return ok(undefined)
  }

  #refusal(): Failure | null {
    const unaffected = 'Nothing was sent; queued requests continue.'
    if (this.#xi === 0 && this.#g === 0)
      return { code: 'EQOS_NOTOKEN', what: 'An I/O without a token was posted', unaffected }
    if (this.#issued >= this.#limit) return { code: 'EQOS_LIMIT', what: 'An I/O over the limit was posted', unaffected }
    if (!this.canPost) return { code: 'EQOS_WINDOW', what: 'An I/O over the window was posted', unaffected }
    return null
  }

  #pump(): void {
    while (this.#queued > 0 && this.#wait === 'none') {
      const free = (this.#xi > 0 ? this.#window : this.#phase2Window) - this.#inflight
      if (free <= 0) return
      const allowed = this.#limit - this.#issued
      if (allowed <= 0) {
        this.#throttled = true
        return
      }
      const tokens = this.#xi > 0 ? this.#xi : this.#g
      if (tokens === 0) {
        // Before its first period a client does not know the epoch of a grant.
        if (this.#epoch === 0) return
        const { batch, batchRule } = this.#settings
        this.#wait = 'faa'
        this.totals.faas++
        this.#port.faa(batchRule === 'fixed' ? batch : Math.min(batch, this.#queued))
        return
      }
      let n = this.#queued
      if (free < n) n = free
      if (allowed < n) n = allowed
      if (tokens < n) n = tokens
      this.#queued -= n
      this.#spend(n)
    }
  }

  #spend(n: number): void {
    this.#issued += n
    this.#inflight += n
    if (this.#xi > 0) {
      this.#xi -= n
      this.totals.usedReservation += n
      this.#port.postIo(n, 'reservation')
    } else {
      this.#g -= n
      this.totals.usedGlobal += n
      this.#port.postIo(n, 'global')
    }
  }

  #tick(now: number): void {
    const { periodNs, tickNs, decay } = this.#settings
    const elapsed = now - this.#periodStart
    this.#bound = residualBound(this.#reservation, elapsed, periodNs)
    this.#yield(this.#xi - decayed(decay, this.#xi, this.#bound, this.#queued))
    if (this.#reporting) this.#report()
    this.#tickAt = this.#periodStart + (Math.floor(elapsed / tickNs) + 1) * tickNs
  }

  #yield(n: number): void {
    this.#xi -= n
    this.#yielded += n
    this.totals.yielded += n
  }

  #voidGlobal(): void {
    this.totals.voidedGlobal += this.#g
    this.#g = 0
  }

  #report(): void {
    this.#reported = this.#completed
    this.#port.writeReport({
      epoch: this.#epoch,
      residual: this.#xi,
      spent: this.#reservation - this.#xi - this.#yielded,
      completed: this.#completed,
      isBacklogged: this.#queued > 0 && this.#wait === 'none' && !this.#throttled,
      beat: ++this.#beat,
    })
  }

  #restore(s: EngineState): void {
    this.#epoch = s.epoch
    this.#reservation = s.reservation
    this.#limit = s.limit ?? NO_LIMIT
    this.#xi = s.reservationTokens
    this.#g = s.globalTokens
    this.#gEpoch = s.globalEpoch
    this.#completed = s.completed
    this.#issued = s.issued
    this.#inflight = s.inflight
    this.#queued = s.queued
    this.#wait = s.wait
    this.#tickAt = 0
  }
}
