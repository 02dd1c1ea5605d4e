/**
 * Common parameters of OSTs and MDTs: job_stats, connections, and a target's own attributes.
 *
 * Source: spec/lustre 4.4, 6.3, measured A3, A12, A16, A20; places by release from the listings of running nodes.
 */
import { fail, type Result } from '../../base/result.ts'
import type { Errno } from '../../lustre/errno.ts'
import { parseDropName } from '../../lustre/job-id.ts'
import type { Parameter } from '../parameter.ts'
import type { JobStatsTable } from '../job-stats-table.ts'
import { file, line, numberLine, text, written, writeOnly, type FileOps, type Place } from './file.ts'
import type { NodeState } from './node.ts'
import { statsFile, targetKinds, type StatsSource } from './stats-file.ts'

export interface TargetView {
  /** `testfs-OST0000`. */
  readonly name: string
  readonly jobStats: JobStatsTable
  readonly stats: StatsSource
  /** Per-client counters by NID; grows as clients connect. */
  readonly connections: { readonly byNid: ReadonlyMap<string, StatsSource> }
}

/** UUIDs of the clients at a NID that are connected to a target; several if the node has targets as well. */
export type ClientUuids = (nid: string, target: string) => readonly string[]

/** Connections to a target. */
export const exportCount = (t: TargetView, uuidsOf: ClientUuids): number =>
  [...t.connections.byNid.keys()].reduce((n, nid) => n + uuidsOf(nid, t.name).length, 0)

/** Files of a target's exports. */
function exportFiles(
  node: NodeState,
  directory: readonly string[],
  { name, connections }: TargetView,
  uuidsOf: ClientUuids,
  names: readonly string[],
): Parameter[] {
  const place = node.procThenDebugfs
  return [
    // Emulated clients keep their connections; there are no stale exports to drop.
    file(
      place,
      [...directory, 'exports', 'clear'],
      writeOnly(() => written),
    ),
    ...[...connections.byNid].flatMap(([nid, stats]) => [
      file(place, [...directory, 'exports', nid, 'stats'], {
        ...statsFile(node, stats, targetKinds(names)),
        ...(place === 'debugfs' ? { netlink: true as const } : {}),
      }),
      file(
        place,
        [...directory, 'exports', nid, 'uuid'],
        text(() =>
          uuidsOf(nid, name)
            .map((u) => `${u}\n`)
            .join(''),
        ),
      ),
    ]),
  ]
}

function jobStatsFile(node: NodeState, table: JobStatsTable): FileOps {
  const write = (value: string): Result<undefined, Errno> => {
    const name = parseDropName(value, node.profile.text.jobStats.ids)
    if (!name.ok) return name
    if (name.value === 'every entry') table.clear()
    else if (!table.drop(name.value.jobId)) return fail('EINVAL')
    return written
  }
  return text(() => table.read(), write)
}

/**
 * Files of a target.
 *
 * @param type   directory of its kind: `obdfilter` or `mdt`.
 * @param names  its counters, in the order of job_stats; export tables have the same.
 */
export function targetParameters(
  node: NodeState,
  type: 'obdfilter' | 'mdt',
  t: TargetView,
  uuidsOf: ClientUuids,
  names: readonly string[],
): Parameter[] {
  const { jobStats } = t
  const at = (place: Place, attribute: string, ops: FileOps): Parameter => file(place, [type, t.name, attribute], ops)
  return [
    at('proc', 'job_stats', jobStatsFile(node, jobStats)),
    at(
      'sysfs',
      'job_cleanup_interval',
      numberLine(
        () => jobStats.cleanupSeconds,
        (n) => {
          jobStats.cleanupSeconds = n
        },
      ),
    ),
    at(
      'sysfs',
      'uuid',
      line(() => `${t.name}_UUID`),
    ),
    at(
      node.procThenDebugfs,
      'recovery_status',
      line(() => 'status: INACTIVE'),
    ),
    at(
      'sysfs',
      'num_exports',
      line(() => exportCount(t, uuidsOf)),
    ),
    ...exportFiles(node, [type, t.name], t, uuidsOf, names),
  ]
}
