/**
 * Control agent of a stage: answers its local controller, and follows the lease when that falls silent.
 *
 * A stage forwards everything until it was ready once. From then on it keeps its rates even without a connection, and
 * follows the lease once that has run out. No message makes it fail: a command that cannot be carried out is answered
 * with the reason.
 *
 * Source: spec/padll 3 and 8. Deviations: leases, epochs, request numbers that make repeated and late commands
 * harmless. A fallback rate never raises a rate: without a controller the rates of the others are unknown.
 */
import { fail, ok, type Result } from '../../base/result.ts'
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import { RATE_MAX } from '../stage/token-bucket.ts'
import type { Stage } from '../stage/stage.ts'
import type { Lease, LocalToStage, ObjectCommand, StageToLocal } from './messages.ts'
import { PROTOCOL } from './protocol.ts'

/** Transport. Both calls must act later, never synchronously. */
export interface StageIo {
  send(message: StageToLocal): void
  close(): void
}

export interface StageAgentOptions {
  readonly stage: Stage
  readonly io: StageIo
}

const keyOf = ({ channel, object }: { readonly channel: number; readonly object: number }): string =>
  `${channel} ${object}`

/** A rule without its number and rate: the part that cannot change while requests wait. */
const shapeOf = (rule: HousekeepingRule): string =>
  JSON.stringify(
    rule.kind === 'create_channel'
      ? [rule.channel, rule.contextType, rule.workflow, rule.type, rule.context]
      : [rule.channel, rule.object, rule.contextType, rule.type, rule.context, rule.bucket === null],
  )

export class StageAgent {
  readonly #stage: Stage
  readonly #io: StageIo
  #isOpen = false
  /** Epoch and last number on this connection: lower ones are late. */
  #epoch = 0
  #lastRequest = 0
  #lease: Lease | undefined
  #renewedNs = 0
  #isExpired = false
  /** Shapes of the applied rules, by channel and object. */
  readonly #laidOut = new Map<string, string>()
  /** Rates replaced by the fallback, by object. */
  readonly #held = new Map<string, ObjectCommand>()

  constructor({ stage, io }: StageAgentOptions) {
    this.#stage = stage
    this.#io = io
  }

  /** True after the lease has run out. */
  get isExpired(): boolean {
    return this.#isExpired
  }

  /** Called when a connection to the local controller is open; after `onGone` the host opens a new one at will. */
  onOpen(nowNs: number): void {
    this.tick(nowNs)
    this.#isOpen = true
    this.#epoch = 0
    this.#lastRequest = 0
    // The controller that answers now may have given the earlier rates to others.
    this.#held.clear()
    this.#io.send({ kind: 'hello', protocol: PROTOCOL, identity: this.#stage.identity })
  }

  onGone(nowNs: number): void {
    this.tick(nowNs)
    this.#isOpen = false
  }

  onMessage(message: LocalToStage, nowNs: number): void {
    if (!this.#isOpen) return
    this.tick(nowNs)
    switch (message.kind) {
      case 'housekeeping':
        return this.#answer(message.request, () => this.#layOut(message.rule, nowNs))
      case 'ready':
        return this.#answer(message.request, () => {
          this.#stage.markReady()
          this.#lease = message.lease
          this.#restart(nowNs)
          return ok(undefined)
        })
      case 'enforce':
        return this.#answer(message.request, () => this.#enforce(message.epoch, message.command, nowNs))
      case 'collect':
        if (!this.#isNew(message.request)) return
        this.#renew(nowNs)
        return this.#io.send({ kind: 'counts', request: message.request, channels: this.#stage.collect(nowNs) })
      case 'alive':
        return this.#renew(nowNs)
      case 'refused':
        return this.#release(nowNs)
    }
  }

  /** Says goodbye: its process ends. */
  leave(nowNs: number): void {
    this.tick(nowNs)
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#io.send({ kind: 'bye' })
    this.#io.close()
  }

  tick(nowNs: number): void {
    if (this.#isExpired || !(nowNs >= this.#expiryNs)) return
    this.#isExpired = true
    const fallback = this.#lease?.onExpiry
    if (fallback === undefined || fallback === 'hold') return
    for (const { channel, object } of this.#stage.channels) {
      const rate = this.#stage.limitOf(channel, object)?.rate
      if (rate === undefined || rate <= fallback.rate) continue
      const set = this.#stage.command({ channel, object, rate: fallback.rate }, nowNs)
      if (set.ok) this.#held.set(keyOf({ channel, object }), { channel, object, rate })
    }
  }

  /** Latest time for the next `tick`; Infinity for none. */
  nextNs(): number {
    return this.#isExpired ? Infinity : this.#expiryNs
  }

  get #expiryNs(): number {
    return this.#lease ? this.#renewedNs + this.#lease.ns : Infinity
  }

  #isNew(request: number): boolean {
    if (!(request > this.#lastRequest)) return false
    this.#lastRequest = request
    return true
  }

  /** Carries out a request once; a repeated or overtaken one is only acknowledged. */
  #answer(request: number, act: () => Result<void>): void {
    if (!this.#isNew(request)) return
    const done = act()
    const why = done.ok ? undefined : `${done.error.code}: ${done.error.what}`
    this.#io.send({ kind: 'ack', request, ...(why === undefined ? {} : { failed: why }) })
  }

  #layOut(rule: HousekeepingRule, nowNs: number): Result<void> {
    const id = rule.kind === 'create_channel' ? `channel ${rule.channel}` : keyOf(rule)
    const shape = shapeOf(rule)
    // Sent again after reconnecting: an existing object stays, with its rate, until that is set.
    if (this.#laidOut.get(id) === shape) return ok(undefined)
    const done = this.#stage.housekeeping(rule, nowNs)
    if (done.ok) this.#laidOut.set(id, shape)
    return done
  }

  #enforce(epoch: number, command: ObjectCommand, nowNs: number): Result<void> {
    if (!(epoch >= this.#epoch)) {
      return fail({ code: 'E_STALE', what: `a controller of epoch ${this.#epoch} commands this stage` })
    }
    const done = this.#stage.command(command, nowNs)
    if (!done.ok) return done
    this.#epoch = epoch
    if (command.rate !== undefined) this.#held.delete(keyOf(command))
    this.#renewedNs = nowNs
    if (this.#held.size === 0) this.#isExpired = false
    return done
  }

  /** Handles any message of the local controller: after a fallback, the earlier rates apply again. */
  #renew(nowNs: number): void {
    for (const command of this.#held.values()) this.#stage.command(command, nowNs)
    this.#restart(nowNs)
  }

  #restart(nowNs: number): void {
    this.#held.clear()
    this.#isExpired = false
    this.#renewedNs = nowNs
  }

  /** Releases the process from all limits: the stage was rejected. */
  #release(nowNs: number): void {
    this.#lease = undefined
    this.#restart(nowNs)
    for (const { channel, object } of this.#stage.channels) {
      this.#stage.command({ channel, object, rate: RATE_MAX }, nowNs)
    }
    this.#isOpen = false
    this.#io.close()
  }
}
