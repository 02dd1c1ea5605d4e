import { expect, it } from 'vitest'
import { courseText, factTable, factText, formatFigure, textColumn, overTime } from './facts.ts'

const t = [0, 1000, 2000, 3000, 4000, 5000]

it('names a line by its newest, lowest and highest value and its trend', () => {
  const facts = overTime('RPC/s', t, [{ name: 'a', values: [10, 12, 11, 20, 25, 30] }])
  expect(factText(facts)).toBe('RPC/s: newest 30, lowest 10, highest 30, rising')
  const level = overTime('RPC/s', t, [{ name: 'a', values: [10, 12, 10, 12, 10, 12] }])
  expect(factText(level)).toBe('RPC/s: newest 12, lowest 10, highest 12, level')
})

it('reports a gap as not measured, never as 0', () => {
  const facts = overTime('RPC/s', t, [{ name: 'a', values: [10, 12, null, 20, 25, null] }])
  expect(factText(facts)).toBe('RPC/s: newest not measured, lowest 10, highest 25')
  expect(factTable(facts, null).rows[2]?.values).toEqual(['not measured'])
  expect(factText(overTime('RPC/s', t, [{ name: 'a', values: t.map(() => null) }]))).toBe('RPC/s: not measured')
  expect(factText(overTime('RPC/s', [], []))).toBe('RPC/s: no data')
})

it('names a stack by its sum, then its largest parts', () => {
  const series = [1, 2, 3, 4].map((n) => ({ name: `job${n}`, values: t.map(() => n * 1e6) }))
  expect(factText(overTime('Throughput', t, series, { divisor: 1e6, isStacked: true }))).toBe(
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

it('does not round a small share to 0', () => {
  expect([formatFigure(0.004), formatFigure(2.34), formatFigure(12), formatFigure(0)]).toEqual([
    '0.004',
    '2.3',
    '12',
    '0',
  ])
})

it('supports columns of text', () => {
  const facts = { ...overTime('Events', [0, 1000], []), series: [textColumn('Event', ['start'])] }
  expect(factTable(facts, null)).toMatchObject({
    heads: ['Time', 'Event'],
    rows: [{ values: ['start'] }, { values: [''] }],
  })
})

it('describes a course without figures, and its gaps', () => {
  expect(courseText([10, 12, 11, 20, 25, 40])).toMatch(/^lowest 25.% of the highest, rising$/)
  expect(courseText([0, 0])).toBe('always 0')
  expect(courseText([null, null])).toBe('not measured')
})
