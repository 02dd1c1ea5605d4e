/**
 * An emulated MDS: the services `mdt` and `mdt_readpage`, and their MDTs.
 *
 * Source: measured part 2, 9. An MDT runs as many operations at once as it has channels, each for the service time of its kind;
 * no directories or files are kept.
 */
import { profileOf, type Profile } from '../lustre/profile.ts'
import { parseVersion } from '../lustre/version.ts'
import { FifoServer } from '../sim/fifo-server.ts'
import type { Simulation } from '../sim/simulation.ts'
import { Nodemaps } from '../tbf/nodemaps.ts'
import { OTHER_POLICIES } from '../tbf/policy-command.ts'
import { loadedModule } from '../tbf/tbf-module.ts'
import { Connections } from './connections.ts'
import { JobStatsTable } from './job-stats-table.ts'
import { InodeLocks } from './ldlm-inodes.ts'
import { CounterTable } from './live-counter.ts'
import { METADATA_RPCS, type MetadataOperation } from './operations.ts'
import type { JobFlow, ServerContext } from './oss.ts'
import { EmulatedService, type ServerSide, type ServiceKind } from './ptlrpc-service.ts'
import type { Rpc, RpcTarget } from './rpc.ts'
import type { MdsScenario } from './scenario.ts'

/** Per-job counters of one MDT, with operations by kind. */
export interface MdtFlow extends JobFlow {
  readonly ops: Map<MetadataOperation, number>
}

export class EmulatedMdt implements RpcTarget {
  readonly name: string
  readonly host: string
  readonly cpts: number
  readonly mds: EmulatedMds
  readonly station: FifoServer
  readonly jobStats: JobStatsTable
  /** `mdt.NAME.md_stats`, microseconds. */
  readonly stats: CounterTable
  /** `mdt.NAME.exports.NID.stats`. */
  readonly connections = new Connections()
  /** `ldlm.namespaces.mdt-NAME_UUID`. */
  readonly inodes: InodeLocks
  /** RPCs by job since the start. */
  readonly flow = new Map<string, MdtFlow>()
  /** RPCs completed, and the sum of their times including the queue there, ns. */
  servedRpcs = 0
  deviceNs = 0
  readonly #sim: Simulation
  readonly #hasCounters: boolean
  readonly #opNs: (op: MetadataOperation) => number

  constructor(sim: Simulation, mds: EmulatedMds, scenario: MdsScenario['mdts'][number], context: ServerContext) {
    this.#sim = sim
    this.#hasCounters = context.counters
    this.name = scenario.name
    this.host = mds.name
    this.cpts = mds.cpts
    this.mds = mds
    this.station = new FifoServer(sim, scenario.channels)
    this.jobStats = new JobStatsTable(context.epochSeconds, {
      target: 'mdt',
      profile: mds.profile,
      clock: () => sim.now,
    })
    this.stats = new CounterTable(sim.now)
    this.inodes = new InodeLocks(() => sim.now, mds.profile.text.namespaces)
    this.#opNs = (op) => (scenario.op_us[op] ?? scenario.per_op_us) * 1000
  }

  receive(rpc: Rpc, cpt: number, reply: (rpc: Rpc) => void): void {
    const { service } = METADATA_RPCS[rpc.op as MetadataOperation]
    const flow = this.flow.get(rpc.jobId)
    if (flow) flow.arrived++
    else this.flow.set(rpc.jobId, { arrived: 1, dispatched: 0, served: 0, ops: new Map() })
    this.mds[service].receive(rpc, cpt, 'reg', reply)
  }

  /** Busy time since the start, averaged over its channels, ns. */
  get busyNs(): number {
    return this.station.occupancy.areaAt(this.#sim.now) / this.station.servers
  }

  /** Executes and counts the operation of an RPC. */
  operate(rpc: Rpc, end: (rpc: Rpc) => void): void {
    const op = rpc.op as MetadataOperation
    const flow = this.flow.get(rpc.jobId)
    if (flow) flow.dispatched++
    const started = this.#sim.now
    this.station.submit(this.#opNs(op), () => {
      if (flow) {
        flow.served++
        flow.ops.set(op, (flow.ops.get(op) ?? 0) + 1)
      }
      this.servedRpcs++
      this.deviceNs += this.#sim.now - started
      if (this.#hasCounters) this.#count(op, rpc, started)
      end(rpc)
    })
  }

  /** Counts a completed operation. */
  #count(op: MetadataOperation, { jobId, nid }: Rpc, started: number): void {
    const { now } = this.#sim
    const usecs = Math.round((now - started) / 1000)
    for (const counter of METADATA_RPCS[op].counters) {
      this.stats.counter(counter).add(usecs)
      this.connections.at(now, nid).counter(counter).add(usecs)
      this.jobStats.count(now, jobId, counter, now - started)
    }
    this.inodes.done(nid, op)
  }
}

export class EmulatedMds {
  readonly name: string
  readonly version: string
  readonly profile: Profile
  readonly cpts: number
  /** Parameters of the ptlrpc module; a write changes them in place. */
  readonly module: ReturnType<typeof loadedModule>
  readonly nodemaps: Nodemaps
  /** `mds.MDS.mdt`. */
  readonly mdt: EmulatedService<Rpc>
  /** `mds.MDS.mdt_readpage`. */
  readonly readpage: EmulatedService<Rpc>
  readonly mdts: readonly EmulatedMdt[]

  constructor(sim: Simulation, scenario: MdsScenario, context: ServerContext) {
    this.name = scenario.name
    this.version = scenario.version
    this.profile = profileOf(parseVersion(scenario.version))
    this.cpts = scenario.cpts
    this.module = context.machine?.module ?? loadedModule(scenario.timer_latency_us * 1000)
    this.nodemaps = context.machine?.nodemaps ?? new Nodemaps()
    const { profile, module, nodemaps, cpts } = this
    const server: ServerSide = { profile, module, nodemaps, cpts, seed: context.seed, counters: context.counters }
    const serviceOf = (name: string, hp: boolean): EmulatedService<Rpc> => {
      const kind: ServiceKind<Rpc> = {
        path: ['mds', 'MDS', name],
        threads: scenario.threads,
        hp,
        policies: OTHER_POLICIES,
        serve: (rpc, end) => (rpc.to as EmulatedMdt).operate(rpc, end),
        rows: (rpc) => METADATA_RPCS[rpc.op as MetadataOperation].rows,
      }
      return new EmulatedService<Rpc>(sim, server, kind)
    }
    this.mdt = serviceOf('mdt', true)
    this.readpage = serviceOf('mdt_readpage', false)
    this.mdts = scenario.mdts.map((m) => new EmulatedMdt(sim, this, m, context))
  }

  get services(): readonly EmulatedService<Rpc>[] {
    return [this.mdt, this.readpage]
  }
}
