/** Robustness of the desktop shell: crashes, window position, menu, notifications, files, sleep. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { MenuModel } from '#core/api/shell.ts'
import type { ShellMessage } from '#electron/host/shell/shell.ts'
import { FOREIGN_FLAGS } from '#electron/foreign/node-process.ts'
import { ForeignProcesses } from '#electron/foreign/processes.ts'
import { CrashLimit } from '#electron/main/crash-limit.ts'
import type { FromHost } from '#electron/main/host-messages.ts'
import { startUtility } from '#electron/main/foreign-process.ts'
import { startHost, type HostLinkParts } from '#electron/main/host-link.ts'
import { native, menuTemplate } from '#electron/main/native.ts'
import { followMachine } from '#electron/main/power.ts'
import { shellLink } from '#electron/main/shell-link.ts'
import { placeOf, readState, writeState, type WindowState } from '#electron/main/window-state.ts'
import { recoverWindow } from '#electron/main/window-crash.ts'
import { openWindow } from '#electron/main/window.ts'
import { FakeNotification, FakeWindow, type FakeChild, type FakeElectron } from './fake-electron.ts'
import { tempFolder } from './temp-folder.ts'

vi.mock('electron', async () => {
  const { fakeElectron } = await import('./fake-electron.ts')
  const fake = fakeElectron()
  return { ...fake, default: fake }
})
const fake = (await import('electron')) as unknown as FakeElectron

beforeEach(() => {
  vi.useFakeTimers()
  FakeWindow.all.length = 0
  FakeWindow.focused = null
  fake.dialog.showMessageBox.calls.length = 0
  fake.utilityProcess.fork.calls.length = 0
})
afterEach(() => vi.useRealTimers())
const settle = () => vi.advanceTimersByTimeAsync(0)
const page = { url: 'app://sluice/index.html', parent: null }

describe('a file from elsewhere', () => {
  const task = { kind: 'check', file: '/elsewhere/a.qosrec' } as const
  const ask = (number: number) => ({ type: 'ask', number, ask: { kind: 'foreign', task } })
  function begin() {
    const readers = new ForeignProcesses(() => startUtility('foreign-process.js'))
    startHost({
      program: 'host.js',
      given: { historyFile: '/h.sqlite' },
      onFailure: vi.fn(),
      confirmRestart: vi.fn(),
      native: { answer: vi.fn(), notify: vi.fn(), menu: vi.fn() },
      runForeign: readers.run,
    })
    const host = fake.child()
    host.postMessage.calls.length = 0
    return { host, readers }
  }
  const answersTo = (host: FakeChild) => host.postMessage.calls.map(([message]) => message)

  it('is read for the host in a utility process without its environment, and the answer goes back by number', async () => {
    vi.stubEnv('SSH_AUTH_SOCK', '/agent')
    const { host, readers } = begin()
    host.emit('message', ask(5))
    const [program, , options] = fake.utilityProcess.fork.calls.at(-1) ?? []
    expect(program).toBe('foreign-process.js')
    expect(options).toMatchObject({ serviceName: 'sluice-foreign', stdio: 'ignore', execArgv: FOREIGN_FLAGS })
    expect((options as { env: object }).env).not.toHaveProperty('SSH_AUTH_SOCK')
    const reader = fake.child()
    expect(reader).not.toBe(host)
    expect(reader.postMessage.calls).toEqual([])
    reader.emit('message', { type: 'ready' })
    expect(reader.postMessage.calls[0]?.[0]).toMatchObject({ number: 1, task })
    reader.emit('message', { type: 'answer', number: 1, text: '{"ok":true}' })
    await settle()
    expect(answersTo(host)).toEqual([{ type: 'answer', number: 5, failure: null, value: { text: '{"ok":true}' } }])
    readers.close()
    expect(reader.kill.calls).toHaveLength(1)
    vi.unstubAllEnvs()
  })

  it('that takes too long, or ends its process, is a failure that names it; the process is killed', async () => {
    const { host, readers } = begin()
    host.emit('message', ask(6))
    const slow = fake.child()
    slow.emit('message', { type: 'ready' })
    await vi.advanceTimersByTimeAsync(900_000)
    expect(slow.kill.calls).toHaveLength(1)
    host.emit('message', ask(7))
    const dying = fake.child()
    expect(dying).not.toBe(slow)
    dying.emit('message', { type: 'ready' })
    dying.emit('exit', 139)
    await settle()
    expect(answersTo(host)).toMatchObject([
      { number: 6, failure: { code: 'FILE_TOO_SLOW', what: 'a.qosrec was not opened' } },
      { number: 7, failure: { code: 'FILE_CRASHED' } },
    ])
    readers.close()
  })

  it('that the host names in another shape is not read', () => {
    const { host } = begin()
    const started = fake.utilityProcess.fork.calls.length
    for (const wrong of [{ ...task, kind: 'run' }, { kind: 'check' }, { kind: 'check', file: '' }, null]) {
      host.emit('message', { type: 'ask', number: 8, ask: { kind: 'foreign', task: wrong } })
    }
    expect(fake.utilityProcess.fork.calls).toHaveLength(started)
  })
})

describe('a host that dies', () => {
  const begin = (more: Partial<HostLinkParts> = {}) => {
    const onFailure = vi.fn()
    const confirmRestart = vi.fn(() => Promise.resolve(false))
    const desktop = { answer: vi.fn(), notify: vi.fn(), menu: vi.fn() }
    const link = startHost({
      program: 'host.js',
      given: { historyFile: '/h.sqlite' },
      native: desktop,
      onFailure,
      confirmRestart,
      runForeign: vi.fn(),
      limit: new CrashLimit(() => Date.now()),
      ...more,
    })
    return { link, onFailure, confirmRestart, desktop }
  }
  const starts = (): number => fake.utilityProcess.fork.calls.length

  it('is started again after a growing pause, and windows get a port of the new one', async () => {
    const { link, onFailure } = begin()
    const pages: ReturnType<typeof vi.fn>[] = []
    const port = () => {
      const postMessage = vi.fn()
      link.connect({ senderFrame: { ...page, postMessage } as never })
      pages.push(postMessage)
      return postMessage.mock.calls.length
    }
    fake.child().emit('message', { type: 'ready' })
    expect(port()).toBe(1)
    for (const [pause, count] of [
      [500, 2],
      [1000, 3],
      [2000, 4],
    ] as const) {
      const last = pages.at(-1)
      fake.child().emit('exit', 139)
      expect(last?.mock.calls.at(-1)).toEqual(['sluice:lost', null])
      expect(port()).toBe(0)
      await vi.advanceTimersByTimeAsync(pause - 1)
      expect(starts()).toBe(count - 1)
      await vi.advanceTimersByTimeAsync(1)
      expect(starts()).toBe(count)
      expect(port()).toBe(1)
    }
    expect(onFailure).not.toHaveBeenCalled()
  })

  it('again and again is asked about, and named when it is given up', async () => {
    const { onFailure, confirmRestart } = begin()
    for (let i = 0; i < 3; i++) {
      fake.child().emit('exit', 1)
      await vi.advanceTimersByTimeAsync(2_000)
    }
    confirmRestart.mockResolvedValueOnce(true)
    fake.child().emit('exit', 1)
    await settle()
    expect([confirmRestart.mock.calls.length, starts()]).toEqual([1, 5])
    for (let i = 0; i < 4; i++) {
      fake.child().emit('exit', 7)
      await vi.advanceTimersByTimeAsync(2_000)
    }
    expect(confirmRestart).toHaveBeenCalledTimes(2)
    expect(onFailure).toHaveBeenCalledOnce()
    expect(onFailure.mock.calls[0]?.[0]).toMatchObject({ code: 'HOST_DIED', why: 'its process ended with code 7' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(starts()).toBe(8)
  })

  it('every few hours is no fault that anybody is asked about', async () => {
    const { confirmRestart } = begin()
    for (let i = 0; i < 10; i++) {
      fake.child().emit('exit', 1)
      await vi.advanceTimersByTimeAsync(3_600_000)
    }
    expect([confirmRestart.mock.calls.length, starts()]).toEqual([0, 11])
  })

  it('while the program ends is not started again', async () => {
    const { link } = begin()
    fake.child().emit('exit', 1)
    await link.close()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(starts()).toBe(1)
  })

  it('is not heard where it says something that is no message, and gets no answer meant for the one before', async () => {
    const answers: ((value: unknown) => void)[] = []
    const answer = vi.fn(() => new Promise((resolve) => answers.push(resolve)))
    const { desktop } = begin({ native: { answer: answer as never, notify: vi.fn(), menu: vi.fn() } })
    const first = fake.child()
    for (const junk of [null, 'ready', { type: 'ask' }, { type: 'ask', number: 1, ask: { kind: 'run', text: 'x' } }]) {
      first.emit('message', junk)
    }
    first.emit('message', { type: 'menu', menu: { menus: [{ title: 'x', entries: [{ id: 'a b', title: 'x' }] }] } })
    expect([answer.mock.calls.length, desktop.menu.mock.calls.length]).toEqual([0, 0])
    first.emit('message', { type: 'ask', number: 1, ask: { kind: 'save', name: 'a.csv' } })
    first.emit('exit', 1)
    await vi.advanceTimersByTimeAsync(500)
    answers[0]?.({ ok: true, value: { path: '/tmp/a.csv' } })
    await settle()
    expect(fake.child().postMessage.calls).toEqual([])
  })
})

describe('a window', () => {
  const opened = (file = join(tempFolder(), 'window.json')) => {
    const window = openWindow('/preload.cjs', file) as unknown as FakeWindow
    return { window, file }
  }

  it('that crashes is loaded again, three times in five minutes, and then asked about', async () => {
    const { window } = opened()
    recoverWindow(window as never, new CrashLimit(() => Date.now()))
    const crash = async (reason: string) => {
      window.webContents.emit('render-process-gone', {}, { reason, exitCode: 139 })
      await vi.advanceTimersByTimeAsync(10)
    }
    await crash('clean-exit')
    expect(window.webContents.reload.calls).toHaveLength(0)
    for (let i = 0; i < 3; i++) await crash('crashed')
    expect(window.webContents.reload.calls).toHaveLength(3)
    expect(fake.dialog.showMessageBox.calls).toHaveLength(0)
    fake.state.response = 0
    await crash('oom')
    expect(fake.dialog.showMessageBox.calls).toHaveLength(1)
    expect(JSON.stringify(fake.dialog.showMessageBox.calls[0])).toMatch(/keeps crashing.*oom.*the history.*continue/)
    expect(window.webContents.reload.calls).toHaveLength(4)
    // The user's choice resets the count.
    await crash('crashed')
    expect(fake.dialog.showMessageBox.calls).toHaveLength(1)
    fake.state.response = 1
    const before = fake.app.quit.calls.length
    await crash('integrity-failure')
    expect(fake.app.quit.calls.length).toBe(before + 1)
  })

  it('that hangs is ended only when a person says so', async () => {
    const { window } = opened()
    recoverWindow(window as never)
    fake.state.response = 0
    window.emit('unresponsive')
    await settle()
    expect(window.webContents.forcefullyCrashRenderer.calls).toHaveLength(0)
    fake.state.response = 1
    window.emit('unresponsive')
    await settle()
    expect(window.webContents.forcefullyCrashRenderer.calls).toHaveLength(1)
  })

  it('opens where it was closed, with its zoom', () => {
    const { window, file } = opened()
    expect(window.options).toMatchObject({ width: 1440, height: 900 })
    expect(window.options.x).toBeUndefined()
    window.isMaximized = () => true
    window.webContents.zoom = 1.25
    window.emit('close')
    const again = opened(file).window
    expect(again.options).toMatchObject(window.bounds)
    again.emit('ready-to-show')
    expect([again.maximize.calls.length, again.show.calls.length]).toEqual([1, 1])
    again.webContents.emit('did-finish-load')
    expect(again.webContents.zoom).toBe(1.25)
    again.bounds = { ...again.bounds, x: 300 }
    again.emit('move')
    vi.advanceTimersByTime(2_000)
    expect(readState(file)).toMatchObject({ x: 300, y: 20 })
  })

  it('never opens where no display shows it', () => {
    const areas = [
      { x: 0, y: 25, width: 1920, height: 1055 },
      { x: 1920, y: 0, width: 1280, height: 1024 },
    ]
    const state: WindowState = {
      x: 0,
      y: 0,
      width: 1200,
      height: 800,
      isMaximized: false,
      isFullScreen: false,
      zoom: 1,
    }
    const at = (x: number, y: number, more = {}) => placeOf({ ...state, x, y, ...more }, areas).bounds
    expect(at(2000, 100)).toEqual({ x: 2000, y: 100, width: 1200, height: 800 })
    // Off to every side, between two disconnected displays, its title bar above the top.
    for (const [x, y] of [
      [5000, 100],
      [-1150, 100],
      [100, 1060],
      [100, -400],
      [2000, -30],
    ] as const) {
      expect(at(x, y), `${x} ${y}`).toEqual({ width: 1200, height: 800 })
    }
    expect(at(0, 25, { width: 9000, height: 9000 })).toEqual({ x: 0, y: 25, width: 1920, height: 1055 })
    expect(placeOf(state, [{ x: 0, y: 0, width: 800, height: 500 }]).bounds).toMatchObject({ width: 960, height: 600 })
  })

  it('does not mind a file that is no state', () => {
    const file = join(tempFolder(), 'window.json')
    const good = { version: 1, x: 1, y: 2, width: 1000, height: 700, isMaximized: false, isFullScreen: false, zoom: 1 }
    for (const bad of [
      '',
      '{',
      'null',
      JSON.stringify({ ...good, version: 2 }),
      JSON.stringify({ ...good, zoom: 99 }),
    ]) {
      writeFileSync(file, bad)
      expect(readState(file)).toBeUndefined()
    }
    writeFileSync(file, JSON.stringify(good))
    expect(readState(file)).toMatchObject({ x: 1, width: 1000 })
    writeState(join(tempFolder(), 'no/such/folder.json'), readState(file) as WindowState)
    expect(readFileSync(file, 'utf8')).toBe(JSON.stringify(good))
  })
})

describe('the menu', () => {
  const model: MenuModel = {
    menus: [
      {
        title: 'Time & place',
        entries: [
          { id: 'frame.palette', title: 'Command palette', accelerator: 'CmdOrCtrl+K', enabled: true },
          { id: 'time.live', title: 'Back to live \u202e(L)', accelerator: null, enabled: false },
        ],
      },
    ],
  }
  const built = (platform: NodeJS.Platform, isPackaged = true) => {
    const choose = vi.fn()
    return { choose, template: menuTemplate(model, { choose, isPackaged, platform }) }
  }

  it('has what every program has, and the commands of the window between', () => {
    const { choose, template } = built('linux')
    expect(template.map((m) => m.label ?? m.role)).toEqual(['File', 'editMenu', 'View', 'Time && place', 'windowMenu'])
    const [palette, live] = template[3]?.submenu as Electron.MenuItemConstructorOptions[]
    expect(palette).toMatchObject({ label: 'Command palette', accelerator: 'CmdOrCtrl+K', registerAccelerator: false })
    expect(live).toMatchObject({ label: 'Back to live \u2039202E\u203A(L)', enabled: false })
    expect(live).not.toHaveProperty('accelerator')
    palette?.click?.(undefined as never, undefined, undefined as never)
    expect(choose).toHaveBeenCalledWith('frame.palette')
  })

  it('is that of the platform, and has no tools of developers where it is installed', () => {
    expect(built('darwin').template[0]).toEqual({ role: 'appMenu' })
    expect(JSON.stringify(built('linux').template)).not.toContain('toggleDevTools')
    expect(JSON.stringify(built('linux', false).template)).toContain('toggleDevTools')
  })
})

describe('what the host asks the desktop for', () => {
  const pair = () => {
    const reported = [] as ShellMessage[]
    const front = vi.fn()
    const desktop = native((t) => reported.push(t), front)
    return { reported, front, desktop }
  }

  it('a file: the person chooses the place, or none', async () => {
    const { desktop } = pair()
    fake.state.saved = { canceled: true, filePath: '' }
    expect(await desktop.answer({ kind: 'save', name: 'jobs.csv' })).toEqual({ ok: true, value: { path: null } })
    fake.state.saved = { canceled: false, filePath: '/data/jobs.csv' }
    expect(await desktop.answer({ kind: 'save', name: 'jobs.csv' })).toEqual({
      ok: true,
      value: { path: '/data/jobs.csv' },
    })
    expect(fake.dialog.showSaveDialog.calls.at(-1)?.at(-1)).toMatchObject({
      defaultPath: join('/home/ana/downloads', 'jobs.csv'),
    })
  })

  it('a notification, which is text wherever it is shown, and leads back', () => {
    const { desktop, reported, front } = pair()
    desktop.notify({ id: 'alert-1', title: 'Critical: altair', body: '<a href="x">4711</a> & <b>all</b>' })
    const shown = FakeNotification.all.at(-1)
    expect(shown?.show.calls).toHaveLength(1)
    expect(shown?.said.body).not.toMatch(/[<>&]/)
    shown?.emit('click')
    expect(front).toHaveBeenCalledOnce()
    expect(reported).toEqual([{ kind: 'notification', id: 'alert-1' }])
  })

  it('goes to main and comes back by number; what main answers out of shape is a failure', async () => {
    const output: FromHost[] = []
    const { shell, hear } = shellLink((m) => output.push(m))
    const task = { kind: 'check', file: '/a.qosrec' } as const
    const asks = [shell.promptSave('a'), shell.promptSave('b'), shell.keychain.open('AAAA')]
    const reading = shell.runForeign?.(task)
    if (!reading) throw new Error('the shell reads no files')
    const numbers = output.map((m) => (m.type === 'ask' ? m.number : 0))
    expect(new Set(numbers).size).toBe(4)
    const answer = (at: number, value: unknown) =>
      hear({ type: 'answer', number: numbers[at] ?? 0, failure: null, value })
    answer(1, { path: '/b' })
    answer(0, { path: 7 })
    hear({ type: 'answer', number: numbers[2] ?? 0, failure: { code: 'KEYCHAIN', what: 'No' } })
    answer(1, { path: '/again' })
    answer(3, { text: '{}' })
    expect(await Promise.all([...asks, reading])).toMatchObject([
      { ok: false, error: { code: 'SHELL' } },
      { ok: true, value: '/b' },
      { ok: false, error: { code: 'KEYCHAIN' } },
      { ok: true, value: '{}' },
    ])
  })
})

it('tells the host of sleep, of a locked screen and of who looks', () => {
  const reported: ShellMessage[] = []
  followMachine((t) => reported.push(t), 'darwin')
  for (const name of ['suspend', 'resume', 'lock-screen', 'unlock-screen']) fake.powerMonitor.emit(name)
  fake.app.emit('browser-window-focus')
  fake.app.emit('browser-window-blur')
  expect(reported.map((t) => (t.kind === 'power' ? t.what : t.kind === 'focus' ? t.isFocused : ''))).toEqual([
    'suspend',
    'resume',
    'lock-screen',
    'unlock-screen',
    true,
    false,
  ])
})
