import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { placedOf, textsOf, wordsOf } from '#tests/kits/renderer/picture-parts.ts'
import { palette } from '../theme/palette.ts'
import { isKnown } from '../widgets/canvas.ts'
import { poolPicture, splitAtZero, type PoolChartProps } from './pool-chart.ts'
import { gaugePicture, type PoolGaugeProps } from './pool-gauge.ts'

const p = palette.value
const value = fc.option(fc.integer({ min: -50, max: 50 }), { nil: null })

describe('the pool above and below zero', () => {
  it('is the same line, with both parts ending at zero where it is crossed', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 30 }), (values) => {
        const t = values.map((_, i) => 10 * i)
        const { above, below } = splitAtZero(t, values)
        expect(above.t).toEqual([...above.t].sort((a, b) => a - b))
        above.t.forEach((at, i) => {
          const parts = [above.values[i], below.values[i]].filter(isKnown)
          expect(parts.every((v, n) => (n === 0 && isKnown(above.values[i]) ? v >= 0 : v <= 0))).toBe(true)
          const of = t.indexOf(at)
          // Between two instants there are only crossings.
          expect(of < 0 ? parts : parts.slice(0, 1)).toEqual(of < 0 ? [0, 0] : isKnown(values[of]) ? [values[of]] : [])
        })
      }),
    )
  })
  it('crosses zero in proportion, and not over a gap', () => {
    expect(splitAtZero([0, 10], [3, -1])).toEqual({
      above: { t: [0, 7.5, 10], values: [3, 0, null] },
      below: { t: [0, 7.5, 10], values: [null, 0, -1] },
    })
    expect(splitAtZero([0, 10, 20], [3, null, -1]).above).toEqual({ t: [0, 10, 20], values: [3, null, null] })
  })
})

const chart: PoolChartProps = {
  t: [0, 250, 500, 750, 1000],
  pool: [300, 200, null, 50, -40],
  unconverted: [],
  toMs: 1000,
  ends: { min: -60, max: 340, step: 100 },
  timeTicks: [0, 500, 1000].map((ms) => ({ ms, text: String(ms) })),
  divisor: 1,
  atMs: 750,
  lowest: { value: -40, atMs: 900, text: 'lowest -40' },
  label: 'Pool',
}

describe('the chart of the pool', () => {
  it('hatches gaps, shades what is later than the cursor, and marks the cursor', () => {
    const { ranges, marks } = poolPicture(chart, p)
    expect(ranges?.map(({ from, to }) => [from, to])).toEqual([
      [250, 750],
      [750, 1000],
    ])
    expect(marks?.map(({ at }) => at)).toEqual([750])
    expect(poolPicture({ ...chart, atMs: null }, p).ranges).toHaveLength(1)
  })
  it('has round ticks above zero, one below it, and the given ticks until it is zoomed', () => {
    const { valueTicks, ticks, formatTick } = poolPicture(chart, p)
    expect(valueTicks).toEqual([-50, 0, 100, 200, 300])
    expect(formatTick?.(-50)).toBe('\u221250')
    expect(ticks?.({ min: 0, max: 1000 }, 500).map(({ text }) => text)).toEqual(['0', '500', '1000'])
    const zoomed = ticks?.({ min: 200, max: 400 }, 500).map(({ at }) => at) ?? []
    expect(zoomed.length).toBeGreaterThan(2)
    expect(zoomed.every((at) => at >= 200 && at <= 400)).toBe(true)
  })
  it('joins the lowest mark with its text, on the side with space, above zero if debt fills the space below', () => {
    const { segments = [], texts = [] } = placedOf(poolPicture(chart, p))
    expect(segments).toHaveLength(2)
    expect(segments[0]?.to).toEqual(segments[1]?.from)
    expect(texts.map(({ side, text }) => [side, text])).toEqual([['left', 'lowest -40']])
    const deep = poolPicture({ ...chart, lowest: { value: -900, atMs: 100, text: 'lowest -900' } }, p)
    expect(textsOf(deep)).toMatchObject([{ side: 'right', dy: -13, text: 'lowest -900, off the scale' }])
    const { segments: none } = placedOf({ ...poolPicture(chart, p), from: 0, to: 500 })
    expect(none).toBeUndefined()
  })
  it('labels the line without conversion, which the legend can hide', () => {
    const both = { ...chart, lowest: null, unconverted: [300, 240, 180, 120, -60] }
    expect(wordsOf(poolPicture(both, p))).toEqual(['without conversion'])
    const layers = poolPicture({ ...both, hidden: new Set(['unconverted']) }, p)
    expect(wordsOf(layers)).toEqual([])
    expect(layers.layers?.map(({ name }) => name)).toEqual(['free', 'overdrawn'])
  })
})

describe('the gauge of the pool', () => {
  const gauge: PoolGaugeProps = {
    now: 8,
    start: 314,
    lowest: -12,
    ends: { min: -60, max: 340, step: 100 },
    formatValue: String,
    formatTick: String,
    label: 'Pool',
  }
  const size = { width: 198, height: 300 }
  it('keeps its labels apart and inside, wherever the values are', () => {
    const tokens = fc.integer({ min: -500, max: 500 })
    fc.assert(
      fc.property(tokens, tokens, tokens, (now, start, lowest) => {
        const picture = gaugePicture({ ...gauge, now, start, lowest }, p, size)
        const perToken = (size.height - 22) / 400
        const y = textsOf(picture, size)
          .filter(({ at, text }) => at === 'end' && !text.startsWith('now'))
          .map(({ value: v, dy }) => 10 + (340 - Number(v)) * perToken + (dy ?? 0))
          .sort((a, b) => a - b)
        expect(y.every((at) => at >= 0 && at <= size.height)).toBe(true)
        for (let i = 1; i < y.length; i++) expect((y[i] ?? 0) - (y[i - 1] ?? 0)).toBeGreaterThan(12)
      }),
    )
  })
  it('ends at the scale, with an arrow down where a value is beyond it', () => {
    const picture = gaugePicture({ ...gauge, now: -80, lowest: -90 }, p, size)
    const block = (name: string) => picture.layers?.find((layer) => layer.name === name)?.values[0]
    expect([block('now'), block('lowest'), block('start')]).toEqual([-60, -60, 314])
    expect(wordsOf(picture, size)).toEqual(['0', 'start 314', '-80', 'now \u2193', '-90 \u2193'])
  })
  it('is empty without a pool', () => {
    const picture = gaugePicture({ ...gauge, now: null, start: null, lowest: null }, p, size)
    expect(picture.layers).toHaveLength(1)
    expect(wordsOf(picture, size)).toEqual(['0', 'no pool'])
  })
})
