/**
 * The monitor's thread: a QosMonitor over real memory. It sleeps until its next check or a SEND; one-sided verbs do not wake it.
 * It reads reports from memory, changes POOL by CAS, and checks itself while it does.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { ok, type Result } from '#core/base/result.ts'
import { remainingCapacity } from '#core/haechi/conversion.ts'
import type { ToEngine } from '#core/haechi/messages.ts'
import type { Conversion, MonitorEvent, MonitorPeriod } from '#core/haechi/monitor-events.ts'
import { QosMonitor } from '#core/haechi/qos-monitor.ts'
import type { Key } from '#core/haechi/registered-memory.ts'
import { lowEpoch, type SlotReport } from '#core/haechi/report-word.ts'
import type { TokenMemory } from '#core/haechi/token-memory.ts'
import { clockSince, threadCpuNs, type Clock } from './clock.ts'
import type { Mailbox } from './mailbox.ts'
import type { FromMonitor, MonitorTask, ToMonitor } from './messages.ts'
import type { NodeMemory } from './node-memory.ts'

export class MonitorLoop {
  readonly #task: MonitorTask
  readonly #node: NodeMemory
  readonly #tokens: TokenMemory
  readonly #port: MessagePort
  readonly #clock: Clock
  readonly #monitor: QosMonitor
  readonly #mailboxes: readonly Mailbox[]
  /** Last report of each slot in the monitor's epoch, and its N. */
  readonly #last: { epoch: number; completed: number }[]
  readonly #checks = { conversions: 0, races: 0, overfull: 0, backwards: 0, lost: 0 }

  constructor(task: MonitorTask, node: NodeMemory, claimed: { tokens: TokenMemory; key: Key }, port: MessagePort) {
    this.#task = task
    this.#node = node
    this.#tokens = claimed.tokens
    this.#port = port
    this.#clock = clockSince(task.origin)
    this.#mailboxes = Array.from({ length: task.slots }, (_, slot) => node.mailbox(slot))
    this.#last = Array.from({ length: task.slots }, () => ({ epoch: -1, completed: 0 }))
    const { tokens, key } = claimed
    this.#monitor = new QosMonitor({
      settings: task.settings,
      profile: task.profile,
      port: {
        swapPool: (expected, desired, epoch) => tokens.swapPool(key, expected, desired, epoch),
        readSlot: (slot) => this.#read(slot),
        send: (client, message) => this.#send(client, message),
      },
      observer: { event: (event) => this.#onEvent(event), period: (period) => this.#onPeriod(period) },
    })
  }

  /** Runs until it is ordered to stop. */
  run(): void {
    this.#post({ kind: 'ready' })
    for (;;) {
      const heard = this.#node.monitorBell
      for (let m = receiveMessageOnPort(this.#port); m; m = receiveMessageOnPort(this.#port)) {
        const message = m.message as ToMonitor
        const result = this.#obey(message)
        this.#post({ kind: 'reply', id: message.id, result, cpuNs: threadCpuNs() })
        if (message.kind === 'stop') return
      }
      const now = this.#clock()
      if (this.#monitor.wakeAt <= now) this.#monitor.onWake(now)
      else this.#node.sleepMonitor(heard, this.#monitor.wakeAt - now)
    }
  }

  #obey(message: ToMonitor): Result<void> {
    const now = this.#clock()
    switch (message.kind) {
      case 'start':
        this.#monitor.start(now)
        return ok(undefined)
      case 'join':
        return this.#monitor.join(now, message.client, message.client, message.reservation, message.limit)
      case 'reserve':
        return this.#monitor.reserve(message.client, message.reservation, message.limit)
      case 'leave':
        return this.#monitor.leave(now, message.client)
      case 'mark':
        return ok(undefined)
      case 'stop':
        this.#node.releaseMonitor()
        return ok(undefined)
    }
  }

  #send(client: number, message: ToEngine): void {
    if (this.#mailboxes[client]?.send(message) !== true) this.#checks.lost++
  }

  /** Reads a slot; N may only grow within an epoch. */
  #read(slot: number): SlotReport {
    const report = this.#tokens.slot(slot)
    const last = this.#last[slot]
    const { epoch } = this.#monitor
    if (last !== undefined && report.epoch === lowEpoch(epoch)) {
      if (last.epoch === epoch && report.completed < last.completed) this.#checks.backwards++
      last.epoch = epoch
      last.completed = report.completed
    }
    return report
  }

  #onEvent(event: MonitorEvent): void {
    if (event.kind === 'conversion') this.#onConversion(event)
    else this.#post({ kind: 'event', event })
  }

  /** I1: live tokens fit into the rest of the period. */
  #onConversion({ at, to, residual, races }: Conversion): void {
    const { omega, periodStart } = this.#monitor
    this.#checks.conversions++
    this.#checks.races += races
    const remaining = remainingCapacity(omega, at - periodStart, this.#task.settings.periodNs)
    if (to > 0 && to + residual > remaining) this.#checks.overfull++
  }

  #onPeriod(period: MonitorPeriod): void {
    this.#post({ kind: 'period', period, checks: { ...this.#checks } })
  }

  #post(message: FromMonitor): void {
    this.#port.postMessage(message)
  }
}
