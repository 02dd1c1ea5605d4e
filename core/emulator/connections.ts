/** Per-client counters of a target: `obdfilter.*.exports.NID.stats` and `mdt.*.exports.NID.stats`. */
import { CounterTable } from './live-counter.ts'

/** Connections of a target by client NID; created at the first RPC. */
export class Connections {
  readonly #byNid = new Map<string, CounterTable>()

  get byNid(): ReadonlyMap<string, CounterTable> {
    return this.#byNid
  }

  /** Returns the counters of the client at a NID. */
  at(now: number, nid: string): CounterTable {
    let c = this.#byNid.get(nid)
    if (!c) this.#byNid.set(nid, (c = new CounterTable(now)))
    return c
  }
}
