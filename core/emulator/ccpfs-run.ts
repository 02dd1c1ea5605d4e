/**
 * The `ccpfs` section of a scenario at work: the calibrated model of ccPFS, the processes that use it, clients that stop
 * answering and their eviction. Deterministic: same section, manager and seed, same schedule.
 */
import { randomStream } from '../base/random.ts'
import { InvariantError } from '../base/result.ts'
import { NS_PER_MS, NS_PER_S, sToNs } from '../base/units.ts'
import type { ClientId } from '../seqdlm/messages.ts'
import { Cluster } from '../seqdlm/model/cluster.ts'
import { COSTS, type Costs } from '../seqdlm/model/costs.ts'
import { DLM_BASIC, DLM_DATATYPE, DLM_LUSTRE, SEQDLM, type DlmPolicy } from '../seqdlm/policy.ts'
import type { TraceFeed } from '../seqdlm/trace/trace.ts'
import type { Simulation } from '../sim/simulation.ts'
import { CcpfsFiles } from './ccpfs-files.ts'
import { CcpfsProcess } from './ccpfs-process.ts'
import { FileUse } from './ccpfs-use.ts'
import { processesOf, type CcpfsScenario, type LockManagerName } from './scenario-ccpfs.ts'

export const MANAGERS: Readonly<Record<LockManagerName, DlmPolicy>> = {
  ...{ seqdlm: SEQDLM, datatype: DLM_DATATYPE, lustre: DLM_LUSTRE, basic: DLM_BASIC },
}

export interface CcpfsRunOptions {
  readonly seed: number
  /** Instead of the section's. */
  readonly manager?: LockManagerName | undefined
  readonly observe?: TraceFeed['observe'] | undefined
  readonly messages?: Pick<TraceFeed, 'sent' | 'arrived'> | undefined
  readonly wrote?: TraceFeed['wrote'] | undefined
}

/** How often it is looked whether a client is to be evicted: a part of the time it has, within bounds, ns. */
const LOOK = { part: 16, leastNs: 10 * NS_PER_MS, mostNs: NS_PER_S } as const

export class CcpfsRun {
  readonly cluster: Cluster
  readonly policy: DlmPolicy
  readonly files: CcpfsFiles
  /** Of each file, in the section's order. */
  readonly uses: readonly FileUse[]
  /** Of all files together. */
  readonly total = new FileUse()
  /** Numbers of the scenario's clients that use it, by the number of their lock client. */
  readonly clients: readonly number[]
  readonly timeoutNs: number
  readonly #sim: Simulation
  readonly #processes: readonly CcpfsProcess[]
  readonly #silent = new Set<ClientId>()
  readonly #lookNs: number
  #evictions = 0

  constructor(sim: Simulation, section: CcpfsScenario, options: CcpfsRunOptions) {
    const { seed, manager = section.manager, observe, messages } = options
    this.#sim = sim
    this.policy = MANAGERS[manager]
    this.files = new CcpfsFiles(section)
    this.uses = this.files.all.map(() => new FileUse())
    this.clients = [...new Set(section.workloads.flatMap((w) => w.clients))].sort((a, b) => a - b)
    this.timeoutNs = sToNs(section.revocation_timeout_s)
    this.cluster = new Cluster({
      ...{ sim, seed, policy: this.policy, costs: costsOf(section), pages: 'cold', observe, messages },
      ...{ clients: this.clients.length, servers: section.servers.length },
    })
    this.#processes = this.#start(section, options)
    for (const f of section.faults) {
      const client = this.clients.indexOf(f.client)
      sim.at(sToNs(f.at_s), () => this.#silence(client, true))
      if (f.for_s !== undefined) sim.at(sToNs(f.at_s + f.for_s), () => this.#silence(client, false))
    }
    const { part, leastNs, mostNs } = LOOK
    this.#lookNs = Math.min(mostNs, Math.max(leastNs, Math.floor(this.timeoutNs / part)))
    const look = (): void => {
      this.#evictOverdue()
      sim.after(this.#lookNs, look)
    }
    sim.after(this.#lookNs, look)
  }

  /** Clients evicted so far. */
  get evictions(): number {
    return this.#evictions
  }

  #start({ workloads }: CcpfsScenario, { seed, wrote }: CcpfsRunOptions): CcpfsProcess[] {
    const sim = this.#sim
    return workloads.flatMap((w, i) => {
      const at = this.files.all.findIndex((f) => f.scenario.name === w.file)
      const [file, use] = [this.files.all[at], this.uses[at]]
      if (!file || !use) throw new InvariantError('a scenario that was read names files of its own')
      return Array.from({ length: processesOf(w) }, (_, rank) => {
        const client = this.clients.indexOf(w.clients[rank % w.clients.length] as number)
        const random = randomStream(seed, `ccpfs/${i}/${rank}`)
        const node = () => this.cluster.clients[client]!
        return new CcpfsProcess(w, rank, { sim, client, node, file, uses: [use, this.total], random, wrote })
      })
    })
  }

  /** A node that hangs does nothing and hears nothing; when it goes on it hears what it missed, if it was not evicted. */
  #silence(client: ClientId, isSilent: boolean): void {
    if (isSilent) this.#silent.add(client)
    else this.#silent.delete(client)
    this.cluster.silence(client, isSilent)
    for (const p of this.#processes) if (p.client === client) p.silence(isSilent)
  }

  /**
   * Clients that have had a revocation for too long lose their locks, and the data that they had not flushed.
   *
   * One that has not answered goes first. One that has, and waits for a lock of a silent one before it can give its own back,
   * gets two looks more: it is done soon when that one is gone.
   */
  #evictOverdue(): void {
    const overdue = new Set<ClientId>()
    const [silentBefore, slowBefore] = [
      this.#sim.now - this.timeoutNs,
      this.#sim.now - this.timeoutNs - 2 * this.#lookNs,
    ]
    for (const { locks } of this.cluster.servers) {
      for (const resource of locks.resources()) {
        for (const { client, state, revokedAt } of resource.locks()) {
          const before = state === 'GRANTED' ? silentBefore : slowBefore
          if (client >= 0 && revokedAt >= 0 && revokedAt < before) overdue.add(client)
        }
      }
    }
    for (const client of [...overdue].sort((a, b) => a - b)) {
      this.#evictions++
      this.cluster.evict(client)
      if (this.#silent.has(client)) this.cluster.silence(client, true)
      for (const p of this.#processes) if (p.client === client) p.lose()
    }
  }
}

function costsOf({ costs }: CcpfsScenario): Costs {
  const { device_mb_s, network_mb_s, rtt_us, io_us } = costs
  return {
    ...COSTS,
    deviceMBps: device_mb_s ?? COSTS.deviceMBps,
    netMBps: network_mb_s ?? COSTS.netMBps,
    rttUs: rtt_us ?? COSTS.rttUs,
    ioUs: io_us ?? COSTS.ioUs,
  }
}
