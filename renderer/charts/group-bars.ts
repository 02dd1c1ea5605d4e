/**
 * Picture of bars by group from a fixed zero, each labeled with its value, so that no axis is needed. Published values are
 * dashed outlines over the measured bars.
 */
import { formatNumber, formatSigned } from '../format/units.ts'
import type { Palette } from '../theme/palette.ts'
import { isKnown } from '../widgets/canvas.ts'
import { textColumn, type FactSeries } from './facts.ts'
import { decalOf, inkOf, type Look } from './patterns.ts'
import type { Bars, Picture } from './picture.ts'
import { PUBLISHED } from './published.ts'

export interface BarGroup {
  readonly name: string
  /** In the order of the series, as are the published ones; null: not published. */
  readonly values: readonly number[]
  readonly published?: readonly (number | null)[] | undefined
}
export interface GroupBarsProps {
  readonly label: string
  readonly unit: string
  readonly series: readonly { readonly name: string; readonly look: Look }[]
  readonly groups: readonly BarGroup[]
  /** Values are changes and are shown with a sign. */
  readonly isSigned?: boolean | undefined
  /** Series that the legend hides; `PUBLISHED` for the outlines. */
  readonly hidden?: ReadonlySet<string> | undefined
}

/** Number of bars from which labels are vertical. */
const DENSE = 18

const publishedOf = ({ published }: BarGroup, i: number): number | null => published?.[i] ?? null
const valuesOf = ({ groups }: GroupBarsProps): number[] => groups.flatMap(({ values }) => values)
const allPublished = ({ groups }: GroupBarsProps): number[] =>
  groups.flatMap((group) => group.published ?? []).filter(isKnown)
export const hasPublished = (props: Pick<GroupBarsProps, 'groups'>): boolean =>
  props.groups.some(({ published }) => published?.some(isKnown) === true)

/** Formats a value as its label shows it. */
export function barText(props: GroupBarsProps): (value: number) => string {
  const decimals = Math.max(...valuesOf(props).map(Math.abs)) < 10 ? 1 : 0
  return (value) => (props.isSigned === true ? formatSigned(value, decimals) : formatNumber(value, decimals))
}

/** Describes every group: measured values, each followed by the published one. */
export function barWords(props: GroupBarsProps): string {
  const words = barText(props)
  const groups = props.groups.map((group) => {
    const each = group.values.map((value, i) => {
      const published = publishedOf(group, i)
      const beside = published === null ? '' : ` (published ${words(published)})`
      return `${props.series[i]?.name ?? ''} ${words(value)}${beside}`
    })
    return `${group.name}: ${each.join(', ')}`
  })
  return `${props.label}, ${props.unit}. ${groups.join('; ')}.`
}

/** Columns of the table of values: every series, followed by its published values if it has any. */
export function barFacts(props: GroupBarsProps): FactSeries[] {
  const { series, groups } = props
  const words = barText(props)
  return series.flatMap(({ name }, i) => {
    const values = groups.map((group) => group.values[i] ?? null)
    const published = groups.map((group) => publishedOf(group, i))
    if (!published.some(isKnown)) return [{ name, values }]
    const texts = published.map((value) => (value === null ? 'not published' : words(value)))
    return [{ name, values }, textColumn(`${name}, published`, texts)]
  })
}

/** True if a published value is further from zero than the measured one: the label then is at its end. */
const isBeyond = (published: number | null, measured: number): boolean =>
  published !== null && (measured < 0 ? published < measured : published > measured)

export function groupBarsPicture(props: GroupBarsProps, p: Palette): Picture {
  const { series, groups, hidden } = props
  const hasOutlines = hidden?.has(PUBLISHED) !== true && hasPublished(props)
  const all = [...valuesOf(props), ...allPublished(props)]
  const isVertical = valuesOf(props).length > DENSE
  const high = Math.max(0, ...all)
  const low = Math.min(0, ...all)
  // Space for the labels beyond the bars, as a share of the range.
  const space = (isVertical ? 0.3 : 0.12) * (high - low || 1)
  const top = high + (high > 0 ? space : 0)
  const format = barText(props)
  const t = groups.map((_, i) => i)
  const isShown = ({ name }: { readonly name: string }): boolean => hidden?.has(name) !== true
  const isLabeledBeyond = (group: number, i: number): boolean =>
    hasOutlines && isBeyond(publishedOf(groups[group]!, i), groups[group]!.values[i]!)
  const bars = series.flatMap(({ name, look }, i): Bars[] => {
    if (!isShown({ name })) return []
    const label = (value: number, at: number): string | null => (isLabeledBeyond(at, i) ? null : format(value))
    return [
      {
        name,
        t,
        values: groups.map(({ values }) => values[i] ?? null),
        color: p[inkOf(look)],
        decal: decalOf(look),
        label: { format: label, color: p['text-1'], isVertical },
      },
    ]
  })
  const outlines = series.flatMap(({ name }, i): Bars[] => {
    if (!isShown({ name })) return []
    const label = (_: number, at: number): string | null =>
      isLabeledBeyond(at, i) ? format(groups[at]!.values[i]!) : null
    return [
      {
        t,
        values: groups.map((group) => publishedOf(group, i)),
        color: p['text-1'],
        outline: p['text-1'],
        label: { format: label, color: p['text-1'], isVertical },
      },
    ]
  })
  return {
    from: -0.5,
    to: groups.length - 0.5,
    ends: { min: low - (low < 0 ? space : 0), max: top, step: top },
    ticks: () => groups.map(({ name }, at) => ({ at, text: name })),
    hasTicks: false,
    valueTicks: [],
    margins: { left: 12, right: 12, top: 4, bottom: 20 },
    isGrouped: true,
    bars,
    over: hasOutlines ? outlines : [],
    levels: [{ value: 0, stroke: { color: p['text-3'], width: 1 } }],
  }
}
