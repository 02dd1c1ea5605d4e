/** Whether a recorded series is one of bursts, and which: how much comes how often, and when the next one is due. */
import { mean, quantile } from './fork-series.ts'

export interface Bursts {
  /** RPCs of one burst, whole job. */
  readonly rpcs: number
  readonly everyS: number
  /** Share of the interval by which a burst may be late, 0..1. */
  readonly jitter: number
  /** Start of the first and of the last one, s from the beginning of the series. */
  readonly firstS: number
  readonly lastS: number
  readonly seen: number
}

/** A bin below this part of the busy ones is a pause. */
const QUIET = 0.15
/** Pauses that are shorter than this do not end a burst, s. */
const SHORT_S = 0.5
/** At work for longer than this part of the time: no bursts. */
const DUTY_MAX = 0.75
/** Intervals that differ by more than this part of their mean: no rhythm. */
const SPREAD_MAX = 0.6

/** @returns undefined for what has no rhythm of pauses and work. */
export function findBursts(rates: readonly number[], binS: number): Bursts | undefined {
  const busyRate = quantile(
    rates.filter((r) => r > 0),
    0.75,
  )
  if (Number.isNaN(busyRate)) return undefined
  const isBusy = rates.map((r) => r > QUIET * busyRate)
  const runs: { from: number; to: number }[] = []
  isBusy.forEach((busy, i) => {
    const last = runs.at(-1)
    if (!busy) return
    if (last && (i - last.to) * binS <= SHORT_S + binS) last.to = i
    else runs.push({ from: i, to: i })
  })
  const duty = runs.reduce((n, r) => n + r.to - r.from + 1, 0) / Math.max(1, rates.length)
  const [first] = runs
  const last = runs.at(-1)
  if (!first || !last || duty > DUTY_MAX) return undefined
  if (runs.length === 1) {
    // Only what both begins and ends in sight is a burst; its rhythm is longer than the stretch.
    if (first.from === 0 || first.to === rates.length - 1 || duty > 0.4) return undefined
    const rpcs = total(rates, 0, rates.length) * binS
    const at = first.from * binS
    return { rpcs, everyS: rates.length * binS, jitter: 0, firstS: at, lastS: at, seen: 1 }
  }
  // A run that was under way at the beginning began earlier.
  const starts = (first.from === 0 && runs.length > 2 ? runs.slice(1) : runs).map((r) => r.from * binS)
  const intervals = starts.slice(1).map((s, i) => s - (starts[i] as number))
  const everyS = mean(intervals)
  const spread = Math.sqrt(mean(intervals.map((i) => (i - everyS) ** 2)))
  if (!(everyS > 0) || spread > SPREAD_MAX * everyS) return undefined
  const [from, to] = [(starts[0] as number) / binS, (starts.at(-1) as number) / binS]
  const rpcs = (total(rates, Math.round(from), Math.round(to)) * binS) / intervals.length
  // Two instants that are each late by a part of the interval drawn evenly differ by its sixth root of their spread.
  const jitter = Math.min(1, (spread * Math.sqrt(6)) / everyS)
  return { rpcs, everyS, jitter, firstS: starts[0] as number, lastS: starts.at(-1) as number, seen: starts.length }
}

function total(rates: readonly number[], from: number, to: number): number {
  let n = 0
  for (let i = from; i < to; i++) n += rates[i] || 0
  return n
}
