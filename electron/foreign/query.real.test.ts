/** SQL queries that never end or fill the memory: their process is killed, and the file can be queried again. */
import { afterAll, expect, it } from 'vitest'
import type { CheckedFile } from '../history/open-recording.ts'
import { recordPlanes } from '#tests/kits/electron/history/plane-samples.ts'
import { newFile, NOW, openAt } from '#tests/kits/electron/history/samples.ts'
import { ForeignFiles } from './foreign-files.ts'

const SECONDS = 5
const files = ForeignFiles.ofNode()
afterAll(() => files.close())

const file = newFile()
const written = openAt(file)
recordPlanes(written, SECONDS)
written.close()

async function checked(): Promise<CheckedFile> {
  const of = await files.check(file)
  if (!of.ok) throw new Error(of.error.why)
  return of.value
}

const query = async (sql: string, seconds = 60) =>
  files.query(await checked(), {
    query: { sql, rows: 100, fromMs: NOW, toMs: NOW + SECONDS * 1000, tier: null },
    seconds,
  })

const NUMBERS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)'

it.each([
  ['a recursive CTE that never ends', `${NUMBERS} SELECT max(i) FROM n`, 1, 'QUERY_TOO_SLOW'],
  [
    'a join of everything with everything',
    'SELECT count(*) FROM jobs a, jobs b, jobs c, jobs d, jobs e, jobs f',
    1,
    'QUERY_TOO_SLOW',
  ],
  [
    'a huge group_concat',
    `${NUMBERS} SELECT group_concat(hex(zeroblob(100000))), group_concat(hex(zeroblob(100001))) FROM n`,
    60,
    'QUERY_TOO_LARGE',
  ],
  [
    'a sort that fills the memory',
    `${NUMBERS} SELECT hex(zeroblob(1000 + i % 7)) AS h FROM n ORDER BY h`,
    60,
    'QUERY_TOO_LARGE',
  ],
] as const)('attack: %s', async (_, sql, seconds, code) => {
  const answer = await query(sql, seconds)
  expect(answer).toMatchObject({ ok: false, error: { code, what: 'The query was stopped' } })
  const after = await query('SELECT count(*) FROM cluster')
  expect(after).toMatchObject({ ok: true, value: { rows: 1 } })
  if (!after.ok) return
  const lines: string[] = []
  for await (const line of after.value.lines()) lines.push(line)
  expect(lines).toEqual([`[${SECONDS}]`])
  after.value.close()
})
