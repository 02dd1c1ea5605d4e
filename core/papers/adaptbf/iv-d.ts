/** IV-D: tokens by priority, with a changing set of active jobs. */
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Experiment } from '../experiment.ts'
import { claimsOf, numbered, publishedAs } from './expectations.ts'
import { bandwidthBars, bandwidthTimelines, type Controllers } from './figures.ts'
import { aggregate, gain, rateIn, sharesIn } from './metrics.ts'
import { runPart, runsOf } from './part.ts'
import type { Run } from './run.ts'
import { COMMON_SETUP, controllersOf, IV_D } from './setups.ts'

const SCENE = 'IV-D'

export const ivD: Experiment<Run> = {
  id: 'adaptbf.IV-D',
  system: ADAPTBF,
  title: 'Token allocation: four streaming jobs at priorities of 10, 10, 30 and 50 %',
  setup: [...COMMON_SETUP, 'OST of 500 RPC/s. Each job: 16 processes with a file of 1024 RPCs each, from 0 s.'],
  expectations: claimsOf(SCENE),
  published: publishedAs({
    1: {
      value: 'highest of the three',
      note:
        'Parity is the most that can be reached: an ideal device serves No BW at its full capacity, without the cost of ' +
        'contention that a real one has.',
    },
    2: { value: 'above Static BW' },
    3: { value: 'does not adapt to the active jobs' },
    4: { value: 'significant gain' },
    5: { value: 'significant gain' },
    6: { value: 'minimal loss' },
    7: { value: 'minimal loss' },
    8: { value: 0.1 },
    9: { value: 0.1 },
    10: { value: 0.3 },
    11: { value: 0.5 },
    12: { value: 'not by priority' },
    13: { value: 'not by priority' },
    14: { value: 'not by priority' },
    15: { value: 'not by priority' },
    16: { value: 'higher priority first' },
    17: { value: 'adjusts to the active jobs' },
    18: { value: 'adjusts to the active jobs' },
    19: { value: 'does not adapt to the active jobs' },
  }),
  parts: Object.entries(controllersOf(IV_D)).map(([name, control]) => runPart(SCENE, name, { ...IV_D, control })),
  measure(runs) {
    const { none, static: fixed, adaptbf } = controlled(runs)
    const shares = sharesIn(adaptbf, 5, 60)
    const without = sharesIn(none, 5, 60)
    const [end1, , end3, end4] = adaptbf.ends as [number, number, number, number]
    return numbered(SCENE, {
      1: aggregate(adaptbf) / aggregate(none),
      2: aggregate(adaptbf) / aggregate(fixed),
      3: aggregate(fixed) / aggregate(none),
      4: gain(adaptbf, none, 2),
      5: gain(adaptbf, none, 3),
      6: gain(adaptbf, none, 0),
      7: gain(adaptbf, none, 1),
      ...Object.fromEntries(shares.map((share, job) => [8 + job, share])),
      ...Object.fromEntries(without.map((share, job) => [12 + job, share])),
      16: end4 < end3 && end3 < end1 ? 1 : 0,
      17: rateIn(adaptbf, 70, 85) / IV_D.capacity,
      18: rateIn(adaptbf, 90, 125) / IV_D.capacity,
      19: rateIn(fixed, 70, 100) / IV_D.capacity,
    })
  },
  figures(runs) {
    return [...bandwidthTimelines('fig3', controlled(runs)), ...bandwidthBars('fig4', controlled(runs))]
  },
}

function controlled(runs: ReadonlyMap<string, Run>): Controllers {
  const run = runsOf(runs, SCENE)
  return { none: run('none'), static: run('static'), adaptbf: run(ADAPTBF) }
}
