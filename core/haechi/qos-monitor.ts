/**
 * QoS monitor of a data node: period tokens, conversion, capacity estimate, admission, alerts.
 *
 * A state machine without own clock, transport or memory: it runs at the wake-up times that it requests, reads reports from the
 * node's own memory and changes POOL by CAS alone; client verbs never involve it. Source: spec/haechi 6 to 9; A8, A10, A11, A18 to A21.
 */
import { fail, ok, type Failure, type Result } from '../base/result.ts'
import { NS_PER_MS, NS_PER_S } from '../base/units.ts'
import { type Advance, HAECHI_DEADLINE, HAECHI_EVIDENCE } from '../controllers/advances.ts'
import { admissionRefusal, localConstraint } from './admission.ts'
import {
  estimateCapacity,
  estimatorRule,
  learnCapacity,
  SaturationMeter,
  type CapacityEstimate,
  type EstimatorRule,
} from './capacity-estimate.ts'
import { grantedBetween } from './claim.ts'
import { ClientAccount } from './client-account.ts'
import { conversionTarget, lowerTarget, remainingCapacity } from './conversion.ts'
import { type Owed, poolWindow, releasable, reservedWindow, safeIops, safeTime } from './deadline.ts'
import type { ToEngine } from './messages.ts'
import { POOL_PARTS, type AlertKind, type MonitorObserver } from './monitor-events.ts'
import type { SlotReport } from './report-word.ts'
import { checkReservation, checkTokens, profiledTokens, type CapacityProfile, type HaechiSettings } from './settings.ts'

export interface MonitorPort {
  /** CAS on the tokens of POOL, tagging the new value with the epoch; returns the tokens found. */
  swapPool(expected: number, desired: number, epoch: number): number
  /** The report slot in the node's memory. */
  readSlot(slot: number): SlotReport
  /** Two-sided SEND to a client. */
  send(client: number, message: ToEngine): void
}

export interface MonitorHost {
  readonly settings: HaechiSettings
  readonly profile: CapacityProfile
  readonly port: MonitorPort
  readonly observer?: MonitorObserver | undefined
  /** Time from reading the pool in a check to the CAS of its conversion, ns: the race window (A8). */
  readonly conversionNs?: number | undefined
}

/** Checks before the end of a period at which reports are requested even if no client touched the pool (A11). */
const LAST_CHECKS = 3

export class QosMonitor {
  readonly #s: HaechiSettings
  readonly #profile: CapacityProfile
  readonly #port: MonitorPort
  readonly #observer: MonitorObserver | undefined
  readonly #rule: EstimatorRule
  readonly #conversionNs: number
  /** C_L T. */
  readonly #localTokens: number
  /** Reports from the first check on: the pool may begin empty, or saturation is measured. */
  readonly #needsReports: boolean
  readonly #accounts = new Map<number, ClientAccount>()
  readonly #saturation: SaturationMeter
  #estimate: CapacityEstimate
  #epoch = 0
  #start = 0
  #checkAt = Infinity
  #convertAt = Infinity
  #initial = 0
  #pool = 0
  #target = 0
  #residual = 0
  #reserved = 0
  #claimed = 0
  #conversions = 0
  #races = 0
  #checks = new Float64Array(POOL_PARTS).fill(NaN)
  #isReporting = false
  /** Advances that were replaced by the paper's rule; reported once until all clients answer again. */
  readonly #fellBack = new Set<string>()
  #isOvercommitted = false

  constructor({ settings, profile, port, observer, conversionNs }: MonitorHost) {
    this.#s = settings
    this.#profile = profile
    this.#port = port
    this.#observer = observer
    this.#conversionNs = conversionNs ?? 0
    this.#rule = estimatorRule(settings, profile)
    this.#saturation = new SaturationMeter(profile)
    this.#needsReports = settings.conversion === 'deadline' || settings.estimator.rule === 'evidence'
    this.#localTokens = (profile.localIops * settings.periodNs) / NS_PER_S
    this.#estimate = { omega: profiledTokens(profile, settings.periodNs), window: [] }
  }

  get epoch(): number {
    return this.#epoch
  }
  /** Tokens of this period. */
  get omega(): number {
    return this.#estimate.omega
  }
  /** W, oldest first. */
  get history(): readonly number[] {
    return this.#estimate.window
  }
  /** The pool as last read or written. */
  get pool(): number {
    return this.#pool
  }
  get initialPool(): number {
    return this.#initial
  }
  /** Target of the last conversion. */
  get target(): number {
    return this.#target
  }
  /** L of the last conversion. */
  get residual(): number {
    return this.#residual
  }
  /** Sum of the reservations granted in this period. */
  get reserved(): number {
    return this.#reserved
  }
  /** Global tokens claimed by FAAs in this period, as seen by the checks. */
  get claimed(): number {
    return this.#claimed
  }
  get isReporting(): boolean {
    return this.#isReporting
  }
  get isOvercommitted(): boolean {
    return this.#isOvercommitted
  }
  /** Start of this period, ns. */
  get periodStart(): number {
    return this.#start
  }
  /** U so far, from the last reports. */
  get used(): number {
    let used = 0
    for (const a of this.#accounts.values()) used += a.completed
    return used
  }
  /** Reservation tokens returned in this period, from the last reports. */
  yieldedAt(now: number): number {
    let yielded = 0
    for (const a of this.#accounts.values()) yielded += a.returned(now - this.#start, this.#s.periodNs)
    return yielded
  }
  /** Time of the next `onWake`, ns. */
  get wakeAt(): number {
    return Math.min(this.#checkAt, this.#convertAt)
  }

  /** Reservation promised to a client from the next period on; undefined if it is not admitted. */
  promised(client: number): number | undefined {
    const account = this.#accounts.get(client)
    return account === undefined || account.hasLeft ? undefined : account.nextReservation
  }

  /** Begins the first period. */
  start(now: number): void {
    this.#beginPeriod(now)
  }

  /**
   * Admits a client immediately; its reservation applies from the next T1 on, until then it uses only the pool (A18).
   *
   * @param slot  the client's report slot.
   * @param limit  I/Os a period, null for no limit.
   */
  join(now: number, client: number, slot: number, reservation: number, limit: number | null): Result<void> {
    const known = this.#accounts.get(client)
    if (known) return fail({ code: 'E_CLIENT', what: `Client ${client} is already admitted` })
    const refusal = this.#refusal(client, reservation, limit)
    if (refusal) return fail(refusal)
    const account = new ClientAccount(client, slot, reservation, limit, this.#s.alertAfter)
    account.heardAt = now
    this.#accounts.set(client, account)
    this.#observer?.event({ kind: 'admitted', at: now, client })
    if (this.#epoch > 0) {
      this.#port.send(client, { kind: 'period-start', epoch: this.#epoch, reservation: 0, limit })
      if (this.#isReporting) this.#port.send(client, { kind: 'start-report', epoch: this.#epoch })
    }
    return ok(undefined)
  }

  /** Changes a reservation and limit from the next T1 on (A21). */
  reserve(client: number, reservation: number, limit: number | null): Result<void> {
    const account = this.#accounts.get(client)
    if (account === undefined || account.hasLeft) return fail(unknown(client))
    const refusal = this.#refusal(client, reservation, limit)
    if (refusal) return fail(refusal)
    account.nextReservation = reservation
    account.nextLimit = limit
    return ok(undefined)
  }

  /** Removes a client: from L immediately, from the reservations at the next T1; its completed I/Os still count (A19). */
  leave(now: number, client: number): Result<void> {
    const account = this.#accounts.get(client)
    if (account === undefined || account.hasLeft) return fail(unknown(client))
    account.hasLeft = true
    this.#observer?.event({ kind: 'left', at: now, client })
    return ok(undefined)
  }

  /** True while a client sends no reports that were requested (A20). */
  isSilent(client: number): boolean {
    const account = this.#accounts.get(client)
    return account !== undefined && account.isSilent && !account.hasLeft
  }

  /** Performs the action due at `now`: a conversion, a check, or the end of the period. */
  onWake(now: number): void {
    if (now >= this.#convertAt) this.#convert(now)
    if (now < this.#checkAt) return
    if (now >= this.#start + this.#s.periodNs) this.#endPeriod(now)
    else this.#check(now)
  }

  #refusal(client: number, reservation: number, limit: number | null): Failure | null {
    const bad = limit === null ? null : checkTokens('The limit', limit)
    if (bad) return bad
    // Reducing a reservation is never refused.
    const held = this.#accounts.get(client)?.nextReservation
    if (held !== undefined && reservation <= held) return checkReservation(reservation)
    if (this.#isOvercommitted) {
      const over = this.#promised() - this.omega
      const what = `A reservation of ${reservation} I/Os per period is refused`
      return { code: 'E_OVERCOMMITTED', what, why: `reservations exceed the current capacity by ${over} I/Os` }
    }
    const globalIops = (this.omega * NS_PER_S) / this.#s.periodNs
    const capacity = { globalIops, localIops: this.#profile.localIops }
    const admitted: number[] = []
    for (const a of this.#accounts.values()) if (a.client !== client && !a.hasLeft) admitted.push(a.nextReservation)
    const { periodNs, fluidAdmission: fluid } = this.#s
    return admissionRefusal({ admitted, reservation, capacity, periodNs, fluid })
  }

  #promised(): number {
    let sum = 0
    for (const a of this.#accounts.values()) if (!a.hasLeft) sum += a.nextReservation
    return sum
  }

  /** T1: old tokens expire, engines learn of the new period, then the new pool opens (A10). */
  #beginPeriod(now: number): void {
    this.#writePool(0, this.#epoch)
    this.#start = now
    this.#checkAt = now + Math.min(this.#s.checkNs, this.#s.periodNs)
    this.#convertAt = Infinity
    this.#epoch++
    this.#claimed = 0
    this.#conversions = 0
    this.#races = 0
    this.#isReporting = false
    this.#target = 0
    this.#residual = 0
    this.#reserved = 0
    this.#checks.fill(NaN)
    this.#saturation.beginPeriod()
    if (![...this.#accounts.values()].some((a) => a.isSilent)) this.#fellBack.clear()
    for (const [client, account] of this.#accounts) {
      if (account.hasLeft) this.#accounts.delete(client)
      else {
        account.beginPeriod(now)
        this.#reserved += account.reservation
      }
    }
    const isOver = this.#reserved > this.omega
    if (isOver && !this.#isOvercommitted) {
      const over = this.#reserved - this.omega
      this.#alert(now, 'overcommitted', -1, `reservations are ${over} I/Os over the capacity of ${this.omega}`)
    }
    this.#isOvercommitted = isOver
    for (const { client, reservation, limit } of this.#accounts.values()) {
      this.#port.send(client, { kind: 'period-start', epoch: this.#epoch, reservation, limit })
    }
    const unreserved = Math.max(0, this.omega - this.#reserved)
    this.#initial = this.#s.conversion === 'deadline' ? Math.min(unreserved, this.#releasable(now)) : unreserved
    this.#writePool(this.#initial, this.#epoch)
    this.#claimed = 0
    this.#observer?.event({ kind: 'period', at: now, epoch: this.#epoch, pool: this.#initial })
  }

  /** S1 to S3, T2. The conversion follows by `conversionNs`. */
  #check(now: number): void {
    const end = this.#start + this.#s.periodNs
    this.#checkAt = Math.min(
      end,
      this.#start + (Math.floor((now - this.#start) / this.#s.checkNs) + 1) * this.#s.checkNs,
    )
    this.#readPool()
    this.#checked(now)
    if (!this.#isReporting) {
      if (this.#needsReports || this.#pool < this.#initial || now >= end - LAST_CHECKS * this.#s.checkNs)
        this.#startReports(now)
      return
    }
    this.#readReports(now)
    if (this.#s.conversion === 'none' || !this.#isComplete()) return
    if (this.#conversionNs === 0) this.#convert(now)
    else this.#convertAt = now + this.#conversionNs
  }

  #startReports(now: number): void {
    this.#isReporting = true
    for (const account of this.#accounts.values()) {
      account.heardAt = now
      if (!account.hasLeft) this.#port.send(account.client, { kind: 'start-report', epoch: this.#epoch })
    }
    this.#observer?.event({ kind: 'start-report', at: now, epoch: this.#epoch })
  }

  #readReports(now: number): void {
    const silence = this.#s.missedReports * this.#s.tickNs
    const remaining = this.#start + this.#s.periodNs - now
    for (const a of this.#accounts.values()) {
      const bad = a.take(this.#port.readSlot(a.slot), this.#epoch, now)
      if (bad !== null && !a.isBad) {
        a.isBad = true
        this.#alert(now, 'bad-report', a.client, bad)
      }
      if (a.hasLeft) continue
      if (!a.isSilent && now - a.heardAt > silence) {
        a.isSilent = true
        this.#alert(now, 'silent-client', a.client, `no report for ${(now - a.heardAt) / NS_PER_MS} ms`)
      }
      // Remaining tokens count, not yielded reservation: only a backlogged client is at risk. A report is at least one tick old and gives
      // the tokens left then.
      const { isKept } = localConstraint(a.residual, 0, remaining + 2 * this.#s.tickNs, this.#profile.localIops)
      if (isKept || a.isAtRisk || !a.hasReport) continue
      a.isAtRisk = true
      this.#alert(now, 'local-capacity-risk', a.client, `${a.residual} I/Os are left for ${remaining / NS_PER_MS} ms`)
    }
    if (this.#rule.rule === 'evidence') this.#measureSaturation(now)
  }

  /** Backlogged clients at the last reports, for `evidence`. */
  #measureSaturation(now: number): void {
    let backlogged = 0
    for (const a of this.#accounts.values()) if (a.isBacklogged && !a.hasLeft) backlogged++
    this.#saturation.check(now, backlogged, this.used)
  }

  /** True if the estimate follows `evidence`; false if its inputs are missing, because a client does not report. */
  #isEvidence(now: number): boolean {
    if (this.#rule.rule !== 'evidence') return false
    for (const a of this.#accounts.values()) if (a.isSilent && !a.hasLeft) return this.#fallBack(now, HAECHI_EVIDENCE)
    return true
  }

  /** Reports the return to the paper's rule for this period; false. */
  #fallBack(now: number, { name, fallback }: Advance): false {
    if (!this.#fellBack.has(name)) this.#alert(now, 'fallback', -1, fallback)
    this.#fellBack.add(name)
    return false
  }

  #isComplete(): boolean {
    for (const a of this.#accounts.values()) if (!a.hasReport && !a.isSilent && !a.hasLeft) return false
    return true
  }

  #convert(now: number): void {
    this.#convertAt = Infinity
    const rule = this.#isDeadline(now) || this.#s.conversion !== 'deadline' ? this.#s.conversion : 'ledger'
    if (rule === 'none') return
    const { periodNs } = this.#s
    const elapsed = now - this.#start
    let residual = 0
    for (const a of this.#accounts.values()) residual += a.expected(elapsed, periodNs)
    this.#residual = residual
    const timeCap = remainingCapacity(this.omega, elapsed, periodNs)
    const yielded = this.yieldedAt(now)
    const ledger = { omega: this.omega, reserved: this.#reserved, yielded, claimed: this.#claimed }
    const most = rule === 'deadline' ? this.#releasable(now) : Infinity
    const target = conversionTarget(rule, { ...ledger, timeCap, residual, completed: this.used, releasable: most })
    const from = this.#pool
    const races = this.#writePool(target, this.#epoch, true)
    this.#target = this.#pool
    this.#conversions++
    this.#races += races
    if (races > 0 || from !== this.#pool) {
      this.#observer?.event({ kind: 'conversion', at: now, from, to: this.#pool, residual, races })
    }
  }

  /** True if the pool follows `deadline`; false if the tokens left of a client are unknown. */
  #isDeadline(now: number): boolean {
    if (this.#s.conversion !== 'deadline') return false
    for (const a of this.#accounts.values()) if (a.isSilent && !a.hasLeft) return this.#fallBack(now, HAECHI_DEADLINE)
    return true
  }

  /** Bound of the `deadline` rule from the last reports. */
  #releasable(now: number): number {
    const { periodNs, window, phase2Window } = this.#s
    const { localIops } = this.#profile
    const elapsed = now - this.#start
    const owed: Owed[] = []
    let count = 0
    for (const a of this.#accounts.values()) {
      if (a.hasLeft) continue
      const tokens = a.expected(elapsed, periodNs)
      if (tokens > 0) owed.push({ tokens, weight: reservedWindow(window, a.reservation, this.#localTokens) })
      else count++
    }
    const capacity = { globalIops: safeIops(this.omega, periodNs), localIops }
    return releasable(owed, { count, weight: poolWindow(phase2Window) }, safeTime(elapsed, this.#s), capacity)
  }

  /** CAS(POOL, 0, 0): reads with the atomicity of the NIC. */
  #readPool(): void {
    this.#seen(this.#port.swapPool(0, 0, this.#epoch))
  }

  /** Keeps the pool of a check; one at a border belongs to the part that ends. */
  #checked(now: number): void {
    const part = Math.ceil(((now - this.#start) / this.#s.periodNs) * POOL_PARTS) - 1
    const i = Math.min(POOL_PARTS - 1, Math.max(0, part))
    const lowest = this.#checks[i] as number
    if (!(lowest <= this.#pool)) this.#checks[i] = this.#pool
  }

  /** FAAs took the difference. */
  #seen(found: number): void {
    this.#claimed += grantedBetween(this.#pool, found)
    this.#pool = found
  }

  /**
   * Writes the pool despite concurrent FAAs; with `lowered`, subtracts the tokens granted to them (A8). Returns the number of attempts
   * that they made fail.
   */
  #writePool(desired: number, epoch: number, lowered = false): number {
    let target = desired
    for (let races = 0; ; races++) {
      const found = this.#port.swapPool(this.#pool, target, epoch)
      if (found === this.#pool) {
        this.#pool = target
        return races
      }
      if (lowered) target = lowerTarget(target, this.#pool, found)
      this.#seen(found)
    }
  }

  /** T3: calibrates from the reports so far (A12), reports the period, begins the next. */
  #endPeriod(now: number): void {
    this.#readPool()
    this.#checked(now)
    const finalPool = this.#pool
    this.#readReports(now)
    this.#writePool(0, this.#epoch)
    const used = this.used
    const omega = this.omega
    let action: 'increase' | 'average' | 'keep' | 'off' = 'off'
    if (this.#s.estimator.enabled) {
      const next = this.#isEvidence(now)
        ? learnCapacity(this.#estimate, this.#saturation.tokens(this.#s.periodNs), this.#rule)
        : estimateCapacity(this.#estimate, used, this.#rule)
      this.#estimate = next.estimate
      action = next.action
    }
    this.#observer?.event({ kind: 'estimate', at: now, action, used, omega: this.omega })
    for (const a of this.#accounts.values()) {
      if (a.hasLeft || !a.overReservation.period(a.reservation, a.completed)) continue
      this.#alert(now, 'over-reservation', a.client, `unused for ${this.#s.alertAfter} periods`)
    }
    this.#observer?.period({
      epoch: this.#epoch,
      startNs: this.#start,
      endNs: now,
      omega,
      nextOmega: this.omega,
      action,
      reserved: this.#reserved,
      initialPool: this.#initial,
      finalPool,
      poolChecks: [...this.#checks],
      residual: this.#residual,
      target: this.#target,
      used,
      claimed: this.#claimed,
      yielded: this.yieldedAt(now),
      conversions: this.#conversions,
      casRaces: this.#races,
      clients: [...this.#accounts.values()].map(({ client, reservation, completed, yielded }) => ({
        client,
        reservation,
        completed,
        yielded,
      })),
    })
    this.#beginPeriod(now)
  }

  #alert(at: number, alert: AlertKind, client: number, what: string): void {
    this.#observer?.event({ kind: 'alert', at, alert, client, what })
  }
}

const unknown = (client: number): Failure => ({ code: 'E_CLIENT', what: `Client ${client} is not admitted` })
