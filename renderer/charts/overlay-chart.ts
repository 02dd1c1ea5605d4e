/** Picture of one measure over two spans, aligned at their starts. */
import type { Palette } from '../theme/palette.ts'
import type { Picture, Placed, PlotArea, Text, Values } from './picture.ts'
import { gapSpans, ticksWithin, type Ends } from './plot.ts'
import { largest, niceMax, tickStep } from './scale.ts'

export interface SpanValues {
  readonly offsetMs: readonly number[]
  readonly values: Values
}
export interface OverlayChartProps {
  readonly a: SpanValues
  readonly b: SpanValues
  /** Length of the longer span. */
  readonly lengthMs: number
  /** Events in B, from its start. */
  readonly steps: readonly { readonly offsetMs: number; readonly words: string }[]
  readonly formatValue: (value: number | null) => string
  readonly formatTick: (value: number) => string
  readonly formatOffset: (offsetMs: number) => string
  readonly label: string
  /** Spans that the legend hides: `a`, `b`. */
  readonly hidden?: ReadonlySet<string> | undefined
}

/** About the width of a character, px. */
const CHAR_PX = 5.4

/** A label is placed on the side with space; of two that overlap the second is omitted. */
function stepTexts(steps: OverlayChartProps['steps'], area: PlotArea): Text[] {
  let takenTo = -Infinity
  return steps.flatMap(({ offsetMs, words }): Text[] => {
    const x = area.x(offsetMs)
    if (x < area.left || x > area.right) return []
    const wide = words.length * CHAR_PX + 6
    const isLeft = x + wide > area.right
    const from = isLeft ? x - wide : x
    if (from < takenTo) return []
    takenTo = from + wide
    return [{ at: offsetMs, value: 'top', side: isLeft ? 'left' : 'right', dy: 6, text: words }]
  })
}

const overlayTicks = ({ min, max }: Ends, words: (offsetMs: number) => string) =>
  [min, (min + max) / 2, max].map((at) => ({ at, text: words(at) }))

export const overlayGaps = ({ b }: Pick<OverlayChartProps, 'b'>): [from: number, to: number][] =>
  gapSpans(b.offsetMs, b.values)

export function overlayPicture(props: OverlayChartProps, p: Palette): Picture {
  const { a, b, lengthMs, hidden } = props
  const max = niceMax(largest([...a.values, ...b.values]))
  const step = tickStep(max)
  const steps = props.steps.filter(({ offsetMs }) => offsetMs >= 0 && offsetMs <= lengthMs)
  const spans = [
    { id: 'b', t: b.offsetMs, values: b.values, fill: { color: p.accent, opacity: 0.1 } },
    { id: 'a', name: 'A', t: a.offsetMs, values: a.values, stroke: { color: p.note, width: 1.2, dash: [4, 3] } },
    { id: 'b', name: 'B', t: b.offsetMs, values: b.values, stroke: { color: p.accent, width: 1.5 } },
  ]
  return {
    from: 0,
    to: lengthMs,
    ends: { min: 0, max, step },
    margins: { left: 42, right: 14, top: 8, bottom: 20 },
    ticks: (axis) => overlayTicks(axis, props.formatOffset),
    valueTicks: ticksWithin({ min: 0, max }, step),
    formatTick: props.formatTick,
    formatValue: props.formatValue,
    formatAt: props.formatOffset,
    ranges: overlayGaps(props).map(([from, to]) => ({ from, to, fill: 'gap' })),
    layers: spans.filter(({ id }) => hidden?.has(id) !== true),
    marks: steps.map(({ offsetMs }) => ({ at: offsetMs, stroke: { color: p.ok, width: 1, dash: [3, 3] } })),
    placed: (area): Placed => ({ texts: stepTexts(steps, area) }),
    notes: steps.map(({ offsetMs, words }) => ({ at: offsetMs, text: words, color: p.ok })),
  }
}
