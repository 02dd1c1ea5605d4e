/** Experiment 4 over what the paper leaves open: sigma, and how much of the capacity the outside traffic takes. */
import { mean } from '../../base/statistics.ts'
import { DEFAULT_SETTINGS } from '../../haechi/settings.ts'
import type { Measured } from '../expectation.ts'
import type { Curve } from '../experiment.ts'
import { experimentOf, variant, type Variant } from './expectations.ts'
import { FITS } from './fits.ts'
import { ratios } from './metrics.ts'
import { estimating, type NodeRun } from './node-run.ts'
import { clientsOf, without } from './set-4.ts'
import { NOISE, sizeSetup } from './setups.ts'

/** % of C_G. */
const SIGMAS = [0.1, 0.5, 1, 3, 5, 7] as const
/** Capacity that the traffic takes, %. */
const TRAFFIC = [5, 10, 15, 20, 30] as const
const SIZE = 64
/** Period in which the traffic starts, and periods with it. */
const FROM = 15
const LENGTH = 20

const keyOf = (sigma: number, traffic: number): string => `sigma ${sigma} % traffic ${traffic} %`

const cell = (sigma: number, traffic: number): Variant =>
  variant('4S', keyOf(sigma, traffic), () => ({
    clients: clientsOf('zipf'),
    settings: estimating({ sigma: sigma / 100 }, DEFAULT_SETTINGS),
    size: SIZE,
    noise: NOISE,
    warmUp: FROM,
    measured: LENGTH,
    capacity: [{ period: FROM, iops: without(traffic / 100) }],
  }))

/** C1's completed / reserved, mean of the last ten periods. */
const kept = (run: NodeRun): number => mean(ratios(run, 0).slice(-10))

/** Periods until C1 has 99 % of its reservation on the mean of five; `LENGTH` if it never has. */
function recovery(run: NodeRun): number {
  const c1 = ratios(run, 0).slice(FROM)
  const at = c1.findIndex((_, i) => i + 5 <= c1.length && mean(c1.slice(i, i + 5)) >= 0.99)
  return at < 0 ? LENGTH : at
}

const curve = (
  id: string,
  title: string,
  unit: string,
  valueOf: (sigma: number, traffic: number) => number,
): Curve => ({
  kind: 'curve',
  id,
  title,
  unit,
  across: 'sigma, % of C_G',
  isLog: true,
  series: TRAFFIC.map((traffic) => ({
    name: `traffic of ${traffic} %`,
    points: SIGMAS.map((sigma) => [sigma, valueOf(sigma, traffic)] as const),
  })),
})

const grid = experimentOf({
  name: '4S',
  title: 'Changing capacity, by sigma and traffic',
  setup: [
    'As Experiment 4 under zipf reservations with the amended rules: traffic starts after 15 periods and stays for 20. All runs ' +
      'have the same stream of noise.',
    'The measured sigma is 0.057 %. Without traffic C1 has 85 % of its reservation where sigma is 1 % and less: U is 96 % of C_G ' +
      'and counts as low demand.',
    sizeSetup(SIZE),
  ],
  fits: FITS,
  variants: SIGMAS.flatMap((sigma) => TRAFFIC.map((traffic) => cell(sigma, traffic))),
  measure(run) {
    const measured: Record<string, Measured> = {}
    for (const traffic of TRAFFIC) {
      const bySigma = (valueOf: (of: NodeRun) => number): Measured =>
        Object.fromEntries(SIGMAS.map((sigma) => [`${sigma} %`, valueOf(run(keyOf(sigma, traffic)))]))
      measured[`4S.${traffic}.c1`] = bySigma(kept)
      measured[`4S.${traffic}.periods`] = bySigma(recovery)
    }
    return measured
  },
  figures: (run) => [
    curve('4S.c1', 'C1, mean of the last ten periods', 'completed / reserved', (sigma, traffic) =>
      kept(run(keyOf(sigma, traffic))),
    ),
    curve('4S.periods', 'Periods until C1 has its reservation; 20: not within them', 'periods', (sigma, traffic) =>
      recovery(run(keyOf(sigma, traffic))),
    ),
  ],
})

export const set4Grid = [grid]
