/** Wall time of an emulated second of a cluster with all counters, by the number of jobs at a constant demand per job. */
import type { Bench, Growth } from '../../bench/measure.ts'
import { NS_PER_S } from '../base/units.ts'
import { busyScenario } from '../../bench/busy-scenario.ts'
import { EmulatedCluster } from './cluster.ts'

const SECONDS = 5

type Clock = () => number

/** Wall time of an emulated second, ms. */
function second(now: Clock, jobs: number, counters: boolean): number {
  const cluster = new EmulatedCluster(busyScenario(jobs), { counters })
  // All jobs start in the first second.
  cluster.sim.runUntil(NS_PER_S)
  const began = now()
  cluster.sim.runUntil((1 + SECONDS) * NS_PER_S)
  return (now() - began) / SECONDS
}

export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'emulator.second',
    unit: 'ms',
    runs: 5,
    run: (now: Clock) => second(now, 200, true),
    baseline: (now: Clock) => second(now, 200, false),
    note: 'An emulated second of 200 jobs with all that its parameters show.',
    beside: 'The same RPCs without the counters and histograms that only parameters show.',
  },
  {
    id: 'emulator.growth',
    unit: 'exponent',
    sizes: [50, 200, 800],
    axis: 'size',
    runs: 5,
    cost: (now: Clock, jobs: number) => second(now, jobs, true),
    note: 'Time of an emulated second by the number of jobs, each asking for as much as before; 1 is linear.',
  },
]
