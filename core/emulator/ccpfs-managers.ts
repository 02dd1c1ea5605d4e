/**
 * Compares lock managers on the same files and processes, by the bandwidth and waits that the application sees.
 *
 * The `ccpfs` section of a scenario runs alone, from its start, on a separate simulation, for the same time and with the same
 * seed under each manager; Lustre and its jobs take no part.
 */
import { sToNs } from '../base/units.ts'
import { Simulation } from '../sim/simulation.ts'
import { CcpfsRun } from './ccpfs-run.ts'
import type { FileUsage } from './ccpfs-usage.ts'
import { LOCK_MANAGERS, type LockManagerName } from './scenario-ccpfs.ts'
import type { Scenario } from './scenario.ts'

export interface CompareOptions {
  /** Default: all managers. */
  readonly managers?: readonly LockManagerName[] | undefined
  /** Emulated time, > 0. */
  readonly seconds: number
  /** Default: the scenario's. */
  readonly seed?: number | undefined
}

/** Bytes written to and read from one file. */
export interface FileOutcome {
  readonly file: string
  readonly writtenBytes: number
  readonly readBytes: number
  /**
   * Write bandwidth as the application sees it, bytes/s: bytes over the time during which a write was under way; pauses between
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
  /** Write bandwidth of all files together: bytes over the time during which any write was under way, bytes/s. */
  readonly writeBps: number | null
  readonly readBps: number | null
  /** Longest time from a lock request to its grant, at the server, ns; locks that still wait count with their time so far. */
  readonly longestWaitNs: number
  readonly evictions: number
  readonly files: readonly FileOutcome[]
}

/**
 * Runs the section under each manager.
 *
 * @returns one outcome a manager, in the order of `managers`; empty where the scenario has no `ccpfs` section.
 */
export function compareManagers(scenario: Scenario, options: CompareOptions): ManagerOutcome[] {
  const section = scenario.ccpfs
  if (!section) return []
  const { managers = LOCK_MANAGERS, seconds, seed = scenario.seed } = options
  return managers.map((manager) => {
    const sim = new Simulation()
    let longestWaitNs = 0
    const run = new CcpfsRun(sim, section, {
      manager,
      seed,
      observe: (_, event) => {
        if (event.kind === 'granted') longestWaitNs = Math.max(longestWaitNs, event.waitedNs)
      },
    })
    sim.runUntil(sToNs(seconds))
    for (const { locks } of run.cluster.servers) {
      for (const resource of locks.resources()) {
        for (const w of resource.waiters()) longestWaitNs = Math.max(longestWaitNs, sim.now - w.requestedAt)
      }
    }
    const files = run.files.all.map(({ scenario: { name } }, i) => {
      const use = run.uses[i] as FileUsage
      const { writtenBytes, readBytes } = use
      return { file: name, writtenBytes, readBytes, ...ratesOf(use, sim.now) }
    })
    return {
      manager,
      name: run.policy.name,
      longestWaitNs,
      evictions: run.evictions,
      files,
      writtenBytes: run.total.writtenBytes,
      readBytes: run.total.readBytes,
      ...ratesOf(run.total, sim.now),
    }
  })
}

const ratesOf = ({ writtenBytes, readBytes, writing, reading }: FileUsage, now: number) => ({
  writeBps: rate(writtenBytes, writing.until(now)),
  readBps: rate(readBytes, reading.until(now)),
})

/** Bytes/s; null when `bytes` or `ns` is 0. */
const rate = (bytes: number, ns: number): number | null => (bytes > 0 && ns > 0 ? (bytes / ns) * 1e9 : null)
