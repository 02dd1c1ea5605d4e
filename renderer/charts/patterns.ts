/**
 * Areas that are distinguishable without hue: a color with strokes of the background over it, on canvas and in CSS
 * alike.
 */
import { inkToken, inkVar, palette, type Token } from '../theme/palette.ts'

export type Pattern = 'solid' | 'rise' | 'dots' | 'level' | 'fall' | 'upright'

/** Style of a series in a figure, by its index. */
export interface Look {
  /** Color 1..7, 0 for grey. */
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

const SIZE = 6
/** Opacity of the strokes: lets enough color through for thin areas. */
const STROKE = 0.72
const tiles = new Map<string, HTMLCanvasElement>()

/** The same as a repeating image; the plain color if there is no canvas. */
export function patternFill(look: Look): string | { image: HTMLCanvasElement; repeat: 'repeat' } {
  const ink = palette.value[inkOf(look)]
  const ground = palette.value['bg-surface']
  if (look.pattern === 'solid') return ink
  const key = `${ink} ${ground} ${look.pattern}`
  const image = tiles.get(key) ?? paint(ink, ground, look.pattern)
  if (image === null) return ink
  tiles.set(key, image)
  return { image, repeat: 'repeat' }
}

function paint(ink: string, ground: string, pattern: Pattern): HTMLCanvasElement | null {
  const tile = document.createElement('canvas')
  tile.width = tile.height = SIZE
  const context = tile.getContext('2d')
  if (context === null) return null
  context.fillStyle = ink
  context.fillRect(0, 0, SIZE, SIZE)
  context.strokeStyle = context.fillStyle = ground
  context.lineWidth = 1.25
  context.globalAlpha = STROKE
  context.beginPath()
  const line = (x1: number, y1: number, x2: number, y2: number): void => {
    context.moveTo(x1, y1)
    context.lineTo(x2, y2)
  }
  const middle = SIZE / 2
  if (pattern === 'level') line(0, middle, SIZE, middle)
  if (pattern === 'upright') line(middle, 0, middle, SIZE)
  // Slanted strokes continue into the neighboring tiles.
  for (const shift of [-SIZE, 0, SIZE]) {
    if (pattern === 'rise') line(shift - 1, SIZE + 1, shift + SIZE + 1, -1)
    if (pattern === 'fall') line(shift - 1, -1, shift + SIZE + 1, SIZE + 1)
  }
  context.stroke()
  if (pattern === 'dots') {
    context.arc(middle, middle, 1.2, 0, 2 * Math.PI)
    context.fill()
  }
  return tile
}
