/** A client of a simulated node: its setup, its data path and, unless it is from outside, its engine. */
import { invariant } from '../../base/result.ts'
import type { QosEngine } from '../qos-engine.ts'
import type { ClientPath } from './client-path.ts'
import type { ControlledClient } from './control-plane.ts'
import type { ClientSetup } from './setup.ts'
import type { ClientSample } from './token-samples.ts'

export class SimulatedClient implements ControlledClient {
  readonly setup: ClientSetup
  readonly path: ClientPath
  readonly index: number
  state: 'active' | 'left' | 'crashed' = 'active'
  completedBefore = 0
  readonly #qos: QosEngine | null

  constructor(setup: ClientSetup, path: ClientPath, qos: QosEngine | null) {
    this.setup = setup
    this.path = path
    this.index = path.index
    this.#qos = qos
  }

  get qos(): QosEngine | null {
    return this.#qos
  }

  get engine(): QosEngine {
    invariant(this.#qos !== null, 'a client that the monitor knows has an engine')
    return this.#qos
  }

  get isAlive(): boolean {
    return this.path.isAlive
  }

  sync(now: number): void {
    if (this.isAlive) this.path.sync(now)
  }

  settled(): void {
    this.path.settled()
  }

  /** Fills a row of samples. */
  sample(now: number, row: ClientSample): ClientSample {
    const { qos, path } = this
    const isActive = this.state === 'active'
    this.sync(now)
    row.xi = isActive ? (qos?.reservationTokens ?? 0) : 0
    row.g = isActive ? (qos?.globalTokens ?? 0) : 0
    row.bound = isActive ? (qos?.bound ?? 0) : 0
    row.phase = !isActive || qos === null ? 0 : qos.phase === 'reservation' ? 1 : 2
    row.queued = path.engine.queued
    row.inflight = path.outstanding
    row.completed = qos?.completed ?? path.completedTotal - this.completedBefore
    row.yielded = qos?.yielded ?? 0
    return row
  }
}
