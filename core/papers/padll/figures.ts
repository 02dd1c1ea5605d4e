/** Figures of runs, after the paper's. */
import type { Timeline } from '../experiment.ts'
import type { ScenarioRun } from './fluid.ts'
import { MAX_RATE, SETUPS, type SetupName } from './scenarios.ts'

/** Figures 7 to 9: op/s of each job, stacked to the total, one timeline per setup; a limit is drawn as a line. */
export const jobTimelines = (
  figure: string,
  runs: Readonly<Record<SetupName, ScenarioRun>>,
  setups: readonly SetupName[],
): Timeline[] =>
  setups.map((setup) => ({
    kind: 'timeline',
    id: `${figure}.${setup}`,
    title: SETUPS[setup],
    unit: 'op/s',
    binS: 1,
    series: runs[setup].jobs.map(({ id }, job) => ({ name: id, values: runs[setup].served[job]! })),
    limit: { name: 'Max_R', value: MAX_RATE },
  }))
