/**
 * The page's script is self-contained and has its own formatting code. This test compares it with the product's
 * formatters: same inputs, same texts.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { formatClock, formatDate } from '#core/base/clock-text.ts'
import { formatNumber, formatRate, formatSpan, formatTick, NOTHING } from '#core/base/figure-text.ts'
import { niceMax, tickStep } from '#core/base/scale.ts'

interface Scale {
  readonly divisor: number
  readonly decimals: number
  readonly unit: string
}
interface Figures {
  readonly NOTHING: string
  number(value: number | null | undefined, decimals?: number): string
  tick(value: number): string
  clock(ms: number, seconds?: boolean, decimals?: number): string
  day(ms: number): string
  lengthOf(ms: number): string
  scaleOf(most: number, of: string, unit: string): Scale
  scaled(value: number | null, scale: Scale): string
}
interface Plot {
  niceEnd(value: number): { readonly max: number; readonly step: number }
}

const part = async (name: string): Promise<unknown> =>
  import(pathToFileURL(join(import.meta.dirname, '../../../resources/replay', name)).href)
let figures: Figures
let plot: Plot
beforeAll(async () => {
  // The page's data, irrelevant to a scale.
  vi.stubGlobal('document', { getElementById: () => ({ textContent: '{"t":[],"gaps":[],"events":[]}' }) })
  figures = (await part('figures.js')) as Figures
  plot = (await part('plot.js')) as Plot
})
afterAll(() => void vi.unstubAllGlobals())

/** Figures of every magnitude, and those at which the unit or a digit changes. */
const edge = fc
  .tuple(fc.integer({ min: -3, max: 13 }), fc.constantFrom(-1e-6, 0, 1e-6), fc.constantFrom(1, 1.5, 2, 2.5, 3, 5, 8))
  .map(([power, off, lead]) => lead * 10 ** power * (1 + off))
const size = fc.oneof(edge, fc.double({ min: 0, max: 1e13, noNaN: true }), fc.integer({ min: 0, max: 2_000_000 }))
const signed = fc.tuple(size, fc.boolean()).map(([v, isBelow]) => (isBelow ? -v : v))
const instant = fc.integer({ min: 0, max: Date.UTC(2200, 0) })

it('numbers', () => {
  fc.assert(
    fc.property(signed, fc.integer({ min: 0, max: 3 }), (value, decimals) => {
      expect(figures.number(value, decimals)).toBe(formatNumber(value, decimals))
    }),
  )
  for (const none of [null, undefined, NaN, Infinity, -Infinity]) expect(figures.number(none)).toBe(formatNumber(none))
  expect(figures.NOTHING).toBe(NOTHING)
})

it('labels of axes, and where axes end', () => {
  fc.assert(
    fc.property(signed, (value) => {
      expect(figures.tick(value)).toBe(formatTick(value))
    }),
  )
  fc.assert(
    fc.property(
      size.map((v) => (v < 1e-9 ? 0 : v)),
      (value) => {
        const max = niceMax(value)
        const end = plot.niceEnd(value)
        expect(end.max).toBe(max)
        if (value > 0) expect(end.step).toBeCloseTo(tickStep(max), 9 - Math.ceil(Math.log10(max)))
      },
    ),
  )
})

it('bytes a second', () => {
  fc.assert(
    fc.property(size, (value) => {
      const ours = formatRate(value)
      const scale = figures.scaleOf(value, 'bytes', '')
      expect([figures.scaled(value, scale), scale.unit]).toEqual([ours.text, ours.unit])
    }),
  )
})

it('the clock and the day', () => {
  fc.assert(
    fc.property(instant, fc.boolean(), fc.integer({ min: 0, max: 3 }), (ms, seconds, decimals) => {
      expect(figures.clock(ms, seconds, decimals)).toBe(formatClock(ms, seconds, decimals))
      expect(figures.day(ms)).toBe(formatDate(ms))
    }),
  )
})

it('lengths of whole seconds', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400_000 }), (s) => {
      expect(figures.lengthOf(s * 1000)).toBe(formatSpan(s * 1000))
    }),
  )
})
