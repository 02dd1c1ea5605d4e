/**
 * Lustre on the nodes of an emulated cluster: roles, clients and parameters of each node.
 *
 * Addresses that nothing else depends on are assigned here: OSSs are in 10.3.0.0, MDSs in 10.2.0.0. The MGS is on the first
 * MDS, or on a machine that is not emulated.
 */
import { invariant } from '../../base/result.ts'
import type { Osd } from '../../lustre/brw-stats.ts'
import { profileOf } from '../../lustre/profile.ts'
import { parseVersion } from '../../lustre/version.ts'
import { Nodemaps } from '../../tbf/nodemaps.ts'
import { loadedModule } from '../../tbf/tbf-module.ts'
import type { EmulatedClient } from '../client.ts'
import type { LustreSide } from '../lctl/host.ts'
import type { EmulatedMds } from '../mds.ts'
import type { EmulatedOss } from '../oss.ts'
import type { RpcTarget } from '../rpc.ts'
import { clientRole, instanceOf, type ConnectionView } from './client.ts'
import { uuidOf } from './devices.ts'
import type { LocksOf, LockView } from './ldlm.ts'
import { mdsRole } from './mds.ts'
import { NodeState } from './node.ts'
import { ossRole } from './oss.ts'
import { lustreSide, type Role } from './role.ts'
import { SERVICES, servicesOf } from './services.ts'
import { splitTarget } from './target-name.ts'
import type { ClientUuids } from './targets.ts'

const OSD: Osd = 'ldiskfs'
const MGS_ELSEWHERE = '10.2.0.250@tcp'

/** Job id format of scenarios: scheduler job id, command and user. */
const JOBID = { jobidVar: 'SLURM_JOB_ID', jobidName: '%j.%e.u%u' }

/** Cluster data used by the parameters. */
export interface Site {
  /** Virtual ns, and Unix seconds at 0. */
  readonly clock: () => number
  readonly epochSeconds: number
  readonly oss: readonly EmulatedOss[]
  readonly mds: readonly EmulatedMds[]
  readonly clients: readonly EmulatedClient[]
}

type Server = EmulatedOss | EmulatedMds

/** A machine that is an OSS, an MDS, or both. */
export interface Machine {
  readonly oss: EmulatedOss | undefined
  readonly mds: EmulatedMds | undefined
}

/** Name of the file system. */
const fsnameOf = (site: Site): string => {
  const target = site.oss[0]?.osts[0]?.name ?? site.mds[0]?.mdts[0]?.name ?? ''
  return splitTarget(target).fsname
}

function nidOf(server: Server, site: Site): string {
  const storage = site.oss.findIndex((o) => o.name === server.name)
  const metadata = site.mds.findIndex((m) => m.name === server.name)
  return storage >= 0 ? `10.3.0.${storage + 1}@tcp` : `10.2.0.${metadata + 1}@tcp`
}

const mgsOf = (site: Site): EmulatedMds | undefined => site.mds[0]
const mgsNidOf = (site: Site): string => {
  const mgs = mgsOf(site)
  return mgs ? nidOf(mgs, site) : MGS_ELSEWHERE
}

const mountOf = (client: EmulatedClient, site: Site): string => instanceOf(`${fsnameOf(site)} on ${client.nid}`)
const clientUuid = (client: EmulatedClient, site: Site): string => uuidOf(`${fsnameOf(site)} ${mountOf(client, site)}`)

/** Clients by NID, as the targets of a server see them. */
function uuidsAt(server: Server, site: Site): ClientUuids {
  const uuids = new Map<string, string[]>()
  for (const c of site.clients) {
    const nid = c.nidTo({ host: server.name })
    uuids.set(nid, [...(uuids.get(nid) ?? []), clientUuid(c, site)])
  }
  return (nid) => uuids.get(nid) ?? []
}

/** Parameter view of a connection; the queue behind it is created on first use. */
export function connectionView(
  client: EmulatedClient,
  target: RpcTarget,
  type: 'osc' | 'mdc',
  serverNid: string,
): ConnectionView {
  return {
    type,
    target: target.name,
    serverNid,
    get maxRpcsInFlight() {
      return client.line(target).slots
    },
    set maxRpcsInFlight(n) {
      client.setSlots(target, n)
    },
    get underWay() {
      return client.line(target).underWay
    },
    get histograms() {
      return client.line(target).histograms
    },
  }
}

function clientRoleOf(client: EmulatedClient, node: NodeState, site: Site): Role {
  const to = (server: Server): string => (client.nidTo({ host: server.name }) === '0@lo' ? '0@lo' : nidOf(server, site))
  return clientRole(node, {
    fsname: fsnameOf(site),
    instance: mountOf(client, site),
    connections: [
      ...site.mds.flatMap((m) => m.mdts.map((t) => connectionView(client, t, 'mdc', to(m)))),
      ...site.oss.flatMap((o) => o.osts.map((t) => connectionView(client, t, 'osc', to(o)))),
    ],
  })
}

const nodeStateOf = (version: string, cpts: number, site: Site): NodeState =>
  new NodeState({
    profile: profileOf(parseVersion(version)),
    version,
    cpts,
    epochSeconds: site.epochSeconds,
    clock: site.clock,
    ...JOBID,
  })

/** Lock counters of a server's targets, by namespace. */
function locksOf({ oss, mds }: Machine): LocksOf {
  const views = new Map<string, LockView>()
  for (const { name, extents } of oss?.osts ?? []) views.set(`filter-${name}_UUID`, extents)
  for (const { name, inodes } of mds?.mdts ?? []) views.set(`mdt-${name}_UUID`, inodes)
  return ({ name }) => views.get(name)
}

/** Lustre on a server, and on the client that is mounted there, if any. */
export function serverLustre(machine: Machine, site: Site): LustreSide {
  const { oss, mds } = machine
  const server = oss ?? mds
  invariant(server !== undefined, 'a server has a role')
  const node = nodeStateOf(server.version, server.cpts, site)
  const side = { module: server.module, nodemaps: server.nodemaps }
  const clientUuids = uuidsAt(server, site)
  const roles: Role[] = []
  if (oss) {
    const services = servicesOf(SERVICES.oss, [oss.io], node, side)
    roles.push(ossRole(node, { osts: oss.osts, services, osd: OSD, clientUuids }))
  }
  if (mds) {
    const services = servicesOf(SERVICES.mds, mds.services, node, side)
    const osts = site.oss.flatMap((o) => o.osts.map((t) => t.name))
    roles.push(mdsRole(node, { mdts: mds.mdts, services, osd: OSD, osts, clientUuids }))
  }
  for (const c of site.clients) if (c.nidTo({ host: server.name }) === '0@lo') roles.push(clientRoleOf(c, node, site))
  const isMgs = mgsOf(site)?.name === server.name
  return {
    ...lustreSide({
      node,
      roles,
      module: server.module,
      services: servicesOf([...SERVICES.ldlm, ...(isMgs ? SERVICES.mgs : [])], [], node, side),
      mgsNid: mgsNidOf(site),
      isMgs,
      locksOf: locksOf(machine),
    }),
    nids: [nidOf(server, site)],
    nodemaps: server.nodemaps,
    bootSeconds: site.epochSeconds,
  }
}

/** Lustre on a compute node; it has the release of the first server. */
export function clientLustre(client: EmulatedClient, site: Site): LustreSide {
  const version = (site.oss[0] ?? site.mds[0])?.version ?? '2.17.57'
  const node = nodeStateOf(version, 1, site)
  const module = loadedModule()
  return {
    ...lustreSide({
      node,
      roles: [clientRoleOf(client, node, site)],
      module,
      services: servicesOf(SERVICES.ldlm, [], node, { module, nodemaps: new Nodemaps() }),
      mgsNid: mgsNidOf(site),
    }),
    nids: [client.nid],
    bootSeconds: site.epochSeconds,
  }
}
