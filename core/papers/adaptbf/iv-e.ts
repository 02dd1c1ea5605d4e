/** IV-E: redistribution between high-priority bursts and a low-priority stream. */
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Experiment } from '../experiment.ts'
import { claimsOf, numbered, publishedAs } from './expectations.ts'
import { bandwidthBars, bandwidthTimelines, type Controllers } from './figures.ts'
import { gain, jobRate, periodAt, rateIn, sharesIn } from './metrics.ts'
import { runPart, runsOf } from './part.ts'
import type { Run } from './run.ts'
import { COMMON_SETUP, controllersOf, IV_E } from './setups.ts'

const SCENE = 'IV-E'

export const ivE: Experiment<Run> = {
  id: 'adaptbf.IV-E',
  system: ADAPTBF,
  title: 'Redistribution: three bursting jobs of 30 % each, one streaming job of 10 %',
  setup: [
    ...COMMON_SETUP,
    'OST of 500 RPC/s. Jobs 1 to 3: 2 processes with 1024 RPCs each, in bursts of 32, 64 and 96 RPCs with pauses of 1, 2.2 ' +
      'and 3.3 s, from 0.35, 0.8 and 1.7 s. Job4: 16 processes with 1024 RPCs each, without pause.',
  ],
  expectations: claimsOf(SCENE),
  published: publishedAs({
    1: { value: 'significant gain' },
    2: { value: 'bursts are processed quickly' },
    3: { value: 'significant gain' },
    4: { value: 'bursts are processed quickly' },
    5: { value: 'significant gain' },
    6: { value: 'bursts are processed quickly' },
    7: {
      value: 'significant gain',
      note:
        'A burst of 32 RPCs is over within two or three periods: detecting it costs AdapTBF what borrowing gains, while ' +
        'the static share is available at once. Parity is the most that can be reached for the smallest burst.',
    },
    8: { value: 'significant gain' },
    9: { value: 'significant gain' },
    10: { value: 'limited by its priority' },
    11: { value: 'loss minimised' },
    12: { value: 'below No BW' },
    13: { value: 'underutilised' },
    14: { value: 'severely starved' },
    15: { value: 'interference prevented' },
    16: { value: 'borrows' },
  }),
  parts: Object.entries(controllersOf(IV_E)).map(([name, control]) => runPart(SCENE, name, { ...IV_E, control })),
  measure(runs) {
    const { none, static: fixed, adaptbf } = controlled(runs)
    const bursting = (run: Run): number => 1 - sharesIn(run, 0, 30)[3]!
    const burstRatio = (job: number): number => adaptbf.burstMeans[job]! / none.burstMeans[job]!
    return numbered(SCENE, {
      1: gain(adaptbf, none, 0),
      2: burstRatio(0),
      3: gain(adaptbf, none, 1),
      4: burstRatio(1),
      5: gain(adaptbf, none, 2),
      6: burstRatio(2),
      7: gain(adaptbf, fixed, 0),
      8: gain(adaptbf, fixed, 1),
      9: gain(adaptbf, fixed, 2),
      10: gain(adaptbf, none, 3),
      11: jobRate(adaptbf, 3) / jobRate(fixed, 3),
      12: rateIn(adaptbf, 0, 30) / rateIn(none, 0, 30),
      13: rateIn(fixed, 0, 30) / rateIn(none, 0, 30),
      14: bursting(none),
      15: bursting(adaptbf) / bursting(none),
      16: adaptbf.trace.records[3]![periodAt(adaptbf, 30)]!,
    })
  },
  figures(runs) {
    return [...bandwidthTimelines('fig5', controlled(runs)), ...bandwidthBars('fig6', controlled(runs))]
  },
}

function controlled(runs: ReadonlyMap<string, Run>): Controllers {
  const run = runsOf(runs, SCENE)
  return { none: run('none'), static: run('static'), adaptbf: run(ADAPTBF) }
}
