/**
 * Token audit of a node at the end of a period: I1 to I3 of spec/haechi 2, and the agreement of engines and monitor. Returns
 * violations as text; an empty list if there are none.
 */
import { remainingCapacity } from '#core/haechi/conversion.ts'
import type { NodeSimulation } from '#core/haechi/sim/node-simulation.ts'

/** A crashed client, and the tokens its engine held then. */
export interface Crash {
  readonly client: number
  readonly epoch: number
}

export class TokenAudit {
  readonly #node: NodeSimulation
  readonly #crashed = new Set<number>()
  #claimed = 0
  #events = 0

  constructor(node: NodeSimulation) {
    this.#node = node
  }

  crashed(client: number): void {
    this.#crashed.add(client)
  }

  /** Checks at whole periods, before the next T1 has arrived. */
  violations(): string[] {
    return [...this.#engines(), ...this.#period(), ...this.#conversions(), ...this.#cpu()]
  }

  /** At any instant: each token of an engine is used, yielded, void or held, and each I/O used one (I3). */
  #engines(): string[] {
    const found: string[] = []
    for (let i = 0; i < this.#node.clientCount; i++) {
      const engine = this.#node.engine(i)
      const view = this.#node.client(i)
      if (engine === null || view === undefined) continue
      const t = engine.totals
      const used = t.usedReservation + t.usedGlobal
      const check = (claim: string, a: number, b: number): void => {
        if (a !== b) found.push(`client ${i}: ${claim}: ${a} != ${b}`)
      }
      check('pushed tokens', t.pushed, t.usedReservation + t.yielded + t.voidedReservation + engine.reservationTokens)
      check('claimed tokens', t.claimed, t.usedGlobal + t.voidedGlobal + engine.globalTokens)
      check('posted I/Os', used, t.completed + engine.inflight)
      check('completed I/Os', t.completed, view.completed)
      if (engine.reservationTokens < 0 || engine.globalTokens < 0) found.push(`client ${i} holds negative tokens`)
      if (engine.reservationTokens > engine.reservation) found.push(`client ${i} holds more than its reservation`)
      if (engine.limit !== null && engine.issued > engine.limit) found.push(`client ${i} is over its limit`)
    }
    return found
  }

  /** I2, over the tokens that engines actually yielded; and the monitor's ledger against the memory. */
  #period(): string[] {
    const found: string[] = []
    const record = this.#node.periods.items.at(-1)?.monitor
    if (!record) return ['no period was recorded']
    this.#claimed += record.claimed
    const { globalGranted } = this.#node.counters()
    if (this.#claimed !== globalGranted)
      found.push(`the monitor saw ${this.#claimed} of ${globalGranted} granted tokens`)
    let back = 0
    let slack = 0
    for (const { client, reservation, yielded } of record.clients) {
      const engine = this.#node.engine(client)
      if (engine === null) continue
      const isOf = engine.epoch === record.epoch
      if (this.#crashed.has(client)) {
        back += isOf ? engine.yielded + engine.reservationTokens : reservation
        // Tokens used between its last report and its end are taken for returned (A20).
        slack += isOf ? Math.min(reservation, this.#usedUnreported()) : 0
      } else back += isOf ? engine.yielded : engine.hasLeft ? reservation : 0
      if (isOf && !this.#crashed.has(client) && yielded > engine.yielded)
        found.push(`client ${client} yielded ${engine.yielded}, the monitor believes ${yielded}`)
    }
    const handedOut = record.reserved - back + record.claimed
    const bound = Math.max(record.omega, record.reserved) + slack
    const isLedger = this.#node.setup.settings.conversion === 'ledger'
    if (isLedger && handedOut > bound)
      found.push(`epoch ${record.epoch}: ${handedOut} tokens handed out of ${record.omega}, bound ${bound}`)
    return found
  }

  #usedUnreported(): number {
    const { settings, profile, fabric } = this.#node.setup
    return Math.ceil((profile.localIops * (settings.tickNs + 2 * fabric.delayNs)) / 1e9) + settings.window
  }

  /** I1: tokens left by a conversion fit into the rest of the period. */
  #conversions(): string[] {
    const { next, items } = this.#node.events.since(this.#events)
    this.#events = next
    const found: string[] = []
    const { periodNs } = this.#node.setup.settings
    const record = this.#node.periods.items.at(-1)?.monitor
    for (const e of items) {
      if (e.kind !== 'conversion' || !record || e.at < record.startNs || e.at > record.endNs) continue
      const capacity = remainingCapacity(record.omega, e.at - record.startNs, periodNs)
      if (e.to > 0 && e.to + e.residual > capacity)
        found.push(`conversion to ${e.to} beside ${e.residual}, ${capacity} fit`)
    }
    return found
  }

  #cpu(): string[] {
    const { cpuEventsForData } = this.#node.counters()
    return cpuEventsForData === 0 ? [] : [`${cpuEventsForData} CPU events for data I/Os`]
  }
}
