/**
 * A client node as its servers know it, from when it connects until it is evicted.
 *
 * Nothing that was sent on a connection arrives once it is gone, at either end: that is what core/seqdlm asks of a transport.
 * A client that is silent takes nothing in; what comes waits, in order.
 */
import type { ClientId, ServerId } from '../messages.ts'
import { Fifo } from './pipe.ts'

export class Connection {
  readonly client: ClientId
  isOpen = true
  /** What came while the client was silent; undefined while it is not. */
  #unheard: (() => void)[] | undefined
  /** Numbers of the ordered messages under way, by direction and server; for whoever traces them. */
  readonly #underWay = new Map<number, Fifo<number>>()

  constructor(client: ClientId) {
    this.client = client
  }

  get isSilent(): boolean {
    return this.#unheard !== undefined
  }

  /** Whether the client hears what comes now; if not, and it may yet, `later` is called when it listens again. */
  hears(later: () => void): boolean {
    if (this.#unheard === undefined) return this.isOpen
    if (this.isOpen) this.#unheard.push(later)
    return false
  }

  silence(): void {
    this.#unheard ??= []
  }

  /** Listens again, and hears what was missed. */
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
