/** Set 2 (III-C, Fig. 9 to 12): Haechi's I/Os per client, its cost, and the benefit of conversion. */
import type { Measured } from '../expectation.ts'
import { experimentOf, variant, type Variant } from './expectations.ts'
import { bars, clientBars, throughputCurve } from './figures.ts'
import { FITS } from './fits.ts'
import { leastMet, leastMetPeriod, meanClients, meanTotal } from './metrics.ts'
import { FIXED, type Scene } from './node-run.ts'
import { byReading, measureReadings, type Reading, READINGS, READINGS_SETUP } from './readings.ts'
import {
  CAPACITY,
  demanding,
  FIXED_SETUP,
  LEARNING,
  LEARNING_SETUP,
  NOISE,
  reserved,
  SETTLED,
  SIZE,
  sizeSetup,
  SPREADS,
  type Spread,
} from './setups.ts'

const SHARES = [50, 60, 70, 80, 90] as const

const clientsOf = (spread: Spread, percent: number): Scene['clients'] =>
  demanding(reserved(spread, percent / 100), percent / 100)

/** Scale of the runs with a fixed omega. */
const FIXED_SIZE = 8

/** Estimator off. */
const fixed = (spread: Spread, percent: number): Variant =>
  variant('2', `${spread} ${percent} fixed`, () => ({
    clients: clientsOf(spread, percent),
    settings: FIXED,
    size: FIXED_SIZE,
    ...SETTLED,
  }))

/** A reading with its estimator. */
export const learning = (spread: Spread, percent: number, reading: Reading): Variant =>
  variant('2', `${spread} ${percent} ${reading.key}`, () => ({
    clients: clientsOf(spread, percent),
    settings: reading.haechi(),
    noise: NOISE,
    size: SIZE,
    ...LEARNING,
  }))

const bareOf = (spread: Spread): Variant =>
  variant('2', `${spread} bare`, () => ({
    clients: clientsOf(spread, 90),
    mode: 'bare',
    noise: NOISE,
    size: SIZE,
    ...LEARNING,
  }))

const LITERAL_DECAY = variant('2', 'zipf 90 literal decay', () => ({
  clients: clientsOf('zipf', 90),
  settings: { ...FIXED, decay: 'literal' },
  size: FIXED_SIZE,
  ...SETTLED,
}))

const titleOf = (spread: Spread): string => (spread === 'uniform' ? 'Uniform' : 'Zipf')

/** The paper's C1 and C2 under zipf: 7,080 K reserved and 4,742 K completed on the bare node in 30 s. */
const PUBLISHED_ZIPF = {
  reserved: (client: number) => (client < 2 ? 7_080_000 / 30 : null),
  bare: (client: number) => (client < 2 ? 4_742_000 / 30 : null),
}

const enough = experimentOf({
  name: '2A',
  title: 'All clients demand more than they reserved',
  setup: [
    '90 % of C_G reserved: equally, or zipf (s 0.6) over five groups of two. Demand is R and the initial pool, in a burst; what ' +
      'a period leaves unserved waits for the next.',
    READINGS_SETUP,
    LEARNING_SETUP,
    sizeSetup(SIZE),
    `Fixed omega: one simulated I/O represents ${FIXED_SIZE}; one period to warm up and two that are measured.`,
  ],
  fits: FITS,
  variants: [
    ...READINGS.flatMap((reading) => SPREADS.map((spread) => learning(spread, 90, reading))),
    ...SPREADS.map(bareOf),
    fixed('zipf', 90),
    LITERAL_DECAY,
  ],
  measure(run) {
    const bare = { uniform: run('uniform bare'), zipf: run('zipf bare') }
    const own: Record<string, Measured> = {
      '2A.zipf.R1': run('zipf 90 measured').reservations[0]! * 30,
      '2A.zipf.bare.c1': 30 * Math.max(...meanClients(bare.zipf).slice(0, 2)),
      '2A.zipf.c1.fixed': meanClients(run('zipf 90 fixed'))[0]!,
      '2A.zipf.c1.literaldecay': meanClients(run('zipf 90 literal decay'))[0]!,
      '2A.zipf.total': meanTotal(run('zipf 90 measured')),
    }
    const readings = measureReadings('2A', ({ key }) => {
      const uniform = run(`uniform 90 ${key}`)
      const zipf = run(`zipf 90 ${key}`)
      const clients = meanClients(zipf)
      return {
        'uni.drop': 1 - meanTotal(uniform) / meanTotal(bare.uniform),
        'uni.met': leastMetPeriod(uniform),
        'zipf.c1': Math.min(...[0, 1].map((client) => clients[client]! / zipf.reservations[client]!)),
        'zipf.c1.period': leastMetPeriod(zipf),
        'zipf.c5_10': Math.max(...clients.slice(4)),
      }
    })
    return { ...own, ...readings }
  },
  figures: (run) =>
    SPREADS.map((spread, i) =>
      clientBars(
        `fig9${'ab'[i]}`,
        `${titleOf(spread)} reservations`,
        {
          reserved: reserved(spread, 0.9),
          ...byReading('Haechi', ({ key }) => meanClients(run(`${spread} 90 ${key}`))),
          bare: meanClients(run(`${spread} bare`)),
        },
        spread === 'zipf' ? PUBLISHED_ZIPF : {},
      ),
    ),
})

type System = 'basic' | 'haechi'

/** C1 and C2 stop at half of what they reserved. */
const idling = (spread: Spread): Scene['clients'] =>
  clientsOf(spread, 90).map((client, i) => (i < 2 ? { ...client, demand: Math.floor(client.reservation / 2) } : client))
const idle = (spread: Spread, system: System, reading: Reading): Variant =>
  variant('2B', `${spread} ${system} ${reading.key}`, () => ({
    clients: idling(spread),
    settings: reading[system](),
    noise: NOISE,
    size: SIZE,
    ...LEARNING,
  }))
const idleBare = (spread: Spread): Variant =>
  variant('2B', `${spread} bare`, () => ({
    clients: idling(spread),
    mode: 'bare',
    noise: NOISE,
    size: SIZE,
    ...LEARNING,
  }))

const insufficient = experimentOf({
  name: '2B',
  title: 'C1 and C2 do not use their reservations',
  setup: [
    'As 2A, but C1 and C2 want half of their reservation. Basic Haechi neither takes unused tokens back nor converts them.',
    READINGS_SETUP,
    LEARNING_SETUP,
    sizeSetup(SIZE),
  ],
  fits: FITS,
  variants: SPREADS.flatMap((spread) => [
    ...READINGS.flatMap((reading) => [idle(spread, 'basic', reading), idle(spread, 'haechi', reading)]),
    idleBare(spread),
  ]),
  measure: (run) =>
    measureReadings('2B', ({ key }) => {
      const measured: Record<string, number> = {}
      for (const [spread, name] of [
        ['uniform', 'uni'],
        ['zipf', 'zipf'],
      ] as const) {
        const basic = run(`${spread} basic ${key}`)
        const haechi = run(`${spread} haechi ${key}`)
        const before = meanClients(basic)
        const gains = meanClients(haechi).map((n, i) => n / before[i]!)
        measured[name] = meanTotal(haechi) / meanTotal(run(`${spread} bare`))
        measured[`${name}.basic`] = meanTotal(basic) / meanTotal(haechi)
        measured[`${name}.gain`] = Math.min(...gains.slice(2))
      }
      return measured
    }),
  figures: (run) => [
    ...SPREADS.map((spread, i) =>
      clientBars(`fig10${'ab'[i]}`, `${titleOf(spread)} reservations`, {
        reserved: reserved(spread, 0.9),
        ...byReading('Basic Haechi', ({ key }) => meanClients(run(`${spread} basic ${key}`))),
        ...byReading('Haechi', ({ key }) => meanClients(run(`${spread} haechi ${key}`))),
      }),
    ),
    bars(
      'fig11',
      'Throughput',
      ['Basic Haechi', 'Haechi', 'bare'],
      SPREADS.flatMap((spread) =>
        READINGS.map(
          ({ key, title }) =>
            [
              `${titleOf(spread)}, ${title}`,
              [`${spread} basic ${key}`, `${spread} haechi ${key}`, `${spread} bare`].map((name) =>
                meanTotal(run(name)),
              ),
            ] as const,
        ),
      ),
    ),
  ],
})

const share = experimentOf({
  name: '2C',
  title: 'Throughput by the share of the capacity that is reserved',
  setup: [
    'As 2A, with 50 to 90 % of C_G reserved.',
    READINGS_SETUP,
    LEARNING_SETUP,
    sizeSetup(SIZE),
    `Zipf with a fixed omega: ${FIXED_SETUP} One simulated I/O represents ${FIXED_SIZE}.`,
  ],
  fits: FITS,
  variants: SHARES.flatMap((percent) => [
    ...READINGS.flatMap((reading) => SPREADS.map((spread) => learning(spread, percent, reading))),
    fixed('zipf', percent),
  ]),
  measure(run) {
    const readings = measureReadings('2C', ({ key }) => {
      const measured: Record<string, number> = {}
      for (const percent of SHARES) {
        const zipf = run(`zipf ${percent} ${key}`)
        measured[`uni.${percent}`] = meanTotal(run(`uniform ${percent} ${key}`))
        measured[`zipf.${percent}`] = meanTotal(zipf)
        measured[`zipf.${percent}.met`] = leastMetPeriod(zipf)
        measured[`zipf.${percent}.mean`] = leastMet(zipf)
      }
      const totalOf = (percent: number): number => meanTotal(run(`zipf ${percent} ${key}`))
      const uniform = SHARES.map((percent) => leastMetPeriod(run(`uniform ${percent} ${key}`)))
      return { ...measured, 'uni.met': Math.min(...uniform), 'zipf.fall': totalOf(90) / totalOf(50) }
    })
    return {
      ...readings,
      '2C.zipf.fixed': Object.fromEntries(SHARES.map((p) => [p, leastMet(run(`zipf ${p} fixed`))])),
    }
  },
  figures: (run) => [
    throughputCurve('fig12', 'Throughput by reserved share', 'reserved, % of C_G', {
      ...Object.fromEntries(
        SPREADS.flatMap((spread) =>
          Object.entries(
            byReading(titleOf(spread), ({ key }) =>
              SHARES.map((percent) => [percent, meanTotal(run(`${spread} ${percent} ${key}`))] as const),
            ),
          ),
        ),
      ),
      'Zipf, omega fixed': SHARES.map((percent) => [percent, meanTotal(run(`zipf ${percent} fixed`))] as const),
      C_G: SHARES.map((percent) => [percent, CAPACITY] as const),
    }),
  ],
})

export const set2 = [enough, insufficient, share]
/** Uniform, 90 % reserved: with a fixed omega, and the bare node for comparison. */
export const PLAIN = fixed('uniform', 90)
export const PLAIN_BARE: Variant = variant('own', 'bare', () => ({
  clients: clientsOf('uniform', 90),
  mode: 'bare',
  size: SIZE,
  ...SETTLED,
}))
