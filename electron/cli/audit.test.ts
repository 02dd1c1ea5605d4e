import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it } from 'vitest'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { Audit } from '../base/audit.ts'
import { auditLines } from '../enforce/audit-lines.ts'
import { EnforcementStore, storeFile } from '../enforce/store.ts'
import { History } from '../history/history.ts'
import { verifyFile } from './audit.ts'

let folder: string
let file: string

const sluice = (...args: string[]): Promise<Ended> => runSluice(['audit', ...args], { SLUICE_DATA: folder })
const tamper = (sql: string): void => {
  const db = new Database(file)
  db.exec(sql)
  db.close()
}

beforeEach(() => {
  folder = tempFolder()
  file = storeFile(folder)
  const opened = EnforcementStore.open(file, 0)
  if (!opened.ok) throw new Error(opened.error.why)
  const audit = opened.value.audit({ cluster: 'altair' })
  for (let i = 0; i < 6; i++) audit.write(i, 'oss01', 'intent', `lctl set_param ${i}`)
  opened.value.close()
})

describe('sluice audit verify', () => {
  it('ends with 0 where every record is as it was written, and prints the head', async () => {
    const r = await sluice('verify')
    expect(r).toMatchObject({ code: 0, stderr: '' })
    expect(r.stdout).toMatch(/^6 records, all intact\.\nhead 6:[0-9a-f]{64}\n$/)
    const json = JSON.parse((await sluice('verify', '--json')).stdout) as { head: { number: number; hash: string } }
    expect(json).toMatchObject({ ok: true, file, records: 6, bad: null, refused: null })
    const head = `${json.head.number}:${json.head.hash}`
    expect((await sluice('verify', '--head', head)).code).toBe(0)
    expect(await sluice('verify', '--head', `5:${json.head.hash}`)).toMatchObject({ code: 1 })
  })

  it('ends with 1 and names the first bad record', async () => {
    tamper("UPDATE audit SET text = 'x' WHERE number IN (3, 5)")
    const r = await sluice('verify', '--json')
    expect(r.code).toBe(1)
    expect(JSON.parse(r.stdout)).toMatchObject({ ok: false, records: 2, bad: { number: 3 } })
    expect((await sluice('verify')).stdout).toContain('record 3: its hash does not match')
  })

  it('ends with 1 for a file that is not there, and 2 for what it does not know', async () => {
    expect((await sluice('verify', '--file', '/nowhere/x')).code).toBe(1)
    expect((await sluice('verify', '--nonsense')).code).toBe(2)
    expect((await sluice('verify', '--head', 'x')).code).toBe(2)
  })

  it('detects a completely rewritten chain, including its head, by a head noted elsewhere', async () => {
    const noted = (JSON.parse((await sluice('verify', '--json')).stdout) as { head: { number: number; hash: string } })
      .head
    tamper('DELETE FROM audit')
    writeFileSync(`${file}.head`, JSON.stringify({ last: null, next: null }))
    const opened = EnforcementStore.open(file, 0)
    if (!opened.ok) throw new Error(opened.error.why)
    const audit = opened.value.audit({ cluster: 'altair' })
    for (let i = 0; i < 7; i++) audit.write(i, 'oss01', 'intent', 'another past')
    opened.value.close()
    // The files themselves show no trace of it.
    expect((await sluice('verify')).code).toBe(0)
    expect(await sluice('verify', '--head', `${noted.number}:${noted.hash}`)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('does not match the given head') as string,
    })
  })

  it('follows the records of a history from before there was a store', async () => {
    const old = join(folder, 'history.sqlite')
    const opened = History.open(old, 0)
    if (!opened.ok) throw new Error(opened.error.why)
    opened.value.beginSource('LIVE', 'altair', '', 0)
    const audit = new Audit((r) => opened.value.recordAudit(r), opened.value.lastAudit())
    for (let i = 0; i < 4; i++) audit.write(i, 'oss01', 'intent', `old ${i}`)
    opened.value.close()
    expect(verifyFile(old)).toMatchObject({ ok: true, value: { records: 4, bad: undefined } })
    const db = new Database(old)
    db.exec("UPDATE audit SET text = 'x' WHERE number = 2")
    db.close()
    expect(verifyFile(old)).toMatchObject({ ok: true, value: { bad: { number: 2 } } })
  })
})

describe('sluice audit export', () => {
  const out = (): string => join(folder, 'audit.jsonl')
  const exported = (): string => {
    const opened = EnforcementStore.openForReading(file)
    if (!opened.ok) throw new Error(opened.error.why)
    const text = [...auditLines(opened.value.chain.each())].join('')
    opened.value.close()
    return text
  }

  it('writes lines that verify, for their owner only, and over nothing', async () => {
    expect(await sluice('export', '-o', out())).toMatchObject({ code: 0, stderr: '' })
    expect((statSync(out()).mode & 0o777).toString(8)).toBe('600')
    expect(verifyFile(out())).toMatchObject({ ok: true, value: { records: 6, bad: undefined } })
    expect(await sluice('export', '-o', out())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('EEXIST') as string,
    })
    expect([readFileSync(out(), 'utf8'), (await sluice('export')).stdout]).toEqual([exported(), exported()])
  })

  const edits: readonly (readonly [string, (lines: string[]) => string[], number, string])[] = [
    ['edited', (l) => l.with(2, (l[2] ?? '').replace('set_param 2', 'get_param 2')), 3, 'hash does not match'],
    ['cut', (l) => l.slice(0, 4), 4, 'cut'],
    ['cut with a head', (l) => [...l.slice(0, 4), l.at(-2) ?? ''], 4, 'newest records are gone'],
    ['deleted from', (l) => l.toSpliced(1, 1), 2, 'missing'],
    ['reordered', (l) => l.with(1, l[2] ?? '').with(2, l[1] ?? ''), 2, 'missing'],
    ['doubled', (l) => l.toSpliced(2, 0, l[1] ?? ''), 2, 'second time'],
    ['continued after its head', (l) => [...l.slice(0, 7), l[0] ?? '', ''], 7, 'follow its head'],
    ['junk', () => ['{"a":1}', ''], 1, 'not an audit record'],
    ['nothing', () => [''], 0, 'its head is missing'],
  ]
  it.each(edits)('shows in a copy that is %s', (_what, edit, number, why) => {
    writeFileSync(out(), edit(exported().split('\n')).join('\n'))
    expect(verifyFile(out())).toMatchObject({
      ok: true,
      value: { bad: { number, why: expect.stringContaining(why) as string } },
    })
  })
})

it('sluice audit accept agrees in so many words only', async () => {
  tamper('DELETE FROM audit WHERE number > 4')
  expect((await sluice('accept')).code).toBe(1)
  expect(await sluice('accept', '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('and recorded') as string,
  })
  expect((await sluice('verify')).code).toBe(0)
  expect((await sluice('accept')).stdout).toContain('nothing to accept')
})
