/**
 * Order of test files: within a project the longest start first, so that no worker is left with one of them while the others are
 * idle. Vitest orders by the times of its last run; a fresh clone has none, and would start with the largest file.
 */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take more than ten seconds on two cores. */
export const LONG: ReadonlySet<string> = new Set([
  'core/papers/haechi/experiments.test.ts',
  'core/papers/padll/experiments.test.ts',
  'core/papers/seqdlm/experiments.test.ts',
  'core/emulator/ccpfs.test.ts',
  'electron/cli/clusters.test.ts',
  'electron/cli/policy/policy.test.ts',
  'electron/cli/stop.test.ts',
  'electron/cluster/control/adaptbf.test.ts',
  'electron/cluster/read/late-readings.test.ts',
  'electron/cluster/metadata/metadata.test.ts',
  'electron/cluster/monitor.test.ts',
  'electron/enforce/commit-faults.test.ts',
  'electron/enforce/enforcement-model.test.ts',
  'electron/host/router.test.ts',
  'electron/cli/clusters.real.test.ts',
  'electron/cli/stop.real.test.ts',
  'electron/padll/hierarchy.real.test.ts',
  'tests/node/live-hostile-jobs.real.test.ts',
  'tests/node/live-slow-server.real.test.ts',
  'tests/servers/helper.test.ts',
  'tests/servers/rules.test.ts',
  'tests/servers/stop.test.ts',
  'tests/e2e/accessibility.test.ts',
  'tests/e2e/incidents.test.ts',
])

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.has(relative(this.ctx.config.root, moduleId))
    return [...Map.groupBy(sorted, ({ project }) => project).values()].flatMap((of) => [
      ...of.filter(isLong),
      ...of.filter((file) => !isLong(file)),
    ])
  }
}
