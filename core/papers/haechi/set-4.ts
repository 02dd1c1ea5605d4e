/** Set 4 (III-E, Fig. 16 to 19): outside traffic takes a part of the capacity and ends again. */
import type { Measured } from '../expectation.ts'
import type { Figure } from '../experiment.ts'
import { DEFAULT_SETTINGS } from '../../haechi/settings.ts'
import { experimentOf, variant, type Variant } from './expectations.ts'
import { lines } from './figures.ts'
import { mean } from '../../base/statistics.ts'
import { ratios } from './metrics.ts'
import type { NodeRun, Scene } from './node-run.ts'
import { CAPACITY, demanding, reserved, sizeSetup, type Spread } from './setups.ts'

export const SIZE = 16
/** Period in which the traffic starts: 30 to warm up, 5 undisturbed. */
export const DOWN = 35
/** Period in which it has ended: 30 later, as many as learning the capacity takes. */
const UP = 65
const END = UP + 20
/** Largest relative deviation of a period's capacity from C_G. */
export const NOISE = 0.001
/** eta, tokens; whole ones on the smaller node. */
const ETA = Math.round((DEFAULT_SETTINGS.estimator.increment * CAPACITY) / SIZE) * SIZE
/** Saturated, except for the time of FAAs and reports. */
const SATURATED = 0.99 * CAPACITY

export const without = (background: number): number => Math.round((1 - background) * CAPACITY)
export const clientsOf = (spread: Spread): Scene['clients'] => demanding(reserved(spread, 0.8), 0.8)

const keyOf = (spread: Spread, percent: number): string => `${spread} ${percent} %`

/** The capacity falls and recovers: overestimated, then underestimated. */
const disturbed = (spread: Spread, percent: number): Variant =>
  variant('4', keyOf(spread, percent), {
    clients: clientsOf(spread),
    size: SIZE,
    noise: NOISE,
    warmUp: DOWN,
    measured: END - DOWN,
    capacity: [
      { period: DOWN, iops: without(percent / 100) },
      { period: UP, iops: CAPACITY },
    ],
  })
export const UNIFORM_15 = disturbed('uniform', 15)

/** Periods after a change until omega is first within 1 % of its final value. */
function settled(omega: readonly number[], from: number, to: number): number {
  const final = mean(omega.slice(to - 10, to))
  return omega.slice(from, to).findIndex((tokens) => Math.abs(tokens - final) <= 0.01 * final)
}

/** Relative deviation from eta of the worst rise of omega in `steps` periods after the capacity recovered. */
function furthestStep({ omega }: NodeRun, steps: number): number {
  const rises = Array.from({ length: steps }, (_, i) => omega[UP + i + 1]! - omega[UP + i]!)
  return Math.max(...rises.map((rise) => Math.abs(rise / ETA - 1)))
}

const least = (run: NodeRun, from: number, to?: number): number =>
  Math.min(...run.reservations.flatMap((_, client) => ratios(run, client).slice(from, to)))

const BACKGROUNDS = [10, 12] as const

const estimation = experimentOf({
  name: '4',
  title: 'Changing capacity',
  setup: [
    '80 % of C_G reserved, burst, demand is R and the initial pool; each period’s capacity is off by up to 0.1 %. Estimator on, ' +
      'with the sheet’s defaults.',
    'Outside traffic takes 15 % of the capacity (10 and 12 % under zipf too) from period 35 on and ends after period 64: ' +
      'one run has both changes, and 30 periods before each. The paper does not give the size of its traffic; under zipf ' +
      'reservations alone need 1.013 s at 15 %.',
    sizeSetup(SIZE),
    'At full size, seed 1, zipf 10 %: C1 is the same to 0.1 % of its reservation in every period after the change.',
  ],
  variants: [UNIFORM_15, disturbed('zipf', 15), ...BACKGROUNDS.map((percent) => disturbed('zipf', percent))],
  measure(run) {
    const uniform = run('uniform 15 %')
    const zipf = run('zipf 15 %')
    const first = ratios(zipf, 0)
    const measured: Record<string, Measured> = {
      '4.over.uni': settled(uniform.omega, DOWN, UP),
      '4.over.uni.met': least(uniform, DOWN, UP),
      '4.over.zipf': settled(zipf.omega, DOWN, UP),
      '4.over.zipf.dip': first[DOWN]!,
      '4.over.zipf.c1': mean(first.slice(UP - 10, UP)),
      '4.under.uni': uniform.used.slice(UP).findIndex((used) => used >= SATURATED) + 1,
      '4.under.uni.step': furthestStep(uniform, 12),
      '4.under.uni.met': least(uniform, UP),
      '4.under.zipf': furthestStep(zipf, 9),
      '4.under.zipf.c1': mean(first.slice(UP + 1)),
    }
    for (const percent of BACKGROUNDS) {
      const c1 = ratios(run(keyOf('zipf', percent)), 0)
      const id = `4.zipf.bg${percent / 100}`
      measured[`${id}over`] = mean(c1.slice(UP - 10, UP))
      measured[`${id}over.dip`] = c1[DOWN]!
      measured[`${id}over.recovered`] = mean(c1.slice(DOWN + 11, UP - 10))
      measured[`${id}over.probe`] = Math.min(...c1.slice(DOWN + 11, UP))
      measured[`${id}under`] = mean(c1.slice(UP + 1))
    }
    return measured
  },
  figures: (run) => [
    ...throughput('fig16', run, DOWN),
    ...highest('fig17', run, DOWN),
    ...throughput('fig18', run, UP),
    ...highest('fig19', run, UP),
  ],
})

/** As in the paper: 30 periods, the change after 15. */
const around = (change: number): readonly [number, number] => [change - 15, change + 15]
const DRAWN = [
  ['uniform', 'Uniform', 'uniform 15 %', 'Uniform, 15 % taken'],
  ['zipf', 'Zipf', 'zipf 10 %', 'Zipf, 10 % taken'],
] as const

const throughput = (figure: string, run: (key: string) => NodeRun, change: number): Figure[] =>
  DRAWN.map(([name, , key, title]) => {
    const { totals, omega } = run(key)
    return lines(`${figure}.${name}`, title, {
      completed: totals.slice(...around(change)),
      omega: omega.slice(...around(change)),
    })
  })

const highest = (figure: string, run: (key: string) => NodeRun, change: number): Figure[] =>
  DRAWN.map(([name, spread, key]) => {
    const { completed, reservations } = run(key)
    const values = completed.slice(...around(change)).map((period) => period[0]!)
    return lines(`${figure}.${name}`, `C1, ${spread}`, { C1: values }, { name: 'R', value: reservations[0]! })
  })

export const set4 = [estimation]
