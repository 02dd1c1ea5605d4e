/** Downsampling for the page: means over consecutive samples, rounded to display precision. A gap stays a gap. */
import type { Column } from './replay-data.ts'

/**
 * Rounds counts as in tables: whole numbers; below ten one decimal, to distinguish small values from zero; from 100,000 on four
 * significant digits. Null if not finite, as in the functions below.
 */
export function rounded(value: number): number | null {
  if (!Number.isFinite(value)) return null
  const size = Math.abs(value)
  if (size >= 1e5) return Number(value.toPrecision(4))
  return size >= 10 ? Math.round(value) : Math.round(value * 10) / 10
}

/** Rounds times to three significant digits: whole from 100 on, to thousandths below 1. */
export function roundedTime(value: number): number | null {
  if (!Number.isFinite(value)) return null
  const size = Math.abs(value)
  const steps = size >= 100 ? 1 : size >= 10 ? 10 : size >= 1 ? 100 : 1000
  return Math.round(value * steps) / steps
}

/** Rounds bytes/s to 10 kB/s, a tenth of the display step `0.1 MB/s`; below 1 MB/s to 1 kB/s. */
export const roundedBytes = (value: number): number | null =>
  Number.isFinite(value)
    ? Math.round(value / (Math.abs(value) < 1e6 ? 1e3 : 1e4)) * (Math.abs(value) < 1e6 ? 1e3 : 1e4)
    : null

/** Rounds a share to a percent. */
export const roundedShare = (value: number): number | null =>
  Number.isFinite(value) ? Math.round(value * 100) / 100 : null

/** Rounds tokens to whole numbers. */
export const roundedTokens = (value: number): number | null => (Number.isFinite(value) ? Math.round(value) : null)

/** Mapping of times to output times, each the mean of `meanOf` of them. */
export interface Downsampled {
  readonly meanOf: number
  /** Output index of each time. */
  readonly of: Int32Array
  /** Output times; a hole in time has its own entry, to which no sample maps. */
  readonly t: number[]
}

/**
 * Groups consecutive times, never across a hole in time unless there are more holes than output times.
 *
 * @param instants   ascending.
 * @param most       maximum number of output times, > 0.
 * @param cadenceMs  usual interval; `missingMs`: interval from which samples count as missing.
 */
export function thin(instants: Float64Array, most: number, cadenceMs: number, missingMs: number): Downsampled {
  const least = Math.max(1, Math.ceil(instants.length / most))
  for (let meanOf = least; meanOf <= least * 4; meanOf += Math.max(1, least >> 2)) {
    const made = grouped(instants, meanOf, cadenceMs, missingMs)
    if (made.t.length <= most) return made
  }
  return grouped(instants, least, cadenceMs, Infinity)
}

function grouped(instants: Float64Array, meanOf: number, cadenceMs: number, missingMs: number): Downsampled {
  const of = new Int32Array(instants.length)
  const t: number[] = []
  let held = meanOf
  for (let i = 0; i < instants.length; i++) {
    const at = instants[i] as number
    const before = instants[i - 1] ?? NaN
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

  /** Adds a value; NaN is ignored. */
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

  /** Mean over all times except gaps. */
  mean(): number | null {
    let sum = 0
    let n = 0
    for (let i = 0; i < this.#sums.length; i++) {
      const count = this.#counts[i] as number
      if (count === 0) continue
      sum += (this.#sums[i] as number) / count
      n++
    }
    return n > 0 ? rounded(sum / n) : null
  }
}

/** A single value if all are equal. */
export function packed(values: (number | null)[]): Column {
  const [first = null] = values
  return values.every((v) => v === first) ? first : values
}
