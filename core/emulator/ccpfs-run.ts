/**
 * Run of a scenario's `ccpfs` section: the calibrated model of ccPFS, its processes, silent clients and their eviction.
 * Deterministic: same section, manager and seed, same schedule.
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
import { FileUsage } from './ccpfs-usage.ts'
import { LOCK_MANAGERS, processesOf, type CcpfsScenario, type LockManagerName } from './scenario-ccpfs.ts'

const MANAGERS: Readonly<Record<LockManagerName, DlmPolicy>> = {
  seqdlm: SEQDLM,
  datatype: DLM_DATATYPE,
  lustre: DLM_LUSTRE,
  basic: DLM_BASIC,
}

const OPTIONS = {
  early_grant: 'early grant',
  early_revocation: 'early revocation',
  conversion: 'conversion',
  expansion: 'expansion',
} as const

/** Manager and options by the name of their policy; undefined for another name. */
export function managerOf(name: string): Pick<CcpfsScenario, 'manager' | 'options'> | undefined {
  const manager = LOCK_MANAGERS.find((m) => name === MANAGERS[m].name || name.startsWith(`${MANAGERS[m].name} `))
  if (manager === undefined) return undefined
  const options: { -readonly [K in keyof typeof OPTIONS]?: boolean } = {}
  for (const key of Object.keys(OPTIONS) as (keyof typeof OPTIONS)[]) {
    if (name.includes(` with ${OPTIONS[key]}`)) options[key] = true
    else if (name.includes(` without ${OPTIONS[key]}`)) options[key] = false
  }
  return { manager, options }
}

/** Policy of a manager with the options of a section. */
export function policyOf({ options, manager: own }: CcpfsScenario, manager: LockManagerName = own): DlmPolicy {
  const policy = MANAGERS[manager]
  const { early_grant, early_revocation, conversion, expansion } = options
  const parts = [
    [OPTIONS.early_grant, early_grant, policy.earlyGrant],
    [OPTIONS.early_revocation, early_revocation, policy.earlyRevocation],
    [OPTIONS.conversion, conversion, policy.upgrade],
    [OPTIONS.expansion, expansion, policy.expand],
  ] as const
  const changed = parts.filter(([, wanted, own]) => wanted !== undefined && wanted !== own)
  return {
    ...policy,
    name: [policy.name, ...changed.map(([part, wanted]) => `${wanted ? 'with' : 'without'} ${part}`)].join(' '),
    earlyGrant: early_grant ?? policy.earlyGrant,
    earlyRevocation: early_revocation ?? policy.earlyRevocation,
    upgrade: conversion ?? policy.upgrade,
    downgrade: conversion ?? policy.downgrade,
    expand: expansion ?? policy.expand,
  }
}

export interface CcpfsRunOptions {
  readonly seed: number
  /** Overrides the section's. */
  readonly manager?: LockManagerName | undefined
  readonly observe?: TraceFeed['observe'] | undefined
  readonly messages?: Pick<TraceFeed, 'sent' | 'arrived'> | undefined
  readonly wrote?: TraceFeed['wrote'] | undefined
}

/** Interval of the eviction check: a fraction of the timeout, within bounds, ns. */
const LOOK = { part: 16, leastNs: 10 * NS_PER_MS, mostNs: NS_PER_S } as const

export class CcpfsRun {
  readonly cluster: Cluster
  readonly policy: DlmPolicy
  readonly files: CcpfsFiles
  /** Usage per file, in the section's order. */
  readonly uses: readonly FileUsage[]
  /** All files together. */
  readonly total = new FileUsage()
  /** Scenario client numbers, by the number of their lock client. */
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
    this.policy = policyOf(section, manager)
    this.files = new CcpfsFiles(section)
    this.uses = this.files.all.map(() => new FileUsage())
    this.clients = [...new Set(section.workloads.flatMap((w) => w.clients))].sort((a, b) => a - b)
    this.timeoutNs = sToNs(section.revocation_timeout_s)
    this.cluster = new Cluster({
      sim,
      seed,
      policy: this.policy,
      costs: costsOf(section),
      pages: 'cold',
      observe,
      messages,
      clients: this.clients.length,
      servers: section.servers.length,
    })
    this.#processes = this.#start(section, options)
    for (const f of section.faults) {
      const set = this.#fault(f, section.servers)
      sim.at(sToNs(f.at_s), () => set(true))
      if (f.for_s !== undefined) sim.at(sToNs(f.at_s + f.for_s), () => set(false))
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
      const file = this.files.all[at]
      const use = this.uses[at]
      if (!file || !use) throw new InvariantError('a scenario that was read names files of its own')
      return Array.from({ length: processesOf(w) }, (_, rank) => {
        const client = this.clients.indexOf(w.clients[rank % w.clients.length] as number)
        const random = randomStream(seed, `ccpfs/${i}/${rank}`)
        const node = () => this.cluster.clients[client]!
        return new CcpfsProcess(w, rank, { sim, client, node, file, uses: [use, this.total], random, wrote })
      })
    })
  }

  /** Returns the function that begins a fault (true) or ends it. */
  #fault(f: CcpfsScenario['faults'][number], servers: readonly string[]): (isOn: boolean) => void {
    if (f.what === 'server-silent') {
      const server = servers.indexOf(f.server)
      return (isOn) => this.cluster.hang(server, isOn)
    }
    const client = this.clients.indexOf(f.client)
    return (isOn) => this.#silence(client, isOn)
  }

  /**
   * Hangs a node or resumes it. It sends and receives nothing while it hangs; on resume it receives what it missed, unless
   * evicted.
   */
  #silence(client: ClientId, isSilent: boolean): void {
    if (isSilent) this.#silent.add(client)
    else this.#silent.delete(client)
    this.cluster.silence(client, isSilent)
    for (const p of this.#processes) if (p.client === client) p.silence(isSilent)
  }

  /**
   * Evicts clients that hold a revoked lock for too long; they lose their locks and all data not yet flushed.
   *
   * Clients that have not acknowledged the revocation are evicted first. One that has may be waiting for a lock of a silent
   * client before it can release its own, so it gets two more check intervals.
   */
  #evictOverdue(): void {
    const overdue = new Set<ClientId>()
    const silentBefore = this.#sim.now - this.timeoutNs
    const slowBefore = this.#sim.now - this.timeoutNs - 2 * this.#lookNs
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
