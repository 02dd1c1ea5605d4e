import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PLANE_TABLES, planeTable } from '#core/series/plane-tables.ts'
import type { Result } from '#core/base/result.ts'
import { runQuery, type QueryAnswer, type SqlQuery } from './sql.ts'
import { HISTORY_TABLES } from './tables.ts'
import { openHere } from '#tests/kits/electron/foreign/in-process.ts'
import { CONVOY, planeRow, recordPlanes } from '#tests/kits/electron/history/plane-samples.ts'
import { facts, newFile, NOW, openAt } from '#tests/kits/electron/history/samples.ts'
import { tempFolder } from '#tests/node/temp-folder.ts'
import { readerOf } from './open-recording.ts'

const SECONDS = 20

const file = newFile()
const written = openAt(file)
recordPlanes(written, SECONDS)
written.close()

function run(
  sql: string,
  more: Partial<SqlQuery> = {},
  from = file,
): { readonly answer: Result<QueryAnswer>; readonly rows: unknown[] } {
  const opened = openHere(from)
  if (!opened.ok) throw new Error(opened.error.why)
  const reader = readerOf(opened.value)
  if (!reader.ok) throw new Error(reader.error.why)
  const source = { reader: reader.value, db: opened.value.db, cluster: reader.value.id }
  let text = ''
  const query = { sql, rows: 1000, fromMs: NOW, toMs: NOW + SECONDS * 1000, tier: null, ...more }
  const answer = runQuery(source, query, (lines) => (text += lines))
  reader.value.close()
  const lines = text.split('\n').filter((line) => line !== '')
  return { answer, rows: lines.map((line) => JSON.parse(line) as unknown) }
}

const rowsOf = (sql: string, more: Partial<SqlQuery> = {}): unknown[] => {
  const { answer, rows } = run(sql, more)
  if (!answer.ok) throw new Error(answer.error.why)
  return rows
}

it('every table has the columns that it declares, and rows', () => {
  for (const { name, columns } of HISTORY_TABLES) {
    const { answer, rows } = run(`SELECT * FROM ${name}`)
    expect(answer.ok && answer.value.columns, name).toEqual(columns.map((c) => c.name))
    expect(rows.length, name).toBeGreaterThan(0)
    expect(rows.every((row) => (row as unknown[]).length === columns.length)).toBe(true)
    expect(rowsOf(`SELECT column_name, unit FROM columns WHERE table_name = '${name}'`)).toEqual(
      columns.map((c) => [c.name, c.unit]),
    )
  }
})

it('rows of each plane are those that were written; a value that is missing is null', () => {
  for (const { id, rank, hasJob } of PLANE_TABLES) {
    const job = hasJob ? `'1.cfd.u1'` : `'a'`
    const sql = `SELECT time, time_ms, is_others, ${rank[0]} FROM ${id} WHERE ${hasJob ? 'job' : 'name'} = ${job} ORDER BY time_ms`
    expect(rowsOf(sql), id).toEqual(
      Array.from({ length: SECONDS }, (_, s) => [new Date(NOW + s * 1000).toISOString(), NOW + s * 1000, 0, s + 1]),
    )
  }
  expect(rowsOf(`SELECT DISTINCT name, wait_p95_ms, wait_mean_ms FROM lock_resources ORDER BY name`)).toEqual([
    ['a', 250, null],
    ['b', null, null],
  ])
})

it('the row of the others is marked, also beside a resource of that name, and keeps the sums', () => {
  const { most } = planeTable('lock_resources')
  const crowded = newFile()
  const history = openAt(crowded)
  history.beginSource('LIVE', 'altair', '', NOW)
  history.record(NOW, [], [], facts)
  const rows = Array.from({ length: most + 10 }, (_, i) =>
    planeRow('lock_resources', { name: i === most + 9 ? '(others)' : `r${i}`, place: 'ls0' }, { grants_per_s: i + 1 }),
  )
  history.recordPlane('lock_resources', NOW, rows)
  history.close()
  const sql = `SELECT is_others, count(*), sum(grants_per_s), max(name = '(others)') FROM lock_resources GROUP BY 1`
  const others = (10 * 11) / 2
  expect(run(sql, {}, crowded).rows).toEqual([
    [0, most, ((most + 10) * (most + 11)) / 2 - others, 1],
    [1, 1, others, 1],
  ])
})

it('jobs, targets, sums, decisions, rules, events and convoys are those that were written', () => {
  expect(rowsOf('SELECT job, user, sum(rpcs_per_s), min(record_tokens) FROM jobs GROUP BY job ORDER BY job')).toEqual([
    ['1.cfd.u1', 'u1', 190, null],
    ['2.io.u2', 'u2', 100, -3],
  ])
  expect(rowsOf('SELECT count(*), sum(rpcs_per_s) FROM targets')).toEqual([[SECONDS, 190]])
  expect(rowsOf('SELECT count(*), sum(rpcs_per_s) FROM cluster')).toEqual([[SECONDS, 190]])
  expect(
    rowsOf(`SELECT target, budget_tokens, json_extract(a.value, '$[1]') FROM decisions, json_each(allocations) AS a`),
  ).toEqual([['OST0', 700, 700]])
  expect(rowsOf('SELECT start_ms, end_ms, name, rate_per_s FROM rules')).toEqual([[NOW + 1000, null, 'sl_1', 100]])
  expect(rowsOf(`SELECT text FROM events WHERE kind = 'note' ORDER BY text`)).toEqual([['first'], ['second']])
  expect(rowsOf('SELECT start_ms, end_ms, resource, server, waiting FROM convoys')).toEqual([
    [CONVOY.fromMs, CONVOY.toMs, CONVOY.resource, CONVOY.server, CONVOY.waiting],
  ])
})

it('range and tier: of the command, or of the parameters of a table', () => {
  const count = (from: string, more: Partial<SqlQuery> = {}) => rowsOf(`SELECT count(*) FROM ${from}`, more)[0]
  const part = { fromMs: NOW + 5000, toMs: NOW + 7000 }
  expect(count('cluster', part)).toEqual([2])
  expect(count(`cluster('raw', ${NOW}, ${NOW + 3000})`, part)).toEqual([3])
  expect(count(`cluster WHERE from_ms = '2026-01-02T00:00:04Z' AND to_ms = ${NOW + 10_000}`)).toEqual([6])
  expect(count(`lock_resources('1s')`, part)).toEqual([4])
  expect(count(`decisions(${NOW}, ${NOW + 1000})`)).toEqual([0])
  expect(run(`SELECT * FROM jobs('2s')`).answer).toMatchObject({
    ok: false,
    error: { code: 'SQL_INVALID', why: 'tier must be one of raw, 1s, 10s, 1min' },
  })
  expect(run(`SELECT * FROM events('yesterday')`).answer).toMatchObject({ ok: false, error: { code: 'SQL_INVALID' } })
})

it('rows above the limit are left out, and the answer says so', () => {
  const { answer, rows } = run('SELECT * FROM jobs', { rows: 7 })
  expect(answer).toMatchObject({ ok: true, value: { rows: 7, isCut: true } })
  expect(rows).toHaveLength(7)
  expect(run('SELECT * FROM jobs LIMIT 7', { rows: 7 }).answer).toMatchObject({ value: { rows: 7, isCut: false } })
})

it('values that JSON has no type for are text', () => {
  expect(rowsOf(`SELECT x'00ff', 9e999, NULL, 1.5`)).toEqual([["x'00ff'", 'Infinity', null, 1.5]])
})

const victim = join(tempFolder(), 'victim.sqlite')
it.each([
  ['ATTACH', `ATTACH '${victim}' AS v`],
  ['ATTACH behind a comment', `/* SELECT */ -- SELECT\n ATTACH '${victim}' AS v`],
  ['a second statement', `SELECT 1; ATTACH '${victim}' AS v`],
  ['VACUUM INTO', `VACUUM INTO '${victim}'`],
  ['PRAGMA', 'PRAGMA writable_schema = ON'],
  ['PRAGMA that answers', 'PRAGMA temp_store_directory'],
  ['CREATE', 'CREATE TABLE t (x)'],
  ['a temporary table of a SELECT', 'CREATE TEMP TABLE t AS SELECT * FROM jobs'],
  [
    'a writing CTE',
    `WITH x AS (SELECT 1) INSERT INTO sqlite_master SELECT 'table', 'x', 'x', 0, 'CREATE TABLE x(y)' FROM x`,
  ],
  ['DELETE behind a CTE', `WITH x AS (SELECT 1) DELETE FROM events WHERE time_ms IN x`],
  ['UPDATE', `UPDATE events SET text = ''`],
  ['BEGIN', 'BEGIN IMMEDIATE'],
  ['load_extension', `SELECT load_extension('${victim}')`],
  ['readfile of the SQLite shell', `SELECT readfile('/etc/passwd')`],
  ['writefile of the SQLite shell', `SELECT writefile('${victim}', 'x')`],
  ['tables of the file itself', 'SELECT * FROM setting'],
  ['a tokenizer given as a pointer', `SELECT fts3_tokenizer('x', x'4141414141414141')`],
  ['nothing', ' -- SELECT 1'],
])('attack: %s is refused, and nothing is written', (_, sql) => {
  const { answer, rows } = run(sql)
  expect(answer.ok).toBe(false)
  expect(!answer.ok && ['SQL_NOT_SELECT', 'SQL_INVALID']).toContain(!answer.ok && answer.error.code)
  expect(rows).toEqual([])
  expect(existsSync(victim)).toBe(false)
})

it('attack: a pragma as a table sees only the empty database', () => {
  expect(rowsOf('SELECT name, file FROM pragma_database_list')).toEqual([['main', '']])
  expect(rowsOf('SELECT count(*) FROM sqlite_master')).toEqual([[0]])
})

it('attack: answers above the size limit are refused', () => {
  const sql = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 400) SELECT hex(zeroblob(500000)) FROM n`
  expect(run(sql).answer).toMatchObject({ ok: false, error: { code: 'QUERY_TOO_LARGE' } })
})
