/**
 * Lease of a controller on one server: a timer there that stops Sluice's rules unless it is renewed, so that a closed
 * laptop never leaves a job throttled.
 *
 * The new timer is made, and verified in the server's list, before the old one is ended and before the first rule it
 * covers: there is always one. It names only rules of Sluice; stopping one that is gone succeeds on a server. Commands
 * that change the server are recorded first, and each has a deadline. After an unanswered renewal the server's timers
 * are unknown: no rule is written until they are listed again, and rules in force end with the old timer.
 */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { NodeConnection, TimerKind } from '../base/connection.ts'
import { SERVICES } from '../base/service.ts'
import { sendCommand, type Answer } from './send-command.ts'
import type { AuditWriter } from '../base/audit.ts'
import { consoleName, consoleUnit, isOfSession, type UnitPurpose } from './console-name.ts'
import { covers, endTimerCommand, makeTimerCommand, readTimerList, readTimers, type TimerList } from './expiry.ts'
import type { TimerStop } from './expiry-spec.ts'

/** Default for controllers of data RPCs. */
const stopData = (name: string): TimerStop => ({ parameter: SERVICES.ost_io.rules, queue: 'reg', name })

export const LEASE_SECONDS = 60
/** Renewed when so much is left, or earlier by a part of the spread. */
const RENEW_NS = 30 * NS_PER_S
const RENEW_SPREAD_NS = 15 * NS_PER_S
/** Backoff after a server failed to make a timer, doubling each time. */
const RETRY_NS = { least: NS_PER_S, most: 30 * NS_PER_S } as const
/** Deadline of one command, wall time: a renewal that takes two of them is still in time. */
const ANSWER_MS = 10_000

export interface LeaseState {
  readonly unit: string
  readonly rules: number
  readonly createdNs: number
  /** Time at which the timer fires, at the earliest: counted from before it was requested. */
  readonly expiresNs: number
  /** Path on the server that exists as long as the timer waits; undefined if there is none, or before it was listed. */
  readonly file?: string | undefined
}

/** open: a timer of this lease may exist that covers nothing any more, or not yet. */
export type LeasePhase = 'none' | 'open' | 'held' | 'renewing' | 'unknown'

/** Records leases for other processes. */
export interface LeaseStore {
  keep(lease: {
    readonly host: string
    readonly unit: string
    readonly rules: number
    readonly createdMs: number
    readonly expiresMs: number
  }): void
  end(host: string, unit: string): void
  /** True if a lease belongs to this data folder: one of a console that was killed blocks no other. */
  has(host: string, unit: string): boolean
}

export interface LeaseOptions {
  /** Stop that the timer executes for a covered rule. @default stops a rule of data RPCs */
  readonly stop?: (name: string) => TimerStop
  readonly store?: LeaseStore | undefined
  /** Reason why no timer may be made now; undefined while allowed. Ending one is always allowed. */
  readonly may?: (() => string | undefined) | undefined
  /** @default lease */
  readonly purpose?: UnitPurpose
  /** Part of `RENEW_SPREAD_NS` by which it is renewed earlier, so that servers are not all renewed at once. @default 0 */
  readonly phase?: number
}

/** Number of timers that covered rules during a stop or take-over so far. */
let coverTimers = 0

export class Lease {
  readonly #node: NodeConnection
  readonly #session: string
  readonly #audit: AuditWriter
  readonly #stop: (name: string) => TimerStop
  readonly #leaseStore: LeaseStore | undefined
  readonly #may: () => string | undefined
  readonly #purpose: UnitPurpose
  #number = 0
  #state: LeaseState | undefined
  /** Rules that the present timer stops. */
  #covered: ReadonlySet<string> = new Set()
  /** Rules expected on the server at the last call of `cover`. */
  #expected: readonly string[] = []
  /** Timers that may exist besides the present one, with the rules each stops. */
  readonly #strays = new Map<string, LeaseState & { readonly names: ReadonlySet<string> }>()
  #unknown: Failure | undefined
  #refused: { readonly untilNs: number; readonly waitNs: number; readonly failure: Failure } | undefined

  /** Renewed when less than this is left. */
  readonly #renewNs: number

  /** @param session  distinguishes the timers of one start of Sluice, and of one loop, from those of another. */
  constructor(node: NodeConnection, session: string, audit: AuditWriter, options: LeaseOptions = {}) {
    this.#node = node
    this.#session = session
    this.#audit = audit
    this.#stop = options.stop ?? stopData
    this.#leaseStore = options.store
    this.#may = options.may ?? (() => undefined)
    this.#renewNs = RENEW_NS + (options.phase ?? 0) * RENEW_SPREAD_NS
    this.#purpose = options.purpose ?? 'lease'
    // A stop may need a second timer while the first one is not known to be gone.
    if (this.#purpose !== 'lease') this.#number = coverTimers++
  }

  /** True while a timer of this lease is on the server, or may be. */
  get isOpen(): boolean {
    return this.#state !== undefined || this.#strays.size > 0
  }

  /** Timers of this lease that are on the server, or may be. */
  get units(): readonly string[] {
    return [...(this.#state ? [this.#state.unit] : []), ...this.#strays.keys()]
  }

  get state(): LeaseState | undefined {
    return this.#state
  }

  /** Phase of the lease; docs/enforcement-model.md defines the phases and their transitions. */
  get phase(): LeasePhase {
    if (this.#unknown) return 'unknown'
    if (this.#state) return this.#strays.size > 0 ? 'renewing' : 'held'
    return this.#strays.size > 0 ? 'open' : 'none'
  }

  /** Set while the server's timers are unknown; nothing may be written there then. */
  get unknown(): Failure | undefined {
    return this.#unknown
  }

  get #kind(): TimerKind {
    return this.#node.timers ?? 'systemd'
  }

  /**
   * Ensures that a timer covers all of `names` and has time left.
   *
   * @param names  every rule of Sluice that is on the server or about to be.
   * @param nowNs  the server's clock as far as the source knows it.
   * @param nowMs  the same time for the audit, Unix ms.
   * @param seen   rules of Sluice on the server, and those expected from now on: if an expected rule is gone, another
   *               console or user removed it, and maybe the timer, too.
   * @returns      LEASE_FAILED (the server makes no timer), LEASE_UNKNOWN (it did not answer), LEASE_TAKEN (another
   *               console ended it), LEASE_REFUSED (reason from `may`): no rule may be written then.
   * @throws       if the audit cannot be written; nothing was sent then.
   */
  async cover(
    names: Iterable<string>,
    nowNs: number,
    nowMs: number,
    seen?: {
      readonly there: readonly string[]
      readonly next: Iterable<string>
      /** Set if rules of Sluice differ from how they were left: another console may write them. */
      readonly isChanged?: boolean
    },
  ): Promise<Result<LeaseState | undefined>> {
    const wanted = new Set(names)
    if (this.#state && this.#state.expiresNs <= nowNs) this.#fired(this.#state)
    const isTaken = seen !== undefined && this.#expected.some((n) => !seen.there.includes(n))
    if (seen) this.#expected = [...seen.next]
    if (this.#state && (isTaken || seen?.isChanged)) {
      const taken = await this.#checkTaken(this.#state, isTaken, nowNs)
      if (taken) return fail(taken)
    }
    if (wanted.size === 0 || (!this.#unknown && this.#holds(wanted, nowNs))) return ok(this.#state)
    if (this.#refused && nowNs < this.#refused.untilNs) return fail(this.#refused.failure)
    const result = await this.#cover(wanted, nowNs, nowMs)
    const isRefusal = !result.ok && result.error.code === 'LEASE_FAILED'
    const waitNs = isRefusal
      ? Math.min(RETRY_NS.most, (this.#refused?.waitNs ?? RETRY_NS.least / 2) * 2)
      : RETRY_NS.least
    this.#refused = result.ok ? undefined : { untilNs: nowNs + waitNs, waitNs, failure: result.error }
    return result
  }

  /**
   * Stops in the leases of other consoles on the server, if this lease is not there: those rules belong to them,
   * although the names may be equal. Empty if the timers cannot be read.
   */
  async takenOver(): Promise<readonly TimerStop[]> {
    const read = await readTimers(this.#node, ANSWER_MS)
    if (!read.ok || read.value.some((t) => t.unit === this.#state?.unit)) return []
    const foreign = new Set(this.#foreignUnits(read.value.map((t) => t.unit)))
    return read.value.filter((t) => foreign.has(t.unit)).flatMap((t) => t.stops)
  }

  /**
   * Checks, after the server did not execute a command because its timer was gone, whether another console ended the
   * lease.
   *
   * @returns  LEASE_TAKEN; undefined if it has fired, the server was rebooted, or the cause is unknown.
   */
  async endedElsewhere(nowNs: number): Promise<Failure | undefined> {
    return this.#state && this.#checkTaken(this.#state, true, nowNs)
  }

  #foreignUnits(units: readonly string[]): string[] {
    return units.filter((u) => consoleUnit(u) !== undefined && !isOfSession(u, this.#session.replace(/-md$/, '')))
  }

  /**
   * Checks whether another console ended the lease: it is no longer in the server's list although it had not expired,
   * and rules are gone with it or another console has a lease there. A reboot removes everything and is no take-over.
   */
  async #checkTaken(state: LeaseState, isTaken: boolean, nowNs: number): Promise<Failure | undefined> {
    const read = await readTimerList(this.#node, ANSWER_MS)
    if (!read.ok) {
      this.#unknown ??= this.#notKnown('rules that it covers were changed')
      return undefined
    }
    const taken = this.#takenBy(state, read.value, isTaken, nowNs)
    // Then nothing covers the rules.
    if (!taken && !read.value.timers.some((t) => t.unit === state.unit)) this.#fired(state)
    return taken
  }

  /** @param isGone  true if rules that the lease covers were removed, too. */
  #takenBy(state: LeaseState, { timers, upS }: TimerList, isGone: boolean, nowNs: number): Failure | undefined {
    if (timers.some((t) => t.unit === state.unit) || state.expiresNs <= nowNs) return undefined
    const [other] = this.#foreignUnits(timers.map((t) => t.unit))
    const isRebooted = timers.length === 0 && upS < (nowNs - state.createdNs) / NS_PER_S
    if (other === undefined && (!isGone || isRebooted)) return undefined
    this.#forget(state.unit)
    this.#state = undefined
    this.#covered = new Set()
    this.#expected = []
    const who = other === undefined ? 'another console' : consoleName(other)
    const did = other !== undefined && consoleUnit(other)?.purpose !== 'stop' ? 'took over' : 'removed the rules'
    return {
      code: 'LEASE_TAKEN',
      what: 'The controller left enforce',
      why: `${who} ${did}: the lease on ${this.#node.host} was ended there${other === undefined ? '' : ` (${other})`}`,
      unaffected: 'Monitoring continues.',
      next: 'Ask the operator of that console. Choose Enforce again to take over.',
    }
  }

  /** Reason why no lease may be held beside those of other consoles; undefined if none conflicts. */
  #conflict({ timers }: TimerList): Failure | undefined {
    const { host } = this.#node
    const leaseStore = this.#leaseStore
    const foreign = this.#foreignUnits(timers.map((t) => t.unit))
    const stopping = foreign.find((u) => consoleUnit(u)?.purpose === 'stop')
    // Consoles that enter enforce at the same time see each other's leases: the one that sees another's yields.
    const lease =
      this.#state === undefined && leaseStore !== undefined
        ? foreign.find((u) => consoleUnit(u)?.purpose === 'lease' && !leaseStore.has(host, u))
        : undefined
    const [unit, does] = stopping ? [stopping, 'is removing the rules of Sluice'] : [lease, 'enforces']
    if (unit === undefined) return undefined
    return {
      code: 'LEASE_TAKEN',
      what: 'The controller left enforce',
      why: `${consoleName(unit)} ${does} on ${host} (${unit})`,
      unaffected: 'Monitoring continues.',
      next: 'Ask the operator of that console. Choose Enforce again when it has finished, or take over.',
    }
  }

  async #cover(wanted: ReadonlySet<string>, nowNs: number, nowMs: number): Promise<Result<LeaseState | undefined>> {
    if (this.#unknown) {
      const settled = await this.#settle(wanted, nowNs)
      if (!settled.ok) return settled
      if (this.#holds(wanted, nowNs)) return ok(this.#state)
    }
    const why = this.#may()
    if (why !== undefined) return fail(this.#notAllowed(why))
    const unit = `sluice-${this.#purpose}-${this.#session}-${++this.#number}`
    const command = makeTimerCommand(this.#kind, {
      unit,
      seconds: LEASE_SECONDS,
      stops: [...wanted].map(this.#stop),
    })
    if (!command.ok) return fail(this.#failed(command.error.why ?? command.error.what))
    const made = {
      unit,
      rules: wanted.size,
      names: wanted,
      createdNs: nowNs,
      expiresNs: nowNs + LEASE_SECONDS * NS_PER_S,
    }
    // From here on it may exist, whatever the answer.
    this.#strays.set(unit, made)
    this.#leaseStore?.keep({
      host: this.#node.host,
      unit,
      rules: wanted.size,
      createdMs: nowMs,
      expiresMs: nowMs + LEASE_SECONDS * 1000,
    })
    const answer = await this.#run(command.value, nowMs)
    if (answer.kind === 'refused') {
      this.#forget(unit)
      return fail(this.#failed(answer.why))
    }
    this.#unknown = this.#notKnown(answer.kind === 'done' ? 'its list of timers was not read' : answer.why)
    const settled = await this.#settle(wanted, nowNs)
    if (!settled.ok) return settled
    if (!this.#holds(wanted, nowNs)) {
      const stillActive = await this.#discard(made, nowMs)
      return fail(this.#failed(`${unit} is not among the timers of the server${stillActive}`))
    }
    await this.#endStrays(nowMs)
    return ok(this.#state)
  }

  /** Ends the timer, after the rules it covered are gone. @throws if the audit cannot be written. */
  async end(nowMs: number): Promise<void> {
    if (this.#state) this.#strays.set(this.#state.unit, { ...this.#state, names: this.#covered })
    this.#state = undefined
    this.#covered = new Set()
    this.#expected = []
    await this.#endStrays(nowMs)
  }

  #holds(wanted: ReadonlySet<string>, nowNs: number): boolean {
    const isCovered = [...wanted].every((n) => this.#covered.has(n))
    return this.#state !== undefined && isCovered && this.#state.expiresNs - nowNs > this.#renewNs
  }

  /** Reads the server's timers and adopts the youngest one of this lease that covers `wanted`. */
  async #settle(wanted: ReadonlySet<string>, nowNs: number): Promise<Result<undefined>> {
    const read = await readTimerList(this.#node, ANSWER_MS)
    if (!read.ok) return fail((this.#unknown = this.#notKnown(read.error.why ?? read.error.what)))
    this.#unknown = undefined
    const taken = this.#state && this.#takenBy(this.#state, read.value, false, nowNs)
    if (taken) return fail(taken)
    const refused = this.#purpose === 'lease' ? this.#conflict(read.value) : undefined
    if (refused) return fail(refused)
    const there = new Map(read.value.timers.filter((t) => t.isOwn).map((t) => [t.unit, t]))
    const stops = [...wanted].map(this.#stop)
    for (const [unit, stray] of this.#strays) {
      const found = there.get(unit)
      if (!found || stray.expiresNs <= nowNs) {
        if (!found) this.#forget(unit)
        continue
      }
      if (!covers(found, stops) || stray.expiresNs <= (this.#state?.expiresNs ?? 0)) continue
      if (this.#state) this.#strays.set(this.#state.unit, { ...this.#state, names: this.#covered })
      this.#strays.delete(unit)
      const { names, ...state } = stray
      this.#state = { ...state, file: found.file }
      this.#covered = names
    }
    // It was ended elsewhere: then nothing covers the rules.
    if (this.#state && !there.has(this.#state.unit)) this.#fired(this.#state)
    return ok(undefined)
  }

  /**
   * Ends a timer that the server accepted but does not list: it may exist nevertheless.
   *
   * @returns  end of the failure's sentence, on whether the timer may still exist.
   */
  async #discard(made: LeaseState & { readonly names: ReadonlySet<string> }, nowMs: number): Promise<string> {
    this.#strays.set(made.unit, made)
    await this.#endStrays(nowMs)
    return this.#strays.has(made.unit) ? ', and may exist: it could not be ended' : '; it was ended'
  }

  async #endStrays(nowMs: number): Promise<void> {
    for (const unit of [...this.#strays.keys()]) {
      const command = endTimerCommand(this.#kind, unit)
      const answer = command.ok ? await this.#run(command.value, nowMs) : undefined
      // A timer that is not there has fired. An unanswered one is ended with the next renewal, or fires: its rules are
      // gone or covered.
      if (answer?.kind === 'done' || answer?.kind === 'refused') this.#forget(unit)
    }
  }

  #fired({ unit }: LeaseState): void {
    // The server's list may lag.
    if (this.#state) this.#strays.set(unit, { ...this.#state, names: this.#covered })
    this.#state = undefined
    this.#covered = new Set()
  }

  #forget(unit: string): void {
    this.#strays.delete(unit)
    this.#leaseStore?.end(this.#node.host, unit)
  }

  async #run(command: string, nowMs: number): Promise<Answer> {
    this.#audit.write(nowMs, this.#node.host, 'intent', command)
    const answer = await sendCommand(this.#node, command, ANSWER_MS)
    const outcome = { done: 'done', refused: 'failed', lost: 'unknown', late: 'unknown' }[answer.kind]
    this.#audit.write(nowMs, this.#node.host, 'outcome', answer.kind === 'done' ? outcome : `${outcome}: ${answer.why}`)
    return answer
  }

  #failed(why: string): Failure {
    return {
      code: 'LEASE_FAILED',
      what: `No expiry timer could be made on ${this.#node.host}, so no rule was written there`,
      why,
      unaffected: 'Active rules are unchanged; sampling continues.',
      next: 'Run the checklist of the server: it shows whether timers can be made there. Or choose Advise.',
    }
  }

  #notAllowed(why: string): Failure {
    return {
      code: 'LEASE_REFUSED',
      what: `No expiry timer was made on ${this.#node.host}, so no rule was written there`,
      why,
      unaffected: 'Active rules can be removed.',
      next: 'Remove the reason, then choose Enforce again.',
    }
  }

  #notKnown(why: string): Failure {
    const { host } = this.#node
    const stillActive = this.#state ? 'Active rules are stopped by their timer within a minute.' : ''
    return {
      code: 'LEASE_UNKNOWN',
      what: `${host} may not have renewed its expiry timer, so no rule is written there`,
      why,
      unaffected: `${stillActive === '' ? '' : `${stillActive} `}Sampling continues.`,
      next: 'The timers of the server are read again every second.',
    }
  }
}
