/** Another user of the machine: a screen that was locked on a system without lock events, and a data folder that was open. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ShellMessage } from '#electron/host/shell/shell.ts'
import { followMachine } from '#electron/main/power.ts'
import { defaultHistoryFile } from '#electron/server/data-dir.ts'
import type { FakeElectron } from '../fake-electron.ts'
import { tempFolder } from '../temp-folder.ts'

vi.mock('electron', async () => {
  const { fakeElectron } = await import('../fake-electron.ts')
  const fake = fakeElectron()
  return { ...fake, default: fake }
})
const fake = (await import('electron')) as unknown as FakeElectron

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('a screen that Linux locks without a word is noticed within seconds, once', () => {
  const reported: ShellMessage[] = []
  followMachine((t) => reported.push(t), 'linux')
  vi.advanceTimersByTime(60_000)
  expect(reported).toEqual([])
  fake.state.idle = 'locked'
  vi.advanceTimersByTime(60_000)
  expect(reported).toEqual([{ kind: 'power', what: 'lock-screen' }])
  fake.state.idle = 'idle'
  vi.advanceTimersByTime(60_000)
  expect(reported.at(-1)).toEqual({ kind: 'power', what: 'unlock-screen' })
  expect(reported).toHaveLength(2)
})

it('a screen that another user takes counts as locked', () => {
  const reported: ShellMessage[] = []
  followMachine((t) => reported.push(t), 'darwin')
  fake.powerMonitor.emit('user-did-resign-active')
  expect(reported).toEqual([{ kind: 'power', what: 'lock-screen' }])
})

it.skipIf(process.platform === 'win32')('a data folder that others could write to is closed to them', () => {
  const home = tempFolder()
  const folder = join(home, '.local/share/sluice')
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o777)
  expect(defaultHistoryFile({ platform: 'linux', home, env: {} }).ok).toBe(true)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  // A folder named by the user keeps its permissions: it may be a system folder.
  const named = join(home, 'named')
  mkdirSync(named)
  chmodSync(named, 0o755)
  expect(defaultHistoryFile({ platform: 'linux', home, env: { SLUICE_DATA: named } }).ok).toBe(true)
  expect(statSync(named).mode & 0o777).toBe(0o755)
})
