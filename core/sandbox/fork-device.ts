/**
 * Device of a target, fitted from its server's counters: service time at low load, capacity from the highest rate at
 * which service took longer.
 *
 * A device with c channels and a service time S serves at most c / S. For a target that was never saturated the
 * observations do not show its capacity: T is used, as the operator measured or guessed it, unless higher rates were
 * seen.
 */
import type { ForkTarget } from './fork-inputs.ts'
import { quantile } from './fork-series.ts'

export interface FittedDevice {
  readonly channels: number
  /** Time of one operation of mean size, s. */
  readonly serviceS: number
  /** Maximum RPC/s. */
  readonly capacity: number
  /** False if its capacity is not known from the observations: T is used, or the highest rate seen if that is greater. */
  readonly wasSaturated: boolean
  /** Bins with RPCs used by the fit. */
  readonly bins: number
}

/** Service this much longer than when idle indicates a queue at the device. */
const QUEUED = 1.5
/** Minimum part of the bins with a queue. */
const SATURATED = 0.05
/** Default service time without observations, s. */
const UNSEEN_S = 0.005
const CHANNELS_MAX = 64

/**
 * @param maxRate  T, RPC/s.
 */
export function fitDevice(target: Pick<ForkTarget, 'rpcs' | 'serviceMs' | 'queued'>, maxRate: number): FittedDevice {
  const seen = target.rpcs
    .map((rate, i) => ({ rate, ms: target.serviceMs[i] ?? NaN, queued: target.queued[i] ?? NaN }))
    .filter((b) => b.rate > 0 && b.ms > 0)
  const rates = seen.map((b) => b.rate)
  const half = quantile(rates, 0.5)
  const unloaded = seen.filter((b) => b.rate <= half || b.queued === 0)
  const idleMs = quantile(
    unloaded.map((b) => b.ms),
    0.25,
  )
  const serviceS = Number.isNaN(idleMs) ? UNSEEN_S : idleMs / 1000
  const busy = seen.filter((b) => b.ms > QUEUED * idleMs && b.rate >= half)
  const wasSaturated = busy.length >= Math.max(3, SATURATED * seen.length)
  const most = quantile(rates, 0.99)
  const capacity = wasSaturated
    ? quantile(
        busy.map((b) => b.rate),
        0.75,
      )
    : Math.max(maxRate, Number.isNaN(most) ? 0 : most)
  const channels = Math.min(CHANNELS_MAX, Math.max(1, Math.round(capacity * serviceS)))
  return {
    channels,
    // A saturated device is determined by its rate, another one by its service time.
    serviceS: wasSaturated ? channels / capacity : serviceS,
    capacity: wasSaturated ? capacity : channels / serviceS,
    wasSaturated,
    bins: seen.length,
  }
}
