/**
 * Parameters of an MDS: its services and its MDT.
 *
 * Source: spec/lustre 0.1, 6.4, measured A1, A6.
 */
import { MDT_COUNTERS } from '../../lustre/job-stats-print.ts'
import { BrwHistograms } from '../io-histograms.ts'
import type { ObdDevice } from '../lctl/host.ts'
import type { Parameter } from '../parameter.ts'
import { device } from './devices.ts'
import { file, storedNumber, line } from './file.ts'
import type { Namespace } from './ldlm.ts'
import type { NodeState } from './node.ts'
import { brwStatsFiles, type OsdKind } from './oss.ts'
import { growing, type Role } from './role.ts'
import { serviceParameters, type ServiceView } from './services.ts'
import { statsFile, targetKinds } from './stats-file.ts'
import { lwpName, ospName, splitTarget } from './target-name.ts'
import { targetObdParameter } from './target-obd.ts'
import { exportCount, targetParameters, type ClientUuids, type TargetView } from './targets.ts'

/** Default max_rpcs_in_flight of a server's connections to OSTs. */
const OSP_RPCS_IN_FLIGHT = 100_000

export interface MdsView {
  readonly mdts: readonly TargetView[]
  readonly services: readonly ServiceView[]
  readonly osd: OsdKind
  /** OSTs of the file system, to which every MDT is connected. */
  readonly osts: readonly string[]
  readonly clientUuids: ClientUuids
}

function mdtParameters(node: NodeState, mdt: TargetView, { clientUuids }: MdsView): Parameter[] {
  const names = MDT_COUNTERS(node.profile)
  return [
    ...targetParameters(node, 'mdt', mdt, clientUuids, names),
    file('proc', ['mdt', mdt.name, 'md_stats'], statsFile(node, mdt.stats, targetKinds(names))),
  ]
}

function mdtDevices(node: NodeState, mds: MdsView, mdt: TargetView, isFirst: boolean): ObdDevice[] {
  const { name } = mdt
  const { fsname, index } = splitTarget(name)
  const lov = `${name}-mdtlov`
  const mdd = `${fsname}-MDD${index.slice(3)}`
  const qmt = `${fsname}-QMT${index.slice(3)}`
  return [
    device(node, `osd-${mds.osd}`, `${name}-osd`, `${name}-osd_UUID`),
    // The first mounted target creates the services.
    ...(isFirst ? [device(node, 'mds', 'MDS', 'MDS_uuid')] : []),
    device(node, 'lod', lov, `${lov}_UUID`),
    device(node, 'mdt', name, `${name}_UUID`, { exports: exportCount(mdt, mds.clientUuids) }),
    device(node, 'mdd', mdd, `${mdd}_UUID`),
    // Only the first MDT of a file system keeps the quota.
    ...(index === 'MDT0000' ? [device(node, 'qmt', qmt, `${qmt}_UUID`)] : []),
    device(node, 'lwp', lwpName(name), `${lwpName(name)}_UUID`),
  ]
}

/** An MDT's connections to the OSTs, which lctl also lists as `osc`. */
const ospParameters = (mdt: string, osts: readonly string[]): Parameter[] =>
  osts.map((ost) =>
    file(
      'sysfs',
      ['osc', ospName(ost, mdt), 'max_rpcs_in_flight'],
      storedNumber(OSP_RPCS_IN_FLIGHT, { min: 1, max: OSP_RPCS_IN_FLIGHT, outside: 'ERANGE' }),
    ),
  )

/** Role of an MDS node. */
export function mdsRole(node: NodeState, mds: MdsView): Role {
  for (const { jobStats } of mds.mdts) node.onStatsHeader((shown) => (jobStats.showsStart = shown))
  const fixed = [
    ...mds.services.flatMap((s) => serviceParameters(node, s)),
    file(
      'sysfs',
      ['mds', 'MDS', 'uuid'],
      line(() => 'MDS_uuid'),
    ),
    ...mds.mdts.flatMap((mdt) => [
      // Emulated MDTs hold no data: their disks do no I/O that would be counted here.
      ...brwStatsFiles(node, mdt.name, new BrwHistograms(node.clock()), mds.osd),
      targetObdParameter(`${mdt.name}-mdtlov`, mds.osts),
      ...ospParameters(mdt.name, mds.osts),
    ]),
  ]
  const targets = mds.mdts.map((mdt) =>
    growing(
      () => mdt.connections.byNid.size,
      () => mdtParameters(node, mdt, mds),
    ),
  )
  return {
    parameters: () => [fixed, ...targets.map((t) => t())],
    devices: () => mds.mdts.flatMap((mdt, i) => mdtDevices(node, mds, mdt, i === 0)),
    // The MDT learns of OSTs after its node has mounted everything.
    lateDevices: () =>
      mds.mdts.flatMap((mdt) =>
        mds.osts.map((ost) => device(node, 'osp', ospName(ost, mdt.name), `${mdt.name}-mdtlov_UUID`)),
      ),
    namespaces: mds.mdts.flatMap((mdt): Namespace[] => [
      { name: `mdt-${mdt.name}_UUID`, side: 'server' },
      { name: lwpName(mdt.name), side: 'server connection' },
    ]),
    lateNamespaces: mds.mdts.flatMap((mdt) =>
      mds.osts.map((ost): Namespace => ({ name: ospName(ost, mdt.name), side: 'server connection' })),
    ),
  }
}
