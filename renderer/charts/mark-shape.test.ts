import { expect, it } from 'vitest'
import type { Mark } from '#core/api/history.ts'
import { clockTicks, snapStep } from './clock-ticks.ts'
import { groupMarks } from './mark-shape.ts'

const mark = (atMs: number, kind: Mark['kind']): Mark => ({
  atMs,
  kind,
  level: 'ok',
  subject: '',
  text: `${kind} ${atMs}`,
  where: '',
})

it('merges overlapping marks into the most important one, and loses none', () => {
  const marks = [mark(100, 'controller'), mark(30, 'start'), mark(104, 'alarm'), mark(107, 'job'), mark(109, 'note')]
  const groups = groupMarks(marks, (at) => at, 8)
  expect(groups.map(({ x, kind, marks: of }) => [x, kind, of.length])).toEqual([
    [30, 'start', 1],
    [104, 'alarm', 3],
    [109, 'note', 1],
  ])
  expect(groups.flatMap((g) => g.marks)).toHaveLength(marks.length)
})

it('sets ticks on round times of the clock, the ends inward, the end of a day as 24:00', () => {
  const day = clockTicks({ min: 0, max: 86_400_000 })
  expect(day.map(({ text }) => text)).toEqual([
    '00:00',
    '03:00',
    '06:00',
    '09:00',
    '12:00',
    '15:00',
    '18:00',
    '21:00',
    '24:00',
  ])
  expect([day[0]?.anchor, day[4]?.anchor, day.at(-1)?.anchor]).toEqual(['start', 'middle', 'end'])
  expect(clockTicks({ min: 3_605_000, max: 3_665_000 }).map(({ text }) => text)).toEqual([
    '01:00:10',
    '01:00:20',
    '01:00:30',
    '01:00:40',
    '01:00:50',
    '01:01:00',
  ])
  expect(clockTicks({ min: 5, max: 5 })).toEqual([])
})

it('snaps to steps of at least two pixels', () => {
  expect([snapStep(86_400_000 / 780), snapStep(3_600_000 / 780), snapStep(100)]).toEqual([300_000, 10_000, 1000])
})
