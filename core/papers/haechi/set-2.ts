/** Set 2 (III-C, Fig. 9 to 12): Haechi's I/Os per client, its cost, and the benefit of conversion. */
import { BASIC, DEFAULT_SETTINGS } from '../../haechi/settings.ts'
import type { Measured } from '../expectation.ts'
import { experimentOf, variant, type Variant } from './expectations.ts'
import { bars, clientBars } from './figures.ts'
import { leastMet, leastMetPeriod, meanClients, meanTotal } from './metrics.ts'
import { estimating, FIXED, type NodeRun, type Scene } from './node-run.ts'
import {
  CAPACITY,
  demanding,
  FIXED_SETUP,
  LEARNING,
  LEARNING_SETUP,
  reserved,
  SETTLED,
  sizeSetup,
  SPREADS,
  type Spread,
} from './setups.ts'

/** Scale of the runs with the estimator: with uniform reservations the claim is the loss, to 0.1 %. */
const SIZES = { uniform: 4, zipf: 8 } as const
const SHARES = [50, 60, 70, 80, 90] as const

const scene = (spread: Spread, percent: number): Pick<Scene, 'clients'> => ({
  clients: demanding(reserved(spread, percent / 100), percent / 100),
})

/** Estimator off, every I/O simulated. */
const fixed = (spread: Spread, percent: number): Variant =>
  variant('2', `${spread} ${percent} fixed`, { ...scene(spread, percent), settings: FIXED, size: 1, ...SETTLED })

/** Estimator on; with zipf below 70 % by U == omega, as in the expectations. */
export const learning = (spread: Spread, percent: number, settings = DEFAULT_SETTINGS): Variant =>
  variant('2', `${spread} ${percent}${settings === DEFAULT_SETTINGS ? '' : ` ${settings.name}`}`, {
    ...scene(spread, percent),
    size: SIZES[spread],
    ...LEARNING,
    settings: percent < 70 ? estimating({ rule: 'literal' }, settings) : settings,
  })

const bareOf = (spread: Spread): Variant =>
  variant('2', `${spread} bare`, { ...scene(spread, 90), mode: 'bare', size: SIZES.zipf, ...SETTLED })

const LITERAL_DECAY = variant('2', 'zipf 90 literal decay', {
  ...scene('zipf', 90),
  settings: { ...FIXED, decay: 'literal' },
  size: 1,
  ...SETTLED,
})

const enough = experimentOf({
  name: '2A',
  title: 'All clients demand more than they reserved',
  setup: [
    '90 % of C_G reserved: equally, or zipf (s 0.6) over five groups of two. Demand is R and the initial pool, in a burst; what ' +
      'a period leaves unserved waits for the next.',
    LEARNING_SETUP,
    `With the estimator one simulated I/O represents ${SIZES.uniform} (uniform) or ${SIZES.zipf} (zipf), so that FAAs cost as many times ` +
      'more. At full size the loss is 0.04 %, and under zipf C1 has 99.7 % of its reservation too, of a total of 1,416.2 K.',
    'Fixed omega: every I/O is simulated; one period to warm up and two that are measured, as for the bare node.',
  ],
  variants: [
    learning('uniform', 90),
    learning('zipf', 90),
    bareOf('uniform'),
    bareOf('zipf'),
    fixed('zipf', 90),
    LITERAL_DECAY,
  ],
  measure(run) {
    const zipf = run('zipf 90')
    const bare = run('zipf bare')
    const first = (r: NodeRun): number => Math.min(...meanClients(r).slice(0, 2))
    return {
      '2A.uni.drop': 1 - meanTotal(run('uniform 90')) / meanTotal(run('uniform bare')),
      '2A.uni.met': leastMetPeriod(run('uniform 90')),
      '2A.zipf.R1': 30 * reserved('zipf', 0.9)[0]!,
      '2A.zipf.bare.c1': 30 * first(bare),
      '2A.zipf.c1': first(zipf) / zipf.reservations[0]!,
      '2A.zipf.c1.period': leastMetPeriod(zipf),
      '2A.zipf.c1.fixed': first(run('zipf 90 fixed')),
      '2A.zipf.c1.literaldecay': first(run('zipf 90 literal decay')),
      '2A.zipf.total': meanTotal(zipf),
      '2A.zipf.c5_10': Math.max(...meanClients(zipf).slice(4)),
    }
  },
  figures: (run) =>
    SPREADS.map((spread, i) =>
      clientBars(`fig9${'ab'[i]}`, `${titleOf(spread)} reservations`, {
        reserved: reserved(spread, 0.9),
        Haechi: meanClients(run(`${spread} 90`)),
        bare: meanClients(run(`${spread} bare`)),
      }),
    ),
})

const titleOf = (spread: Spread): string => (spread === 'uniform' ? 'Uniform' : 'Zipf')

/** C1 and C2 stop at half of what they reserved. */
const idle = (spread: Spread, variantName: 'basic' | 'haechi' | 'bare'): Variant => {
  const clients = scene(spread, 90).clients.map((client, i) =>
    i < 2 ? { ...client, demand: Math.floor(client.reservation / 2) } : client,
  )
  const settings = variantName === 'basic' ? estimating({ enabled: false }, BASIC) : FIXED
  const mode = variantName === 'bare' ? 'bare' : 'haechi'
  const size = mode === 'bare' ? SIZES.zipf : 1
  return variant('2B', `${spread} ${variantName}`, { clients, settings, mode, size, ...SETTLED })
}
const SYSTEMS = ['basic', 'haechi', 'bare'] as const
const SYSTEM_TITLES = ['Basic Haechi', 'Haechi', 'bare']

const insufficient = experimentOf({
  name: '2B',
  title: 'C1 and C2 do not use their reservations',
  setup: [
    'As 2A, but C1 and C2 want half of their reservation. Basic Haechi neither takes unused tokens back nor converts them.',
    `${FIXED_SETUP} Every I/O of Haechi is simulated.`,
  ],
  variants: SPREADS.flatMap((spread) => SYSTEMS.map((system) => idle(spread, system))),
  measure(run) {
    const measured: Record<string, number> = {}
    for (const [spread, name] of [
      ['uniform', 'uni'],
      ['zipf', 'zipf'],
    ] as const) {
      const [basic, haechi, bare] = SYSTEMS.map((system) => run(`${spread} ${system}`)) as [NodeRun, NodeRun, NodeRun]
      measured[`2B.${name}`] = meanTotal(haechi) / meanTotal(bare)
      measured[`2B.${name}.basic`] = meanTotal(basic) / meanTotal(haechi)
      const before = meanClients(basic)
      measured[`2B.${name}.gain`] = Math.min(
        ...meanClients(haechi)
          .slice(2)
          .map((n, i) => n / before[i + 2]!),
      )
    }
    return measured
  },
  figures: (run) => [
    ...SPREADS.map((spread, i) =>
      clientBars(`fig10${'ab'[i]}`, `${titleOf(spread)} reservations`, {
        reserved: reserved(spread, 0.9),
        'Basic Haechi': meanClients(run(`${spread} basic`)),
        Haechi: meanClients(run(`${spread} haechi`)),
      }),
    ),
    bars(
      'fig11',
      'Throughput',
      SYSTEM_TITLES,
      SPREADS.map(
        (spread) => [titleOf(spread), SYSTEMS.map((system) => meanTotal(run(`${spread} ${system}`)))] as const,
      ),
    ),
  ],
})

const share = experimentOf({
  name: '2C',
  title: 'Throughput by the share of the capacity that is reserved',
  setup: [
    'As 2A, with 50 to 90 % of C_G reserved.',
    `Zipf: ${LEARNING_SETUP} Up to 60 % with U == omega.`,
    sizeSetup(SIZES.zipf),
    `Uniform, and zipf with a fixed omega: ${FIXED_SETUP} Every I/O is simulated.`,
  ],
  variants: SHARES.flatMap((percent) => [fixed('uniform', percent), fixed('zipf', percent), learning('zipf', percent)]),
  measure(run) {
    const measured: Record<string, Measured> = {}
    for (const percent of SHARES) {
      const zipf = run(`zipf ${percent}`)
      measured[`2C.uni.${percent}`] = meanTotal(run(`uniform ${percent} fixed`))
      measured[`2C.zipf.${percent}`] = meanTotal(zipf)
      measured[`2C.zipf.${percent}.met`] = leastMet(zipf)
    }
    const of = (percent: number): number => meanTotal(run(`zipf ${percent}`))
    measured['2C.zipf.fall'] = of(90) / of(50)
    measured['2C.zipf.fixed'] = Object.fromEntries(SHARES.map((p) => [p, leastMet(run(`zipf ${p} fixed`))]))
    return measured
  },
  figures: (run) => [
    bars(
      'fig12',
      'Throughput by reserved share',
      ['Uniform', 'Zipf', 'Zipf, fixed omega', 'C_G'],
      SHARES.map(
        (percent) =>
          [
            `${percent} %`,
            [`uniform ${percent} fixed`, `zipf ${percent}`, `zipf ${percent} fixed`]
              .map((key) => meanTotal(run(key)))
              .concat(CAPACITY),
          ] as const,
      ),
    ),
  ],
})

export const set2 = [enough, insufficient, share]
/** Uniform, 90 % reserved: with a fixed omega at full size, and the bare node for comparison. */
export const PLAIN = fixed('uniform', 90)
export const PLAIN_BARE = bareOf('uniform')
