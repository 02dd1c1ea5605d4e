/** `sluice history csv` and `sluice history sql` over locks, metadata and tokens. */
import { expect, it } from 'vitest'
import { runSluice, startSluice } from '#tests/kits/cli/in-process.ts'
import { planeRow, recordPlanes } from '#tests/kits/electron/history/plane-samples.ts'
import { facts, newFile, NOW, openAt } from '#tests/kits/electron/history/samples.ts'

const SECONDS = 12
const EVIL = '=1+1\u001b]0;owned\u0007'

const file = newFile()
const written = openAt(file)
recordPlanes(written, SECONDS)
written.record(NOW + SECONDS * 1000, [], [], facts, { rpcs: 0 })
written.recordPlane('token_clients', NOW + SECONDS * 1000, [
  planeRow('token_clients', { name: EVIL, place: 'dn0', jobId: '-2+3' }, { used_pool: 4 }),
])
written.close()

const sluice = (...words: string[]) => runSluice(words)
const linesOf = ({ stdout }: { readonly stdout: string }): string[] => stdout.trimEnd().split(/\r?\n/)
const iso = (s: number): string => new Date(NOW + s * 1000).toISOString()

it('short names of the planes are those of their main tables, with either option', async () => {
  for (const [short, id] of [
    ['locks', 'lock_resources'],
    ['metadata', 'metadata_jobs'],
    ['tokens', 'token_clients'],
  ] as const) {
    const named = await sluice('history', 'csv', file, '--table', short)
    expect(named).toMatchObject({ code: 0, stderr: '' })
    expect(named.stdout).toBe((await sluice('history', 'csv', file, '--what', id)).stdout)
  }
  expect(await sluice('history', 'csv', file, '--table', 'padlocks')).toMatchObject({ code: 2, stdout: '' })
})

it('attack: a client named like a formula is text in CSV, and its escapes do not reach a terminal', async () => {
  const csv = await sluice('history', 'csv', file, '--table', 'tokens', '--from', iso(SECONDS))
  expect(linesOf(csv)[1]).toMatch(/^[^,]+,"?'=1\+1/)
  expect(linesOf(csv)[1]).toContain(",'-2+3,")
  const select = `SELECT name, job FROM token_clients WHERE name LIKE '=%'`
  const piped = await sluice('history', 'sql', file, select)
  expect(piped.stdout.split('\r\n')[1]).toMatch(/^"?'=1\+1/)
  const shown = await startSluice(['history', 'sql', file, select], { isTerminal: true }).ended
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).not.toMatch(/[^\n\x20-\x7e]/)
  const asCsv = await startSluice(['history', 'sql', file, select, '--csv'], { isTerminal: true }).ended
  expect(asCsv.stdout.replaceAll('\r\n', '\n')).toContain('name,job\n')
  expect((await sluice('history', 'sql', file, select, '--csv', '--json')).code).toBe(2)
  const json = await sluice('history', 'sql', file, select, '--json')
  expect(json.stdout).not.toMatch(/[^\n\x20-\x7e]/)
  expect(JSON.parse(json.stdout)).toEqual({ columns: ['name', 'job'], rows: [[EVIL, '-2+3']], more: false })
})

it('sql answers as a table on a terminal, as CSV in a pipe, and as JSON', async () => {
  const select = 'SELECT name, sum(grants_per_s) AS grants, max(wait_mean_ms) AS wait FROM lock_servers GROUP BY name'
  const sum = (SECONDS * (SECONDS + 1)) / 2
  const piped = await sluice('history', 'sql', file, select)
  expect(piped).toMatchObject({ code: 0, stderr: '', stdout: `name,grants,wait\r\na,${sum},\r\nb,${sum},\r\n` })
  const shown = await startSluice(['history', 'sql', file, select], { isTerminal: true }).ended
  expect(shown.stdout).toBe(`name  grants  wait\na         ${sum}\nb         ${sum}\n`)
  const json = await sluice('history', 'sql', file, select, '--json')
  expect(JSON.parse(json.stdout)).toEqual({
    columns: ['name', 'grants', 'wait'],
    rows: [
      ['a', sum, null],
      ['b', sum, null],
    ],
    more: false,
  })
})

it('sql uses the range and the tier of its options, and says when rows are left out', async () => {
  const count = 'SELECT count(*) AS n FROM cluster'
  const part = await sluice('history', 'sql', file, count, '--from', iso(2), '--to', iso(5), '--tier', '1s')
  expect(linesOf(part)).toEqual(['n', '3'])
  const cut = await sluice('history', 'sql', file, 'SELECT time_ms FROM cluster', '--limit', '4')
  expect(cut).toMatchObject({ code: 0, stderr: 'sluice: only the first 4 rows; --limit allows more\n' })
  expect(linesOf(cut)).toHaveLength(1 + 4)
})

it.each([
  [['PRAGMA database_list'], 2, 'only SELECT'],
  [['SELECT speed FROM jobs'], 2, 'no such column: speed'],
  [['SELECT 1', '--limit', '0'], 2, 'A number from 1 to'],
  [['SELECT 1', '--cluster', 'vega'], 1, 'no data of that cluster'],
  [
    ['WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n', '--seconds', '1'],
    1,
    '1 s',
  ],
] as const)('sql %j ends with %i and says why', async (words, code, why) => {
  const ended = await sluice('history', 'sql', file, ...words)
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(why) as string })
})

it('sql reads a history that a console has open', async () => {
  const live = newFile()
  const history = openAt(live)
  recordPlanes(history, SECONDS)
  const ended = await sluice('history', 'sql', live, 'SELECT count(*) AS n FROM jobs')
  expect(linesOf(ended)).toEqual(['n', String(2 * SECONDS)])
  history.close()
})
