/**
 * ccPFS in the emulated cluster: a file system with its own lock manager, traced step by step; files, servers and clients carry
 * the names that an operator knows.
 */
import { sToNs } from '../base/units.ts'
import type { ClientId, ResourceId } from '../seqdlm/messages.ts'
import { LockTrace, TRACE_LIMITS } from '../seqdlm/trace/lock-trace.ts'
import type { LockWorld } from '../seqdlm/trace/trace.ts'
import type { Simulation } from '../sim/simulation.ts'
import { CcpfsRun, MANAGERS } from './ccpfs-run.ts'
import { clientHost } from './padll-cluster.ts'
import type { CcpfsScenario } from './scenario-ccpfs.ts'

export class EmulatedCcpfs implements LockWorld {
  readonly trace: LockTrace
  readonly run: CcpfsRun
  /** Sum over all granted locks of the time from request to grant, at the servers, ns. */
  waitedNs = 0
  readonly #section: CcpfsScenario

  /** @param counters  true to trace every step; the lock schedule is the same without it. */
  constructor(sim: Simulation, section: CcpfsScenario, seed: number, counters = true) {
    this.#section = section
    const stripes = section.files.reduce((sum, f) => sum + f.stripes, 0)
    this.trace = new LockTrace({
      policy: MANAGERS[section.manager],
      evictionNs: sToNs(section.revocation_timeout_s),
      limits: { resources: Math.max(stripes, TRACE_LIMITS.resources) },
    })
    const { feed } = this.trace
    this.run = new CcpfsRun(sim, section, {
      seed,
      observe: (server, event) => {
        if (event.kind === 'granted') this.waitedNs += event.waitedNs
        if (counters) feed.observe(server, event)
      },
      ...(counters ? { messages: feed, wrote: feed.wrote } : {}),
    })
  }

  get manager(): string {
    const { servers, revocation_timeout_s } = this.#section
    const count = `${servers.length} server${servers.length === 1 ? '' : 's'}`
    return `${this.run.policy.name}, ${count}, clients evicted after ${revocation_timeout_s} s`
  }

  get managerName(): string {
    return this.run.policy.name
  }

  describe(resource: ResourceId): ReturnType<LockWorld['describe']> {
    return this.run.files.describe(resource)
  }

  find(name: string): ResourceId | undefined {
    return this.run.files.find(name)
  }

  /**
   * Node of a lock client, and the first job of the section that runs on it; locks belong to nodes, not to jobs.
   *
   * A negative number is the client inside a server.
   */
  client(client: ClientId): { readonly name: string; readonly jobId: string } {
    const number = this.run.clients[client]
    if (number === undefined) return { name: 'server', jobId: '' }
    const job = this.#section.workloads.find((w) => w.clients.includes(number))?.job
    return { name: clientHost(number), jobId: job ?? '' }
  }
}
