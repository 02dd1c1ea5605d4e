/**
 * The same files and processes under each lock manager: what the application saw of them.
 *
 * The `ccpfs` section of a scenario runs alone, on a simulation of its own and from its start, for the same time and with the
 * same seed under each; Lustre and its jobs have no part in it.
 */
import { sToNs } from '../base/units.ts'
import { Simulation } from '../sim/simulation.ts'
import { CcpfsRun } from './ccpfs-run.ts'
import type { FileUse } from './ccpfs-use.ts'
import { LOCK_MANAGERS, type LockManagerName } from './scenario-ccpfs.ts'
import type { Scenario } from './scenario.ts'

export interface CompareOptions {
  /** All of them unless given. */
  readonly managers?: readonly LockManagerName[] | undefined
  /** Emulated time, > 0. */
  readonly seconds: number
  /** The scenario's unless given. */
  readonly seed?: number | undefined
}

/** What was written to and read from one file. */
export interface FileOutcome {
  readonly file: string
  readonly writtenBytes: number
  readonly readBytes: number
  /**
   * Bandwidth as its writers saw it, bytes/s: bytes over the time during which a write of it was under way; pauses between
   * bursts do not count. Null where nothing was written.
   */
  readonly writeBps: number | null
  readonly readBps: number | null
}

export interface ManagerOutcome {
  readonly manager: LockManagerName
  /** `DLM-basic`. */
  readonly name: string
  readonly writtenBytes: number
  readonly readBytes: number
  /** Of all files together, as of one: bytes over the time during which anything was being written. */
  readonly writeBps: number | null
  readonly readBps: number | null
  /** From the request of a lock to its grant, at the server; of those that still wait, so far. ns. */
  readonly longestWaitNs: number
  readonly evictions: number
  readonly files: readonly FileOutcome[]
}

/**
 * Runs the section under each manager.
 *
 * @returns one outcome a manager, in the order asked for; empty where the scenario has no `ccpfs` section.
 */
export function compareManagers(scenario: Scenario, options: CompareOptions): ManagerOutcome[] {
  const section = scenario.ccpfs
  if (!section) return []
  const { managers = LOCK_MANAGERS, seconds, seed = scenario.seed } = options
  return managers.map((manager) => {
    const sim = new Simulation()
    let longestWaitNs = 0
    const run = new CcpfsRun(sim, section, {
      ...{ manager, seed },
      observe: (_, event) => {
        if (event.kind === 'granted') longestWaitNs = Math.max(longestWaitNs, event.waitedNs)
      },
    })
    sim.runUntil(sToNs(seconds))
    for (const { locks } of run.cluster.servers) {
      for (const resource of locks.resources()) {
        for (const w of resource.waiters()) longestWaitNs = Math.max(longestWaitNs, sim.now - w.askedAt)
      }
    }
    const files = run.files.all.map(({ scenario: { name } }, i) => {
      const use = run.uses[i] as FileUse
      const { writtenBytes, readBytes } = use
      return { file: name, writtenBytes, readBytes, ...ratesOf(use, sim.now) }
    })
    return {
      ...{ manager, name: run.policy.name, longestWaitNs, evictions: run.evictions, files },
      writtenBytes: run.total.writtenBytes,
      readBytes: run.total.readBytes,
      ...ratesOf(run.total, sim.now),
    }
  })
}

const ratesOf = ({ writtenBytes, readBytes, writing, reading }: FileUse, now: number) => ({
  writeBps: rate(writtenBytes, writing.until(now)),
  readBps: rate(readBytes, reading.until(now)),
})

/** Bytes/s; null where there is nothing to divide. */
const rate = (bytes: number, ns: number): number | null => (bytes > 0 && ns > 0 ? (bytes / ns) * 1e9 : null)
