/** Figures of runs, after the paper's. */
import type { Expectation } from '../expectation.ts'
import type { Bars, Timeline } from '../experiment.ts'
import type { ScenarioRun } from './fluid.ts'
import { completion } from './metrics.ts'
import { MAX_RATE, SETUP_NAMES, SETUPS, type SetupName } from './scenarios.ts'

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

/** Completion minutes by setup, with the published ones of the claims `<setup>-<job or makespan>`. */
export function completionBars(
  figure: string,
  runs: Readonly<Record<SetupName, ScenarioRun>>,
  claims: readonly Expectation[],
): Bars {
  const minutes = SETUP_NAMES.map((setup) => [setup, completion(runs[setup])] as const)
  const series = Object.keys(minutes[0]![1])
  const publishedOf = (setup: SetupName, name: string): number | null => {
    const value = claims.find(({ id }) => id.endsWith(`.${setup}-${name}`))?.published.value
    return typeof value === 'number' ? value : null
  }
  return {
    kind: 'bars',
    id: `${figure}.minutes`,
    title: 'Completion',
    unit: 'min',
    series,
    groups: minutes.map(([setup, values]) => ({
      name: SETUPS[setup],
      values: series.map((name) => values[name]!),
      published: series.map((name) => publishedOf(setup, name)),
    })),
  }
}
