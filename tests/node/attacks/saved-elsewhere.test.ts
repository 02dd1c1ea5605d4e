/** Exports under a name, or to a place, that someone else prepared: only the chosen file is written. */
import { lstatSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ok } from '#core/base/result.ts'
import { proposedName, Saves } from '#electron/host/shell/saves.ts'
import { writeState } from '#electron/main/window-state.ts'
import { tempFolder } from '../temp-folder.ts'

describe('a name that a page proposes', () => {
  it.each([
    ['../../.ssh/authorized_keys', 'ssh-authorized_keys'],
    ['/etc/cron.d/x', 'etc-cron.d-x.txt'],
    ['C:\\Users\\ana\\x.bat', 'C-Users-ana-x.bat.txt'],
    ['run.desktop', 'run.desktop.txt'],
    ['report.csv.exe', 'report.csv.exe.txt'],
    ['report\u202evsc.exe', 'report-vsc.exe.txt'],
    ['report.lnk. . .', 'report.lnk.txt'],
    ['autorun.inf', 'autorun.inf.txt'],
    ['CON.csv', 'CON-.csv'],
    ['nul', 'nul-'],
    ['a\0b\n.csv', 'a-b-.csv'],
    ['.csv', 'csv'],
    ['jobs.csv', 'jobs.csv'],
  ])('%j is %j', (name, proposed) => {
    expect(proposedName(name)).toBe(proposed)
  })

  it('is never cut in the middle of a letter, and keeps its kind', () => {
    const long = proposedName(`${'\u{1D4D0}'.repeat(400)}.csv`)
    expect(long.isWellFormed()).toBe(true)
    expect(long.endsWith('.csv')).toBe(true)
  })
})

describe.skipIf(process.platform === 'win32')('a link that stands where a file goes', () => {
  it('is replaced, and what it leads to is as it was', async () => {
    const folder = tempFolder()
    const victim = join(folder, 'victim')
    const place = join(folder, 'jobs.csv')
    writeFileSync(victim, 'mine')
    symlinkSync(victim, place)
    const saves = new Saves(() => Promise.resolve(ok(place)))
    const begun = await saves.begin('w', 'jobs.csv', 1)
    if (!begun.ok || begun.value === null) throw new Error('not begun')
    await saves.put('w', { id: begun.value, at: 0, base64: 'YQ==', isLast: true })
    expect([readFileSync(victim, 'utf8'), readFileSync(place, 'utf8')]).toEqual(['mine', 'a'])
    expect(lstatSync(place).isSymbolicLink()).toBe(false)
    expect(statSync(place).mode & 0o077).toBe(0)

    const state = join(folder, 'window.json')
    symlinkSync(victim, state)
    writeState(state, { x: 1, y: 1, width: 1000, height: 700, isMaximized: false, isFullScreen: false, zoom: 1 })
    expect(readFileSync(victim, 'utf8')).toBe('mine')
    expect(statSync(state).mode & 0o077).toBe(0)
  })
})

it('a file that is given up twice at once, or written by two at once, leaves nothing behind', async () => {
  const folder = tempFolder()
  const saves = new Saves(() => Promise.resolve(ok(join(folder, 'x.csv'))))
  const begin = async (): Promise<string> => {
    const begun = await saves.begin('w', 'x.csv', 4)
    return begun.ok ? (begun.value ?? '') : ''
  }
  const one = await begin()
  const two = await begin()
  const part = { at: 0, base64: 'YWJjZA==', isLast: true }
  await Promise.all([saves.drop('w', one), saves.drop('w', one)])
  const both = await Promise.all([saves.put('w', { id: two, ...part }), saves.put('w', { id: two, ...part })])
  expect(both.some((b) => !b.ok)).toBe(true)
  await saves.close()
  expect(readdirSync(folder).filter((f) => f !== 'x.csv')).toEqual([])
})
