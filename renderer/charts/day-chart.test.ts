import { expect, it } from 'vitest'
import { textsOf } from '#tests/kits/renderer/picture-parts.ts'
import { palette } from '../theme/palette.ts'
import { dayPicture, type DayLine } from './day-chart.ts'
import { overlayPicture, type OverlayChartProps } from './overlay-chart.ts'
import { weekCells } from './week-heat.ts'

const HOUR = 3_600_000
const size = { width: 838, height: 180 }
const line: DayLine = {
  fromMs: 0,
  toMs: 24 * HOUR,
  t: [0, HOUR, 2 * HOUR],
  values: [60, 70, 80],
  gaps: [
    { fromMs: 13 * HOUR, toMs: 14 * HOUR, why: 'a reason too long for one hour' },
    { fromMs: 20 * HOUR, toMs: 30 * HOUR, why: 'not running' },
  ],
  watch: 40,
  nowMs: 2 * HOUR,
  nowWord: 'now',
  formatValue: (value) => `${value} ms`,
  formatTick: String,
}
const texts = (more: Partial<DayLine> = {}) => textsOf(dayPicture({ ...line, ...more }, palette.value, size), size)
const find = (prefix: string, more: Partial<DayLine> = {}) => texts(more).find(({ text }) => text.startsWith(prefix))

it('hatches gaps within the day, with the reason where there is space for it', () => {
  const { ranges } = dayPicture(line, palette.value, size)
  expect(ranges?.map(({ from, to }) => [from / HOUR, to / HOUR])).toEqual([
    [13, 14],
    [20, 24],
  ])
  expect(texts().map(({ text }) => text)).toEqual(['not running', 'warning 40 ms', 'now 02:00'])
})

it('puts the label of the warning level away from that of now, and below a level at the top', () => {
  expect(find('warning')).toMatchObject({ at: 'end', side: 'left', dy: -8 })
  expect(find('warning', { nowMs: 23 * HOUR })).toMatchObject({ at: 'start', side: 'right' })
  expect(find('warning', { watch: 78 })).toMatchObject({ dy: 8 })
  expect(find('now')).toMatchObject({ side: 'right', dy: 8 })
  expect(find('now', { watch: 78 })?.dy).toBeGreaterThan(15)
  expect(find('now', { nowMs: 23 * HOUR })).toMatchObject({ side: 'left' })
  expect(find('now', { nowMs: 25 * HOUR })).toBeUndefined()
})

it('overlays two spans: B filled, A dashed, labels of events without overlap', () => {
  const props: OverlayChartProps = {
    a: { offsetMs: [0, 10], values: [1, 2] },
    b: { offsetMs: [0, 10, 20, 30], values: [3, null, 4, 5] },
    lengthMs: 30,
    steps: [0, 1, 29, 40].map((offsetMs) => ({ offsetMs, words: `rule changed at ${offsetMs}` })),
    formatValue: String,
    formatTick: String,
    formatOffset: (ms) => `${ms} min`,
    label: 'Overlay',
  }
  const picture = overlayPicture(props, palette.value)
  expect(picture.ranges).toEqual([{ from: 0, to: 20, fill: 'gap' }])
  expect(picture.marks?.map(({ at }) => at)).toEqual([0, 1, 29])
  expect(textsOf(picture).map(({ text, side }) => [text, side])).toEqual([
    ['rule changed at 0', 'right'],
    ['rule changed at 29', 'left'],
  ])
  expect(picture.ticks?.({ min: 0, max: 30 }, 300).map(({ text }) => text)).toEqual(['0 min', '15 min', '30 min'])
  expect(picture.layers?.map(({ name, stroke }) => [name, stroke?.dash?.length ?? 0])).toEqual([
    [undefined, 0],
    ['A', 2],
    ['B', 0],
  ])
  expect(overlayPicture({ ...props, hidden: new Set(['b']) }, palette.value).layers).toHaveLength(1)
})

it('has a cell of the week for each measured quarter hour and each gap between them', () => {
  const kept = { fromMs: 0, toMs: 5 * 900_000 }
  const values = [1, null, 2, 3, 4, null, null]
  expect(weekCells({ days: [{ fromMs: 0, values }], kept })).toEqual([
    { quarter: 0, row: 0, value: 1 },
    { quarter: 1, row: 0, value: null },
    { quarter: 2, row: 0, value: 2 },
    { quarter: 3, row: 0, value: 3 },
    { quarter: 4, row: 0, value: 4 },
  ])
  expect(weekCells({ days: [{ fromMs: 0, values }], kept: null })).toHaveLength(4)
})
