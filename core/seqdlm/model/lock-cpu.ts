/** CPU of a lock service: processes one message at a time; what it sends takes time that the next one waits for. */
import type { Simulation } from '../../sim/simulation.ts'
import type { ToServer } from '../messages.ts'
import type { Connection } from './connection.ts'
import type { Costs } from './costs.ts'
import { Fifo } from './pipe.ts'

export interface LockCpuHost {
  readonly sim: Simulation
  readonly costs: Costs
  /** Returns a cost in ns with its variation. */
  vary(us: number): number
}

export class LockCpu {
  readonly #host: LockCpuHost
  readonly #receive: (from: Connection, message: ToServer) => void
  readonly #senders = new Fifo<Connection>()
  readonly #messages = new Fifo<ToServer>()
  #isBusy = false
  #isHung = false
  /** End of the current work, ns. */
  #doneAt = 0

  constructor(host: LockCpuHost, receive: (from: Connection, message: ToServer) => void) {
    this.#host = host
    this.#receive = receive
  }

  take(from: Connection, message: ToServer): void {
    this.#senders.push(from)
    this.#messages.push(message)
    this.#next()
  }

  /** Stops or resumes processing; messages that arrive meanwhile wait in order. */
  hang(isHung: boolean): void {
    this.#isHung = isHung
    this.#next()
  }

  /** Adds work caused by a message, ns. */
  spend(ns: number): void {
    this.#doneAt = this.leavesAt + ns
  }

  /** Departure time of a message sent now, ns. */
  get leavesAt(): number {
    return Math.max(this.#doneAt, this.#host.sim.now)
  }

  #next(): void {
    if (!this.#isBusy && !this.#isHung && this.#messages.length > 0) this.#begin(this.#messages.first)
  }

  #begin(message: ToServer): void {
    const { sim, costs } = this.#host
    this.#isBusy = true
    const { rpcUs, lockUs, revokeReplyUs } = costs
    const us =
      message.kind === 'lock-request' ? rpcUs + lockUs : message.kind === 'revoke-reply' ? revokeReplyUs : rpcUs
    this.#doneAt = this.leavesAt + this.#host.vary(us)
    sim.at(Math.ceil(this.#doneAt), this.#end)
  }

  readonly #end = (): void => {
    const message = this.#messages.shift()
    this.#doneAt = this.#host.sim.now
    this.#receive(this.#senders.shift(), message)
    this.#isBusy = false
    this.#next()
  }
}
