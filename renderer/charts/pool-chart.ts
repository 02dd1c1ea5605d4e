/** Picture of the pool over time: water above a fixed zero line, debt below it. */
import type { Palette } from '../theme/palette.ts'
import { isKnown } from '../widgets/canvas.ts'
import type { AxisTick, Picture, Placed, PlotArea, Text, ValueEnds, Values } from './picture.ts'
import { gapSpans, thin, ticksWithin, type Ends } from './plot.ts'
import { secondsAxis } from './time-unit.ts'

export interface PoolChartProps {
  /** Time from the start, ms. */
  readonly t: readonly number[]
  readonly pool: Values
  /** Values without conversion; empty = not drawn. */
  readonly unconverted: Values
  readonly toMs: number
  readonly ends: ValueEnds
  readonly timeTicks: readonly { readonly ms: number; readonly text: string }[]
  /** Divides the axis labels. */
  readonly divisor: number
  /** Position of the cursor, ms; null = at the end. */
  readonly atMs: number | null
  readonly lowest: { readonly value: number; readonly atMs: number; readonly text: string } | null
  readonly label: string
  /** Parts that the legend hides: `free`, `overdrawn`, `unconverted`. */
  readonly hidden?: ReadonlySet<string> | undefined
}
interface Series {
  readonly t: readonly number[]
  readonly values: Values
}

/** Most points drawn; each thinned range keeps its minimum. */
const DRAWN_MOST = 2_400

/** Parts of a series above and below zero, which both end at the crossings. */
export function splitAtZero(t: readonly number[], values: Values): { above: Series; below: Series } {
  const at: number[] = []
  const above: (number | null)[] = []
  const below: (number | null)[] = []
  values.forEach((v, i) => {
    const time = t[i] ?? 0
    const before = i > 0 ? values[i - 1] : null
    if (isKnown(v) && isKnown(before) && v * before < 0) {
      const from = t[i - 1] ?? 0
      at.push(from + (time - from) * (before / (before - v)))
      above.push(0)
      below.push(0)
    }
    at.push(time)
    above.push(isKnown(v) && v >= 0 ? v : null)
    below.push(isKnown(v) && v <= 0 ? v : null)
  })
  return { above: { t: at, values: above }, below: { t: at, values: below } }
}

/** Gaps between measured values, which are hatched. */
export const poolGaps = ({ t, pool }: Pick<PoolChartProps, 't' | 'pool'>): [from: number, to: number][] =>
  gapSpans(t, pool)

function timeAxis({ toMs, timeTicks }: PoolChartProps, { min, max }: Ends): AxisTick[] {
  if (min === 0 && max === toMs) return timeTicks.map(({ ms, text }) => ({ at: ms, text }))
  return secondsAxis({ min: min / 1000, max: max / 1000 }).map(({ at, text }) => ({ at: at * 1000, text }))
}

function tickText(value: number, divisor: number): string {
  const scaled = Math.abs(value / divisor)
  const text = scaled < 10 && !Number.isInteger(scaled) ? scaled.toFixed(1) : scaled.toFixed(0)
  return (value < 0 ? '\u2212' : '') + text.replace(/\B(?=(\d{3})+$)/g, '\u202F')
}

/** Label of the dashed line, below its middle. */
function unconvertedText({ t, values }: Series, { toMs, ends }: PoolChartProps, p: Palette): Text[] {
  const i = values.findIndex((v, n) => v !== null && (t[n] ?? 0) >= toMs * 0.36)
  const value = i < 0 ? null : (values[i] ?? null)
  if (value === null || value < ends.max * 0.3) return []
  const place = { at: t[i] ?? 0, value: value / 2, side: 'left' as const, dx: -6, dy: 10 }
  return [{ ...place, text: 'without conversion', color: p['text-3'], hasHalo: false }]
}

/** Label of the lowest mark with a line to it; above the zero line if debt fills the space below. */
function lowestMark({ lowest, ends }: PoolChartProps, p: Palette, area: PlotArea): Placed {
  if (lowest === null) return {}
  const x = area.x(lowest.atMs)
  if (x < area.left || x > area.right) return {}
  const isLeft = x > (area.left + area.right) / 2
  const isDeep = lowest.value < ends.min * 0.6
  const zero = area.y(0)
  const from = isDeep ? zero : area.y(lowest.value) + 2
  const to = isDeep ? zero - 13 : area.y(ends.min) - 7
  const end = isLeft ? -15 : 15
  const stroke = { color: p['text-3'], width: 1 }
  return {
    segments: [
      { from: [x, Math.min(from, to)], to: [x, to], stroke },
      { from: [x, to], to: [x + end, to], stroke },
    ],
    texts: [
      {
        at: lowest.atMs,
        value: 0,
        side: isLeft ? 'left' : 'right',
        dx: end,
        dy: to - zero,
        text: lowest.text + (lowest.value < ends.min ? ', off the scale' : ''),
      },
    ],
  }
}

export function poolPicture(props: PoolChartProps, p: Palette): Picture {
  const { toMs, ends, divisor, atMs, hidden } = props
  const { min, max, step } = ends
  const drawn = thin(props.t, props.pool, DRAWN_MOST)
  const other = thin(props.t, props.unconverted, DRAWN_MOST)
  const { above, below } = splitAtZero(drawn.t, drawn.values)
  const layers = [
    {
      id: 'unconverted',
      ...splitAtZero(other.t, other.values).above,
      name: 'without conversion',
      stroke: { color: p['text-3'], width: 1, dash: [3, 3] },
    },
    {
      id: 'free',
      ...above,
      name: 'free',
      fill: { color: p.water, opacity: 0.3 },
      stroke: { color: p.water, width: 1.3 },
    },
    {
      id: 'overdrawn',
      ...below,
      name: 'overdrawn',
      fill: { color: p['div-neg'], opacity: 0.5 },
      stroke: { color: p['div-neg'], width: 1.3 },
    },
  ]
  const debtTick = ticksWithin({ min, max: -step / 4 }, step / 2).slice(0, 1)
  const hasLater = atMs !== null && atMs < toMs
  return {
    from: 0,
    to: toMs,
    ends,
    ticks: (axis) => timeAxis(props, axis),
    valueTicks: [...debtTick, ...ticksWithin({ min: 0, max }, step)],
    formatTick: (value) => tickText(value, divisor),
    ranges: [
      ...poolGaps(props).map(([from, to]) => ({ from, to, fill: 'gap' as const })),
      ...(hasLater ? [{ from: atMs, to: toMs, fill: { color: p['bg-sunken'], opacity: 0.55 } }] : []),
    ],
    layers: layers.filter(({ id }) => hidden?.has(id) !== true),
    levels: [{ value: 0, stroke: { color: p['text-1'], width: 1.5 } }],
    marks: atMs === null ? [] : [{ at: atMs, stroke: { color: p['text-1'], width: 1, dash: [3, 2] } }],
    texts: hidden?.has('unconverted') === true ? [] : unconvertedText(other, props, p),
    placed: (area) => lowestMark(props, p, area),
  }
}
