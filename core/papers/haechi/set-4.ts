/** Set 4 (III-E, Fig. 16 to 19): outside traffic takes a part of the capacity and ends again. */
import type { Measured } from '../expectation.ts'
import type { Figure } from '../experiment.ts'
import { DEFAULT_SETTINGS } from '../../haechi/settings.ts'
import { experimentOf, variant, type Variant } from './expectations.ts'
import { lines } from './figures.ts'
import { FITS } from './fits.ts'
import { mean } from '../../base/statistics.ts'
import { ratios } from './metrics.ts'
import type { NodeRun, Scene } from './node-run.ts'
import { AMENDED, byReading, measureReadings, type Reading, READINGS, READINGS_SETUP, WIDE } from './readings.ts'
import { CAPACITY, demanding, NOISE, reserved, SIZE, sizeSetup, type Spread } from './setups.ts'

/** Period in which the traffic starts: 30 to warm up, 5 undisturbed. */
export const DOWN = 35
/** Period in which it has ended: 30 later, as many as learning the capacity takes. */
const UP = 65
const END = UP + 20
/** Periods after a change that the paper's figures show. */
const SHOWN = 15
/** eta, tokens; whole ones on the smaller node. */
const ETA = Math.round((DEFAULT_SETTINGS.estimator.increment * CAPACITY) / SIZE) * SIZE
/** Saturated, except for the time of FAAs and reports. */
const SATURATED = 0.99 * CAPACITY

export const without = (background: number): number => Math.round((1 - background) * CAPACITY)
export const clientsOf = (spread: Spread): Scene['clients'] => demanding(reserved(spread, 0.8), 0.8)

const keyOf = (spread: Spread, percent: number, reading: Reading): string => `${spread} ${percent} % ${reading.key}`

/** The capacity falls and recovers: overestimated, then underestimated. Only the reading that learns depends on the noise. */
const disturbed = (spread: Spread, percent: number, reading: Reading): Variant =>
  variant(
    '4',
    keyOf(spread, percent, reading),
    () => ({
      clients: clientsOf(spread),
      settings: reading.haechi(),
      size: SIZE,
      noise: NOISE,
      warmUp: DOWN,
      measured: END - DOWN,
      capacity: [
        { period: DOWN, iops: without(percent / 100) },
        { period: UP, iops: CAPACITY },
      ],
    }),
    reading === WIDE,
  )

/** Periods after a change until omega first exceeds what the clients completed by at most 2 %; all if it never does. */
function followed({ omega, totals }: NodeRun, from: number, to: number): number {
  const at = omega.slice(from, to).findIndex((tokens, i) => tokens <= 1.02 * totals[from + i]!)
  return at < 0 ? to - from : at
}

/** Relative deviation from eta of the worst rise of omega in `steps` periods after the capacity recovered. */
function furthestStep({ omega }: NodeRun, steps: number): number {
  const rises = Array.from({ length: steps }, (_, i) => omega[UP + i + 1]! - omega[UP + i]!)
  return Math.max(...rises.map((rise) => Math.abs(rise / ETA - 1)))
}

const least = (run: NodeRun, from: number, to?: number): number =>
  Math.min(...run.reservations.flatMap((_, client) => ratios(run, client).slice(from, to)))

/** Traffic beside that of 15 %, %. */
const lighter = (reading: Reading): readonly number[] => (reading === AMENDED ? [10, 12] : [10])

const estimation = experimentOf({
  name: '4',
  title: 'Changing capacity',
  setup: [
    '80 % of C_G reserved, burst, demand is R and the initial pool; each period’s capacity is off by up to 0.1 %.',
    READINGS_SETUP,
    'Outside traffic takes 15 % of the capacity (10 % under zipf too, and 12 % in the first reading) from period 35 on and ends ' +
      'after period 64: one run has both changes, and 30 periods before each. The paper does not give the size of its ' +
      'traffic; under zipf reservations alone need 1.013 s at 15 %.',
    'The noise of the reading with sigma 7 % comes from the seed, that of the others from a fixed stream.',
    sizeSetup(SIZE),
  ],
  fits: FITS,
  variants: READINGS.flatMap((reading) => [
    disturbed('uniform', 15, reading),
    disturbed('zipf', 15, reading),
    ...lighter(reading).map((percent) => disturbed('zipf', percent, reading)),
  ]),
  measure: (run) =>
    measureReadings('4', (reading) => {
      const uniform = run(keyOf('uniform', 15, reading))
      const zipf = run(keyOf('zipf', 15, reading))
      const first = ratios(zipf, 0)
      const measured: Record<string, Measured> = {
        'over.uni': followed(uniform, DOWN, UP),
        'over.uni.met': least(uniform, DOWN, UP),
        'over.zipf': followed(zipf, DOWN, UP),
        'over.zipf.before': mean(first.slice(DOWN - 5, DOWN)),
        'over.zipf.dip': first[DOWN]!,
        'over.zipf.c1': mean(first.slice(UP - 10, UP)),
        'under.uni': uniform.used.slice(UP).findIndex((used) => used >= SATURATED) + 1,
        'under.uni.step': furthestStep(uniform, 12),
        'under.uni.met': least(uniform, UP),
        'under.zipf': furthestStep(zipf, 9),
        'under.zipf.c1': mean(first.slice(UP + 1)),
        'under.zipf.met': least(zipf, UP),
      }
      for (const percent of lighter(reading)) {
        const c1 = ratios(run(keyOf('zipf', percent, reading)), 0)
        const id = `zipf.bg${percent / 100}`
        measured[`${id}over`] = mean(c1.slice(UP - 10, UP))
        measured[`${id}over.dip`] = c1[DOWN]!
        measured[`${id}over.recovered`] = mean(c1.slice(DOWN + 11, UP - 10))
        measured[`${id}over.probe`] = Math.min(...c1.slice(DOWN + 11, UP))
        measured[`${id}under`] = mean(c1.slice(UP + 1))
      }
      return measured
    }),
  figures: (run) => [
    ...throughput('fig16', run, DOWN),
    ...highest('fig17', run, DOWN),
    ...throughput('fig18', run, UP),
    ...highest('fig19', run, UP),
  ],
})

/** As in the paper: 30 periods, the change after 15. */
const around = (change: number): readonly [number, number] => [change - SHOWN, change + SHOWN]
const DRAWN = [
  ['uniform', 'Uniform', 15],
  ['zipf', 'Zipf', 10],
] as const

const throughput = (figure: string, run: (key: string) => NodeRun, change: number): Figure[] =>
  DRAWN.flatMap(([spread, title, percent]) => {
    const runOf = (reading: Reading): NodeRun => run(keyOf(spread, percent, reading))
    const described = `${title}, ${percent} % taken`
    return [
      lines(
        `${figure}.${spread}`,
        described,
        byReading('completed', (reading) => runOf(reading).totals.slice(...around(change))),
      ),
      lines(
        `${figure}.${spread}.omega`,
        `${described}: capacity estimate`,
        byReading('omega', (reading) => runOf(reading).omega.slice(...around(change))),
      ),
    ]
  })

const highest = (figure: string, run: (key: string) => NodeRun, change: number): Figure[] =>
  DRAWN.map(([spread, title, percent]) => {
    const runOf = (reading: Reading): NodeRun => run(keyOf(spread, percent, reading))
    return lines(
      `${figure}.${spread}`,
      `C1, ${title}, ${percent} % taken`,
      byReading('C1', (reading) =>
        runOf(reading)
          .completed.slice(...around(change))
          .map((period) => period[0]!),
      ),
      { name: 'R', value: runOf(AMENDED).reservations[0]! },
    )
  })

export const set4 = [estimation]
