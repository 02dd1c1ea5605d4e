/** Picture of capacity by period; the axis is a band and does not start at 0. */
import type { Palette } from '../theme/palette.ts'
import type { AxisTick, Picture, Placed, PlotArea, Segment, Text, ValueEnds, Values } from './picture.ts'
import { gapSpans, spread, type Ends } from './plot.ts'

export interface CapacityChartProps {
  readonly epoch: readonly number[]
  readonly estimate: Values
  readonly used: Values
  readonly reserved: Values
  readonly profile: number
  readonly ends: ValueEnds
  /** Formats a value, and a tick, without the unit. */
  readonly formatValue: (value: number) => string
  readonly formatTick: (value: number) => string
  /** Marks with their positions, computed once the width is known. */
  readonly place: (xOf: (epoch: number) => number, to: number) => readonly PlacedEpoch[]
  readonly label: string
  /** Lines that the legend hides: `estimate`, `used`, `profile`. */
  readonly hidden?: ReadonlySet<string> | undefined
}
interface PlacedEpoch {
  readonly epoch: number
  readonly text: string
  readonly isLeft: boolean
  /** Line of text, from the bottom. */
  readonly line: number
}

/** About the width of a character, px. */
const CHAR_PX = 5.4
/** Height of a label above its line, and of a line of text, px. */
const ABOVE_PX = 8
const LINE_PX = 13

/** Periods at both ends and in the middle; the first one is named. */
export function epochTicks({ min, max }: Ends): AxisTick[] {
  const first = Math.ceil(min)
  const last = Math.floor(max)
  const middle = Math.round((first + last) / 2)
  return [
    { at: first, text: `period ${first}` },
    ...(last - first > 3 ? [{ at: middle, text: String(middle) }] : []),
    ...(last > first ? [{ at: last, text: String(last) }] : []),
  ]
}

/** Labels of the two levels, above them and apart; at the left if labels of marks are in the way. */
function levelTexts(props: CapacityChartProps, marks: readonly PlacedEpoch[], p: Palette, area: PlotArea): Text[] {
  const { formatValue, hidden } = props
  const reserved = props.reserved.findLast((v) => v !== null) ?? null
  const profile = hidden?.has('profile') === true ? 0 : props.profile
  const wanted = [
    ...(profile > 0 ? [{ value: profile, text: `profile ${formatValue(profile)}`, color: p['text-2'] }] : []),
    ...(reserved !== null && reserved > 0
      ? [{ value: reserved, text: `reserved ${formatValue(reserved)}`, color: p['div-neg-text'] }]
      : []),
  ]
  const lines = spread(
    wanted.map(({ value }) => area.y(value) - ABOVE_PX),
    12,
    { min: 6, max: area.floor - 7 },
  )
  const isOverMark = (from: number, wide: number, y: number): boolean =>
    marks.some(({ epoch, text, isLeft, line }) => {
      const own = text.length * CHAR_PX + 4
      const start = isLeft ? area.x(epoch) - own : area.x(epoch)
      const markY = area.floor - 10 - line * LINE_PX
      return Math.abs(markY - y) < 12 && start < from + wide && from < start + own
    })
  return wanted.map(({ value, text, color }, i): Text => {
    const at = lines[i] ?? 0
    const wide = text.length * CHAR_PX
    // Placed beside its line at the right, else at the left, else as far above the other labels as needed.
    const places = [0, 1, 2, 3].flatMap((up) => [
      { y: at - up * LINE_PX, isLeft: false, from: area.right - wide },
      { y: at - up * LINE_PX, isLeft: true, from: area.left },
    ])
    const free = places.find(({ y, from }) => y > 5 && !isOverMark(from, wide, y)) ?? places[1]
    const dy = (free?.y ?? at) - area.y(value)
    return { at: free?.isLeft ? 'start' : 'end', side: free?.isLeft ? 'right' : 'left', value, dy, text, color }
  })
}

function placed(props: CapacityChartProps, p: Palette, area: PlotArea): Placed {
  const marks = props
    .place(area.x, area.right)
    .filter(({ epoch }) => area.x(epoch) >= area.left && area.x(epoch) <= area.right)
  const stroke = { color: p['line-3'], width: 1, dash: [3, 3] }
  return {
    segments: marks.map(({ epoch }): Segment => {
      const x = Math.round(area.x(epoch)) + 0.5
      return { from: [x, area.top - 4], to: [x, area.floor], stroke }
    }),
    texts: [
      ...marks.map(({ epoch, text, isLeft, line }): Text => ({
        at: epoch,
        value: 'bottom',
        side: isLeft ? 'left' : 'right',
        dy: -10 - line * LINE_PX,
        text,
      })),
      ...levelTexts(props, marks, p, area),
    ],
  }
}

/** Periods without an estimate between those with one. */
export const capacityGaps = ({
  epoch,
  estimate,
}: Pick<CapacityChartProps, 'epoch' | 'estimate'>): [from: number, to: number][] => gapSpans(epoch, estimate)

export function capacityPicture(props: CapacityChartProps, p: Palette): Picture {
  const { epoch: t, ends, profile, hidden } = props
  const from = t[0] ?? 0
  const isShown = (id: string): boolean => hidden?.has(id) !== true
  const lines = [
    {
      name: 'used',
      values: props.used,
      fill: { color: p['ink-3'], opacity: 0.12 },
      stroke: { color: p['ink-3'], width: 1 },
    },
    { name: 'reserved', values: props.reserved, stroke: { color: p['div-neg'], width: 1.4, dash: [2, 3] } },
    { name: 'estimate', values: props.estimate, stroke: { color: p.accent, width: 1.8 } },
  ]
  return {
    from,
    to: Math.max(from + 1, t.at(-1) ?? 0),
    ends,
    margins: { left: 46, right: 14, top: 12, bottom: 20 },
    ticks: (axis) => (t.length === 0 ? [] : t.length === 1 ? epochTicks({ min: from, max: from }) : epochTicks(axis)),
    formatTick: props.formatTick,
    formatValue: props.formatValue,
    formatAt: (at) => `period ${Math.round(at)}`,
    ranges: capacityGaps(props).map(([start, end]) => ({ from: start, to: end, fill: 'gap' })),
    layers: lines.filter(({ name }) => isShown(name)).map((line) => ({ ...line, t })),
    levels:
      profile > 0 && isShown('profile')
        ? [{ value: profile, stroke: { color: p['text-2'], width: 1, dash: [5, 3] } }]
        : [],
    placed: (area) => placed(props, p, area),
  }
}
