/**
 * Workload of the paper's evaluation: metadata operations per second over 36 minutes, where a second is a minute of the
 * original month at half its rate. The paper's trace is not public; these are generated so that their total work
 * matches the published completion times.
 *
 * Source: spec/padll 10.1, 10.2. Deviations: none.
 */
import { boxMuller, mulberry32 } from './mulberry32.ts'

export interface TraceParameters {
  readonly seed: number
  /** Mean of each segment, kops/s: volatility beyond the noise. */
  readonly segmentMeans: readonly number[]
  /** Lognormal noise: standard deviation of its logarithm, and correlation of neighboring seconds. */
  readonly sigma: number
  readonly rho: number
  /**
   * Bursts: probability of a start in a second, minimum and maximum height (parts of the mean before scaling), length,
   * s.
   */
  readonly spikeProb: number
  readonly spikeMin: number
  readonly spikeMax: number
  readonly spikeLen: number
  /** Minimum and maximum rate, kops/s; the final scaling may exceed them by parts in 1e9. */
  readonly floor: number
  readonly cap: number
}

/** Length of a segment, s. */
const SEGMENT = 180
/** Scaling moves values over the bounds and clipping moves the mean: rounds of both. */
const ROUNDS = 8
const KILO = 1000

export const TRACE_A: TraceParameters = {
  seed: 9422,
  segmentMeans: [72, 72, 81, 110, 121, 133, 82, 60, 100, 86, 102, 61],
  sigma: 0.97,
  rho: 0.92,
  spikeProb: 0.016,
  spikeMin: 2,
  spikeMax: 10.5,
  spikeLen: 13,
  floor: 8,
  cap: 500,
}

/** The milder alternative. */
export const TRACE_C: TraceParameters = {
  seed: 7897,
  segmentMeans: [101, 61, 60, 106, 143, 106, 66, 85, 87, 76, 118, 71],
  sigma: 0.84,
  rho: 0.86,
  spikeProb: 0.0041,
  spikeMin: 2,
  spikeMax: 5.3,
  spikeLen: 5,
  floor: 10,
  cap: 500,
}

/** Returns the total rate of each second, op/s; 180 a segment. */
export function generateTrace(parameters: TraceParameters): Float64Array {
  const { segmentMeans, floor, cap } = parameters
  const rates = shapeOf(parameters, segmentMeans.length * SEGMENT)
  segmentMeans.forEach((mean, at) => {
    const segment = rates.subarray(at * SEGMENT, (at + 1) * SEGMENT)
    for (let round = 0; round < ROUNDS; round++) {
      scale(segment, mean * KILO)
      for (let i = 0; i < segment.length; i++) {
        segment[i] = Math.min(cap * KILO, Math.max(floor * KILO, segment[i]!))
      }
    }
    scale(segment, mean * KILO)
  })
  return rates
}

/** exp(sigma z) + burst, z an AR(1) process. Draws per second: normal, start of a burst, its height (used or not). */
function shapeOf(parameters: TraceParameters, length: number): Float64Array {
  const { seed, sigma, rho, spikeProb, spikeMin, spikeMax, spikeLen } = parameters
  const uniform = mulberry32(seed)
  const normal = boxMuller(uniform)
  const shape = new Float64Array(length)
  let z = normal()
  let remaining = 0
  let height = 0
  for (let t = 0; t < length; t++) {
    const g = normal()
    const begins = uniform()
    const high = uniform()
    z = rho * z + Math.sqrt(1 - rho * rho) * g
    if (remaining > 0) {
      remaining--
      if (remaining === 0) height = 0
    } else if (begins < spikeProb) {
      remaining = spikeLen
      height = spikeMin + (spikeMax - spikeMin) * high
    }
    shape[t] = Math.exp(sigma * z) + height
  }
  return shape
}

function scale(values: Float64Array, mean: number): void {
  let sum = 0
  for (const value of values) sum += value
  const factor = (mean * values.length) / sum
  for (let i = 0; i < values.length; i++) values[i] = values[i]! * factor
}
