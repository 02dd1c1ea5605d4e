/**
 * WCAG 2.2 contrast ratios of tokens.css, in every theme: text, data marks, and the focus ring; and distances of the chart
 * inks, also as seen with color blindness.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COLORS, HUES, secondShade } from '#core/base/categorical-color.ts'
import { LIGHT } from '#core/snapshot/chart-svg.ts'

type Tokens = ReadonlyMap<string, string>
interface Look {
  readonly theme: 'dark' | 'light'
  readonly contrast: 'normal' | 'high'
  readonly series: string
  readonly heat: string
}

/** Blocks of the style sheet in order: selectors and declarations. */
const sheet = readFileSync(join(import.meta.dirname, '../../renderer/theme/tokens.css'), 'utf8').replace(
  /\/\*[\s\S]*?\*\//g,
  '',
)
const blocks = [
  ...sheet.replace(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, '').matchAll(/([^{}]+)\{([^{}]*)\}/g),
].map(([, selectors = '', body = '']) => ({
  selectors: selectors.split(',').map((s) => s.trim()),
  tokens: [...body.matchAll(/--([\w-]+):\s*([^;]+);/g)].map(
    ([, name = '', value = '']) => [name, value.trim()] as const,
  ),
}))

/** Tokens of one look, by the cascade: more attributes win, later wins among equals. */
function tokensOf(look: Look): Tokens {
  const holds = (selector: string): number => {
    if (selector === ':root') return 1
    const requests = [...selector.matchAll(/\[data-(\w+)='([\w-]+)'\]/g)]
    const all = requests.every(([, name = '', value]) => (look as unknown as Record<string, string>)[name] === value)
    return all ? requests.length : 0
  }
  const won = new Map<string, { weight: number; value: string }>()
  for (const { selectors, tokens } of blocks) {
    const weight = Math.max(...selectors.map(holds))
    if (weight === 0) continue
    for (const [name, value] of tokens) if (weight >= (won.get(name)?.weight ?? 0)) won.set(name, { weight, value })
  }
  return new Map([...won].map(([name, { value }]) => [name, value]))
}

type Rgb = readonly [number, number, number]
function colour(tokens: Tokens, name: string): { rgb: Rgb; alpha: number } {
  const value = tokens.get(name) ?? ''
  const other = /^var\(--([\w-]+)\)$/.exec(value)
  if (other) return colour(tokens, other[1] ?? '')
  const mix = /^color-mix\(in srgb, var\(--([\w-]+)\) 55%, var\(--([\w-]+)\)\)$/.exec(value)
  if (mix) {
    const [a, b] = [colour(tokens, mix[1] ?? '').rgb, colour(tokens, mix[2] ?? '').rgb]
    const part = (i: 0 | 1 | 2): number => 0.55 * a[i] + 0.45 * b[i]
    return { rgb: [part(0), part(1), part(2)], alpha: 1 }
  }
  if (!/^#(?:[0-9a-f]{6}|[0-9a-f]{8})$/.test(value)) throw new Error(`--${name} is no colour: ${value}`)
  const part = (at: number): number => parseInt(value.slice(at, at + 2), 16)
  return { rgb: [part(1), part(3), part(5)], alpha: value.length === 9 ? part(7) / 255 : 1 }
}
/** Colour of a token on a surface. */
function seen(tokens: Tokens, name: string, on: Rgb): Rgb {
  const { rgb, alpha } = colour(tokens, name)
  const mix = (i: 0 | 1 | 2): number => rgb[i] * alpha + on[i] * (1 - alpha)
  return [mix(0), mix(1), mix(2)]
}
/** Linear light, 0 to 1. */
const linear = (rgb: Rgb): Rgb => {
  const of = (v: number): number => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)
  return [of(rgb[0]), of(rgb[1]), of(rgb[2])]
}
function luminance(rgb: Rgb): number {
  const [r, g, b] = linear(rgb)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

type Matrix = readonly [Rgb, Rgb, Rgb]
const times = (m: Matrix, [r, g, b]: Rgb): Rgb => {
  const row = (i: 0 | 1 | 2): number => m[i][0] * r + m[i][1] * g + m[i][2] * b
  return [row(0), row(1), row(2)]
}
/**
 * Complete color blindness in linear light. Source: Machado, Oliveira, Fernandes, "A physiologically-based model for simulation
 * of color vision deficiency", IEEE TVCG 2009, severity 1.
 */
const BLINDNESS: Readonly<Record<'none' | 'protanopia' | 'deuteranopia', Matrix>> = {
  none: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
}
/** sRGB to XYZ of D65, relative to white. */
const XYZ: Matrix = [
  [0.4339, 0.3762, 0.1898],
  [0.2126, 0.7152, 0.0722],
  [0.0178, 0.1095, 0.8728],
]
/** CIE L*a*b* as seen. */
function lab(rgb: Rgb, blindness: keyof typeof BLINDNESS): Rgb {
  const [r, g, b] = times(BLINDNESS[blindness], linear(rgb))
  const clip = (v: number): number => Math.min(1, Math.max(0, v))
  const [x, y, z] = times(XYZ, [clip(r), clip(g), clip(b)])
  const f = (t: number): number => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116)
  return [116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))]
}
/** Pairs that are closer than `least`, with their distance. */
function near(tokens: Tokens, names: readonly string[], least: number, blindness: keyof typeof BLINDNESS): string[] {
  const seenAs = names.map((name) => lab(colour(tokens, name).rgb, blindness))
  return names.flatMap((a, i) =>
    names.slice(i + 1).flatMap((b, k) => {
      const [p, q] = [seenAs[i] as Rgb, seenAs[i + 1 + k] as Rgb]
      const distance = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2])
      return distance >= least ? [] : [`${a} and ${b}: ${distance.toFixed(1)}`]
    }),
  )
}
function ratio(a: Rgb, b: Rgb): number {
  const x = luminance(a)
  const y = luminance(b)
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)
}

const surfaces = ['bg-chrome', 'bg-canvas', 'bg-surface', 'bg-raised', 'bg-sunken', 'bg-hover', 'bg-select']
/** Backgrounds of charts, sparklines and marks. */
const plots = ['bg-canvas', 'bg-surface', 'bg-raised']
const words = ['text-1', 'text-2', 'text-3']
const meanings = ['accent', 'ok', 'watch', 'bad', 'idle', 'note', 'div-neg-text', 'div-pos-text', 'env-ink']
const inks = [1, 2, 3, 4, 5, 6, 7, 'other'].map((n) => `ink-${n}`)
/** Mixed with the text color in tokens.css. */
const secondShades = [8, 9, 10, 11, 12, 13, 14].map((n) => `ink-${n}`)
const marks = [...inks, ...secondShades, 'div-neg', 'div-zero', 'div-pos', 'crosshair', 'water']

/** Pairs below their ratio, with the actual one. */
function below(tokens: Tokens, names: readonly string[], grounds: readonly string[], least: number): string[] {
  return names.flatMap((name) =>
    grounds.flatMap((ground) => {
      const on = colour(tokens, ground).rgb
      const has = ratio(seen(tokens, name, on), on)
      return has >= least ? [] : [`${name} on ${ground}: ${has.toFixed(2)}`]
    }),
  )
}

const looks = (['dark', 'light'] as const).flatMap((theme) =>
  (['normal', 'high'] as const).map((contrast) => ({ theme, contrast, heat: 'cividis' })),
)

describe.each(looks)('$theme, contrast $contrast', (look) => {
  const tokens = tokensOf({ ...look, series: 'okabe-ito' })
  const isHigh = look.contrast === 'high'

  it('reads on every surface', () => {
    expect(below(tokens, words, surfaces, isHigh ? 7 : 4.5)).toEqual([])
    expect(below(tokens, meanings, surfaces, isHigh ? 7 : 4.5)).toEqual([])
  })
  it('reads on the tints of a status, on the accent and on a commit button', () => {
    const tints = ['ok', 'watch', 'bad', 'idle', 'note', 'accent'].flatMap((name) => {
      const ground = seen(tokens, `${name}-bg`, colour(tokens, 'bg-surface').rgb)
      const has = ratio(colour(tokens, name).rgb, ground)
      return has >= (isHigh ? 7 : 4.5) ? [] : [`${name} on its tint: ${has.toFixed(2)}`]
    })
    expect(tints).toEqual([])
    expect(below(tokens, ['on-accent'], ['accent'], isHigh ? 7 : 4.5)).toEqual([])
    const buttons = ['prod', 'stage', 'dev', 'demo'].map((env) => `env-${env}-btn`)
    expect(below(tokens, ['on-env'], buttons, isHigh ? 7 : 4.5)).toEqual([])
  })
  it.each(['okabe-ito', 'tol-muted'])('draws marks and lines that are seen, %s', (series) => {
    expect(below(tokensOf({ ...look, series }), marks, plots, isHigh ? 4.5 : 3)).toEqual([])
  })
  it.each(['okabe-ito', 'tol-muted'])('draws series whose colors differ, also for the color-blind, %s', (series) => {
    const drawn = tokensOf({ ...look, series })
    for (const blindness of ['none', 'protanopia', 'deuteranopia'] as const)
      expect([blindness, ...near(drawn, inks, 10, blindness)]).toEqual([blindness])
    // Fourteen colors are more than the color-blind can tell apart.
    expect(near(drawn, [...inks, ...secondShades], 8, 'none')).toEqual([])
  })
  it('rings what has the focus', () => {
    expect(below(tokens, ['accent'], surfaces, isHigh ? 4.5 : 3)).toEqual([])
    expect(tokens.get('focus')).toContain(isHigh ? '0 0 0 5px var(--accent)' : '0 0 0 4px var(--accent)')
    expect(tokens.get('focus')).toContain('0 0 0 2px var(--bg-canvas)')
  })
  if (isHigh)
    it('edges controls and axes', () => {
      expect(below(tokens, ['line-2', 'line-3', 'axis'], plots, 4.5)).toEqual([])
      expect(below(tokens, ['line-1'], plots, 3)).toEqual([])
    })
})

it('keeps a theme in high contrast complete: every color of a theme is set again', () => {
  const own = (selector: string): string[] =>
    blocks.find((b) => b.selectors.includes(selector))!.tokens.map(([name]) => name)
  for (const theme of ['dark', 'light'] as const)
    expect(own(`[data-theme='${theme}'][data-contrast='high']`)).toEqual(
      expect.arrayContaining(own(`[data-theme='${theme}']`)),
    )
})

it.each(['cividis', 'viridis', 'grey'])('steps heat from dark to light without turning back, %s', (heat) => {
  const tokens = tokensOf({ theme: 'dark', contrast: 'normal', series: 'okabe-ito', heat })
  const steps = Array.from({ length: 10 }, (_, i) => luminance(colour(tokens, `seq-${i}`).rgb))
  expect(steps).toEqual([...steps].sort((a, b) => a - b))
  expect(new Set(steps).size).toBe(10)
})

it('computes the second shades for canvas as the style sheet mixes them, and charts in files have those of the light theme', () => {
  const hex = (rgb: Rgb): string => `#${rgb.map((v) => Math.round(v).toString(16).padStart(2, '0')).join('')}`
  const light = tokensOf({ theme: 'light', contrast: 'normal', series: 'okabe-ito', heat: 'cividis' })
  const of = (name: string): string => hex(colour(light, name).rgb)
  for (let n = 1; n <= HUES; n++) expect(secondShade(of(`ink-${n}`), of('text-1'))).toBe(of(`ink-${n + HUES}`))
  expect(LIGHT.inks).toEqual(['other', ...Array.from({ length: COLORS }, (_, i) => i + 1)].map((n) => of(`ink-${n}`)))
  expect(secondShade('', 'CanvasText')).toBe('')
})
