/**
 * File system `testfs` on one node, which is MGS, MDS, OSS and client at once, like the nodes of the recorded answers: one MDT,
 * two OSTs, and a mount. Jobs can run on it; a test may also change counters itself.
 */
import { EmulatedClient } from '../../core/emulator/client.ts'
import type { LustreSide } from '../../core/emulator/lctl/host.ts'
import { EmulatedMds } from '../../core/emulator/mds.ts'
import { EmulatedOss } from '../../core/emulator/oss.ts'
import { clientRole, instanceOf } from '../../core/emulator/parameters/client.ts'
import { uuidOf } from '../../core/emulator/parameters/devices.ts'
import type { LockView, Namespace } from '../../core/emulator/parameters/ldlm.ts'
import { mdsRole } from '../../core/emulator/parameters/mds.ts'
import { NodeState } from '../../core/emulator/parameters/node.ts'
import { ossRole, type OsdKind } from '../../core/emulator/parameters/oss.ts'
import { lustreSide } from '../../core/emulator/parameters/role.ts'
import { SERVICES, servicesOf, type ServiceView } from '../../core/emulator/parameters/services.ts'
import { connectionView } from '../../core/emulator/parameters/site.ts'
import { CounterTable } from '../../core/emulator/live-counter.ts'
import { Simulation } from '../../core/sim/simulation.ts'

export interface TestfsOptions {
  /** Version as printed by the parameter `version`; determines the release. */
  readonly version: string
  readonly cpts: number
  readonly osd?: OsdKind
  readonly sim?: Simulation
  /** Unix seconds at virtual time 0. */
  readonly epochSeconds?: number
  /** Set if namespaces have locks to count; a test sets their numbers. */
  readonly hasLocks?: boolean
}

/** Locks whose numbers a test sets. */
export type TestLocks = { -readonly [K in keyof LockView]: LockView[K] }

export interface Testfs {
  readonly sim: Simulation
  readonly node: NodeState
  readonly oss: EmulatedOss
  readonly mds: EmulatedMds
  readonly client: EmulatedClient
  /** Every service by its name: `ost_io`, `mdt`, `ldlm_cbd`, ... */
  readonly services: ReadonlyMap<string, ServiceView>
  /** Locks by namespace; empty unless requested. */
  readonly locks: ReadonlyMap<string, TestLocks>
  readonly lustre: LustreSide
  /** Suffix of the mount's device names. */
  readonly instance: string
}

const HOST = 'testfs'
const OSTS = ['testfs-OST0000', 'testfs-OST0001'] as const
const MDT = 'testfs-MDT0000'
const NID = '10.0.2.15@tcp'
const DISK = { bandwidth_mb_s: 500, per_op_us: 50, channels: 4 }

const noLocks = (): TestLocks => ({
  resources: 0,
  locks: 0,
  unused: 0,
  hits: 0,
  privilegedHits: 0,
  privileged: 0,
  contentionEvents: 0,
  timeouts: 0,
  pool: { slv: 0, clv: 0, lvf: 100, plan: 0, gr: 0, cr: 0, gs: 0, granted: 0, limit: 1 },
  recalcTime: 0,
  recalcPeriod: 1,
  poolStats: new CounterTable(),
})

export function makeTestfs(options: TestfsOptions): Testfs {
  const { version, cpts, osd = 'ldiskfs', sim = new Simulation(), epochSeconds = 1_763_676_476 } = options
  const server = { name: HOST, version, cpts, threads: 16, timer_latency_us: 50 }
  const context = { epochSeconds, seed: 1, counters: true }
  const oss = new EmulatedOss(sim, { ...server, osts: OSTS.map((name) => ({ name, disk: DISK })) }, context)
  const mds = new EmulatedMds(
    sim,
    { ...server, mdts: [{ name: MDT, per_op_us: 150, op_us: {}, channels: 8 }] },
    context,
  )
  const client = new EmulatedClient(sim, {
    number: 1,
    slots: 8,
    bandwidthBps: 1e10,
    latencyNs: 1000,
    host: HOST,
    seed: 1,
    counters: true,
  })
  const node = new NodeState({ profile: oss.profile, version, cpts, cpus: 2, epochSeconds, clock: () => sim.now })
  const { module, nodemaps } = oss
  const services = (of: keyof typeof SERVICES, played: readonly ServiceView[] = []): ServiceView[] =>
    servicesOf(SERVICES[of], played, node, { module, nodemaps })
  const ossServices = services('oss', [oss.io])
  const mdsServices = services('mds', mds.services)
  const nodeServices = [...services('ldlm'), ...services('mgs')]
  // The client is connected from the start, and targets are connected to each other.
  for (const t of [...oss.osts, ...mds.mdts]) t.connections.at(0, '0@lo')
  const instance = instanceOf('testfs')
  const mount = uuidOf(`testfs ${instance}`)
  const uuids: Readonly<Record<string, readonly string[]>> = {
    [OSTS[0]]: [mount, `${MDT}-mdtlov_UUID`],
    // An idle client disconnects.
    [OSTS[1]]: [`${MDT}-mdtlov_UUID`],
    [MDT]: [mount, ...['OST0001', 'MDT0000', 'OST0000'].map((t) => `${MDT}-lwp-${t}_UUID`)],
  }
  const clientUuids = (_: string, target: string): readonly string[] => uuids[target] ?? []
  const locks = new Map<string, TestLocks>()
  const locksOf = ({ name }: Namespace): TestLocks => {
    const nodeLocks = locks.get(name) ?? noLocks()
    locks.set(name, nodeLocks)
    return nodeLocks
  }
  // Releases have different names for a server that is the node itself.
  const peer = node.profile.text.isOldLayout ? NID : '0@lo'
  const lustre = lustreSide({
    node,
    module,
    services: nodeServices,
    mgsNid: NID,
    isMgs: true,
    ...(options.hasLocks === true ? { locksOf } : {}),
    roles: [
      mdsRole(node, { mdts: mds.mdts, services: mdsServices, osd, osts: OSTS, clientUuids }),
      ossRole(node, { osts: oss.osts, services: ossServices, osd, clientUuids }),
      clientRole(node, {
        fsname: 'testfs',
        instance,
        connections: [
          ...mds.mdts.map((t) => connectionView(client, t, 'mdc', peer)),
          ...oss.osts.map((t) => connectionView(client, t, 'osc', peer)),
        ],
      }),
    ],
  })
  return {
    sim,
    node,
    oss,
    mds,
    client,
    locks,
    instance,
    services: new Map([...ossServices, ...mdsServices, ...nodeServices].map((s) => [s.path[2], s])),
    lustre: { ...lustre, nids: [NID], nodemaps, bootSeconds: epochSeconds },
  }
}
