/**
 * Theme tokens for canvas. Canvas cannot read CSS variables, so they are read once per theme change; all drawing
 * depends on `palette` and redraws when it is replaced. Nothing here reads CSS per frame.
 */
import { shallowRef } from 'vue'

const names = [
  'bg-surface',
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
  'font-ui',
] as const
/** Name of a token without its leading dashes. */
export type Token = (typeof names)[number]
/** Resolved values of all tokens used for drawing. */
export type Palette = Readonly<Record<Token, string>>

function read(): Palette {
  const style = typeof document === 'undefined' ? null : getComputedStyle(document.documentElement)
  return Object.fromEntries(names.map((name) => [name, style?.getPropertyValue(`--${name}`).trim() ?? ''])) as Palette
}

/** Palette of the current theme. */
export const palette = shallowRef<Palette>(read())

/** Reads the tokens again after a change of theme or contrast. */
export function refreshPalette(): void {
  palette.value = read()
}

/** Color of a series: 1..7 categorical, anything else the grey of `other`. */
export const inkToken = (colour: number): Token =>
  colour >= 1 && colour <= 7 ? (`ink-${colour}` as Token) : 'ink-other'

/** The same as a CSS variable. */
export const inkVar = (colour: number): string => `var(--${inkToken(colour)})`

/** Cividis, interpolated linearly between the ten sequential tokens; `share` is clamped to 0..1. */
export function heatVar(share: number): string {
  const x = Math.max(0, Math.min(1, share)) * 9
  const low = Math.min(8, Math.floor(x))
  const percent = Math.round((x - low) * 100)
  return `color-mix(in srgb, var(--seq-${low + 1}) ${percent}%, var(--seq-${low}))`
}
