/**
 * Areas that are distinguishable without hue: a color with strokes of the background over it, on canvas and in CSS
 * alike.
 */
import { inkToken, inkVar, palette, type Token } from '../theme/palette.ts'
import type { Decal } from './picture.ts'

export type Pattern = 'solid' | 'rise' | 'dots' | 'level' | 'fall' | 'upright'

/** Style of a series in a figure, by its index. */
export interface Look {
  /** Color 1..7, 0 for gray. */
  readonly ink: number
  readonly pattern: Pattern
  /** Dashed line. */
  readonly isDashed: boolean
}

const JOBS: readonly Look[] = [
  { ink: 1, pattern: 'solid', isDashed: false },
  { ink: 2, pattern: 'rise', isDashed: true },
  { ink: 3, pattern: 'dots', isDashed: false },
  { ink: 6, pattern: 'level', isDashed: true },
  { ink: 4, pattern: 'fall', isDashed: false },
  { ink: 5, pattern: 'upright', isDashed: true },
]
/** Controllers: none, static, the paper's own; a comparison with one of them uses the same style. */
const VARIANTS: readonly Look[] = [
  { ink: 0, pattern: 'dots', isDashed: true },
  { ink: 2, pattern: 'rise', isDashed: true },
  { ink: 1, pattern: 'solid', isDashed: false },
]
const at = (looks: readonly Look[], place: number): Look => looks[place % looks.length]!
export const jobLook = (place: number): Look => at(JOBS, place)
export const variantLook = (place: number): Look => at(VARIANTS, place)
/** Styles of a counted measure (solid) and the one it is compared with (dashed). */
export const measureLook = (place: number): Look => ({
  ink: place === 0 ? 1 : 2,
  pattern: 'solid',
  isDashed: place > 0,
})

export const inkOf = ({ ink }: Look): Token => inkToken(ink)

/** CSS background of a swatch or a bar. */
export function patternCss({ ink, pattern }: Look): { background: string } {
  const ground = 'var(--bg-surface)'
  const stripes = (angle: number): string =>
    `repeating-linear-gradient(${angle}deg, ${ground} 0 1.5px, transparent 1.5px 4.5px)`
  const images: Readonly<Record<Pattern, string>> = {
    solid: '',
    rise: stripes(135),
    fall: stripes(45),
    level: stripes(0),
    upright: stripes(90),
    dots: `radial-gradient(${ground} 1.1px, transparent 1.3px) 0 0 / 4px 4px`,
  }
  return { background: `${images[pattern]} ${inkVar(ink)}`.trim() }
}

type Strokes = Omit<Decal, 'color'>
const stripes = (rotation: number): Strokes => ({
  symbol: 'rect',
  dashArrayX: [1, 0],
  dashArrayY: [1, 4],
  rotation,
})
const STROKES: Readonly<Record<Exclude<Pattern, 'solid'>, Strokes>> = {
  rise: stripes(-Math.PI / 4),
  fall: stripes(Math.PI / 4),
  level: stripes(0),
  upright: stripes(Math.PI / 2),
  dots: { symbol: 'circle', dashArrayX: [2, 4], dashArrayY: [2, 4], rotation: 0 },
}
/** The same strokes over an area of a chart; none over a solid one. */
export const decalOf = ({ pattern }: Look): Decal | undefined =>
  pattern === 'solid' ? undefined : { ...STROKES[pattern], color: palette.value['bg-surface'] }
