import { expect, it } from 'vitest'
import { PLANE_TABLES } from '#core/series/plane-tables.ts'
import { valuesOf } from '#core/snapshot/column.ts'
import {
  replayData as schema,
  SERIES_MOST,
  type Column,
  type ReplayData,
  type ReplayPlane,
} from '#core/snapshot/replay-data.ts'
import type { History } from '../../history/history.ts'
import { facts, job, newFile, openAt } from '#tests/kits/electron/history/samples.ts'
import { factsOf, FROM, SMALL } from '#tests/kits/electron/incidents/page-facts.ts'
import { planeRow, recordPlanes } from '#tests/kits/electron/incidents/plane-rows.ts'
import { replayData } from './replay-data.ts'

/** Data of a page of a minute with a sample every `everyMs`, and these rows. */
function of(record: (history: History) => void, seconds = 60, everyMs = 1000): ReplayData {
  const history = openAt(newFile(), FROM)
  history.beginSource('LIVE', 'altair', '', FROM)
  for (let ms = 0; ms < seconds * 1000; ms += everyMs)
    history.record(FROM + ms, [job('4690.cfd_solve.u500', 10)], [], facts, { rpcs: 10 })
  record(history)
  history.flush()
  const data = replayData(history.reader(), factsOf({ ...SMALL, seconds }, null))
  history.close()
  return data
}

const table = (data: ReplayData, id: string): ReplayPlane => {
  const found = data.planes.find((p) => p.id === id)
  if (!found) throw new Error(`no table ${id}`)
  return found
}
const column = (data: ReplayData, id: string, name: string, of: readonly Column[]): (number | null)[] =>
  valuesOf(of[table(data, id).columns.findIndex((c) => c.name === name)] ?? null, data.t.length)

it('every table has its rows at the instants of the page, with its titles and units', () => {
  const data = of((h) => recordPlanes(h, FROM, 60))
  expect(schema.parse(data)).toEqual(data)
  expect(data.planes.map((p) => p.id)).toEqual(PLANE_TABLES.map((t) => t.id))
  const resources = table(data, 'lock_resources')
  expect(resources.series.map(({ name, place }) => [name, place])).toEqual([
    ['ckpt.h5 / 3', 'ccpfs01'],
    ['ckpt.h5 / 4', 'ccpfs01'],
  ])
  expect(resources.columns[resources.main]).toEqual({ name: 'conflicts_per_s', title: 'Conflicts', unit: '/s' })
  const seconds = Array.from({ length: 60 }, (_, s) => s)
  const [first] = resources.series
  expect(column(data, 'lock_resources', 'wait_p95_ms', first?.values ?? [])).toEqual(seconds.map((s) => s + 2))
  expect(column(data, 'lock_resources', 'conflicts_per_s', resources.total)).toEqual(seconds.map((s) => s + 1))
  expect([first?.mean, resources.others]).toEqual([29.5, null])
  const nodes = table(data, 'token_nodes')
  expect(column(data, 'token_nodes', 'pool_lowest', nodes.series[0]?.values ?? [])).toEqual(seconds.map((s) => 10 - s))
  // The checks of a period are only in the CSV file.
  expect(nodes.columns.map((c) => c.name).filter((name) => name.startsWith('pool_check'))).toEqual([])
  // A measure without any reading is a gap, not zero.
  expect(column(data, 'token_clients', 'limit', table(data, 'token_clients').total).every((v) => v === null)).toBe(true)
  // Series of a job have its color.
  expect(table(data, 'token_clients').series[0]?.ink).toBe(data.jobs[0]?.ink)
})

it('charts have the main measures: of series, or of a whole table', () => {
  const { planeCharts, t } = of((h) => recordPlanes(h, FROM, 60))
  expect(planeCharts.map((c) => [c.plane, c.title, c.unit, c.lines.map((l) => l.name)])).toEqual([
    ['locks', 'Lock wait, p95', 'ms', ['ckpt.h5 / 3', 'ckpt.h5 / 4']],
    ['locks', 'Lock conflicts', '/s', ['ckpt.h5 / 3', 'ckpt.h5 / 4']],
    ['metadata', 'Metadata operations', 'op/s', ['Asked', 'Served', 'False allocation']],
    ['metadata', 'Metadata served by job', 'op/s', ['4690.cfd_solve.u500']],
    ['tokens', 'Token pool and capacity', 'tokens', ['Estimate', 'Used', 'Pool, lowest']],
    ['tokens', 'Tokens used by client', 'tokens', ['cn1701']],
  ])
  const [, , operations] = planeCharts
  expect(operations?.lines.map((l) => valuesOf(l.values, t.length)[3])).toEqual([203, 103, 5])
})

it('an instant of many periods has the mean of rates, the largest of waits and the lowest of pools', () => {
  const data = of((h) => recordPlanes(h, FROM, 240), 240, 4_000)
  expect(data.t).toHaveLength(60)
  const [resource] = table(data, 'lock_resources').series
  const [node] = table(data, 'token_nodes').series
  expect(column(data, 'lock_resources', 'conflicts_per_s', resource?.values ?? [])[1]).toBe(5.5)
  expect(column(data, 'lock_resources', 'wait_p95_ms', resource?.values ?? [])[1]).toBe(9)
  expect(column(data, 'token_nodes', 'pool_lowest', node?.values ?? [])[1]).toBe(3)
  expect(column(data, 'token_nodes', 'epoch', node?.values ?? [])[1]).toBe(7)
})

it('instants finer than a period have its value; a series without a row was idle: a rate of zero, other values a gap', () => {
  const data = of(
    (h) => {
      for (let s = 0; s < 10; s++) {
        const rows = [planeRow('lock_resources', { name: 'a / 1', place: 'x' }, { grants_per_s: s, holders: 1 })]
        const other = planeRow('lock_resources', { name: 'b / 1', place: 'x' }, { grants_per_s: 4, holders: 2 })
        h.recordPlane('lock_resources', FROM + s * 1000, s < 5 ? [...rows, other] : rows)
      }
    },
    10,
    250,
  )
  expect(data.t).toHaveLength(40)
  const series = (name: string): readonly Column[] =>
    table(data, 'lock_resources').series.find((s) => s.name === name)?.values ?? []
  expect(column(data, 'lock_resources', 'grants_per_s', series('a / 1'))).toEqual(
    Array.from({ length: 40 }, (_, i) => Math.floor(i / 4)),
  )
  const idle = (before: number, after: number | null) => Array.from({ length: 40 }, (_, i) => (i < 20 ? before : after))
  expect(column(data, 'lock_resources', 'grants_per_s', series('b / 1'))).toEqual(idle(4, 0))
  expect(column(data, 'lock_resources', 'holders', series('b / 1'))).toEqual(idle(2, null))
})

it('of many series the leading ones have their own row; sums and largest values of the others are in one', () => {
  const data = of((h) => {
    for (let s = 0; s < 60; s++) {
      const rows = Array.from({ length: 100 }, (_, k) =>
        planeRow('lock_resources', { name: `f / ${k}`, place: 'x' }, { conflicts_per_s: 100 - k, waiters: k }),
      )
      h.recordPlane('lock_resources', FROM + s * 1000, rows)
    }
  })
  const resources = table(data, 'lock_resources')
  expect(resources.series).toHaveLength(SERIES_MOST)
  // Ranked by conflicts and waiters together, all are equal: which lead is the history's order.
  const own = resources.series.map((s) => Number(s.name.slice(4)))
  const sum = (keys: readonly number[]): number => keys.reduce((n, k) => n + 100 - k, 0)
  const all = Array.from({ length: 100 }, (_, k) => k)
  const rest = all.filter((k) => !own.includes(k))
  expect(column(data, 'lock_resources', 'conflicts_per_s', resources.total)[7]).toBe(sum(all))
  expect(column(data, 'lock_resources', 'conflicts_per_s', resources.others ?? [])[7]).toBe(sum(rest))
  expect(column(data, 'lock_resources', 'waiters', resources.others ?? [])[7]).toBe(Math.max(...rest))
  const chart = data.planeCharts.find((c) => c.title === 'Lock conflicts')
  expect(chart?.lines.at(-1)?.name).toBe('other')
  const stacked = chart?.lines.reduce((n, l) => n + (valuesOf(l.values, data.t.length)[7] ?? 0), 0)
  expect(stacked).toBe(sum(all))
})

it('a kept convoy has its locks and messages, at times from its start', () => {
  const { convoys, convoysMore } = of((h) => recordPlanes(h, FROM, 60))
  expect([convoys.length, convoysMore]).toEqual([1, 0])
  const [convoy] = convoys
  expect(convoy).toMatchObject({
    resource: 'ckpt.h5 / 3',
    server: 'ccpfs01',
    waiting: 4,
    livesMore: 0,
    messagesMore: 2,
  })
  expect(convoy?.lives).toEqual({
    client: ['cn1701-0', 'cn1701-1', 'cn1701-2', 'cn1701-3', 'cn1701-4'],
    job: Array.from({ length: 5 }, () => '4690.cfd_solve.u500'),
    mode: Array.from({ length: 5 }, () => 'PW'),
    asked: [-4, -3, -2, -1, 0],
    granted: [0, 2, 4, 6, null],
    released: [2, 4, 6, null, null],
  })
  expect(convoy?.messages.arrived).toEqual([-3.75, -2.75, -1.75, -0.75, null])
})

it('messages that cannot be read leave the convoy without any', () => {
  const { convoys } = of((h) =>
    h.keepConvoy({ resource: 'a / 1', server: 'x', fromMs: FROM + 5, toMs: FROM + 9, waiting: 4 }, { lives: 'none' }),
  )
  expect(convoys).toMatchObject([{ resource: 'a / 1', lives: { client: [] }, messages: { sent: [] } }])
})

it('a source without locks, metadata and tokens has none on its page', () => {
  const data = of(() => undefined)
  expect([data.planes, data.planeCharts, data.convoys]).toEqual([[], [], []])
})
