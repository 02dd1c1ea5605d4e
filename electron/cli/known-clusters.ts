/** Clusters available to a command: those of `--config` and those of the data folder. */
import { join } from 'node:path'
import type { ClusterInput } from '#core/api/clusters.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { readClusters } from '../cluster/live/cluster-file.ts'
import { dataFolder, type ClustersFlags } from './clusters-flags.ts'

/** Clusters of `--config`. Failures: those of reading the file. */
const configured = (flags: ClustersFlags): Result<readonly ClusterInput[]> =>
  flags.config === undefined ? ok([]) : readClusters(flags.config)

/** Finds a cluster by name in `--config` or the data folder. Failures: CLUSTERS_UNREADABLE, UNKNOWN_CLUSTER. */
export function findCluster(flags: ClustersFlags, name: string): Result<ClusterInput> {
  const configuredClusters = configured(flags)
  if (!configuredClusters.ok) return configuredClusters
  const saved = readClusters(join(dataFolder(flags), 'clusters.yaml'), true)
  // A damaged cluster file in the data folder does not block a cluster found in the other file.
  const found = [...configuredClusters.value, ...(saved.ok ? saved.value : [])].find((c) => c.name === name)
  if (found) return ok(found)
  if (!saved.ok) return saved
  const names = [...configuredClusters.value, ...saved.value].map((c) => c.name).slice(0, 20)
  return fail({
    code: 'UNKNOWN_CLUSTER',
    what: `There is no cluster called ${name}`,
    next: `Known: ${['emulator', ...new Set(names)].join(', ')}.${flags.config === undefined ? ' Name a file with --config.' : ''}`,
  })
}
