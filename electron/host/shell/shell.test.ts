/** Files, notifications, the menu and links through the contract, with a fake shell. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeShell } from '../../../tests/node/fake-shell.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openHost, type Host } from '../host.ts'
import { AlertNotices, type AlertNotice } from './alert-notices.ts'
import { proposedName } from './saves.ts'

let host: Host
let around: ReturnType<typeof fakeShell>
let folder: string
const clientOf = (peer: string) => createRouterClient(host.router, { context: { peer } })
async function open(shell = true): Promise<void> {
  around = fakeShell()
  folder = tempFolder()
  const opened = await openHost({
    shell: 'desktop',
    historyFile: ':memory:',
    paced: false,
    ...(shell ? { around: around.shell } : {}),
  })
  if (!opened.ok) throw new Error(opened.error.what)
  host = opened.value
}
beforeEach(() => open())
afterEach(() => host.close())
const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('a file that a person wants', () => {
  it('is written where they say, in parts, and is there only when it is whole', async () => {
    const file = join(folder, 'jobs.csv')
    writeFileSync(file, 'old')
    around.world.save = file
    const client = clientOf('window-1')
    const { id } = await client.shell.save({ name: 'jobs.csv', bytes: 8 })
    expect(id).not.toBeNull()
    const part = { id: id ?? '', base64: base64('1,2\n') }
    expect(await client.shell.put({ ...part, at: 0, isLast: false })).toEqual({ name: null })
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(await client.shell.put({ ...part, at: 4, isLast: true })).toEqual({ name: 'jobs.csv' })
    expect(readFileSync(file, 'utf8')).toBe('1,2\n1,2\n')
    expect(readdirSync(folder)).toEqual(['jobs.csv'])
  })

  it('goes nowhere where no place is chosen, and may be empty', async () => {
    const client = clientOf('window-1')
    expect(await client.shell.save({ name: 'x', bytes: 1 })).toEqual({ id: null })
    around.world.save = join(folder, 'empty')
    const { id } = await client.shell.save({ name: 'x', bytes: 0 })
    await client.shell.put({ id: id ?? '', at: 0, base64: '', isLast: true })
    expect(readFileSync(join(folder, 'empty'), 'utf8')).toBe('')
  })

  it('leaves nothing behind when it is given up, out of order, longer than said, or of another window', async () => {
    const client = clientOf('window-1')
    around.world.save = join(folder, 'x')
    const begin = async (): Promise<string> => (await client.shell.save({ name: 'x', bytes: 4 })).id ?? ''
    const put = (id: string, at: number, text: string, isLast: boolean, by = client) =>
      by.shell.put({ id, at, base64: base64(text), isLast })
    await client.shell.drop({ id: await begin() })
    for (const [at, text, isLast] of [
      [1, 'a', false],
      [0, 'abcde', true],
      [0, 'abcd', false],
      [0, 'abc', true],
    ] as const) {
      await expect(put(await begin(), at, text, isLast)).rejects.toMatchObject({ data: { code: 'SAVE_ORDER' } })
    }
    const id = await begin()
    await expect(put(id, 0, 'abcd', true, clientOf('window-2'))).rejects.toMatchObject({
      data: { code: 'NO_SUCH_SAVE' },
    })
    await clientOf('window-2').shell.drop({ id })
    expect(await put(id, 0, 'abcd', true)).toEqual({ name: 'x' })
    expect(readdirSync(folder)).toEqual(['x'])
  })

  it('that cannot be written is refused with what the system says', async () => {
    around.world.save = join(folder, 'no/such/folder/x')
    const client = clientOf('window-1')
    await expect(client.shell.save({ name: 'x', bytes: 1 })).rejects.toMatchObject({ data: { code: 'SAVE_FAILED' } })
    mkdirSync(join(folder, 'dir'))
    around.world.save = join(folder, 'dir')
    const { id } = await client.shell.save({ name: 'x', bytes: 1 })
    await expect(client.shell.put({ id: id ?? '', at: 0, base64: base64('a'), isLast: true })).rejects.toMatchObject({
      data: { code: 'SAVE_FAILED' },
    })
    expect(readdirSync(folder)).toEqual(['dir'])
  })

  it('is proposed a name that is one', () => {
    expect(proposedName('Sluice 2026-11-21.csv')).toBe('Sluice 2026-11-21.csv')
    expect(proposedName('../../.bashrc')).toBe('bashrc')
    expect(proposedName('a/b\\c:d\u202e.sh')).toBe('a-b-c-d-.sh')
    expect(proposedName('...')).toBe('sluice')
    expect(proposedName('bundle.v2.zip')).toBe('bundle.v2.zip')
    expect(proposedName('x'.repeat(500))).toHaveLength(150)
  })
})

describe('the program around', () => {
  it('is named by what it can do, and is none in a browser', async () => {
    expect(await clientOf('w').shell.about()).toEqual({
      saves: true,
      menu: true,
      notifies: true,
      links: true,
      secrets: { can: false, why: 'this console has no data folder', kept: [] },
    })
    await host.close()
    await open(false)
    const client = clientOf('w')
    expect(await client.shell.about()).toMatchObject({ saves: false, secrets: { can: false } })
    await expect(client.shell.save({ name: 'x', bytes: 1 })).rejects.toMatchObject({ data: { code: 'NO_SHELL' } })
    await expect(client.shell.openLink({ url: 'https://x/' })).rejects.toMatchObject({ data: { code: 'NO_SHELL' } })
  })

  it('gets the menu of the window, and nothing that is no menu', async () => {
    const client = clientOf('w')
    const entry = { id: 'frame.palette', title: 'Command palette', accelerator: 'CmdOrCtrl+K' }
    await client.shell.setMenu({ menus: [{ title: 'Console', entries: [entry] }] })
    expect(around.seen.menus).toEqual([{ menus: [{ title: 'Console', entries: [{ ...entry, enabled: true }] }] }])
    for (const bad of [
      { accelerator: 'K' },
      { accelerator: 'Shift+K' },
      { accelerator: 'CmdOrCtrl+K+J' },
      { accelerator: 'CmdOrCtrl+MediaPlayPause' },
      { id: 'a b' },
      { id: '' },
      { title: '' },
      { title: 'x'.repeat(81) },
    ]) {
      const menus = [{ title: 'Console', entries: [{ ...entry, ...bad }] }]
      await expect(client.shell.setMenu({ menus }), JSON.stringify(bad)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    }
    expect(around.seen.menus).toHaveLength(1)
  })

  it('tells windows of a chosen command, until they take no more', async () => {
    const events = await clientOf('w').shell.events()
    around.tell({ kind: 'command', id: 'frame.palette' })
    expect(await events.next()).toEqual({ done: false, value: { kind: 'command', id: 'frame.palette' } })
    const waiting = events.next()
    await events.return()
    expect(await waiting).toMatchObject({ done: true })
  })
})

describe('alerts as notifications', () => {
  const entry = { id: 'a1', level: 'bad' as const, text: 'Queue on OST0003', where: 'OST0003' }
  const notices = () => {
    const reported = [] as AlertNotice[]
    const clock = { ms: 1_000_000 }
    return {
      reported,
      clock,
      service: new AlertNotices(
        (n) => reported.push(n),
        () => clock.ms,
      ),
    }
  }

  it('are plain words of bounded length', () => {
    const { reported, service } = notices()
    service.notify('altair', { ...entry, text: `job \u202e\u0007\n${'x'.repeat(5000)}` })
    expect(reported[0]?.title).toBe('Critical: altair')
    expect(reported[0]?.body.length).toBeLessThanOrEqual(240)
    expect(reported[0]?.body).toMatch(/^job \u2039202E\u203A\u2407\u240Ax+\u2026$/)
  })

  it('are few in a storm, which is counted', () => {
    const { reported, clock, service } = notices()
    for (let i = 0; i < 100; i++) service.notify('altair', { ...entry, id: `a${i}` })
    expect(reported).toHaveLength(1)
    clock.ms += 15_000
    service.notify('altair', entry)
    expect(reported[1]?.body).toBe('Queue on OST0003, OST0003\nand 99 more since the last notification')
    for (let i = 0; i < 200; i++) {
      clock.ms += 15_000
      service.notify('altair', entry)
    }
    expect(reported.length).toBeLessThanOrEqual(12)
    clock.ms += 3_600_000
    service.notify('altair', entry)
    expect(reported.length).toBeGreaterThan(12)
    expect(service.clusterOf('a1')).toBe('altair')
    expect(service.clusterOf('zz')).toBeUndefined()
  })
})

it('leaves no file when the host is closed in the middle of one', async () => {
  around.world.save = join(folder, 'half')
  await clientOf('w').shell.save({ name: 'half', bytes: 10 })
  await host.close()
  expect(readdirSync(folder)).toEqual([])
  expect(existsSync(join(folder, 'half'))).toBe(false)
  await open()
})
