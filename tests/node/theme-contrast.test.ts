/** WCAG 2.2 contrast ratios of tokens.css, in every theme: text, data marks, and the focus ring. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

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
    const asked = [...selector.matchAll(/\[data-(\w+)='([\w-]+)'\]/g)]
    const all = asked.every(([, name = '', value]) => (look as unknown as Record<string, string>)[name] === value)
    return all ? asked.length : 0
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
function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0)
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
const marks = [
  ...[1, 2, 3, 4, 5, 6, 7, 'other'].map((n) => `ink-${n}`),
  'div-neg',
  'div-zero',
  'div-pos',
  'crosshair',
  'water',
]

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

it('keeps a theme in high contrast complete: whatever a theme colours, it colours anew', () => {
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
