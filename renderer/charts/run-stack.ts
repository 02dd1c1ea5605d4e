/** Picture of the rates of jobs in a run, from 0 s on, stacked. */
import { inkToken, type Palette } from '../theme/palette.ts'
import { formatFigure } from './facts.ts'
import type { Picture } from './picture.ts'
import { tickStep } from './scale.ts'
import { formatRunTime, secondsAxis } from './time-unit.ts'

export interface RunStackProps {
  /** Times, s. */
  readonly t: readonly number[]
  readonly series: readonly { readonly id: string; readonly colour: number; readonly values: readonly number[] }[]
  /** Maximum of the value axis, in the unit of the values, and the divisor of its labels. */
  readonly top: number
  readonly divisor: number
  /** End of the time axis, s. */
  readonly toS: number
  /** Start of the policy, s; null: from the start, or never. */
  readonly onS: number | null
  readonly label: string
  readonly at: number | null
  readonly selected: string | null
  /** Jobs linked to the selection: they stay bright with it. */
  readonly linked?: ReadonlySet<string> | undefined
  /** Jobs that the legend hides. */
  readonly hidden?: ReadonlySet<string> | undefined
}

/** Start of the policy within the run, s. */
export const policyStart = ({ onS, toS }: Pick<RunStackProps, 'onS' | 'toS'>): number | null =>
  onS !== null && onS > 0 && onS < toS ? onS : null

/** Part of the axis after which the text of the policy is at the left of its mark. */
const LATE = 0.75

export function runStackPicture(props: RunStackProps, p: Palette): Picture {
  const { t, top, divisor, toS, selected, linked } = props
  const series = props.series.filter(({ id }) => props.hidden?.has(id) !== true)
  const isBright = (id: string): boolean => id !== '' && (id === selected || linked?.has(id) === true)
  const isChosen = series.some(({ id }) => isBright(id))
  const opacity = (id: string): number => (isChosen && !isBright(id) ? 0.28 : id === '' ? 0.55 : 0.82)
  const start = policyStart(props)
  return {
    from: 0,
    to: toS,
    ends: { min: 0, max: top, step: tickStep(top / divisor) * divisor },
    divisor,
    ticks: secondsAxis,
    formatValue: (value) => formatFigure(value / divisor),
    formatAt: (at) => formatRunTime(at, toS),
    margins: { left: 34, right: 12, top: 8, bottom: 18 },
    layers: series.map(({ id, colour, values }) => ({
      name: id || 'other',
      color: p[inkToken(colour)],
      t,
      values,
      stack: 'jobs',
      fill: { color: p[inkToken(colour)], opacity: opacity(id) },
      stroke: { color: p['bg-surface'], width: 0.8 },
    })),
    marks: start === null ? [] : [{ at: start, stroke: { color: p['text-2'], width: 1, dash: [3, 3] } }],
    texts:
      start === null
        ? []
        : [{ at: start, value: 'top', text: 'policy on', side: start > toS * LATE ? 'left' : 'right', dy: 1 }],
  }
}
