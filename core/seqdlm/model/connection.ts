/**
 * Connection of a client node to its servers, from connecting until eviction.
 *
 * Nothing sent on a connection arrives after it is closed, at either end, as core/seqdlm requires of a transport. A
 * silent client processes nothing; messages wait, in order.
 */
import type { ClientId, ServerId } from '../messages.ts'
import { Fifo } from './pipe.ts'

export class Connection {
  readonly client: ClientId
  isOpen = true
  /** Messages that arrived while the client was silent; undefined otherwise. */
  #unheard: (() => void)[] | undefined
  /** Numbers of the ordered messages under way, by direction and server; for tracing. */
  readonly #underWay = new Map<number, Fifo<number>>()

  constructor(client: ClientId) {
    this.client = client
  }

  get isSilent(): boolean {
    return this.#unheard !== undefined
  }

  /** True if the client processes messages now; if not, and it may later, `later` is called when it resumes. */
  hears(later: () => void): boolean {
    if (this.#unheard === undefined) return this.isOpen
    if (this.isOpen) this.#unheard.push(later)
    return false
  }

  silence(): void {
    this.#unheard ??= []
  }

  /** Resumes, and processes what was missed. */
  listen(): void {
    const missed = this.#unheard ?? []
    this.#unheard = undefined
    for (const hear of missed) if (this.isOpen) hear()
  }

  underWay(server: ServerId, isUp: boolean): Fifo<number> {
    const key = server * 2 + Number(isUp)
    let fifo = this.#underWay.get(key)
    if (fifo === undefined) this.#underWay.set(key, (fifo = new Fifo()))
    return fifo
  }
}
