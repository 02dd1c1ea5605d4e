/**
 * Log of permanent parameters on an MGS, and their distribution: some seconds later, each node writes a value to every matching
 * file that it has; errors are not reported.
 *
 * Source: spec/lustre 7.2, measured A32 and B11. Deviation: a node that mounts later does not replay the log.
 */
import { sToNs } from '../../base/units.ts'
import { profileOf } from '../../lustre/profile.ts'
import { parseVersion } from '../../lustre/version.ts'
import type { Simulation } from '../../sim/simulation.ts'
import { openEntry } from '../file-access.ts'
import { findEntries, pathPattern } from './find.ts'
import { ROOT, type LustreSide, type ParamsLog } from './host.ts'

/** Delay until every node has a value, s; measured: up to ten. */
const APPLY_SECONDS = 10

/** Number of the first record after the log's header. */
const FIRST_INDEX = 2

export class MgsLog implements ParamsLog {
  readonly #sim: Simulation
  readonly #nodes: () => readonly LustreSide[]
  readonly #records = new Map<string, { readonly index: number; readonly value: string }>()
  #next = FIRST_INDEX

  /** @param nodes  every node of the file system, clients included. */
  constructor(sim: Simulation, nodes: () => readonly LustreSide[]) {
    this.#sim = sim
    this.#nodes = nodes
  }

  set(name: string, value: string): void {
    const record = { index: this.#next++, value }
    this.#records.delete(name)
    this.#records.set(name, record)
    // Skips records deleted or replaced before they are applied.
    this.#later(() => this.#records.get(name) === record, name, value)
  }

  configure(name: string, value: string): void {
    this.#later(() => true, name, value)
  }

  #later(isStill: () => boolean, name: string, value: string): void {
    this.#sim.at(this.#sim.now + sToNs(APPLY_SECONDS), () => {
      if (isStill()) this.#apply(name, value)
    })
  }

  delete(name: string): void {
    this.#records.delete(name)
  }

  records(): readonly { readonly index: number; readonly name: string; readonly value: string }[] {
    return [...this.#records].map(([name, { index, value }]) => ({ index, name, value }))
  }

  #apply(name: string, value: string): void {
    for (const node of this.#nodes()) {
      const host = { ...node, user: ROOT, profile: profileOf(parseVersion(node.version)) }
      for (const e of findEntries(host, pathPattern(name))) {
        const opened = openEntry(e, true)
        if (opened.ok) opened.value(value)
      }
    }
  }
}
