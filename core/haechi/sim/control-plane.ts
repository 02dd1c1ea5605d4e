/**
 * Control plane between engines and monitor, everything but data I/Os: T1 and S3, FAAs once they reach the node, reports, wake-up times
 * of engines and monitor. Independent of the scheduler, so that the lookahead simulation and a plain event-by-event one share it
 * (spec/haechi 1, 6).
 */
import { randomStream } from '../../base/random.ts'
import { invariant, ok, type Result } from '../../base/result.ts'
import { usablePart } from '../claim.ts'
import type { ClientReport, ToEngine } from '../messages.ts'
import type { MonitorObserver } from '../monitor-events.ts'
import type { QosEngine } from '../qos-engine.ts'
import { QosMonitor } from '../qos-monitor.ts'
import { epochNear } from '../pool-word.ts'
import type { CapacityProfile, HaechiSettings } from '../settings.ts'
import { TokenMemory, tokenMemoryBytes, type ClientKeys } from '../token-memory.ts'
import type { Fabric } from './fabric.ts'

export interface Scheduler {
  readonly now: number
  at(at: number, action: () => void): void
}

/** A client as seen by the control plane. */
export interface ControlledClient {
  readonly index: number
  readonly engine: QosEngine
  /** False once it crashed: it neither receives nor sends. */
  readonly isAlive: boolean
  /** Advances the client to `now` before its engine receives an event. */
  sync(now: number): void
  /** Called when the engine may have something to post. */
  settled(): void
}

interface Wired {
  readonly client: ControlledClient
  readonly keys: ClientKeys
  wakeAt: number
  readonly wake: () => void
}

/** Causes that woke the data node's CPU. */
export interface CpuEvents {
  /** Events caused by data I/Os; only two-sided ones cause any. */
  data: number
  /** The monitor's checks, and SENDs that join or leave. */
  control: number
}

export interface ControlPlaneHost {
  readonly settings: HaechiSettings
  readonly profile: CapacityProfile
  readonly fabric: Fabric
  readonly scheduler: Scheduler
  readonly seed: number
  readonly slots: number
  readonly observer: MonitorObserver
}

export class ControlPlane {
  readonly memory: TokenMemory
  readonly monitor: QosMonitor
  readonly cpuEvents: CpuEvents = { data: 0, control: 0 }
  readonly #host: ControlPlaneHost
  readonly #wired = new Map<number, Wired>()
  #sent = 0
  /** SENDs at the same time leave one after the other. */
  #sendingAt = -1
  /** Tokens that FAAs took from POOL, since the start. */
  granted = 0
  /** Reports and grants for a client or slot that no longer exists. */
  undelivered = 0

  constructor(host: ControlPlaneHost) {
    this.#host = host
    const { settings, profile, fabric, seed, slots, observer } = host
    const keys = randomStream(seed, 'haechi/keys')
    this.memory = new TokenMemory(slots, (n) => keys.below(n), new ArrayBuffer(tokenMemoryBytes(slots)))
    const key = this.memory.claimMonitor()
    invariant(key.ok, 'a new memory has no monitor')
    this.monitor = new QosMonitor({
      settings,
      profile,
      observer,
      conversionNs: fabric.conversionNs,
      port: {
        swapPool: (expected, desired, epoch) => this.memory.swapPool(key.value, expected, desired, epoch),
        readSlot: (slot) => this.memory.slot(slot),
        send: (client, message) => this.#send(client, message),
      },
    })
  }

  /** Begins the first period and keeps the monitor awake. */
  start(): void {
    this.monitor.start(this.#host.scheduler.now)
    this.#scheduleMonitor()
  }

  /** Admits a client and connects it; its index is its report slot. */
  join(client: ControlledClient, reservation: number, limit: number | null): Result<void> {
    const keys = this.memory.admit(client.index, this.#host.settings.batch)
    if (!keys.ok) return keys
    const wired: Wired = { client, keys: keys.value, wakeAt: Infinity, wake: () => this.#wake(wired) }
    this.#wired.set(client.index, wired)
    this.cpuEvents.control++
    const { now } = this.#host.scheduler
    const joined = this.monitor.join(now, client.index, client.index, reservation, limit)
    if (!joined.ok) {
      this.#wired.delete(client.index)
      this.memory.release(keys.value)
      return joined
    }
    return ok(undefined)
  }

  /** A client leaves in order: its last report is sent before the monitor learns of it (A19). */
  leave(client: ControlledClient): void {
    const { scheduler, fabric } = this.#host
    client.sync(scheduler.now)
    client.engine.leave()
    client.settled()
    scheduler.at(scheduler.now + fabric.sendNs, () => {
      this.cpuEvents.control++
      this.monitor.leave(scheduler.now, client.index)
    })
  }

  /** Posts a FAA that the node's NIC executes at `execNs`. */
  faa(client: ControlledClient, take: number, execNs: number): void {
    const { scheduler, fabric } = this.#host
    scheduler.at(execNs, () => {
      const wired = this.#wired.get(client.index)
      invariant(wired !== undefined, 'only an admitted client posts a FAA')
      const pool = this.memory.take(wired.keys, take)
      invariant(pool.ok, 'an engine asks for no more than a batch')
      const { tokens, epoch } = pool.value
      this.granted += usablePart(tokens, take)
      scheduler.at(scheduler.now + fabric.delayNs, () =>
        this.#deliver(client, (now, engine) => engine.onFaaReply(now, tokens, take, epochNear(epoch, engine.epoch))),
      )
    })
  }

  /** Posts a report now. */
  report(client: ControlledClient, report: ClientReport): void {
    const { scheduler, fabric } = this.#host
    const keys = this.#wired.get(client.index)?.keys
    if (keys === undefined) return
    scheduler.at(scheduler.now + fabric.delayNs, () => {
      if (!this.memory.report(keys, report).ok) this.undelivered++
    })
  }

  #send(index: number, message: ToEngine): void {
    const { scheduler, fabric } = this.#host
    this.#sent = this.#sendingAt === scheduler.now ? this.#sent + 1 : 0
    this.#sendingAt = scheduler.now
    scheduler.at(scheduler.now + fabric.sendNs + this.#sent * fabric.sendEachNs, () => {
      const wired = this.#wired.get(index)
      if (wired === undefined) return
      this.#deliver(wired.client, (now, engine) => {
        if (message.kind === 'period-start') engine.onPeriodStart(now, message)
        else engine.onStartReport(message)
      })
    })
  }

  #deliver(client: ControlledClient, handle: (now: number, engine: QosEngine) => void): void {
    if (!client.isAlive) {
      this.undelivered++
      return
    }
    const { now } = this.#host.scheduler
    client.sync(now)
    handle(now, client.engine)
    client.settled()
    const wired = this.#wired.get(client.index)
    if (wired) this.#scheduleWake(wired)
  }

  #scheduleWake(wired: Wired): void {
    const at = wired.client.engine.wakeAt
    if (at >= wired.wakeAt) return
    wired.wakeAt = at
    this.#host.scheduler.at(at, wired.wake)
  }

  #wake(wired: Wired): void {
    const { now } = this.#host.scheduler
    // An earlier wake-up may have been scheduled after this one; then this one is stale.
    if (now !== wired.wakeAt) return
    wired.wakeAt = Infinity
    const { client } = wired
    if (!client.isAlive) return
    if (client.engine.wakeAt <= now) {
      client.sync(now)
      client.engine.onWake(now)
      client.settled()
    }
    this.#scheduleWake(wired)
  }

  readonly #wakeMonitor = (): void => {
    this.cpuEvents.control++
    this.monitor.onWake(this.#host.scheduler.now)
    this.#scheduleMonitor()
  }

  /** Runs after everything else at its time: a FAA of the same ns is executed before the monitor reads or writes POOL. */
  readonly #reachInstant = (): void => this.#host.scheduler.at(this.#host.scheduler.now, this.#wakeMonitor)

  #scheduleMonitor(): void {
    this.#host.scheduler.at(this.monitor.wakeAt, this.#reachInstant)
  }
}
