/**
 * Profile of the data node as the paper takes it (II-E): ten clients post continuous back-to-back reads for one period, 1,000
 * times. Its standard deviation is the sigma of the capacity's lower bound.
 */
import { mean } from '../../base/statistics.ts'
import { runNode, type NodeRun } from './node-run.ts'
import { CLIENTS, NOISE } from './setups.ts'

export const PROFILE_PERIODS = 1000
/** 10,000 simulated I/Os a period: rounding adds 0.003 % of C_G to the deviation. */
export const PROFILE_SIZE = 157

/** Stream of the noise in all runs that are not repeated with other seeds. */
export const STREAM = 1

let kept: NodeRun | undefined

/** The profiling run; simulated once. */
export const profileRun = (): NodeRun =>
  (kept ??= runNode(
    {
      mode: 'bare',
      clients: Array.from({ length: CLIENTS }, () => ({ reservation: 0, demand: 500_000 })),
      size: PROFILE_SIZE,
      noise: NOISE,
      warmUp: 1,
      measured: PROFILE_PERIODS,
    },
    STREAM,
  ))

/** Sample standard deviation of the periods' throughput as a share of their mean. */
export function deviationOf({ totals, warmUp }: NodeRun): number {
  const measured = totals.slice(warmUp)
  const center = mean(measured)
  const squares = measured.reduce((sum, total) => sum + (total - center) ** 2, 0)
  return Math.sqrt(squares / (measured.length - 1)) / center
}

/** sigma as a share of C_G. */
export const measuredSigma = (): number => deviationOf(profileRun())
