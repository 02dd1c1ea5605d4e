/** Names and units of the measures of a day. */
import { largest } from '../../charts/scale.ts'
import {
  PLANE_MEASURES,
  planeMeasure,
  type ClusterMeasure,
  type HistoryFrame,
  type HistoryMeasure,
} from '#core/api/history.ts'
import { formatNumber, formatTick, rateUnit } from '../../format/units.ts'

export interface MeasureLabel {
  readonly id: HistoryMeasure
  readonly short: string
  readonly what: string
  /** Id of its explanation. */
  readonly explain: string
}

const ofCluster = (id: ClusterMeasure, short: string, what: string): MeasureLabel => ({
  id,
  short,
  what,
  explain: `history.${id}`,
})
const clusterLabels = [
  ofCluster('serviceMs', 'Service', 'mean service time'),
  ofCluster('rpcs', 'RPC', 'RPCs served'),
  ofCluster('readBps', 'Read', 'read'),
  ofCluster('writeBps', 'Write', 'written'),
  ofCluster('queued', 'Queued', 'RPCs queued'),
] as const
const planeLabels = PLANE_MEASURES.map(({ id, title, about }): MeasureLabel => ({
  id,
  short: title,
  what: about,
  explain: 'history.plane',
}))
export const labelOf = (id: HistoryMeasure): MeasureLabel =>
  [...clusterLabels, ...planeLabels].find((f) => f.id === id) ?? clusterLabels[0]

export const planeTitles = { locks: 'Locks', metadata: 'Metadata QoS', tokens: 'Tokens' } as const

/** Measures as options of a menu, grouped by plane; those of planes without rows are left out. */
export function measureOptions(planes: HistoryFrame['planes']) {
  const isFirst = (at: number): boolean => PLANE_MEASURES[at]?.plane !== PLANE_MEASURES[at - 1]?.plane
  return [
    ...clusterLabels.map(({ id, short }, at) => ({
      value: id,
      label: short,
      heading: at === 0 ? 'Cluster' : undefined,
      testid: `measure-${id}`,
    })),
    ...PLANE_MEASURES.map(({ id, title, plane }, at) => ({
      value: id,
      label: title,
      plane,
      heading: isFirst(at) ? planeTitles[plane] : undefined,
      testid: `measure-${id}`,
    })).filter(({ plane }) => planes.includes(plane)),
  ]
}

/** Unit for all values of a chart, chosen by the largest. */
export interface Scale {
  readonly unit: string
  readonly divisor: number
  /** Formats a value without its unit, with it, and as a tick label. */
  readonly number: (value: number | null) => string
  readonly format: (value: number) => string
  readonly tick: (value: number) => string
}

export function scaleOf(id: HistoryMeasure, largest: number): Scale {
  const isData = id === 'readBps' || id === 'writeBps'
  const data = rateUnit(largest >= 10 * rateUnit(true).divisor)
  const ofPlane = planeMeasure(id)
  const [divisor, unit] = ofPlane
    ? unitScale(ofPlane.unit, largest)
    : isData
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
    format: (value) => [number(value), unit].filter(Boolean).join(' '),
    tick: (value) => formatTick(Number((value / divisor).toPrecision(12))),
  }
}

/** Name of a measure with its unit, unless the name begins with it. */
export const inUnit = ({ what }: MeasureLabel, { unit }: Scale): string =>
  unit === '' || what.startsWith(unit) ? what : `${what}, ${unit}`

export const largestOf = (...lists: readonly (readonly (number | null)[])[]): number =>
  lists.reduce((most, values) => largest(values, most), 0)

/** Divisor of values in a unit, and the unit with its prefix. */
const unitScale = (unit: string, largest: number): readonly [divisor: number, unit: string] =>
  largest >= 1e4 ? [1e3, `k${unit === '' ? '' : ` ${unit}`}`] : [1, unit]

/** Scale for a column of changes. */
export function rateScale(
  values: readonly number[],
  of: string,
): {
  readonly unit: string
  readonly divisor: number
  readonly decimals: number
} {
  const most = values.reduce((max, v) => Math.max(max, Math.abs(v)), 0)
  const [divisor, unit] = unitScale(of, most)
  return { unit, divisor, decimals: divisor > 1 || most < 10 ? 1 : 0 }
}
