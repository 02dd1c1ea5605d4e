/**
 * Theme tokens for canvas. Canvas cannot read CSS variables, so they are read once per theme change; all drawing
 * depends on `palette` and redraws when it is replaced. Nothing here reads CSS per frame.
 */
import { shallowRef } from 'vue'
import { COLORS, secondShade } from '#core/base/categorical-color.ts'

/** Tokens that are read as they are. */
const names = [
  'bg-surface',
  'bg-sunken',
  'bg-chrome',
  'bg-raised',
  'text-1',
  'text-2',
  'text-3',
  'accent',
  'note',
  'ok',
  'watch',
  'bad',
  'idle',
  'grid',
  'axis',
  'crosshair',
  'gap-hatch',
  'water',
  'div-neg',
  'div-neg-text',
  'div-zero',
  'div-pos',
  'line-2',
  'line-3',
  'ink-1',
  'ink-2',
  'ink-3',
  'ink-4',
  'ink-5',
  'ink-6',
  'ink-7',
  'ink-other',
  'seq-0',
  'seq-1',
  'seq-2',
  'seq-3',
  'seq-4',
  'seq-5',
  'seq-6',
  'seq-7',
  'seq-8',
  'seq-9',
  'font-ui',
] as const
/** Second shades of the inks: tokens.css mixes them in CSS, here they are computed for canvas. */
const shades = ['ink-8', 'ink-9', 'ink-10', 'ink-11', 'ink-12', 'ink-13', 'ink-14'] as const
type Shade = (typeof shades)[number]
/** Name of a token without its leading dashes. */
export type Token = (typeof names)[number] | Shade
/** Resolved values of all tokens used for drawing. */
export type Palette = Readonly<Record<Token, string>>

/** Color as `#rrggbb`: with forced colors a token is a system color, which a canvas resolves. */
function resolved(color: string): string {
  if (color === '' || color.startsWith('#')) return color
  const context = document.createElement('canvas').getContext('2d')
  if (!context) return color
  context.fillStyle = color
  return context.fillStyle
}

function read(): Palette {
  const style = typeof document === 'undefined' ? null : getComputedStyle(document.documentElement)
  const values = Object.fromEntries(
    names.map((name) => [name, style?.getPropertyValue(`--${name}`).trim() ?? '']),
  ) as Record<Token, string>
  const text = resolved(values['text-1'])
  shades.forEach((shade, i) => {
    values[shade] = secondShade(values[`ink-${i + 1}` as Token], text)
  })
  return values
}

/** Palette of the current theme. */
export const palette = shallowRef<Palette>(read())

/** Reads the tokens again after a change of theme or contrast. */
export function refreshPalette(): void {
  palette.value = read()
}

/** Color of a series: 1 to 14 categorical, from 8 on second shades; anything else the gray of `other`. */
export const inkToken = (colour: number): Token =>
  colour >= 1 && colour <= COLORS ? (`ink-${colour}` as Token) : 'ink-other'

/** The same as a CSS variable. */
export const inkVar = (colour: number): string => `var(--${inkToken(colour)})`

/** Cividis, interpolated linearly between the ten sequential tokens; `share` is clamped to 0..1. */
export function heatVar(share: number): string {
  const x = Math.max(0, Math.min(1, share)) * 9
  const low = Math.min(8, Math.floor(x))
  const percent = Math.round((x - low) * 100)
  return `color-mix(in srgb, var(--seq-${low + 1}) ${percent}%, var(--seq-${low}))`
}
