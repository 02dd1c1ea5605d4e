/** Figures of runs, after the paper's. */
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Bars, Timeline } from '../experiment.ts'
import { aggregate, gain, jobRate } from './metrics.ts'
import type { Run } from './run.ts'

/** Controllers in the paper's order and wording. */
export const CONTROLLER_TITLES = { none: 'No BW', static: 'Static BW', adaptbf: 'AdapTBF' } as const
export type Controllers = Readonly<Record<keyof typeof CONTROLLER_TITLES, Run>>

const BIN_S = 0.1

/** Figures 3 and 5: RPC/s of each job over time, one timeline per controller. An RPC is 1 MiB. */
export function bandwidthTimelines(figure: string, runs: Controllers): Timeline[] {
  return (['none', 'static', ADAPTBF] as const).map((name) => {
    const { jobs, served } = runs[name]
    const series = jobs.map(({ id }, job) => ({ name: id, values: served[job]!.map((rpcs) => rpcs / BIN_S) }))
    return {
      kind: 'timeline',
      id: `${figure}.${name}`,
      title: CONTROLLER_TITLES[name],
      unit: 'RPC/s',
      binS: BIN_S,
      series,
    }
  })
}

/** Figure 7: record and demand of each job over time under AdapTBF, one timeline per job. */
export function recordTimelines(figure: string, { jobs, trace }: Run): Timeline[] {
  return jobs.map(({ id }, job) => ({
    kind: 'timeline',
    id: `${figure}.${id}`,
    title: id,
    unit: 'tokens',
    binS: trace.atS[0] ?? BIN_S,
    series: [
      { name: 'record', values: trace.records[job]! },
      { name: 'demand', values: trace.demand[job]! },
    ],
  }))
}

/** Figures 4, 6 and 8: bandwidth by job and overall, and AdapTBF's gain over No BW (and Static BW) in percent. */
export function bandwidthBars(figure: string, runs: Controllers): Bars[] {
  const names = ['none', 'static', ADAPTBF] as const
  const { jobs } = runs.adaptbf
  const rates = [
    ...jobs.map(({ id }, job) => ({ name: id, values: names.map((name) => jobRate(runs[name], job)) })),
    { name: 'overall', values: names.map((name) => aggregate(runs[name])) },
  ]
  const gains = jobs.map(({ id }, job) => ({
    name: id,
    values: [100 * gain(runs.adaptbf, runs.none, job), 100 * gain(runs.adaptbf, runs.static, job)],
  }))
  return [
    {
      kind: 'bars',
      id: `${figure}a`,
      title: 'Bandwidth by job and overall',
      unit: 'RPC/s',
      series: names.map((name) => CONTROLLER_TITLES[name]),
      groups: rates,
    },
    {
      kind: 'bars',
      id: `${figure}b`,
      title: 'Gain of AdapTBF',
      unit: '%',
      series: ['over No BW', 'over Static BW'],
      groups: gains,
    },
  ]
}
