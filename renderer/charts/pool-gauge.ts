/** Picture of the gauge of the pool: one column with a fixed zero line, its values labeled at the right. */
import type { Palette } from '../theme/palette.ts'
import {
  hatchFill,
  type Layer,
  type Picture,
  type Placed,
  type PlotArea,
  type Segment,
  type Size,
  type Text,
  type ValueEnds,
} from './picture.ts'
import { spread, ticksWithin } from './plot.ts'

export interface PoolGaugeProps {
  /** null: there is no pool. */
  readonly now: number | null
  readonly start: number | null
  readonly lowest: number | null
  readonly ends: ValueEnds
  /** Formats a value with its unit. */
  readonly formatValue: (value: number) => string
  /** Formats a round value. */
  readonly formatTick: (value: number) => string
  readonly label: string
}

const TOP = 10
const BOTTOM = 12
const LABEL_PX = 13

/** Left margin and width of the column, px; labels on both sides take space first. */
function column(width: number): { left: number; across: number } {
  return width < 185 ? { left: 48, across: 40 } : { left: Math.round(width * 0.29), across: 64 }
}

/** Surface of the pool at the start of the period, as a wave. */
function surface(value: number, { min, max }: ValueEnds, across: number, height: number): Layer['values'] {
  const WAVE_PX = 46
  const tall = (2 * (max - min)) / Math.max(1, height - TOP - BOTTOM)
  return Array.from({ length: across + 1 }, (_, px) => value + tall * Math.sin((2 * Math.PI * px) / WAVE_PX))
}

/** Labels at the right, apart from each other; `now` has two lines. */
function labels({ now, start, lowest, ends, formatValue }: PoolGaugeProps, p: Palette, area: PlotArea): Text[] {
  const plain = { at: 'end', side: 'right', color: p['text-3'] } as const
  const wanted: { kind: 'start' | 'now' | 'lowest'; value: number; text: string }[] = []
  if (start !== null) wanted.push({ kind: 'start', value: start, text: `start ${formatValue(start)}` })
  if (now !== null) wanted.push({ kind: 'now', value: now, text: formatValue(now) })
  if (lowest !== null && lowest < 0 && lowest !== now)
    wanted.push({ kind: 'lowest', value: lowest, text: formatValue(lowest) + (lowest < ends.min ? ' \u2193' : '') })
  const rows = wanted.map(({ kind, value, text }) => {
    const end = Math.max(ends.min, Math.min(ends.max, value))
    return { kind, value, text, end, y: area.y(end) }
  })
  const places = spread(
    rows.map(({ kind, y }) => (kind === 'now' ? y - 9 : y)),
    LABEL_PX * 1.7,
    { min: area.top + 4, max: area.floor + BOTTOM - 8 },
  )
  const texts = rows.flatMap(({ kind, value, text, end, y }, i): Text[] => {
    const dy = (places[i] ?? y) - y
    if (kind !== 'now')
      return [{ ...plain, value: end, dy, text, arrow: kind === 'lowest' ? p['div-neg'] : p['text-3'] }]
    const color = value < 0 ? p['div-neg-text'] : p['text-1']
    const below = value < ends.min ? 'now \u2193' : 'now'
    return [
      { ...plain, value: end, dx: 10, dy: dy - 6, text, color, fontPx: 15, isBold: true },
      { ...plain, value: end, dx: 10, dy: dy + 7, text: below },
    ]
  })
  return now === null ? [...texts, { ...plain, value: 0, dx: 10, text: 'no pool' }] : texts
}

function frame(ticks: readonly number[], p: Palette, { left, right, top, floor, y }: PlotArea): Segment[] {
  const line = { color: p['line-2'], width: 1 }
  return [
    { from: [left, top], to: [right, top], stroke: line },
    { from: [right, top], to: [right, floor], stroke: line },
    { from: [right, floor], to: [left, floor], stroke: line },
    { from: [left, floor], to: [left, top], stroke: line },
    ...ticks.map((tick): Segment => ({
      from: [left - 6, y(tick)],
      to: [left, y(tick)],
      stroke: { color: p.axis, width: 1 },
    })),
    { from: [left - 14, y(0)], to: [right + 10, y(0)], stroke: { color: p['text-1'], width: 1.5 } },
  ]
}

export function gaugePicture(props: PoolGaugeProps, p: Palette, { width, height }: Size): Picture {
  const { now, start, lowest, ends } = props
  const { min, max, step } = ends
  const { left, across } = column(width)
  const inset = 1 / across
  /** Rectangle from zero to a value; beyond the scale it ends at its end. */
  const block = (name: string, value: number, color: string, opacity: number): Layer => {
    const end = Math.max(min, Math.min(max, value))
    return { name, t: [inset, 1 - inset], values: [end, end], fill: { color, opacity } }
  }
  const hasStart = start !== null && start > 0
  const layers: Layer[] = [
    {
      t: [inset, 1 - inset],
      values: [min, min],
      fill: {
        color: hatchFill(p['gap-hatch']),
        opacity: 0.75,
      },
    },
    ...(hasStart ? [block('start', start, p.water, 0.13)] : []),
    ...(lowest !== null && lowest < 0 ? [block('lowest', lowest, p['div-neg'], 0.45)] : []),
    ...(now !== null && now !== 0 ? [block('now', now, now > 0 ? p.water : p['div-neg'], 1)] : []),
  ]
  if (hasStart)
    layers.push({
      t: Array.from({ length: across + 1 }, (_, px) => px / across),
      values: surface(start, ends, across, height),
      stroke: { color: p.water, width: 1.2, dash: [3, 2] },
    })
  const ticks = [
    ...ticksWithin({ min: step / 2, max }, step),
    ...ticksWithin({ min, max: -step / 4 }, step / 2).slice(0, 1),
  ]
  return {
    from: 0,
    to: 1,
    ends,
    margins: { left, right: Math.max(0, width - left - across), top: TOP, bottom: BOTTOM },
    hasGrid: false,
    hasTicks: false,
    ticks: () => [],
    valueTicks: ticks,
    formatTick: props.formatTick,
    ranges: [{ from: 0, to: 1, fill: { color: p['bg-sunken'], opacity: 1 } }],
    layers,
    texts: [{ at: 'start', value: 0, side: 'left', dx: -15, text: '0', isBold: true }],
    placed: (area): Placed => ({ segments: frame(ticks, p, area), texts: labels(props, p, area) }),
  }
}
