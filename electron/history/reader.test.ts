import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { exeOf } from './exe.ts'
import { openMetrics } from './open-metrics.ts'
import { facts, HOUR_MS, job, MINUTE_MS, newFile, NOW, openAt, target } from '#tests/kits/electron/history/samples.ts'

const tenOf = (v: number): number[] => Array.from({ length: 10 }, () => v)

it('a cluster’s past runs over its starts: a job is the same one in all of them', () => {
  const file = newFile()
  for (const [i, kind] of (['LIVE', 'LIVE', 'EMULATED'] as const).entries()) {
    const at = NOW + i * MINUTE_MS
    const history = openAt(file, at)
    history.beginSource(kind, 'c', '', at)
    for (let s = 0; s < 10; s++)
      history.record(at + s * 1000, [job('7.cfd.u1', i + 1)], [target('t', 1)], facts, { rpcs: 1 })
    history.close()
  }
  const history = openAt(file, NOW + 2 * MINUTE_MS)
  history.beginSource('LIVE', 'c', '', NOW + 2 * MINUTE_MS)
  const reader = history.reader()
  expect(history.jobSeries('7.cfd.u1', 0, 0, Infinity).map((r) => r.rpcs)).toEqual([...tenOf(1), ...tenOf(2)])
  expect(history.count('cluster')).toBe(2)
  expect(history.count('job')).toBe(2)
  expect(reader.gaps(NOW, NOW + 90_000)).toEqual([
    { fromMs: NOW + 10_000, toMs: NOW + MINUTE_MS, why: 'Sluice was not running' },
  ])
  const { t, values } = reader.line('rpcs', { fromMs: NOW, toMs: NOW + 2 * MINUTE_MS }, 100)
  // One empty point between the two sources: no line is drawn across.
  expect(t).toHaveLength(21)
  expect(values.map((v) => v === null)).toEqual(t.map((_, i) => i === 10))
  const parts = reader.line('rpcs', { fromMs: NOW, toMs: NOW + 2 * MINUTE_MS }, 12)
  expect(parts.t.length).toBeLessThanOrEqual(12)
  expect(parts.values.filter((v) => v !== null && v !== 1)).toEqual([])
  expect(parts.values).toContain(null)
  history.close()
})

it('an emulated cluster that begins before the end of what is kept is another one', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'demo', '', NOW)
  for (let s = 0; s < 100; s++) history.record(NOW + s * 1000, [job('1.a.u1', 1)], [], facts)
  history.beginSource('EMULATED', 'demo', '', NOW + 50_000)
  history.record(NOW + 50_000, [job('1.a.u1', 9)], [], facts)
  expect(history.jobSeries('1.a.u1', 0, 0, Infinity)).toEqual([{ atMs: NOW + 50_000, rpcs: 9, record: null }])
  history.beginSource('EMULATED', 'demo', '', NOW + 60_000)
  expect(history.jobSeries('1.a.u1', 0, 0, Infinity)).toHaveLength(1)
  history.close()
})

it('top and movers: by job, user and program, idle counts as zero, a gap does not', () => {
  const history = openAt(newFile())
  history.beginSource('LIVE', 'c', '', NOW)
  for (let s = 0; s < 20; s++) {
    const jobs = [job('1.cfd.u1', 10), ...(s < 10 ? [job('2.io.u2', 100)] : []), job('3.cfd.u3', s % 2 ? null : 40)]
    history.record(NOW + s * 1000, jobs, [target('t', 1)], facts)
  }
  history.record(NOW + 20_000, [], [target('t', 1)], facts)
  history.flush()
  const reader = history.reader()
  const all = { fromMs: NOW, toMs: NOW + 20_000 }
  const top = reader.top(all, 'job', 2, 30)
  expect(top.series.map((s) => [s.name, s.mean])).toEqual([
    ['2.io.u2', 50],
    ['3.cfd.u3', 40],
  ])
  expect(top.t).toHaveLength(20)
  expect(top.series[0]?.values).toEqual([...tenOf(100), ...tenOf(0)])
  expect(top.series[1]?.values).toEqual(Array.from({ length: 20 }, (_, s) => (s % 2 ? null : 40)))
  expect(reader.top(all, 'exe', 9, 5).series.map((s) => [s.name, s.mean])).toEqual([
    ['cfd', 50],
    ['io', 50],
  ])
  const halves = [
    { fromMs: NOW, toMs: NOW + 10_000 },
    { fromMs: NOW + 10_000, toMs: NOW + 20_000 },
  ] as const
  expect(reader.movers(...halves, 'user', 1)).toEqual({
    rows: [{ name: 'u2', user: 'u2', account: '', a: 100, b: 0 }],
    rest: { names: 2, a: 50, b: 50 },
  })
  expect(reader.top({ fromMs: 0, toMs: 5 }, 'job', 8, 9)).toEqual({ t: [], series: [] })
  history.close()
})

it('a million samples of series in a range are answered from a coarser tier, in few points', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  const jobs = Array.from({ length: 1000 }, (_, i) => job(`${i}.x.u1`, i))
  const samples = 1010
  for (let i = 0; i < samples; i++)
    history.record(NOW + i * 3500, jobs, [target('t', i % 60)], facts, { rpcs: i, queued: 1 })
  history.settle()
  history.record(NOW + samples * 3500, [], [target('t', 1)], facts)
  expect(history.usage().tiers[0]?.samples).toBeGreaterThan(1_000_000)
  const reader = history.reader()
  const span = { fromMs: NOW, toMs: NOW + samples * 3500 }
  expect(reader.tierFor(span.fromMs, span.toMs, 600)).toBe('10s')
  expect(reader.tierFor(span.fromMs, span.toMs, 100)).toBe('1min')
  expect(reader.tierFor(span.fromMs, span.toMs, 1e9)).toBe('raw')
  expect(reader.tierFor(span.toMs - 60_000, span.toMs, 600)).toBe('raw')
  const line = reader.line('rpcs', span, 600)
  expect(line.tier).toBe('10s')
  expect(line.t.length).toBeLessThanOrEqual(600)
  // The last seconds, not yet in a coarser interval, are included.
  expect(line.t.at(-1)).toBeGreaterThan(span.toMs - 10_000)
  expect(line.values.every((v) => v !== null)).toBe(true)
  const top = reader.top(span, 'job', 3, 200)
  expect(top.t.length).toBeLessThanOrEqual(200)
  expect(top.series.map((s) => [s.name, Math.round(s.mean)])).toEqual([
    ['999.x.u1', 999],
    ['998.x.u1', 998],
    ['997.x.u1', 997],
  ])
  expect([...reader.gaps(span.fromMs, span.toMs)]).toEqual([])
  history.close()
})

it('a sample without measurements is a gap, one without activity is not', () => {
  const history = openAt(newFile())
  history.beginSource('LIVE', 'c', '', NOW)
  for (let s = 0; s < 30; s++) {
    const isLost = s >= 10 && s < 20
    history.record(
      NOW + s * 1000,
      isLost ? [job('1.a.u1', null, { throttled: null })] : [],
      [target('t', isLost ? null : 0)],
      facts,
    )
  }
  history.recordEvent({
    atMs: NOW + 10_000,
    kind: 'lost',
    level: 'bad',
    subject: 'Source',
    text: 'oss1 does not answer',
    where: 'oss1',
  })
  history.flush()
  const reader = history.reader()
  expect(reader.gaps(NOW, NOW + 30_000)).toEqual([
    { fromMs: NOW + 10_000, toMs: NOW + 20_000, why: 'oss1 does not answer' },
  ])
  expect(reader.instants('raw', 0, Infinity)).toHaveLength(20)
  expect([reader.eventBeside(NOW, 'next'), reader.eventBeside(NOW, 'previous')]).toEqual([NOW + 10_000, undefined])
  history.close()
})

it('a change of rules is among the main events although many alerts followed it', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  const event = (atMs: number, kind: 'alarm' | 'change'): void =>
    history.recordEvent({ atMs, kind, level: 'watch', subject: 'x', text: `${atMs - NOW}`, where: '' })
  event(NOW + 1, 'change')
  for (let i = 2; i < 500; i++) event(NOW + i, 'alarm')
  history.flush()
  const reader = history.reader()
  const texts = (of: readonly { text: string }[]): string[] => of.map(({ text }) => text)
  expect(texts(reader.mainEvents(NOW, NOW + 1_000, 4))).toEqual(['499', '498', '497', '1'])
  expect(texts(reader.events(NOW, NOW + 1_000, 4))).toEqual(['499', '498', '497', '496'])
  expect(reader.mainEvents(NOW, NOW + 1_000, 1_000)).toHaveLength(499)
  history.close()
})

it('the latest values as OpenMetrics: untrusted names escaped, gaps and stale values omitted', () => {
  const history = openAt(newFile())
  history.beginSource('LIVE', 'c"l', '', NOW)
  const evil = 'a"b\\c\nd\u0007 =1'
  history.record(
    NOW,
    [job(evil, 5), job('2.b.u2', 9), job('3.c.u3', 7)],
    [target('OST0', 3), target('OST1', null)],
    facts,
    { rpcs: 8, serviceMs: 2 },
  )
  history.record(NOW + 1000, [], [], facts)
  history.flush()
  const store = { usage: history.usage(), evictions: [] }
  const text = openMetrics(history.reader(), { nowMs: NOW + 2000, jobs: 2, store })
  const lines = text.split('\n')
  expect(text.endsWith('# EOF\n')).toBe(true)
  expect(lines).toContain('sluice_cluster_service_seconds{cluster="c\\"l"} 0.002 1767312000.000')
  expect(lines.filter((l) => l.startsWith('sluice_job_rpcs_per_second{'))).toHaveLength(2)
  expect(lines.filter((l) => l.includes('OST1'))).toEqual([])
  expect(text).not.toContain('NaN')
  const all = openMetrics(history.reader(), { nowMs: NOW + 2000, jobs: 9 })
  expect(all).toContain('job="a\\"b\\\\c\\nd? =1"')
  for (const line of all.trimEnd().split('\n')) {
    expect(line).toMatch(
      /^(# (TYPE|UNIT|HELP) \S+ .+|# EOF|[a-z_]+\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\} -?[\d.e+-]+ \d+\.\d{3})$/,
    )
  }
  expect(openMetrics(history.reader(), { nowMs: NOW + HOUR_MS, jobs: 9 })).toBe('# EOF\n')
  history.close()
})

it.each([
  ['4711.cfd_solve.u884', 'cfd_solve'],
  ['4711.cfd_solve.884', 'cfd_solve'],
  ['dd.1000', 'dd'],
  ['python3.11.1000', 'python3.11'],
  ['4711.python3.11', 'python3'],
  ['12_3.ior', 'ior'],
  ['ls.0.node1', 'ls'],
  ['4711', ''],
  ['', ''],
  ['@x', ''],
])('the program of %s is %s', (id, exe) => expect(exeOf(id)).toBe(exe))

it('jobs with sparse keys, as in a foreign file, are added up in bounded memory', () => {
  const file = newFile()
  const first = openAt(file)
  first.beginSource('LIVE', 'c', '', NOW)
  const jobs = Array.from({ length: 12_000 }, (_, i) => job(`${i}.a.u1`, i))
  for (const at of [NOW, NOW + 1000]) first.record(at, jobs, [target('t', 1)], facts)
  first.close()
  const db = new Database(file)
  db.pragma('foreign_keys = OFF')
  db.pragma('synchronous = OFF')
  db.exec('UPDATE job SET id = -id; UPDATE job SET id = -id * 200000')
  const blocks = db.prepare('SELECT id, n, lead FROM block WHERE kind = 0').all() as {
    id: number
    n: number
    lead: Buffer
  }[]
  for (const { id, n, lead } of blocks) {
    for (let i = 0; i < n; i++) lead.writeUInt32LE(lead.readUInt32LE(4 * i) * 200_000, 4 * i)
    db.prepare('UPDATE block SET lead = ? WHERE id = ?').run(lead, id)
  }
  db.close()
  const history = openAt(file, NOW + 10_000)
  history.beginSource('LIVE', 'c', '', NOW + 10_000)
  const before = process.memoryUsage().arrayBuffers
  const { series } = history.reader().top({ fromMs: NOW, toMs: NOW + 2000 }, 'job', 3, 10)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(120 * 2 ** 20)
  expect(series.map((s) => [s.name, s.mean])).toEqual([11_999, 11_998, 11_997].map((i) => [`${i}.a.u1`, i]))
  history.close()
})
