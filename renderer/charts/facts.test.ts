import { expect, it } from 'vitest'
import { courseWords, factTable, factWords, figureWords, inWords, overTime } from './facts.ts'

const t = [0, 1000, 2000, 3000, 4000, 5000]

it('names a line by its newest, lowest and highest value and where it goes', () => {
  const facts = overTime('RPC/s', t, [{ name: 'a', values: [10, 12, 11, 20, 25, 30] }])
  expect(factWords(facts)).toBe('RPC/s: newest 30, lowest 10, highest 30, rising')
  const level = overTime('RPC/s', t, [{ name: 'a', values: [10, 12, 10, 12, 10, 12] }])
  expect(factWords(level)).toBe('RPC/s: newest 12, lowest 10, highest 12, level')
})

it('says of a gap that it was not measured, never that it was nothing', () => {
  const facts = overTime('RPC/s', t, [{ name: 'a', values: [10, 12, null, 20, 25, null] }])
  expect(factWords(facts)).toBe('RPC/s: newest not measured, lowest 10, highest 25')
  expect(factTable(facts, null).rows[2]?.values).toEqual(['not measured'])
  expect(factWords(overTime('RPC/s', t, [{ name: 'a', values: t.map(() => null) }]))).toBe('RPC/s: nothing measured')
  expect(factWords(overTime('RPC/s', [], []))).toBe('RPC/s: nothing to draw')
})

it('tells of a stack the sum first, then its largest parts', () => {
  const series = [1, 2, 3, 4].map((n) => ({ name: `job${n}`, values: t.map(() => n * 1e6) }))
  expect(factWords(overTime('Throughput', t, series, { divisor: 1e6, isStacked: true }))).toBe(
    'Throughput: all newest 10, lowest 10, highest 10, level; most: job4 4, job3 3, job2 2',
  )
})

it('makes a table of what is drawn, with the row at the cursor', () => {
  const facts = overTime('RPC/s', t, [{ name: 'a', values: [1, 2, 3, 4, 5, 6] }])
  const table = factTable(facts, 2100)
  expect(table.heads).toEqual(['Time', 'a'])
  expect([table.rows.length, table.current, table.rows[2]?.at]).toEqual([6, 2, '00:00:02'])
  expect(factTable(facts, null).current).toBe(5)
})

it('keeps the tenths of instants that are closer than a second', () => {
  const facts = overTime('RPC/s', [0, 100, 200], [{ name: 'a', values: [1, 2, 3] }])
  expect(factTable(facts, null).rows.map((row) => row.at)).toEqual(['00:00:00.0', '00:00:00.1', '00:00:00.2'])
})

it('writes a small share as more than nought', () => {
  expect([figureWords(0.004), figureWords(2.34), figureWords(12), figureWords(0)]).toEqual(['0.004', '2.3', '12', '0'])
})

it('has words where a column has no figures', () => {
  const facts = { ...overTime('Events', [0, 1000], []), series: [inWords('Event', ['start'])] }
  expect(factTable(facts, null)).toMatchObject({
    heads: ['Time', 'Event'],
    rows: [{ values: ['start'] }, { values: [''] }],
  })
})

it('tells a course without figures, and a gap in it', () => {
  expect(courseWords([10, 12, 11, 20, 25, 40])).toMatch(/^lowest 25.% of the highest, rising$/)
  expect(courseWords([0, 0])).toBe('nothing all the time')
  expect(courseWords([null, null])).toBe('nothing measured')
})
