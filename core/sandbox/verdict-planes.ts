/**
 * Differences of two variants in the planes besides the OSTs, objective by objective.
 *
 * A difference counts if the variant's median lies beyond the baseline's band by the objective's smallest difference.
 * Objectives that one of the two did not measure are not compared.
 */
import { OBJECTIVES, OBJECTIVE_KEYS, type ObjectiveKey, type ObjectiveUnit } from '../controllers/objectives.ts'
import { bandOf } from './band.ts'
import type { SeedFigures } from './comparison.ts'
import { change, percent, waitPair } from './verdict-text.ts'

export interface PlaneDifference {
  readonly key: ObjectiveKey
  /** Medians. */
  readonly before: number
  readonly now: number
}

export interface PlaneDifferences {
  /** In the order of the registry. */
  readonly gains: readonly PlaneDifference[]
  readonly losses: readonly PlaneDifference[]
}

/** Compares the planes of a variant with those of the baseline. */
export function planeDifferences(base: SeedFigures, variant: SeedFigures): PlaneDifferences {
  const gains: PlaneDifference[] = []
  const losses: PlaneDifference[] = []
  for (const key of OBJECTIVE_KEYS) {
    const { better, least } = OBJECTIVES[key]
    const band = bandOf(base.planes.get(key) ?? [])
    const now = bandOf(variant.planes.get(key) ?? [])?.median
    if (better === null || band === null || now === undefined) continue
    const margin = (edge: number): number => Math.max(least.amount, least.part * Math.abs(edge))
    const isAbove = now > band.high && now - band.high >= margin(band.high)
    const isBelow = now < band.low && band.low - now >= margin(band.low)
    if (!isAbove && !isBelow) continue
    const list = isAbove === (better === 'higher') ? gains : losses
    list.push({ key, before: band.median, now })
  }
  return { gains, losses }
}

/** Size of a gain, 0..1: the part of the worse value that separates it from the better one. */
const gainOf = ({ before, now }: PlaneDifference): number =>
  1 - Math.min(before, now) / Math.max(before, now, Number.MIN_VALUE)

/** Sum of the sizes of all gains: larger is better. */
export const meritOf = ({ gains }: PlaneDifferences): number => gains.reduce((sum, g) => sum + gainOf(g), 0)

const rate = (v: number, unit: ObjectiveUnit): string =>
  unit === 'B/s' ? `${Number((v / 1e6).toPrecision(3))} MB/s` : `${Number(v.toPrecision(3))} ${unit}`

function values({ key, before, now }: PlaneDifference): string {
  const { unit } = OBJECTIVES[key]
  switch (unit) {
    case 'ms':
      return waitPair(before, now)
    case 's':
      return waitPair(before * 1000, now * 1000)
    case 'part':
      return `${percent(before)} → ${percent(now)}`
    default:
      return before === 0 ? `0 → ${rate(now, unit)}` : change(now, before)
  }
}

/** Parts of a sentence: `lock wait p95`, `40 ms → 3 ms`. */
export const differenceText = (d: PlaneDifference): { readonly name: string; readonly values: string } => ({
  name: OBJECTIVES[d.key].name,
  values: values(d),
})
