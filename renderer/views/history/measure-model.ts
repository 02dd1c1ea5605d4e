/** Names and units of the measures of a day. */
import { largest } from '../../charts/scale.ts'
import type { ClusterMeasure } from '#core/api/history.ts'
import { formatNumber, formatTick, rateUnit } from '../../format/units.ts'

export interface MeasureLabel {
  readonly id: ClusterMeasure
  /** Short name, for a segmented control. */
  readonly short: string
  readonly what: string
}

export const measureLabels: readonly MeasureLabel[] = [
  { id: 'serviceMs', short: 'Service', what: 'mean service time' },
  { id: 'rpcs', short: 'RPC', what: 'RPCs served' },
  { id: 'readBps', short: 'Read', what: 'read' },
  { id: 'writeBps', short: 'Write', what: 'written' },
  { id: 'queued', short: 'Queued', what: 'RPCs queued' },
]
export const labelOf = (id: ClusterMeasure): MeasureLabel => measureLabels.find((f) => f.id === id) ?? measureLabels[0]!

/** Unit for all values of a chart, chosen by the largest. */
export interface Scale {
  readonly unit: string
  readonly divisor: number
  /** Formats a value without its unit, with it, and as a tick label. */
  readonly number: (value: number | null) => string
  readonly format: (value: number) => string
  readonly tick: (value: number) => string
}

export function scaleOf(id: ClusterMeasure, largest: number): Scale {
  const isData = id === 'readBps' || id === 'writeBps'
  const data = rateUnit(largest >= 10 * rateUnit(true).divisor)
  const [divisor, unit] = isData
    ? [data.divisor, data.unit]
    : id === 'rpcs'
      ? largest >= 1e4
        ? [1e3, 'k RPC/s']
        : [1, 'RPC/s']
      : [1, id === 'serviceMs' ? 'ms' : 'RPCs']
  const decimals = largest / divisor < 10 ? 2 : largest / divisor < 100 ? 1 : 0
  const number = (value: number | null): string => formatNumber(value === null ? null : value / divisor, decimals)
  return {
    unit,
    divisor,
    number,
    format: (value) => `${number(value)} ${unit}`,
    tick: (value) => formatTick(Number((value / divisor).toPrecision(12))),
  }
}

/** Name of a measure with its unit, unless the name begins with it. */
export const inUnit = ({ what }: MeasureLabel, { unit }: Scale): string =>
  what.startsWith(unit) ? what : `${what}, ${unit}`

export const largestOf = (...lists: readonly (readonly (number | null)[])[]): number =>
  lists.reduce((most, values) => largest(values, most), 0)

/** Unit for a column of RPC/s changes. */
export function rateScale(values: readonly number[]): {
  readonly unit: string
  readonly divisor: number
  readonly decimals: number
} {
  const most = values.reduce((max, v) => Math.max(max, Math.abs(v)), 0)
  if (most >= 1e4) return { unit: 'k RPC/s', divisor: 1e3, decimals: 1 }
  return { unit: 'RPC/s', divisor: 1, decimals: most < 10 ? 1 : 0 }
}
