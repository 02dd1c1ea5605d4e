/**
 * One policy on one head: its state, its argument, and the RPCs it holds or has in service.
 *
 * Source: spec/lustre 1.1, measured B8, B9. A stopped policy is `stopping` until its queued and in-service RPCs are gone.
 */
import type { PolicyState } from '../lustre/nrs-policies.ts'
import type { RuleDialect } from '../lustre/rule-dialect.ts'
import type { PolicyName } from './policy-command.ts'
import type { DelaySettings } from './delay-queue.ts'
import type { RoundRobinSettings } from './round-robin.ts'
import type { ScheduledRequest, Scheduler } from './scheduler.ts'
import type { TbfHead } from './tbf-head.ts'
import type { TbfType } from './tbf-type.ts'

/** Initial state of a started policy. */
export interface StartedPolicy<R extends ScheduledRequest> {
  readonly scheduler: Scheduler<R>
  /** tbf only. */
  readonly tbf?: { readonly head: TbfHead<R>; readonly type: TbfType }
  /** Tunable policies only; reset to the defaults at every start. */
  readonly settings?: RoundRobinSettings | DelaySettings
}

export class PolicySlot<R extends ScheduledRequest> {
  readonly name: PolicyName
  readonly #rules: RuleDialect
  #state: PolicyState = 'stopped'
  #argument = ''
  #started: StartedPolicy<R> | undefined
  /** Schedulers from before a restart, oldest first; drained before anything else. */
  #draining: Scheduler<R>[] = []
  #lost = 0
  #active = 0

  constructor(name: PolicyName, rules: RuleDialect) {
    this.name = name
    this.#rules = rules
  }

  get state(): PolicyState {
    return this.#state
  }

  /** Argument as printed; releases up to 2.15 still print it when the policy has stopped. */
  get argument(): string {
    return this.#argument
  }

  /** TBF's rules and classes, while it is started. */
  get tbf(): StartedPolicy<R>['tbf'] {
    return this.#state === 'started' ? this.#started?.tbf : undefined
  }

  get settings(): StartedPolicy<R>['settings'] {
    return this.#started?.settings
  }

  /** RPCs that can still be served. */
  get waiting(): number {
    let n = this.#started?.scheduler.queued ?? 0
    if (this.#draining.length === 0) return n
    for (const s of this.#draining) n += s.queued
    return n
  }

  /** RPCs as counted by the server, including permanently lost ones. */
  get queued(): number {
    return this.waiting + this.#lost
  }

  /** RPCs in service. */
  get active(): number {
    return this.#active
  }

  get wakeAt(): number {
    const isForced = this.#rules.drainsByForce
    if (this.#draining.length > 0) return 0
    const s = this.#started?.scheduler
    if (!s || s.queued === 0) return Infinity
    return this.#state !== 'started' && isForced ? 0 : s.wakeAt
  }

  accepts(request: R): boolean {
    return this.#started?.scheduler.accepts?.(request) ?? true
  }

  enqueue(now: number, request: R): void {
    this.#started?.scheduler.enqueue(now, request)
  }

  dequeue(now: number): R | undefined {
    if (this.#draining.length > 0) {
      const oldest = this.#draining[0] as Scheduler<R>
      const request = oldest.dequeue(now, true)
      if (oldest.queued === 0) this.#draining.shift()
      if (request) return this.#serve(request)
    }
    const isForced = this.#state !== 'started' && this.#rules.drainsByForce
    const request = this.#started?.scheduler.dequeue(now, isForced)
    return request && this.#serve(request)
  }

  #serve(request: R): R {
    this.#active++
    return request
  }

  /** Reports that an RPC of this policy has been served. */
  finished(): void {
    this.#active--
    this.#settle()
  }

  start(started: StartedPolicy<R>, argument: string | undefined): void {
    this.#started = started
    this.#argument = argument ?? ''
    this.#state = 'started'
  }

  /** Requests a stop, which is immediate if it holds no RPCs. */
  stop(): void {
    this.#state = 'stopping'
    this.#settle()
  }

  /**
   * Stops it for an immediate restart. Since 2.16 the writer waits until its RPCs have been served; here they drain after the
   * new start. Releases up to 2.15 do not wait, and lose queued RPCs.
   */
  replace(): void {
    if (this.#rules.waitsOnRestart) {
      if (this.#started && this.#started.scheduler.queued > 0) this.#draining.push(this.#started.scheduler)
    } else this.#lost += this.#started?.scheduler.queued ?? 0
    this.#started = undefined
    this.stop()
  }

  #settle(): void {
    if (this.#state !== 'stopping' || this.queued > 0 || this.#active > 0) return
    this.#state = 'stopped'
    this.#started = undefined
    if (this.#rules.forgetsArgument) this.#argument = ''
  }
}
