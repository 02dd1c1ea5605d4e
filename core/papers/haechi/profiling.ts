/** Profiling (II-E): 1,000 saturated periods, from which C_G and sigma follow. */
import { mean } from '../../base/statistics.ts'
import { experimentOf, type Variant } from './expectations.ts'
import { throughputCurve } from './figures.ts'
import { FITS } from './fits.ts'
import { deviationOf, PROFILE_PERIODS, PROFILE_SIZE, profileRun } from './profile.ts'
import { CAPACITY, sizeSetup } from './setups.ts'

const RUN: Variant = {
  id: 'haechi/profile',
  key: 'profile',
  isSeedless: true,
  run: profileRun,
}

/** Distribution of the periods' throughput, in steps of 5 %. */
function distribution(totals: readonly number[]): (readonly [number, number])[] {
  const sorted = [...totals].sort((a, b) => a - b)
  return Array.from({ length: 21 }, (_, i) => {
    const at = Math.min(sorted.length - 1, Math.round((i / 20) * (sorted.length - 1)))
    return [5 * i, sorted[at]!] as const
  })
}

const profiling = experimentOf({
  name: 'profile',
  title: 'Profile of the node: C_G and sigma',
  setup: [
    `Ten clients post continuous back-to-back reads on the bare node: ${PROFILE_PERIODS} periods after one to warm up, with noise ` +
      'of up to 0.1 % from a fixed stream. sigma is the sample standard deviation of their throughput.',
    sizeSetup(PROFILE_SIZE),
  ],
  fits: FITS,
  variants: [RUN],
  measure(run) {
    const profile = run(RUN.key)
    const sigma = deviationOf(profile)
    return {
      'profile.capacity': mean(profile.totals.slice(profile.warmUp)),
      'profile.sigma': sigma,
      'profile.lower_bound': Math.ceil(CAPACITY * (1 - 3 * sigma)),
    }
  },
  figures: (run) => [
    throughputCurve('profile', 'Throughput of 1,000 periods', 'percent of the periods', {
      'at most': distribution(run(RUN.key).totals.slice(1)),
    }),
  ],
})

export const profileSet = [profiling]
