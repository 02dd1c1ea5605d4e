import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { BlockTable } from './block-table.ts'
import { History } from './history.ts'
import { recordAt } from './one-series.ts'
import { JOB_COLUMNS, type Block } from './reader.ts'
import { RollUp } from './roll-up.ts'
import { facts, HOUR_MS, job, MINUTE_MS, newFile, NOW, openAt, target } from '#tests/kits/electron/history/samples.ts'

type Sample = { readonly atMs: number; readonly jobs: ReadonlyMap<string, number | null>; readonly record: number }

/** Reference mean of a job over samples: an unnamed one is idle, a gap does not count. */
function naive(samples: readonly Sample[], id: string): number | null {
  const values = samples.map((s) => (s.jobs.has(id) ? (s.jobs.get(id) ?? null) : 0))
  const known = values.filter((v) => v !== null)
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length
}

/** The same over the means of a finer tier. */
const meanOf = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((v) => v !== null)
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length
}

const ids = ['1.a.u1', '2.b.u2', '3.c.u3']
const sample = fc.record({
  gapMs: fc.integer({ min: 100, max: 4000 }),
  jobs: fc.dictionary(fc.constantFrom(...ids), fc.option(fc.integer({ min: 0, max: 10_000 }), { nil: null })),
  record: fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
})

it('of random samples equals the plain mean, at every tier, whenever the background had its turn', () => {
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1, maxLength: 60 }), fc.array(fc.nat(59)), (drawn, turns) => {
      const opened = History.open(':memory:', NOW)
      if (!opened.ok) throw new Error(opened.error.what)
      const history = opened.value
      history.beginSource('LIVE', 'c', '', NOW)
      let atMs = NOW
      const samples: Sample[] = drawn.map(({ gapMs, jobs, record }) => {
        atMs += gapMs
        return { atMs, jobs: new Map(Object.entries(jobs)), record }
      })
      samples.forEach((s, i) => {
        history.record(
          s.atMs,
          [...s.jobs].map(([id, rpcs]) => job(id, rpcs, { record: s.record })),
          [target('t', 1)],
          facts,
        )
        if (turns.includes(i)) history.settle()
      })
      history.record(atMs + HOUR_MS, [], [target('t', 1)], facts)
      history.settle()
      const reader = history.reader()
      const at = (b: Block | undefined, id: string): number => b?.keys.indexOf(reader.jobByName(id)?.key ?? -1) ?? -1
      const seconds = new Set(samples.map((s) => Math.floor(s.atMs / 1000) * 1000))
      expect([...reader.instants('1s', 0, atMs)]).toEqual([...seconds])
      // A job that no sample of an interval names is not in its block: it was idle.
      const valueOf = (tier: '1s' | '10s' | '1min', ms: number, id: string): number | null => {
        const b = reader.jobs(tier, ms)
        const i = at(b, id)
        if (!b || i < 0) return 0
        const v = b.columns[0]?.[i] ?? NaN
        return Number.isNaN(v) ? null : v
      }
      const near = (got: number | null, want: number | null): void => {
        if (want === null) expect(got).toBeNull()
        else expect(Math.abs((got ?? NaN) - want)).toBeLessThanOrEqual(Math.abs(want) * 1e-6)
      }
      for (const id of ids) {
        for (const ms of seconds) {
          const inside = samples.filter((s) => Math.floor(s.atMs / 1000) * 1000 === ms)
          near(valueOf('1s', ms, id), naive(inside, id))
          const last = inside.findLast((s) => s.jobs.has(id))
          const block = reader.jobs('1s', ms)
          if (last && block) expect(recordAt(block, at(block, id))).toBe(last.record)
        }
        for (const [tier, finer, step] of [
          ['10s', '1s', 10_000],
          ['1min', '10s', 60_000],
        ] as const) {
          const starts = new Set([...seconds].map((ms) => Math.floor(ms / step) * step))
          expect([...reader.instants(tier, 0, atMs)]).toEqual([...starts])
          for (const ms of starts) {
            const parts = [...reader.instants(finer, ms, ms + step - 1)].map((t) => valueOf(finer, t, id))
            near(valueOf(tier, ms, id), meanOf(parts))
          }
        }
      }
      history.close()
    }),
    { numRuns: 30 },
  )
})

it('continues where another process stopped, and makes nothing twice', () => {
  const file = newFile()
  const take = (history: History, from: number, to: number): void => {
    for (let s = from; s < to; s++) history.record(NOW + s * 1000, [job('1.a.u1', s)], [target('t', s)], facts)
  }
  const first = openAt(file)
  first.beginSource('EMULATED', 'c', '', NOW)
  take(first, 0, 95)
  first.settle()
  take(first, 95, 130)
  first.close()
  const second = openAt(file, NOW + 130_000)
  second.beginSource('EMULATED', 'c', '', NOW + 130_000)
  // An interval is made three seconds after its end.
  take(second, 130, 244)
  second.settle()
  second.settle()
  const ten = second.jobSeries('1.a.u1', 2, 0, Infinity)
  const minute = second.jobSeries('1.a.u1', 3, 0, Infinity)
  expect(ten.map((r) => r.rpcs)).toEqual(Array.from({ length: 24 }, (_, i) => 10 * i + 4.5))
  expect(minute.map((r) => [r.atMs, r.rpcs])).toEqual([0, 1, 2, 3].map((i) => [NOW + i * MINUTE_MS, 60 * i + 29.5]))
  second.close()
})

it('of a record beyond what a Float32 holds is exact', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  const records = [2 ** 24 + 1, -(2 ** 31) - 7, 2 ** 47 + 3, 12, 0]
  records.forEach((record, i) =>
    history.record(NOW + i * 1000, [job('1.a.u1', 1, { record }), job('2.b.u1', 2)], [], facts),
  )
  history.record(NOW + 60_000, [], [], facts)
  for (const tier of [0, 1])
    expect(history.jobSeries('1.a.u1', tier, 0, Infinity).map((r) => r.record)).toEqual(records)
  expect(history.jobSeries('2.b.u1', 0, 0, Infinity).map((r) => r.record)).toEqual(records.map(() => null))
  expect(JOB_COLUMNS).toContain('recordRest')
  history.close()
})

it('after a clock that was set back between two starts the coarser tiers are made of what is sampled now', () => {
  const file = newFile()
  const run = (history: History, fromMs: number, seconds: number, rpcs: number): void => {
    for (let i = 0; i < seconds; i += 5)
      history.record(fromMs + i * 1000, [job('1.a.u1', rpcs)], [target('t', 1)], facts)
  }
  const wrong = openAt(file)
  wrong.beginSource('LIVE', 'c', '', NOW + 24 * HOUR_MS)
  run(wrong, NOW + 24 * HOUR_MS, 130, 1)
  wrong.settle()
  wrong.close()
  const history = openAt(file)
  history.beginSource('LIVE', 'c', '', NOW)
  // The background work runs before the first sample, and between them.
  history.settle()
  for (let minute = 0; minute < 5; minute++) {
    run(history, NOW + minute * MINUTE_MS, 60, 7)
    history.settle()
  }
  const reader = history.reader()
  expect(reader.instants('10s', NOW, NOW + HOUR_MS)).toHaveLength(29)
  expect([...reader.instants('1min', NOW, NOW + HOUR_MS)]).toEqual([0, 1, 2, 3].map((m) => NOW + m * MINUTE_MS))
  expect(reader.jobs('1min', NOW)?.columns[0]?.[0]).toBe(7)
  expect(reader.instants('1min', NOW + 24 * HOUR_MS, Infinity)).toHaveLength(2)
  history.close()
})

it('restarts an interval that a failing disk interrupted', () => {
  const history = openAt(':memory:')
  history.beginSource('LIVE', 'c', '', NOW)
  for (let s = 0; s < 95; s++) history.record(NOW + s * 1000, [job('1.a.u1', s)], [target('t', s)], facts)
  history.flush()
  const db = history.connection()
  const rollUp = new RollUp(db, new BlockTable(db))
  const advance = (): boolean => db.transaction(() => rollUp.advance(history.cluster, 2, undefined, false))()
  // Simulates a file that is temporarily unreadable.
  db.exec('ALTER TABLE block RENAME TO away')
  expect(advance).toThrow(/no such table/)
  db.exec('ALTER TABLE away RENAME TO block')
  while (advance());
  const starts = Array.from({ length: 9 }, (_, i) => NOW + i * 10_000)
  expect([...history.reader().instants('10s', NOW, NOW + 89_999)]).toEqual(starts)
  history.close()
})
