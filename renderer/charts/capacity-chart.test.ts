import { expect, it } from 'vitest'
import { placedOf, textsOf } from '#tests/kits/renderer/picture-parts.ts'
import { palette } from '../theme/palette.ts'
import { capacityPicture, epochTicks, type CapacityChartProps } from './capacity-chart.ts'
import { plotArea } from './picture.ts'

const epoch = Array.from({ length: 60 }, (_, i) => 358 + i)
const props: CapacityChartProps = {
  epoch,
  estimate: epoch.map((e) => (e === 370 ? null : 1560)),
  used: epoch.map(() => 1550),
  reserved: epoch.map(() => 1254),
  profile: 1568,
  ends: { min: 1200, max: 1600, step: 100 },
  formatValue: String,
  formatTick: String,
  place: () => [{ epoch: 414, text: 'capacity falls', isLeft: true, line: 0 }],
  label: 'Capacity',
}
const picture = (more: Partial<CapacityChartProps> = {}) => capacityPicture({ ...props, ...more }, palette.value)

it('labels the first, the middle and the last period, or the only one', () => {
  expect(epochTicks({ min: 358, max: 417 }).map(({ text }) => text)).toEqual(['period 358', '388', '417'])
  expect(epochTicks({ min: 3, max: 5 }).map(({ text }) => text)).toEqual(['period 3', '5'])
  expect(picture({ epoch: [7] }).ticks?.({ min: 7, max: 8 }, 300)).toEqual([{ at: 7, text: 'period 7' }])
})

it('hatches periods without an estimate, and hides what the legend hides', () => {
  expect(picture().ranges?.map(({ from, to }) => [from, to])).toEqual([[369, 371]])
  expect(picture().layers?.map(({ name }) => name)).toEqual(['used', 'reserved', 'estimate'])
  const hidden = picture({ hidden: new Set(['used', 'profile']) })
  expect(hidden.layers?.map(({ name }) => name)).toEqual(['reserved', 'estimate'])
  expect(hidden.levels).toEqual([])
  expect(textsOf(hidden).map(({ text }) => text)).not.toContain('profile 1568')
})

it('marks events with their text, and leaves out those beyond a zoomed range', () => {
  expect(placedOf(picture()).segments).toHaveLength(1)
  expect(placedOf({ ...picture(), to: 400 }).segments).toEqual([])
})

it('labels profile and reservations beside their levels, away from each other and from the texts of marks', () => {
  const size = { width: 360, height: 240 }
  const close = picture({ reserved: epoch.map(() => 1565) })
  const area = plotArea(close, size)
  const y = textsOf(close, size)
    .filter(({ text }) => /^(profile|reserved)/.test(text))
    .map(({ value, dy }) => area.y(Number(value)) + (dy ?? 0))
  expect(Math.abs((y[0] ?? 0) - (y[1] ?? 0))).toBeGreaterThanOrEqual(12)
  // The text of the mark fills the right of the floor: the label of the reservations moves to the left.
  const low = picture({ reserved: epoch.map(() => 1205) })
  expect(textsOf(low, size).find(({ text }) => text === 'reserved 1205')?.side).toBe('right')
  expect(textsOf(picture(), size).find(({ text }) => text === 'reserved 1254')?.side).toBe('left')
})
