/**
 * Geometry of a chart: scales, gaps, ticks, and thinning that keeps every minimum. For marks and labels that must be
 * placed exactly at values.
 */
import { isKnown, runs } from '../widgets/canvas.ts'

type Values = readonly (number | null)[]

/** Rectangle of the plot, px. */
export interface Plot {
  readonly x: (value: number) => number
  readonly y: (value: number) => number
}
export interface PlotBox {
  readonly width: number
  readonly height: number
  readonly margins: { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number }
}
export interface Ends {
  readonly min: number
  readonly max: number
}

/** An axis without extent maps everything to its start. */
export function plotOf({ width, height, margins }: PlotBox, across: Ends, up: Ends): Plot {
  const spanX = Math.max(0, width - margins.left - margins.right)
  const spanY = Math.max(0, height - margins.top - margins.bottom)
  const share = (value: number, { min, max }: Ends): number => (max > min ? (value - min) / (max - min) : 0)
  return {
    x: (value) => margins.left + spanX * share(value, across),
    y: (value) => margins.top + spanY * (1 - share(value, up)),
  }
}

/** Time ranges without a value before or between values, as [from, to]; after the last value nothing is due yet. */
export function gapSpans(t: readonly number[], values: Values): [from: number, to: number][] {
  const found: [number, number][] = []
  const known = runs(values)
  const first = known[0]?.[0] ?? 0
  if (first > 0) found.push([t[0] ?? 0, t[first] ?? 0])
  for (let i = 1; i < known.length; i++) {
    const before = known[i - 1]?.[1] ?? 0
    const after = known[i]?.[0] ?? 0
    found.push([t[before] ?? 0, t[after] ?? 0])
  }
  return found
}

/**
 * Thins a long series to about `most` points: the lowest and highest value of every bucket, in order, so that no
 * minimum is lost; a bucket with a gap stays a gap.
 */
export function thin(t: readonly number[], values: Values, most: number): { t: readonly number[]; values: Values } {
  if (t.length <= most || most < 4) return { t, values }
  const size = Math.ceil((2 * t.length) / most)
  const kept: number[] = []
  for (let from = 0; from < t.length; from += size) {
    let low = -1
    let high = -1
    let gap = -1
    for (let i = from; i < Math.min(t.length, from + size); i++) {
      const v = values[i] ?? null
      if (!isKnown(v)) {
        gap = i
        continue
      }
      if (low < 0 || v < (values[low] ?? 0)) low = i
      if (high < 0 || v > (values[high] ?? 0)) high = i
    }
    kept.push(...[...new Set([low, high, gap])].filter((i) => i >= 0).sort((a, b) => a - b))
  }
  return { t: kept.map((i) => t[i] ?? 0), values: kept.map((i) => values[i] ?? null) }
}

/** Multiples of `step` within the ends. */
export function ticksWithin({ min, max }: Ends, step: number): number[] {
  if (!(step > 0) || !(max > min)) return []
  const first = Math.ceil(min / step - 1e-9)
  const count = Math.min(50, Math.floor(max / step + 1e-9) - first + 1)
  return Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step)
}

/**
 * Positions of labels near `wanted`, px, at least `gap` apart and within the limits, in the same order. Without enough
 * room they are spaced as widely as possible.
 */
export function spread(wanted: readonly number[], gap: number, { min, max }: Ends): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0))
  const room = wanted.length > 1 ? Math.min(gap, (max - min) / (wanted.length - 1)) : gap
  const placed: number[] = []
  order.forEach((i, n) => (placed[n] = Math.max(wanted[i] ?? 0, n === 0 ? min : (placed[n - 1] ?? 0) + room)))
  for (let n = placed.length - 1; n >= 0; n--)
    placed[n] = Math.min(placed[n] ?? 0, n === placed.length - 1 ? max : (placed[n + 1] ?? 0) - room)
  const found: number[] = []
  order.forEach((i, n) => (found[i] = placed[n] ?? 0))
  return found
}
