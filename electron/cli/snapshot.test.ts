import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { emulatedCluster, twoJobs } from '../../tests/node/emulated-cluster.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { History } from '../history/history.ts'
import { NotebookStore } from '../incidents/notebook/notebook-store.ts'
import { recordPlanes } from '#tests/kits/electron/incidents/plane-rows.ts'
import { runSluice } from '#tests/kits/cli/in-process.ts'
import { instantOf } from './snapshot.ts'

const NOW = 1_767_225_600_000

describe('an instant is', () => {
  it.each([
    ['now', NOW],
    ['-10m', NOW - 600_000],
    ['90s ago', NOW - 90_000],
    ['2hago', undefined],
    ['2h ago', NOW - 7_200_000],
    ['-1d', NOW - 86_400_000],
    ['1767225600', NOW],
    ['1767225600123', NOW + 123],
    ['2026-01-01T00:00:00Z', NOW],
    ['2026-01-01', NOW],
    ['', undefined],
    ['10m', undefined],
    ['-10', undefined],
    ['yesterday', undefined],
    ['2026-13-01', undefined],
    ['99999999999999999', undefined],
  ])('%j', (text, ms) => {
    expect(instantOf(text, NOW)).toBe(ms)
  })
})

describe('sluice snapshot', () => {
  const folder = tempFolder()
  const env = { SLUICE_DATA: folder }
  const out = (name: string): string => join(folder, name)
  const span = ['--from', '2026-01-01T00:00:01Z', '--to', '1767225607']
  const sluice = (...args: string[]) => runSluice(['snapshot', ...args], env)

  // The console keeps its history open.
  beforeAll(async () => {
    const history = History.open(join(folder, 'history.sqlite'), NOW)
    if (!history.ok) throw new Error(history.error.why)
    const cluster = emulatedCluster(twoJobs(), { history: history.value, mode: 'enforce' })
    await cluster.run(8)
    recordPlanes(history.value, NOW, 8)
    history.value.flush()
  })

  it('exports from cron while the console runs: one line, a new file, and never over another one', async () => {
    const r = await sluice('export', ...span, '-o', out('a.zip'))
    expect(r.stderr).toBe('')
    expect(r.code).toBe(0)
    expect(r.stdout).toMatch(
      /^\S.*a\.zip: \d+ bytes, 2026-01-01T00:00:01\.000Z to 2026-01-01T00:00:07\.000Z, pseudonyms, sha256 [0-9a-f]{64}\n$/,
    )
    const before = readFileSync(out('a.zip'))
    const again = await sluice('export', ...span, '-o', out('a.zip'))
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('already exists') as string })
    expect(readFileSync(out('a.zip')).equals(before)).toBe(true)
  })

  it('makes a name in a folder, and says everything as JSON', async () => {
    const r = await sluice('export', ...span, '-o', `${folder}/`, '--no-redact', '--leave-out', 'charts,csv', '--json')
    expect(r.code).toBe(0)
    const output = JSON.parse(r.stdout) as { file: string; content: string; redaction: string; missing: string[] }
    expect(output.file).toBe(out('snapshot-20260101-0000.zip'))
    expect(output).toMatchObject({
      redaction: 'none',
      missing: expect.arrayContaining(['Excluded on request: charts.']) as string[],
    })
    const info = await sluice('info', output.file, '--json')
    const { manifest } = JSON.parse(info.stdout) as {
      manifest: { content: string; members: { name: string; packed: number }[]; source: object }
    }
    expect(manifest.content).toBe(output.content)
    expect(manifest.source).toMatchObject({
      kind: 'EMULATED',
      cluster: 'small',
      env: 'DEMO',
    })
    expect(manifest.members.map((m) => m.name).filter((n) => /^(?:csv|charts)/.test(n))).toEqual([])
    expect(manifest.members.every((m) => m.packed > 0)).toBe(true)
    const { stdout } = await sluice('info', output.file)
    expect(stdout).toContain('Names are not redacted.')
    expect(stdout).toMatch(
      /^2 lock resources, 1 lock server, 1 metadata job, 1 metadata channel, 1 token client, 1 token pool, 1 kept convoy$/m,
    )
  })

  it('verifies, and names what was changed with exit 1', async () => {
    expect(await sluice('verify', out('a.zip'))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is intact: sha256') as string,
    })
    const bytes = readFileSync(out('a.zip'))
    const at = bytes.indexOf('csv/jobs.csv') + 100
    bytes[at] = (bytes[at] ?? 0) ^ 1
    writeFileSync(out('bad.zip'), bytes)
    const r = await sluice('verify', out('bad.zip'))
    expect(r.code).toBe(1)
    expect(r.stdout).toMatch(/^csv\/jobs\.csv: .*\n.*was altered\.\n$/)
    const json = await sluice('verify', out('bad.zip'), '--json')
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, changed: [{ member: 'csv/jobs.csv' }] })
  })

  const usage: readonly (readonly string[])[] = [
    ['export', '--from', 'noon', '-o', 'x.zip'],
    ['export', '--from', 'now', '--to', '-10m', '-o', 'x.zip'],
    ['export', '-o', 'x.zip'],
    ['export', '--from', '-10m'],
    ['export', '--from', '-10m', '-o', 'x.zip', '--leave-out', 'everything'],
    ['verify'],
    ['info', 'a', 'b'],
    ['nonsense'],
  ]
  it.each(usage)('ends with 2 for a wrong word: %s %s %s %s', async (...args) => {
    expect((await sluice(...args.map((w) => (w === 'x.zip' ? out('x.zip') : w)))).code).toBe(2)
    expect(existsSync(out('x.zip'))).toBe(false)
  })

  it('takes range and cluster of a notebook, and no other cluster with it', async () => {
    const store = new NotebookStore(folder)
    const made = store.create((id) => ({
      format: 1,
      id,
      title: 'Hog',
      status: 'open',
      author: 'ann',
      alert: null,
      cells: [],
      resolvedMs: null,
      source: { kind: 'EMULATED', cluster: 'small', env: 'DEMO', scenario: null, seed: null },
      createdMs: NOW,
      changedMs: NOW,
      fromMs: NOW + 2_000,
      toMs: NOW + 600_000,
    }))
    const id = made.ok ? made.value.id : ''
    store.close()
    const r = await sluice('export', '--incident', id, '-o', out('of.zip'), '--leave-out', 'charts', '--json')
    expect(r).toMatchObject({ code: 0, stderr: '' })
    const output = JSON.parse(r.stdout) as { fromMs: number; toMs: number; missing: string[] }
    expect(output).toMatchObject({ fromMs: NOW + 2_000, toMs: NOW + 600_000 })
    expect(output.missing.filter((text) => text.startsWith('The newest sample is of 2026-01-01 00:00:0'))).toHaveLength(
      1,
    )
    expect(await sluice('export', '--incident', id, '--cluster', 'other', '-o', out('x.zip'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${id} belongs to small, not to other`) as string,
    })
  })

  it('says where samples are, which clusters there are, and makes no folder that was mistyped', async () => {
    const fails: readonly (readonly [string[], string])[] = [
      [['--from', '2001-01-01', '--to', '2001-01-02', '-o', out('x.zip')], 'data exist from 2026-01-01T00:00:0'],
      [[...span, '-o', out('x.zip'), '--cluster', 'nowhere'], 'or one of small.'],
      [[...span, '-o', join(folder, 'mistyped', 'x.zip')], 'is not a folder'],
    ]
    for (const [args, why] of fails) {
      expect(await sluice('export', ...args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(why) as string,
      })
    }
    expect(existsSync(join(folder, 'mistyped'))).toBe(false)
    expect((await sluice('export', '--help')).stdout).not.toMatch(/\d{13}|\[\]/)
  })

  it('ends with 1 where there is nothing to do, and leaves nothing', async () => {
    const before = readdirSync(folder).sort()
    const fails: readonly (readonly [string[], string])[] = [
      [['export', '--from', '2001-01-01', '--to', '2001-01-02', '-o', out('x.zip')], 'the range has no data'],
      [['export', ...span, '-o', out('x.zip'), '--cluster', 'nowhere'], 'no data of nowhere'],
      [['export', ...span, '-o', out('x.zip'), '--incident', 'INC-0099'], 'no readable INC-0099'],
      [['export', ...span, '-o', out('x.zip'), '--history', out('none.sqlite')], 'no such file'],
      [['verify', out('none.zip')], 'no such file'],
      [['info', out('history.sqlite')], 'not a zip'],
    ]
    for (const [args, why] of fails) {
      expect(await sluice(...args)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(why) as string,
      })
    }
    const json = await sluice('export', ...span, '-o', out('x.zip'), '--cluster', 'nowhere', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'NO_CLUSTER' } })
    expect(readdirSync(folder).sort()).toEqual(before)
  })
})
