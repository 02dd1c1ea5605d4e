/** Samples as the page shows them: means of as many as stand for one instant, rounded to what is shown. A gap stays a gap. */
import type { Column } from './replay-data.ts'

/** As tables show counts: whole numbers; below ten with one decimal, so that little is told from nothing. */
export function rounded(value: number): number | null {
  if (!Number.isFinite(value)) return null
  const size = Math.abs(value)
  if (size >= 1e5) return Number(value.toPrecision(4))
  return size >= 10 ? Math.round(value) : Math.round(value * 10) / 10
}

/** Times: three figures. */
export function roundedTime(value: number): number | null {
  if (!Number.isFinite(value)) return null
  const size = Math.abs(value)
  const steps = size >= 100 ? 1 : size >= 10 ? 10 : size >= 1 ? 100 : 1000
  return Math.round(value * steps) / steps
}

/** Bytes a second to the nearest of what `0.1 MB/s` shows, finer below. */
export const roundedBytes = (value: number): number | null =>
  Number.isFinite(value)
    ? Math.round(value / (Math.abs(value) < 1e6 ? 1e3 : 1e4)) * (Math.abs(value) < 1e6 ? 1e3 : 1e4)
    : null

/** A share to a percent. */
export const roundedShare = (value: number): number | null =>
  Number.isFinite(value) ? Math.round(value * 100) / 100 : null

/** Tokens are whole. */
export const roundedWhole = (value: number): number | null => (Number.isFinite(value) ? Math.round(value) : null)

/** Where instants fall when each shown one is the mean of `meanOf` of them. */
export interface Thinned {
  readonly meanOf: number
  /** Shown instant of each instant. */
  readonly of: Int32Array
  /** A hole in time has one shown instant of its own, to which nothing falls. */
  readonly t: number[]
}

/**
 * Puts consecutive instants together, never across a hole in time, unless there are more holes than instants fit.
 *
 * @param instants   ascending.
 * @param most       at most so many shown instants, > 0.
 * @param cadenceMs  usual distance of two instants; `missingMs`: from what distance on samples are missing.
 */
export function thin(instants: Float64Array, most: number, cadenceMs: number, missingMs: number): Thinned {
  const least = Math.max(1, Math.ceil(instants.length / most))
  for (let meanOf = least; meanOf <= least * 4; meanOf += Math.max(1, least >> 2)) {
    const made = grouped(instants, meanOf, cadenceMs, missingMs)
    if (made.t.length <= most) return made
  }
  return grouped(instants, least, cadenceMs, Infinity)
}

function grouped(instants: Float64Array, meanOf: number, cadenceMs: number, missingMs: number): Thinned {
  const of = new Int32Array(instants.length)
  const t: number[] = []
  let held = meanOf
  for (let i = 0; i < instants.length; i++) {
    const [at, before] = [instants[i] as number, instants[i - 1] ?? NaN]
    if (at - before > missingMs) {
      t.push(before + cadenceMs)
      held = meanOf
    }
    if (held >= meanOf) {
      t.push(at)
      held = 0
    }
    held++
    of[i] = t.length - 1
  }
  return { meanOf, of, t }
}

/** Means of one series. */
export class Means {
  readonly #sums: Float64Array
  readonly #counts: Uint32Array

  constructor(length: number) {
    this.#sums = new Float64Array(length)
    this.#counts = new Uint32Array(length)
  }

  /** NaN adds nothing. */
  add(i: number, value: number): void {
    if (value !== value) return
    this.#sums[i] = (this.#sums[i] as number) + value
    this.#counts[i] = (this.#counts[i] as number) + 1
  }

  column(round: (value: number) => number | null): Column {
    return packed(
      Array.from(this.#sums, (sum, i) => {
        const n = this.#counts[i] as number
        return n > 0 ? round(sum / n) : null
      }),
    )
  }

  /** Of all instants that are no gap. */
  mean(): number | null {
    let [sum, n] = [0, 0]
    for (let i = 0; i < this.#sums.length; i++) {
      const count = this.#counts[i] as number
      if (count === 0) continue
      sum += (this.#sums[i] as number) / count
      n++
    }
    return n > 0 ? rounded(sum / n) : null
  }
}

/** One value where all are the same. */
export function packed(values: (number | null)[]): Column {
  const [first = null] = values
  return values.every((v) => v === first) ? first : values
}
