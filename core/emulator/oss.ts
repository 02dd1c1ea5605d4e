/**
 * An emulated OSS: its service `ost_io` and its OSTs.
 *
 * Of the services of an OSS only ost_io, which serves reads and writes, is emulated.
 */
import { profileOf, type Profile } from '../lustre/profile.ts'
import { parseVersion } from '../lustre/version.ts'
import { Disk } from '../sim/disk.ts'
import type { Simulation } from '../sim/simulation.ts'
import { Nodemaps } from '../tbf/nodemaps.ts'
import type { NrsService } from '../tbf/nrs-service.ts'
import { OST_IO_POLICIES } from '../tbf/policy-command.ts'
import { loadedModule } from '../tbf/tbf-module.ts'
import { Connections } from './connections.ts'
import { BrwHistograms } from './io-histograms.ts'
import { JobStatsTable } from './job-stats-table.ts'
import { ExtentLocks } from './ldlm-extents.ts'
import { CounterTable } from './live-counter.ts'
import { isData, type DataOperation } from './operations.ts'
import { EmulatedService, type ServerSide } from './ptlrpc-service.ts'
import type { Rpc, RpcTarget } from './rpc.ts'
import type { OssScenario } from './scenario.ts'

/** Context of the run that a server belongs to. */
export interface ServerContext {
  /** Unix seconds at virtual time 0. */
  readonly epochSeconds: number
  readonly seed: number
  /** True to keep counters that only parameters show. */
  readonly counters: boolean
  /** Shared state of a machine that also serves in another role. */
  readonly machine?: { readonly module: ReturnType<typeof loadedModule>; readonly nodemaps: Nodemaps } | undefined
}

/** RPCs of a job on one target: arrived, taken by a thread (Lustre counts neither), and served. */
export interface JobFlow {
  arrived: number
  dispatched: number
  served: number
}

/** An RPC at the device. */
interface Transfer {
  readonly rpc: Rpc
  readonly op: DataOperation
  readonly flow: JobFlow | undefined
  readonly startedNs: number
  readonly end: (rpc: Rpc) => void
}

export class EmulatedOst implements RpcTarget {
  readonly name: string
  readonly host: string
  readonly cpts: number
  readonly oss: EmulatedOss
  readonly disk: Disk
  readonly jobStats: JobStatsTable
  /** `obdfilter.NAME.stats`: read_bytes and write_bytes in bytes, read and write in microseconds. */
  readonly stats: CounterTable
  /** `osd-*.NAME.brw_stats`. */
  readonly brw: BrwHistograms
  /** `obdfilter.NAME.exports.NID.stats`. */
  readonly connections = new Connections()
  /** `ldlm.namespaces.filter-NAME_UUID`. */
  readonly extents: ExtentLocks
  /** RPCs by job since the start. */
  readonly flow = new Map<string, JobFlow>()
  /** RPCs served by the device, and the sum of their times including the queue there, ns. */
  servedRpcs = 0
  deviceNs = 0
  readonly #sim: Simulation
  readonly #hasCounters: boolean
  #inFlight = 0

  constructor(sim: Simulation, oss: EmulatedOss, scenario: OssScenario['osts'][number], context: ServerContext) {
    this.#sim = sim
    this.#hasCounters = context.counters
    this.name = scenario.name
    this.host = oss.name
    this.cpts = oss.cpts
    this.oss = oss
    this.disk = new Disk(sim, {
      bandwidthBps: scenario.disk.bandwidth_mb_s * 1e6,
      perOpNs: scenario.disk.per_op_us * 1000,
      channels: scenario.disk.channels,
    })
    this.jobStats = new JobStatsTable(context.epochSeconds, { profile: oss.profile, clock: () => sim.now })
    this.stats = new CounterTable(sim.now)
    this.extents = new ExtentLocks(() => sim.now, oss.profile.text.namespaces)
    this.brw = new BrwHistograms(sim.now)
  }

  receive(rpc: Rpc, cpt: number, reply: (rpc: Rpc) => void): void {
    const flow = this.flow.get(rpc.jobId)
    if (flow) flow.arrived++
    else this.flow.set(rpc.jobId, { arrived: 1, dispatched: 0, served: 0 })
    if (this.#hasCounters) this.extents.touch(rpc.nid, rpc.object, rpc.op === 'write')
    this.oss.io.receive(rpc, cpt, rpc.isForced ? 'hp' : 'reg', reply)
  }

  /** Busy time of the device since the start, averaged over its channels, ns. */
  get busyNs(): number {
    return this.disk.station.occupancy.areaAt(this.#sim.now) / this.disk.station.servers
  }

  /** Executes and counts the read or write of an RPC. */
  transfer(rpc: Rpc, end: (rpc: Rpc) => void): void {
    const { op, bytes, jobId } = rpc
    const flow = this.flow.get(jobId)
    if (flow) flow.dispatched++
    if (!isData(op)) return end(rpc)
    this.#inFlight++
    if (this.#hasCounters) this.brw.begin(op, bytes, this.#inFlight)
    this.disk.transfer(bytes, this.#transferred, { rpc, op, flow, startedNs: this.#sim.now, end })
  }

  readonly #transferred = ({ rpc, op, flow, startedNs, end }: Transfer): void => {
    this.#inFlight--
    if (flow) flow.served++
    this.servedRpcs++
    this.deviceNs += this.#sim.now - startedNs
    if (this.#hasCounters) this.#count(op, rpc, startedNs)
    end(rpc)
  }

  /** Counts a completed read or write. */
  #count(op: DataOperation, { bytes, jobId, nid }: Rpc, started: number): void {
    const { now } = this.#sim
    this.brw.end(op, now - started)
    const usecs = Math.round((now - started) / 1000)
    for (const table of [this.stats, this.connections.at(now, nid)]) {
      table.counter(op === 'read' ? 'read_bytes' : 'write_bytes').add(bytes)
      table.counter(op).add(usecs)
    }
    this.jobStats.countIo(now, jobId, op, bytes, now - started)
  }
}

export class EmulatedOss {
  readonly name: string
  readonly version: string
  readonly profile: Profile
  readonly cpts: number
  /** Parameters of the ptlrpc module; a write changes them in place. */
  readonly module: ReturnType<typeof loadedModule>
  readonly nodemaps = new Nodemaps()
  /** `ost.OSS.ost_io`. */
  readonly io: EmulatedService<Rpc>
  readonly osts: readonly EmulatedOst[]

  constructor(sim: Simulation, scenario: OssScenario, context: ServerContext) {
    this.name = scenario.name
    this.version = scenario.version
    this.profile = profileOf(parseVersion(scenario.version))
    this.cpts = scenario.cpts
    this.module = loadedModule(scenario.timer_latency_us * 1000)
    const { profile, module, nodemaps, cpts } = this
    const server: ServerSide = { profile, module, nodemaps, cpts, seed: context.seed, counters: context.counters }
    this.io = new EmulatedService<Rpc>(sim, server, {
      path: ['ost', 'OSS', 'ost_io'],
      threads: scenario.threads,
      hp: true,
      policies: OST_IO_POLICIES,
      serve: (rpc, end) => (rpc.to as EmulatedOst).transfer(rpc, end),
    })
    this.osts = scenario.osts.map((o) => new EmulatedOst(sim, this, o, context))
  }

  /** Scheduler of ost_io. */
  get service(): NrsService<Rpc> {
    return this.io.nrs
  }
}
