import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { deflateSync } from 'node:zlib'
import {
  OTHERS,
  OTHERS_KEY,
  PLANE_TABLES,
  planeColumn,
  planeTable,
  type PlaneRow,
  type PlaneTable,
  type PlaneTableId,
} from '#core/series/plane-tables.ts'
import { BlockMeans } from './block-means.ts'
import { unpack, type PlaneKind } from './block.ts'
import { othersRow } from './plane-writer.ts'
import type { HistoryReader } from './reader.ts'
import { migrateTo } from './schema.ts'
import { facts, HOUR_MS, job, newFile, NOW, openAt, target } from '#tests/kits/electron/history/samples.ts'

const LOCKS = 'lock_resources' as const
const DAY_MS = 24 * HOUR_MS

function row(table: PlaneTableId, name: string, known: Readonly<Record<string, number>>, jobId = ''): PlaneRow {
  return { name, place: 'here', jobId, values: planeTable(table).columns.map((c) => known[c.name] ?? NaN) }
}

/** Rows at an instant by name, as objects without gaps. */
function rowsAt(reader: HistoryReader, table: PlaneTableId, atMs: number): Record<string, Record<string, number>> {
  const block = reader.planeAt(table, atMs, 1)
  const of = planeTable(table).columns
  return Object.fromEntries(
    [...(block?.keys ?? [])].map((key, i) => {
      const values = of.map((c, k): [string, number] => [c.name, block?.columns[k]?.[i] ?? NaN])
      return [reader.planeSeries(key)?.name ?? '?', Object.fromEntries(values.filter(([, v]) => !Number.isNaN(v)))]
    }),
  )
}

it('the registry: kinds and columns are unique, ranked and main columns exist, names are words of SQL', () => {
  const tables: readonly PlaneTable[] = PLANE_TABLES
  expect(new Set(tables.map((t) => t.kind)).size).toBe(tables.length)
  expect(new Set(tables.map((t) => t.id)).size).toBe(tables.length)
  for (const t of tables) {
    const names = t.columns.map((c) => c.name)
    expect(new Set(names).size, t.id).toBe(names.length)
    for (const name of [...t.rank, t.main]) expect(names, `${t.id}.${name}`).toContain(name)
    for (const name of [t.id, ...names]) expect(name).toMatch(/^[a-z][a-z0-9_]*$/)
  }
})

it('rows of a period are read as they were written, and gaps stay gaps', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  history.record(NOW, [job('a', 1)], [target('OST0', 1)], facts)
  history.recordPlane(LOCKS, NOW, [
    row(LOCKS, 'ckpt / 1', { conflicts_per_s: 3, holders: 2 }),
    row(LOCKS, 'idle / 1', { conflicts_per_s: 0, holders: 0, waiters: 0, grants_per_s: 0 }),
  ])
  const reader = history.reader()
  expect(rowsAt(reader, LOCKS, NOW)).toEqual({ 'ckpt / 1': { conflicts_per_s: 3, holders: 2 } })
  expect(reader.planeAt(LOCKS, NOW - 1, 500)).toBeUndefined()
  expect(reader.planeAt('token_nodes', NOW, 1000)).toBeUndefined()
  expect(reader.allPlaneSeries(LOCKS)).toEqual([
    { key: 1, name: 'ckpt / 1', place: 'here', jobId: '', isOthers: false },
  ])
  history.close()
})

it('periods that end in one second are rolled up into it, by the rule of each column', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  history.record(NOW, [job('a', 1)], [], facts)
  const at = (ms: number, known: Record<string, number>): void =>
    history.recordPlane(LOCKS, NOW + ms, [row(LOCKS, 'r', { holders: 1, ...known })])
  at(100, { conflicts_per_s: 8, holders: 4, waiters: 2, wait_longest_ms: 5 })
  history.flush()
  at(400, { conflicts_per_s: 2, holders: 2, waiters: 9 })
  history.recordPlane(LOCKS, NOW + 700, [])
  expect(rowsAt(history.reader(), LOCKS, NOW)).toEqual({
    // A rate counts the period without a row, a level does not; the largest is the largest.
    r: { conflicts_per_s: Math.fround(10 / 3), holders: 3, waiters: 9, wait_longest_ms: 5 },
  })
  history.close()
})

it('the highest ranked series have rows, the others one; sums are kept', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  const { most } = planeTable(LOCKS)
  const rows = Array.from({ length: most + 36 }, (_, i) =>
    row(LOCKS, `r${i}`, { conflicts_per_s: i + 1, holders: 1, wait_longest_ms: i }),
  )
  history.record(NOW, [job('a', 1)], [], facts)
  history.recordPlane(LOCKS, NOW, rows)
  const reader = history.reader()
  const kept = rowsAt(reader, LOCKS, NOW)
  expect(Object.keys(kept)).toHaveLength(most + 1)
  expect(kept[OTHERS.name]).toEqual({ conflicts_per_s: (36 * 37) / 2, holders: 36, wait_longest_ms: 35 })
  const sum = (most + 36) * ((most + 37) / 2)
  expect(Object.values(kept).reduce((n, r) => n + (r['conflicts_per_s'] ?? 0), 0)).toBe(sum)
  expect(reader.allPlaneSeries(LOCKS)).toHaveLength(most)
  expect(reader.planeSeries(OTHERS_KEY)).toMatchObject({ name: OTHERS.name, isOthers: true })
  const span = { fromMs: NOW, toMs: NOW + 1000 }
  expect(reader.planeLine(LOCKS, 'conflicts_per_s', span, 10).values).toEqual([sum])
  expect(reader.planeLine(LOCKS, 'wait_longest_ms', span, 10).values).toEqual([most + 35])
  history.close()
})

it('a series keeps its row for some periods after it became less active than another', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  const { most } = planeTable(LOCKS)
  const of = (hot: number): PlaneRow[] =>
    Array.from({ length: most + 1 }, (_, i) => row(LOCKS, `r${i}`, { conflicts_per_s: i === hot ? 50 : 60 + i }))
  for (let s = 0; s < 4; s++) {
    history.record(NOW + s * 1000, [job('a', 1)], [], facts)
    history.recordPlane(LOCKS, NOW + s * 1000, of(s === 3 ? 5 : 0))
  }
  const reader = history.reader()
  expect(rowsAt(reader, LOCKS, NOW + 2000)['r0']).toBeUndefined()
  expect(rowsAt(reader, LOCKS, NOW + 3000)['r5']).toBeDefined()
  history.close()
})

it('coarser tiers, lines and movers agree with the rows they are made of', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  for (let s = 0; s < 180; s++) {
    const at = NOW + s * 1000
    history.record(at, [job('a', 1)], [], facts)
    const busy = row(LOCKS, 'busy', { conflicts_per_s: s < 90 ? 10 : 30, wait_p95_ms: s })
    // Active every second period only.
    const part = row(LOCKS, 'part', { conflicts_per_s: 4, wait_p95_ms: 1 })
    history.recordPlane(LOCKS, at, s % 2 === 0 ? [busy, part] : [busy])
  }
  history.record(NOW + 240_000, [job('a', 1)], [], facts)
  history.settle()
  const reader = history.reader()
  const minutes = [...reader.planeBetween(LOCKS, '1min', NOW, NOW + 179_999)]
  expect(minutes.map((b) => b.atMs - NOW)).toEqual([0, 60_000, 120_000])
  const column = planeColumn(LOCKS, 'conflicts_per_s')
  expect(minutes.map((b) => [...(b.columns[column] ?? [])])).toEqual([
    [10, 2],
    [20, 2],
    [30, 2],
  ])
  expect(minutes.map((b) => b.columns[planeColumn(LOCKS, 'wait_p95_ms')]?.[0])).toEqual([59, 119, 179])
  const busy = reader.allPlaneSeries(LOCKS).find((s) => s.name === 'busy')?.key ?? 0
  const first = { fromMs: NOW, toMs: NOW + 60_000 }
  const last = { fromMs: NOW + 120_000, toMs: NOW + 180_000 }
  const line = reader.planeLine(LOCKS, 'conflicts_per_s', { fromMs: NOW, toMs: NOW + 180_000 }, 3, busy)
  expect(line).toMatchObject({ tier: '1min', values: [10, 20, 30] })
  expect(reader.planeLine(LOCKS, 'conflicts_per_s', first, 100).values.slice(0, 2)).toEqual([14, 10])
  const { rows, rest } = reader.planeMovers(LOCKS, 'conflicts_per_s', first, last, 1)
  expect(rows).toMatchObject([{ name: 'busy', a: 10, b: 30 }])
  expect(rest).toEqual({ names: 1, a: 2, b: 2 })
  history.close()
})

it('rows share retention and quota accounting with the samples of their tier', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  for (let s = 0; s < 30; s++) {
    history.record(NOW + s * 1000, [job('a', 1)], [], facts)
    history.recordPlane('token_nodes', NOW + s * 1000, [row('token_nodes', 'dn', { used: 5 })])
  }
  const of = (tier: string): number => history.usage().tiers.find((t) => t.id === tier)?.samples ?? 0
  history.flush()
  // Of each second: the sums, the job, the pool; the last second of samples is not complete yet.
  expect(of('1s')).toBe(29 * 2 + 30)
  expect(history.reader().planeAt('token_nodes', NOW + 29_000, 1)).toBeDefined()
  history.record(NOW + 2 * DAY_MS, [job('a', 1)], [], facts)
  history.settle()
  const reader = history.reader()
  expect([...reader.planeBetween('token_nodes', '1s', NOW, NOW + HOUR_MS)]).toEqual([])
  expect([...reader.planeBetween('token_nodes', '10s', NOW, NOW + HOUR_MS)]).toHaveLength(3)
  history.close()
})

it('the twenty longest convoys of a day are kept with their messages, those of another day beside them', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  const keep = (fromMs: number, ms: number): void => {
    history.flush()
    if (!history.wantsConvoy(fromMs, ms)) return
    history.keepConvoy({ resource: 'f / 1', server: 's', fromMs, toMs: fromMs + ms, waiting: 4 }, { ms })
  }
  for (let i = 0; i < 60; i++) keep(NOW + i * 1000, 1 + ((i * 7) % 60))
  keep(NOW + DAY_MS, 2)
  history.record(NOW + DAY_MS, [job('a', 1)], [], facts)
  const reader = history.reader()
  const lengths = reader.convoys(NOW, NOW + HOUR_MS, 100).map((c) => c.toMs - c.fromMs)
  expect(lengths.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => 41 + i))
  expect(history.wantsConvoy(NOW, 41)).toBe(false)
  expect(history.wantsConvoy(NOW, 42)).toBe(true)
  const [other] = reader.convoys(NOW + DAY_MS, NOW + DAY_MS, 10)
  expect(reader.convoyFrame(other?.id ?? 0)).toEqual({ ms: 2 })
  expect(reader.convoyFrame(9999)).toBeUndefined()
  history.close()
})

it('the row of the others: sums, largest, means, and gaps where nothing is known', () => {
  const rows = [
    row('metadata_channels', 'a', { served_per_s: 1, waited_share: 0.2, epoch: 3 }),
    row('metadata_channels', 'b', { served_per_s: 2, waited_share: 0.4, epoch: 2 }),
  ]
  const { values } = othersRow(planeTable('metadata_channels'), rows)
  const of = (name: string): number | undefined => values[planeColumn('metadata_channels', name)]
  expect(of('served_per_s')).toBe(3)
  expect(of('waited_share')).toBeCloseTo(0.3)
  expect(of('epoch')).toBe(3)
  expect(of('queued')).toBeNaN()
})

it('a coarser tier has no more rows than its table, whatever series came and went, and keeps the sum', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  const { most } = planeTable(LOCKS)
  for (let s = 0; s < 61; s++) {
    history.record(NOW + s * 1000, [job('a', 1)], [], facts)
    const rows = Array.from({ length: most + 9 }, (_, i) => row(LOCKS, `r${s}.${i}`, { conflicts_per_s: 6 }))
    history.recordPlane(LOCKS, NOW + s * 1000, rows)
  }
  history.record(NOW + 120_000, [job('a', 1)], [], facts)
  history.settle()
  for (const tier of ['1s', '10s', '1min'] as const) {
    const [block] = history.reader().planeBetween(LOCKS, tier, NOW, NOW)
    expect(block?.keys.length, tier).toBe(most + 1)
    expect(block?.columns[0]?.reduce((a, b) => a + b)).toBeCloseTo(6 * (most + 9), 2)
  }
  history.close()
})

it('a smallest value survives the roll-up, also beside gaps', () => {
  const kind = planeTable('token_nodes').kind as PlaneKind
  const means = new BlockMeans(kind)
  const c = planeColumn('token_nodes', 'pool_lowest')
  for (const v of [NaN, 5, -3, NaN, 7]) {
    const columns = planeTable('token_nodes').columns.map((_, i) => Float32Array.of(i === c ? v : NaN))
    means.add({ keys: Uint32Array.of(1), columns })
  }
  const packed = means.end()
  expect(packed && unpack(kind, 0, packed)?.columns[c]?.[0]).toBe(-3)
})

it('a block of a plane whose bytes are not valid is not read', () => {
  const kind = planeTable('token_nodes').kind as PlaneKind
  const n = 1
  const lead = Buffer.alloc(8)
  for (const rest of [Buffer.from('not deflated'), deflateSync(Buffer.alloc(10)), Buffer.alloc(0)]) {
    expect(unpack(kind, 0, { n, lead, rest })).toBeUndefined()
  }
})

it('a file of version 5: what its kept frames show of the planes are rows', () => {
  const file = newFile()
  const db = new Database(file)
  migrateTo(db, 5)
  db.exec("INSERT INTO cluster VALUES (1, 'EMULATED', 'c')")
  const put = db.prepare('INSERT INTO kept_frame (cluster, view, at_ms, data) VALUES (1, ?, ?, ?)')
  const frame = (view: string, atMs: number, value: unknown): void =>
    void put.run(view, atMs, deflateSync(JSON.stringify(value)))
  frame('locks', NOW, {
    held: 9,
    grants: 4,
    cancels: 3,
    rows: { name: ['f / 1'], server: ['s1'], waiting: [2], conflicts: [7], revocations: [1], held: [5] },
  })
  frame('metadata', NOW, {
    plane: 'stages',
    scope: 'open',
    limit: 100,
    controller: { epoch: 4 },
    jobs: { jobId: ['j'], stages: [2], asked: [60], allocated: [50], measured: [40], queued: [3] },
  })
  frame('tokens', NOW, {
    node: 'dn1',
    clients: {
      name: ['cn1'],
      jobId: ['j'],
      reservation: [10],
      limit: [null],
      usedReserved: [8],
      usedPool: [2],
      yielded: [1],
    },
  })
  put.run('tokens', NOW + 5000, Buffer.from('damaged'))
  frame('locks', NOW + 5000, { rows: 'none' })
  frame('constructor', NOW + 5000, {})
  db.close()
  const history = openAt(file, NOW + 6000)
  history.beginSource('EMULATED', 'c', '', NOW + 6000)
  const reader = history.reader()
  expect(rowsAt(reader, LOCKS, NOW)).toEqual({
    'f / 1': { conflicts_per_s: 7, holders: 5, waiters: 2, revocations_per_s: 1 },
  })
  expect(rowsAt(reader, 'lock_servers', NOW)).toEqual({ all: { holders: 9, grants_per_s: 4, cancels_per_s: 3 } })
  expect(rowsAt(reader, 'metadata_jobs', NOW)).toMatchObject({ open: { served_per_s: 40, limit_per_s: 100, epoch: 4 } })
  expect(rowsAt(reader, 'token_clients', NOW)).toEqual({
    cn1: { used: 10, reservation: 10, used_reserved: 8, used_pool: 2, yielded: 1 },
  })
  history.close()
})
