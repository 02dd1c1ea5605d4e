/**
 * Parameters of an OSS: its services, its OSTs and their disks.
 *
 * Source: spec/lustre 0.1, 6.2, 6.5, measured A16.
 */
import { brwSections, formatBrwStats, type Osd } from '../../lustre/brw-stats.ts'
import { OST_COUNTERS } from '../../lustre/job-stats-print.ts'
import type { BrwHistograms } from '../io-histograms.ts'
import type { Parameter } from '../parameter.ts'
import { device } from './devices.ts'
import { file, line, text, written } from './file.ts'
import type { Namespace } from './ldlm.ts'
import type { NodeState } from './node.ts'
import { growing, type Role } from './role.ts'
import { serviceParameters, type ServiceView } from './services.ts'
import { statsFile, targetKinds } from './stats-file.ts'
import { lwpName } from './target-name.ts'
import { exportCount, targetParameters, type ClientUuids, type TargetView } from './targets.ts'

export interface OstView extends TargetView {
  readonly brw: BrwHistograms
}

/** Backend file systems. `wbcfs` keeps all data in memory and counts no I/O. */
export type OsdKind = Osd | 'wbcfs'

export interface OssView {
  readonly osts: readonly OstView[]
  readonly services: readonly ServiceView[]
  readonly osd: OsdKind
  readonly clientUuids: ClientUuids
}

/** `brw_stats` of a target, if its backend counts I/O. */
export function brwStatsFiles(node: NodeState, target: string, brw: BrwHistograms, osd: OsdKind): Parameter[] {
  if (osd === 'wbcfs') return []
  const dialect = node.profile.text.histogram
  const ops = text(
    () => formatBrwStats({ times: node.times(brw.startNs), sections: brwSections(brw.counts, osd, dialect) }, dialect),
    () => {
      brw.clear(node.clock())
      return written
    },
  )
  return [file(node.procThenDebugfs, [`osd-${osd}`, target, 'brw_stats'], ops)]
}

function ostParameters(node: NodeState, ost: OstView, { osd, clientUuids }: OssView): Parameter[] {
  const names = OST_COUNTERS(node.profile)
  const moved = node.procThenDebugfs
  return [
    ...targetParameters(node, 'obdfilter', ost, clientUuids, names),
    file(moved, ['obdfilter', ost.name, 'stats'], {
      ...statsFile(node, ost.stats, targetKinds(names)),
      ...(moved === 'debugfs' ? { netlink: true as const } : {}),
    }),
    file(
      'sysfs',
      ['obdfilter', ost.name, 'fstype'],
      line(() => osd),
    ),
    ...brwStatsFiles(node, ost.name, ost.brw, osd),
    // Emulated clients write through: they have no grants and no dirty or pending data.
    ...['tot_dirty', 'tot_granted', 'tot_pending'].map((name) =>
      file(
        'sysfs',
        ['obdfilter', ost.name, name],
        line(() => 0),
      ),
    ),
  ]
}

/** Role of an OSS node. */
export function ossRole(node: NodeState, oss: OssView): Role {
  for (const { jobStats } of oss.osts) node.onStatsHeader((shown) => (jobStats.showsStart = shown))
  const fixed = [
    ...oss.services.flatMap((s) => serviceParameters(node, s)),
    file(
      'sysfs',
      ['ost', 'OSS', 'uuid'],
      line(() => 'OSS_uuid'),
    ),
  ]
  const targets = oss.osts.map((ost) =>
    growing(
      () => ost.connections.byNid.size,
      () => ostParameters(node, ost, oss),
    ),
  )
  return {
    parameters: () => [fixed, ...targets.map((t) => t())],
    devices: () =>
      oss.osts.flatMap((ost, i) => [
        device(node, `osd-${oss.osd}`, `${ost.name}-osd`, `${ost.name}-osd_UUID`),
        // The first mounted target creates the services.
        ...(i === 0 ? [device(node, 'ost', 'OSS', 'OSS_uuid')] : []),
        device(node, 'obdfilter', ost.name, `${ost.name}_UUID`, { exports: exportCount(ost, oss.clientUuids) }),
        device(node, 'lwp', lwpName(ost.name), `${lwpName(ost.name)}_UUID`),
      ]),
    namespaces: oss.osts.flatMap((ost): Namespace[] => [
      { name: `filter-${ost.name}_UUID`, side: 'server' },
      { name: lwpName(ost.name), side: 'server connection' },
    ]),
  }
}
