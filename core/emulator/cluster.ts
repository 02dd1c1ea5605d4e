/**
 * Cluster built from a scenario: clients, servers and jobs on one simulation, and nodes with shells for an operator or the
 * console. Deterministic: same scenario and seed, same bytes out.
 */
import { sToNs } from '../base/units.ts'
import { Simulation } from '../sim/simulation.ts'
import { EmulatedCcpfs } from './ccpfs.ts'
import { EmulatedClient } from './client.ts'
import { EmulatedDataNode } from './data-node.ts'
import { playFaults } from './faults.ts'
import type { LustreSide } from './lctl/host.ts'
import { MgsLog } from './lctl/mgs-log.ts'
import { EmulatedMds } from './mds.ts'
import { EmulatedNode } from './node.ts'
import { EmulatedOss, type EmulatedOst } from './oss.ts'
import { EmulatedPadll } from './padll-cluster.ts'
import { serverLustre } from './parameters/site.ts'
import { serversOfRule } from './scenario-rules.ts'
import type { Scenario } from './scenario.ts'
import type { SharedRange } from './shared-range.ts'
import type { SystemdVersion } from './transient-timers.ts'
import { scontrol, squeue, type QueuedJob } from './squeue.ts'
import { EmulatedJob } from './workload.ts'

export interface EmulatorOptions {
  /** Overrides the scenario's seed. */
  readonly seed?: number | undefined
  /** Unix seconds at virtual time 0; overrides the scenario's epoch. */
  readonly epochSeconds?: number | undefined
  /**
   * Keeps counters, histograms, job_stats and locks that only parameters show. Without them the schedule is the same, RPC by
   * RPC, and parameters read as if nothing had happened. @default true
   */
  readonly counters?: boolean | undefined
  /** systemd release of the servers; default 252. */
  readonly systemd?: SystemdVersion | undefined
}

export class EmulatedCluster {
  readonly scenario: Scenario
  readonly seed: number
  readonly epochSeconds: number
  readonly sim = new Simulation()
  readonly oss: readonly EmulatedOss[]
  readonly mds: readonly EmulatedMds[]
  /** Clients by number; mounts on servers come last. */
  readonly clients: readonly EmulatedClient[]
  readonly jobs: readonly EmulatedJob[]
  /** Stages and their controllers; undefined if no job runs under PADLL. */
  readonly padll: EmulatedPadll | undefined
  /** File system with distributed locks beside Lustre, and its lock manager. */
  readonly ccpfs: EmulatedCcpfs | undefined
  /** Haechi data nodes. */
  readonly dataNodes: readonly EmulatedDataNode[]
  /** Nodes with a shell: the servers, the resource manager's node, the node of PADLL's global controller. */
  readonly nodes: readonly EmulatedNode[]

  constructor(scenario: Scenario, options: EmulatorOptions = {}) {
    this.scenario = scenario
    const seed = options.seed ?? scenario.seed
    this.seed = seed
    this.epochSeconds = options.epochSeconds ?? scenario.epoch_s
    const { counters = true } = options
    const context = { epochSeconds: this.epochSeconds, seed, counters }
    this.oss = scenario.oss.map((o) => new EmulatedOss(this.sim, o, context))
    this.mds = scenario.mds.map((m) => {
      const machine = this.oss.find((o) => o.name === m.name)
      return new EmulatedMds(this.sim, m, { ...context, machine })
    })
    this.clients = this.#makeClients(scenario, counters)
    this.oss.forEach(({ io }, i) => io.nrs.writePolicies(scenario.oss[i]?.policy ?? scenario.policy))
    this.mds.forEach(({ services }, i) => {
      for (const s of services) s.nrs.writePolicies(scenario.mds[i]?.policy ?? scenario.policy)
    })
    this.#writeRules(scenario)
    this.padll = scenario.padll && new EmulatedPadll(this.sim, scenario, scenario.padll, this.epochSeconds)
    this.dataNodes = scenario.haechi.map((n) => new EmulatedDataNode(this.sim, n, seed))
    this.ccpfs = scenario.ccpfs && new EmulatedCcpfs(this.sim, scenario.ccpfs, seed, counters)
    const site = {
      seed,
      clients: this.clients,
      osts: this.osts,
      mdts: this.mds.flatMap((m) => m.mdts),
      ranges: new Map<string, SharedRange>(),
      intercept: this.padll?.intercept,
    }
    this.jobs = scenario.jobs.map((j) => new EmulatedJob(this.sim, j, site))
    this.nodes = [
      ...this.#makeServers(options.systemd),
      new EmulatedNode(this.sim, {
        name: 'sched01',
        roles: ['scheduler'],
        epochSeconds: this.epochSeconds,
        programs: { squeue: squeue(() => this.#queue()), scontrol: scontrol(() => this.#queue()) },
      }),
      ...(this.padll
        ? [
            new EmulatedNode(this.sim, {
              name: this.padll.scenario.controller_node,
              roles: ['controller'],
              epochSeconds: this.epochSeconds,
              programs: { sluice: this.padll.program },
            }),
          ]
        : []),
    ]
    this.#playFaults(scenario)
  }

  #writeRules(scenario: Scenario): void {
    for (const rule of scenario.rules) {
      const on = new Set(serversOfRule(rule, scenario).map((s) => s.name))
      const services =
        rule.service === 'ost_io'
          ? this.oss.filter((o) => on.has(o.name)).map((o) => o.io)
          : this.mds.filter((m) => on.has(m.name)).map((m) => (rule.service === 'mdt' ? m.mdt : m.readpage))
      for (const s of services) s.nrs.writeRule(rule.line)
    }
  }

  #playFaults({ faults }: Scenario): void {
    const devices = new Map([
      ...this.osts.map((t) => [t.name, t.disk.station] as const),
      ...this.mds.flatMap((m) => m.mdts).map((t) => [t.name, t.station] as const),
    ])
    playFaults(this.sim, faults, {
      device: (target) => devices.get(target),
      ports: (numbers) => this.clients.filter((c) => !numbers || numbers.includes(c.number)).flatMap((c) => c.ports),
      setSilent: (server, isSilent) => {
        const node = this.node(server)
        if (node) node.isSilent = isSilent
      },
    })
  }

  #makeServers(systemd: SystemdVersion | undefined): EmulatedNode[] {
    const sides: LustreSide[] = []
    // The MGS is on the first MDS and distributes stored parameters to every server.
    const paramsLog = new MgsLog(this.sim, () => sides)
    const mgs = this.mds[0]
    const serve = (name: string): EmulatedNode => {
      const oss = this.oss.find((o) => o.name === name)
      const mds = this.mds.find((m) => m.name === name)
      const lustre = { ...serverLustre({ oss, mds }, this), ...(name === mgs?.name ? { paramsLog } : {}) }
      sides.push(lustre)
      const roles = [...(oss ? (['oss'] as const) : []), ...(mds ? (['mds'] as const) : [])]
      return new EmulatedNode(this.sim, { name, roles, epochSeconds: this.epochSeconds, systemd, lustre })
    }
    // A machine in both lists is one server.
    return [...new Set([...this.oss, ...this.mds].map((s) => s.name))].map(serve)
  }

  #makeClients({ clients }: Scenario, counters: boolean): EmulatedClient[] {
    const common = {
      slots: clients.max_rpcs_in_flight,
      bandwidthBps: clients.network_mb_s * 1e6,
      latencyNs: clients.latency_us * 1000,
      seed: this.seed,
      counters,
    }
    const nodes = Array.from({ length: clients.count }, (_, i) => ({ ...common, number: i + 1 }))
    const mounts = clients.mounted_on.map((host, i) => ({ ...common, number: clients.count + i + 1, host }))
    return [...nodes, ...mounts].map((o) => new EmulatedClient(this.sim, o))
  }

  /** Current virtual time, ns. */
  readonly clock = (): number => this.sim.now

  get osts(): readonly EmulatedOst[] {
    return this.oss.flatMap((o) => o.osts)
  }

  /** Virtual seconds since the start. */
  get seconds(): number {
    return this.sim.now / 1e9
  }

  node(name: string): EmulatedNode | undefined {
    return this.nodes.find((n) => n.name === name)
  }

  #queue(): QueuedJob[] {
    const startOf = (j: EmulatedJob): number => this.epochSeconds + Math.floor(j.scenario.start_s)
    return this.jobs.filter((j) => this.isQueued(j)).map((j) => ({ scenario: j.scenario, startSeconds: startOf(j) }))
  }

  /** True while a job is in the resource manager's queue. */
  isQueued(job: EmulatedJob): boolean {
    return job.scenario.in_slurm && this.sim.now >= sToNs(job.scenario.start_s) && job.running
  }
}
