/**
 * The request scheduler of one queue of one CPT: its policies, fifo as the fallback that always runs, and at most one primary
 * policy.
 *
 * Source: spec/lustre 1.1. Policies that are no longer primary keep their RPCs until they are served; policies are polled in
 * the order in which they got their first RPC.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import type { RuleDialect } from '../lustre/rule-dialect.ts'
import type { PolicyName } from './policy-command.ts'
import { PolicySlot, type StartedPolicy } from './policy-slot.ts'
import { FifoQueue, type ScheduledRequest } from './scheduler.ts'
import { ARGUMENT_MAX } from './tbf-type.ts'

/** RPC on its way to a service thread; pass its queue and policy back to `finished`. */
export interface Dispatched<R> {
  readonly request: R
  readonly queue: Queue
  readonly policy: PolicyName
}

export interface HeadOptions {
  readonly queue: Queue
  readonly policies: readonly PolicyName[]
  readonly rules: RuleDialect
  /** True if a policy with `held` RPCs drains within 30 s of a stop. */
  readonly drainsInTime: (held: number) => boolean
}

export class NrsHead<R extends ScheduledRequest> {
  readonly queue: Queue
  readonly slots: readonly PolicySlot<R>[]
  readonly #options: HeadOptions
  readonly #fallback: PolicySlot<R>
  #primary: PolicySlot<R> | undefined
  /** Policies with RPCs, in the order in which they got their first one. */
  #pending: PolicySlot<R>[] = []

  constructor(options: HeadOptions) {
    this.#options = options
    this.queue = options.queue
    this.slots = options.policies.map((p) => new PolicySlot<R>(p, options.rules))
    this.#fallback = this.slots[0] as PolicySlot<R>
    this.#fallback.start({ scheduler: new FifoQueue<R>() }, undefined)
  }

  slot(name: PolicyName): PolicySlot<R> | undefined {
    for (let i = 0; i < this.slots.length; i++) if (this.slots[i]?.name === name) return this.slots[i]
    return undefined
  }

  /** Error of an operation on a policy by its state alone: ENODEV if stopped, EAGAIN while stopping, else none. */
  refusal(name: PolicyName): Errno | undefined {
    const state = this.slot(name)?.state ?? 'stopped'
    return state === 'started' ? undefined : state === 'stopped' ? 'ENODEV' : 'EAGAIN'
  }

  /** RPCs waiting, including lost ones. */
  get queued(): number {
    return this.slots.reduce((n, s) => n + s.queued, 0)
  }

  /** Earliest time at which `dequeue` can succeed; Infinity when nothing is queued. */
  get wakeAt(): number {
    let at = Infinity
    for (let i = 0; i < this.#pending.length; i++) at = Math.min(at, (this.#pending[i] as PolicySlot<R>).wakeAt)
    return at
  }

  enqueue(now: number, request: R): void {
    const slot = this.#primary?.accepts(request) ? this.#primary : this.#fallback
    slot.enqueue(now, request)
    if (!this.#pending.includes(slot)) this.#pending.push(slot)
  }

  dequeue(now: number): Dispatched<R> | undefined {
    const pending = this.#pending
    for (let i = 0; i < pending.length; i++) {
      const slot = pending[i] as PolicySlot<R>
      const request = slot.dequeue(now)
      // Common case: the list becomes empty, as for every RPC that finds no other waiting.
      if (slot.waiting === 0) {
        if (pending.length === 1) pending.pop()
        else this.#pending = this.#pending.filter((s) => s !== slot)
      }
      if (request) return { request, queue: this.queue, policy: slot.name }
    }
    return undefined
  }

  /** @param policy  as returned by `dequeue`; absent: attributed to a stopping policy, else to any active one. */
  finished(policy: PolicyName | undefined): void {
    if (policy !== undefined) {
      for (const s of this.slots) if (s.name === policy && s.active > 0) s.finished()
      return
    }
    const busy = this.slots.filter((s) => s.active > 0)
    const slot = busy.find((s) => s.state === 'stopping') ?? busy.find((s) => s === this.#primary) ?? busy[0]
    slot?.finished()
  }

  /**
   * Makes a policy the primary one; fifo = none.
   *
   * @param make  prepares the new instance; on an error, a policy that was being restarted stays stopped, and its rules are
   *   lost.
   * @returns     EAGAIN while it is stopping, EINVAL for an argument of 16 bytes, EBUSY if it does not drain in time.
   */
  start(
    name: PolicyName,
    argument: string | undefined,
    make: () => Result<StartedPolicy<R>, Errno>,
  ): Result<undefined, Errno> {
    const { rules, drainsInTime } = this.#options
    const slot = this.slot(name)
    if (!slot) return fail('ENOENT')
    if (slot.state === 'stopping') return fail('EAGAIN')
    const isLong = (argument ?? '').length > ARGUMENT_MAX
    if (isLong && rules.limitsArgument === 'always') return fail('EINVAL')
    if (slot === this.#fallback) {
      this.#stopPrimary()
      return ok(undefined)
    }
    if (slot.state === 'started') {
      if (isLong) return fail('EINVAL')
      if (slot.argument === (argument ?? '')) return ok(undefined)
      this.#primary = undefined
      if (rules.waitsOnRestart && !drainsInTime(slot.queued + slot.active)) {
        slot.stop()
        return fail('EBUSY')
      }
      slot.replace()
    }
    const started = make()
    if (!started.ok) return started
    slot.start(started.value, argument)
    this.#stopPrimary()
    this.#primary = slot
    return ok(undefined)
  }

  #stopPrimary(): void {
    this.#primary?.stop()
    this.#primary = undefined
  }
}
