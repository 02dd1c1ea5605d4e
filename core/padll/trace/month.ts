/**
 * A month of metadata load and bandwidth as the paper's motivation describes it: 43,200 minutes of a system that is
 * quiet, normal, busy or under heavy load for hours, with bursts. The monitored series is not public; this one
 * reproduces its published statistics.
 *
 * Source: spec/padll 10.6. Dwell times, noise and the order of regimes are chosen here.
 */
import { boxMuller, mulberry32 } from './mulberry32.ts'
import { generateTrace, TRACE_A } from './trace.ts'

export const MONTH_MINUTES = 43_200
const DAY = 1440
/**
 * First minute of the embedded evaluation trace: each second of the replay becomes one minute, at TRACE_FACTOR times
 * its rate.
 */
const TRACE_AT = 18_000
const TRACE_FACTOR = 2
/** Exact mean and maximum, op/s. */
const MEAN = 202_000
const PEAK = 1_000_000
/** Bounds of rates outside heavy load. */
const FLOOR = 5000
const CEILING = 990_000
const HEAVY = 3

interface Regime {
  /** op/s. */
  readonly mean: number
  readonly sigma: number
  /** Minimum dwell and mean of the time beyond it, min. */
  readonly atLeast: number
  readonly more: number
  /** Transition probabilities to the regimes quiet, normal, busy, heavy. */
  readonly next: readonly [number, number, number, number]
}

const REGIMES: readonly Regime[] = [
  { mean: 38_000, sigma: 0.18, atLeast: 30, more: 80, next: [0, 0.5, 0.28, 0.22] },
  { mean: 150_000, sigma: 0.3, atLeast: 60, more: 220, next: [0.55, 0, 0.4, 0.05] },
  { mean: 270_000, sigma: 0.25, atLeast: 60, more: 180, next: [0.3, 0.65, 0, 0.05] },
  { mean: 470_000, sigma: 0.05, atLeast: 150, more: 270, next: [0.6, 0.2, 0.2, 0] },
]
/** Correlation of the noise of neighboring minutes. */
const RHO = 0.9
/** Noise is clamped to this many sigma, so that heavy load stays above 400 kops/s. */
const Z_MAX = 3
/** One heavy phase of 38 h, forced as the 30th regime, so that the longest heavy phase does not depend on the seed. */
const LONG = { minutes: 38 * 60, at: 30 }
const BURST = { chance: 0.0016, least: 600_000, most: 1_000_000, shortest: 1, longest: 4 } as const

/** Returns the total metadata rate of each minute, op/s. Mean and maximum are exact. */
export function generateMonth(seed: number): Float64Array {
  const uniform = mulberry32(seed)
  const normal = boxMuller(uniform)
  const rates = new Float64Array(MONTH_MINUTES)
  const isFixed = new Uint8Array(MONTH_MINUTES)
  let regime = 1
  let remaining = 0
  let z = normal()
  let regimes = 0
  for (let t = 0; t < MONTH_MINUTES; t++) {
    if (remaining === 0) {
      regimes++
      regime = regimes === LONG.at ? HEAVY : following(REGIMES[regime]!, uniform())
      const { atLeast, more } = REGIMES[regime]!
      remaining = regimes === LONG.at ? LONG.minutes : Math.round(atLeast - more * Math.log(1 - uniform()))
    }
    remaining--
    const { mean, sigma } = REGIMES[regime]!
    z = RHO * z + Math.sqrt(1 - RHO * RHO) * normal()
    rates[t] = mean * Math.exp(sigma * Math.max(-Z_MAX, Math.min(Z_MAX, z)) - (sigma * sigma) / 2)
    if (regime === HEAVY) isFixed[t] = 1
  }
  addBursts(rates, isFixed, uniform)
  generateTrace(TRACE_A).forEach((rate, i) => {
    rates[TRACE_AT + i] = rate * TRACE_FACTOR
    isFixed[TRACE_AT + i] = 1
  })
  setMaximum(rates, isFixed)
  rescale(rates, isFixed)
  return rates
}

function following({ next }: Regime, draw: number): number {
  let sum = 0
  const found = next.findIndex((chance) => draw < (sum += chance))
  return found < 0 ? HEAVY : found
}

function addBursts(rates: Float64Array, isFixed: Uint8Array, uniform: () => number): void {
  const { chance, least, most, shortest, longest } = BURST
  for (let t = 0; t < rates.length; t++) {
    if (uniform() >= chance) continue
    const end = t + shortest + Math.floor(uniform() * (longest - shortest + 1))
    const height = least + uniform() * (most - least)
    for (; t < end && t < rates.length; t++) {
      rates[t] = height
      isFixed[t] = 1
    }
  }
}

function setMaximum(rates: Float64Array, isFixed: Uint8Array): void {
  let highest = 0
  for (let t = 0; t < rates.length; t++) {
    rates[t] = Math.min(rates[t]!, PEAK)
    if (rates[t]! > rates[highest]!) highest = t
  }
  rates[highest] = PEAK
  isFixed[highest] = 1
}

/** Scales everything but heavy load, bursts and the embedded trace so that the mean is MEAN. */
function rescale(rates: Float64Array, isFixed: Uint8Array): void {
  // Clamping changes the mean, so the scaling is repeated.
  for (let round = 0; round < 8; round++) {
    let fixed = 0
    let free = 0
    for (let t = 0; t < rates.length; t++) {
      if (isFixed[t]) fixed += rates[t]!
      else free += rates[t]!
    }
    const factor = (MEAN * rates.length - fixed) / free
    for (let t = 0; t < rates.length; t++) {
      if (!isFixed[t]) rates[t] = Math.min(CEILING, Math.max(FLOOR, rates[t]! * factor))
    }
  }
}

export interface Bandwidth {
  /** GiB/s of each minute. */
  readonly read: Float64Array
  readonly write: Float64Array
}

/** Exact means of the month, GiB/s. */
const READ_MEAN = 48
const WRITE_MEAN = 0.6
/** Days of low bandwidth: more than RATIO operations per GiB. */
const LOW_BANDWIDTH_FROM = 13 * DAY
const LOW_BANDWIDTH_TO = 20 * DAY
const RATIO = 120_000
/** Part of the writes in the bandwidth of these days. */
const LOW_BANDWIDTH_WRITES = 0.2

/** Generates the bandwidth that goes with the metadata rates of a month. */
export function generateBandwidth(seed: number, rates: Float64Array): Bandwidth {
  const uniform = mulberry32(seed)
  const normal = boxMuller(uniform)
  const read = new Float64Array(rates.length)
  const write = new Float64Array(rates.length)
  let z = normal()
  let w = normal()
  for (let t = 0; t < rates.length; t++) {
    z = RHO * z + Math.sqrt(1 - RHO * RHO) * normal()
    w = RHO * w + Math.sqrt(1 - RHO * RHO) * normal()
    if (t >= LOW_BANDWIDTH_FROM && t < LOW_BANDWIDTH_TO) {
      const total = (rates[t]! / RATIO) * (0.99 - 0.2 * uniform())
      write[t] = total * LOW_BANDWIDTH_WRITES
      read[t] = total - write[t]!
    } else {
      read[t] = Math.exp(0.35 * z)
      write[t] = Math.exp(0.5 * w)
    }
  }
  toMean(read, READ_MEAN)
  toMean(write, WRITE_MEAN)
  return { read, write }
}

/** Scales the days outside the low-bandwidth range so that the overall mean is `mean`. */
function toMean(values: Float64Array, mean: number): void {
  let low = 0
  let rest = 0
  values.forEach((value, t) => {
    if (t >= LOW_BANDWIDTH_FROM && t < LOW_BANDWIDTH_TO) low += value
    else rest += value
  })
  const factor = (mean * values.length - low) / rest
  for (let t = 0; t < values.length; t++) {
    if (t < LOW_BANDWIDTH_FROM || t >= LOW_BANDWIDTH_TO) values[t] = values[t]! * factor
  }
}
