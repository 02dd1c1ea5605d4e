import { EventEmitter } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import type { ContractRouterClient } from '@orpc/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fail, ok } from '#core/base/result.ts'
import { runHost } from '#electron/main/host-loop.ts'
import type { FromHost } from '#electron/main/host-messages.ts'
import { answer } from '#electron/main/protocol.ts'
import { readFlags } from '#electron/main/switches.ts'
import { asElectronPort, FakeWindow, type FakeElectron } from './fake-electron.ts'
import { smallRouter, type smallContract } from './small-router.ts'

vi.mock('electron', async () => {
  const { fakeElectron } = await import('./fake-electron.ts')
  const fake = fakeElectron()
  return { ...fake, default: fake }
})
const fake = (await import('electron')) as unknown as FakeElectron

const data = mkdtempSync(join(tmpdir(), 'sluice-main-'))
const page = { url: 'app://sluice/index.html', parent: null }

beforeAll(async () => {
  vi.stubEnv('SLUICE_DATA', join(data, 'made'))
  await import('#electron/main/main.ts')
  await vi.waitFor(() => expect(FakeWindow.all).toHaveLength(1))
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(data, { recursive: true })
})

describe('the window', () => {
  it('is sandboxed, isolated and loads the app scheme', () => {
    expect(fake.app.enableSandbox.calls).toHaveLength(1)
    expect(fake.app.commandLine.appendSwitch.calls).toContainEqual(['host-resolver-rules', 'MAP * ~NOTFOUND'])
    const [window] = FakeWindow.all
    expect(window?.options.webPreferences).toMatchObject({
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      webviewTag: false,
    })
    expect(window?.options.webPreferences?.preload).toMatch(/preload[/\\]preload\.cjs$/)
    expect(window?.loadURL.calls).toEqual([['app://sluice/index.html']])
    expect(window?.show.calls).toHaveLength(0)
    window?.emit('ready-to-show')
    expect(window?.show.calls).toHaveLength(1)
  })

  it('is brought to the front by a second start', () => {
    fake.app.emit('second-instance')
    expect(FakeWindow.all).toHaveLength(1)
    expect(FakeWindow.all[0]?.restore.calls).toHaveLength(1)
    expect(FakeWindow.all[0]?.focus.calls).toHaveLength(1)
  })
})

describe('what a page may not do', () => {
  it('gets no permission and no request out', () => {
    const session = fake.session.defaultSession
    const granted = vi.fn()
    session.setPermissionRequestHandler.calls[0]?.[0](null, 'media', granted)
    expect(granted).toHaveBeenCalledWith(false)
    expect(session.setPermissionCheckHandler.calls[0]?.[0]()).toBe(false)
    expect(session.setDevicePermissionHandler.calls[0]?.[0]()).toBe(false)
    const cancelled = (url: string): boolean | undefined => {
      let cancel: boolean | undefined
      session.webRequest.onBeforeRequest.calls[0]?.[0]({ url }, (given) => (cancel = given.cancel))
      return cancel
    }
    expect(cancelled('app://sluice/index.html')).toBe(false)
    for (const url of [
      'https://example.org/',
      'http://127.0.0.1:1/',
      'file:///etc/passwd',
      'app://other/',
      'ws://x/',
    ]) {
      expect(cancelled(url), url).toBe(true)
    }
    const download = { preventDefault: vi.fn() }
    session.emit('will-download', download)
    expect(download.preventDefault).toHaveBeenCalledOnce()
  })

  it('opens no popup, goes nowhere else, embeds nothing', () => {
    let opener: ((details: { url: string }) => unknown) | undefined
    const contents = Object.assign(new EventEmitter(), {
      setWindowOpenHandler: (handler: typeof opener) => (opener = handler),
      setWebRTCIPHandlingPolicy: vi.fn(),
    })
    fake.app.emit('web-contents-created', {}, contents)
    for (const url of ['https://example.org/', 'file:///etc/passwd', 'app://sluice/index.html']) {
      expect(opener?.({ url })).toEqual({ action: 'deny' })
    }
    const prevented = (name: string, url: string): boolean => {
      const event = { url, preventDefault: vi.fn() }
      contents.emit(name, event)
      return event.preventDefault.mock.calls.length > 0
    }
    for (const name of ['will-navigate', 'will-redirect']) {
      expect(prevented(name, 'https://example.org/')).toBe(true)
      expect(prevented(name, 'app://sluice.evil/index.html')).toBe(true)
      expect(prevented(name, 'app://sluice/index.html')).toBe(false)
    }
    expect(prevented('will-attach-webview', 'app://sluice/index.html')).toBe(true)
  })

  it('reads nothing outside the folder of the window', async () => {
    expect(fake.protocol.handle.calls[0]?.[0]).toBe('app')
    const root = join(import.meta.dirname, '../../renderer')
    const status = async (url: string, method = 'GET'): Promise<number> => (await answer(root, { url, method })).status
    const index = await answer(root, { url: 'app://sluice/index.html', method: 'GET' })
    expect(index.status).toBe(existsSync(join(root, 'index.html')) ? 200 : 404)
    expect(index.headers.get('content-security-policy')).toContain("connect-src 'none'")
    expect(await status('app://other/index.html')).toBe(403)
    expect(await status('https://sluice/index.html')).toBe(403)
    expect(await status('app://sluice/index.html', 'POST')).toBe(405)
    for (const path of ['..%2fpackage.json', '%2e%2e/package.json', '..%5cpackage.json', '%00', '../package.json']) {
      expect([403, 404], path).toContain(await status(`app://sluice/${path}`))
    }
  })
})

describe('the host', () => {
  it('is started with the default history file', () => {
    const [program, args] = fake.utilityProcess.fork.calls[0] ?? []
    expect(program).toMatch(/main[/\\]host-process\.js$/)
    expect(JSON.parse(args?.[0] ?? '')).toEqual({ historyFile: join(data, 'made/history.sqlite') })
    expect(existsSync(join(data, 'made'))).toBe(true)
  })

  it('is started so that it gives its memory back, in the environment it was started from', () => {
    const [, , options] = fake.utilityProcess.fork.calls[0] ?? []
    expect(options).toMatchObject({
      execArgv: ['--max-semi-space-size=8', '--heap-growing-percent=50'],
      env: { MALLOC_ARENA_MAX: '2', PATH: process.env['PATH'] },
    })
  })

  it('hands a port to our own page only', () => {
    const strangers = [
      null,
      { ...page, url: 'https://evil.test/' },
      { ...page, url: 'app://other/' },
      { ...page, parent: page },
      { ...page, url: 'about:blank' },
    ]
    for (const senderFrame of strangers) {
      const postMessage = vi.fn()
      fake.ipcMain.emit('sluice:connect', {
        sender: FakeWindow.all[0]?.webContents,
        senderFrame: senderFrame && { ...senderFrame, postMessage },
      })
      expect(postMessage).not.toHaveBeenCalled()
    }
    const postMessage = vi.fn()
    fake.ipcMain.emit('sluice:connect', { sender: new EventEmitter(), senderFrame: { ...page, postMessage } })
    expect(postMessage).not.toHaveBeenCalled()
    expect(fake.child().postMessage.calls).toHaveLength(0)
  })

  it('answers a page through main, the preload and a real port', async () => {
    const messages: { source?: unknown; origin?: string; data: unknown; ports: readonly MessagePort[] }[] = []
    const listeners: ((event: (typeof messages)[number]) => void)[] = []
    const window = {
      location: { origin: 'app://sluice' },
      addEventListener: (_type: string, listener: (typeof listeners)[number]) => listeners.push(listener),
      postMessage: (sent: unknown, target: string, ports: MessagePort[]) => {
        expect(target).toBe('app://sluice')
        messages.push({ data: sent, ports })
      },
    }
    vi.stubGlobal('window', window)
    await import('#electron/preload/preload.ts')

    // the page requests a port; messages of others, or other texts, are not forwarded
    const post = (event: object): void => listeners.forEach((listen) => listen({ ports: [], data: null, ...event }))
    post({ source: {}, origin: 'app://sluice', data: { type: 'sluice:connect' } })
    post({ source: window, origin: 'https://evil.test', data: { type: 'sluice:connect' } })
    post({ source: window, origin: 'app://sluice', data: 'sluice:connect' })
    expect(fake.ipcRenderer.send.calls).toHaveLength(0)
    post({ source: window, origin: 'app://sluice', data: { type: 'sluice:connect' } })
    expect(fake.ipcRenderer.send.calls).toEqual([['sluice:connect']])

    // main creates a channel: one end for the host's process, one for the page
    fake.ipcMain.emit('sluice:connect', {
      sender: FakeWindow.all[0]?.webContents,
      senderFrame: {
        ...page,
        postMessage: (channel: string, _message: unknown, ports: MessagePort[]) =>
          fake.ipcRenderer.emit(channel, { ports }),
      },
    })
    expect(messages).toHaveLength(1)
    expect(messages[0]?.data).toEqual({ type: 'sluice:port' })
    const [connect, hostPorts] = fake.child().postMessage.calls[0] ?? []
    expect(connect).toEqual({ type: 'connect' })

    // the host's process serves its end; the page calls through the other
    const parent = new EventEmitter()
    const { router } = smallRouter()
    const host = { router, close: vi.fn(() => Promise.resolve()) }
    const reported: FromHost[] = []
    const exit = vi.fn()
    runHost(parent, Promise.resolve(ok(host)), (message) => reported.push(message), exit)
    parent.emit('message', { data: connect, ports: hostPorts?.map(asElectronPort) })
    const port = messages[0]?.ports[0]
    if (!port) throw new Error('no port arrived')
    for (const junk of ['{', { i: '1' }, 7, '{"i":"x"}', '{"i":"x","p":{"u":"//"}}']) port.postMessage(junk)
    const client: ContractRouterClient<typeof smallContract> = createORPCClient(new RPCLink({ port }))
    port.start()
    expect(await client.host.info()).toMatchObject({ name: 'sluice' })
    const stream = await client.source.status({ stream: 's' })
    expect((await stream.next()).value).toMatchObject({ seq: 1 })
    await stream.return()

    parent.emit('message', { data: { type: 'close' }, ports: [] })
    await vi.waitFor(() => expect(exit).toHaveBeenCalledWith(0))
    expect(reported).toEqual([{ type: 'ready' }, { type: 'closed' }])
    expect(host.close).toHaveBeenCalledOnce()
    port.close()
    vi.unstubAllGlobals()
  })

  it('that cannot be opened says why and ends', async () => {
    for (const opening of [
      () => Promise.resolve(fail({ code: 'HISTORY_IN_USE', what: 'The history file is in use' })),
      () => Promise.reject(new Error('broken')),
    ]) {
      const reported: FromHost[] = []
      const exit = vi.fn()
      runHost(new EventEmitter(), opening(), (message) => reported.push(message), exit)
      await vi.waitFor(() => expect(exit).toHaveBeenCalledWith(1))
      expect(reported[0]?.type).toBe('failed')
    }
  })

  it('that fails or dies is shown in words, once', () => {
    const failure = { code: 'HISTORY_IN_USE', what: 'The history file is in use', why: 'another Sluice has it open' }
    fake.child().emit('message', { type: 'failed', failure })
    fake.child().emit('exit', 1)
    expect(fake.dialog.showErrorBox.calls).toEqual([
      ['Sluice', 'The history file is in use: another Sluice has it open.'],
    ])
    expect(fake.app.exit.calls).toEqual([[1]])
  })

  it('is closed before the app quits', async () => {
    const event = { preventDefault: vi.fn() }
    fake.app.emit('will-quit', event)
    expect(event.preventDefault).toHaveBeenCalledOnce()
    await vi.waitFor(() => expect(fake.app.quit.calls).toHaveLength(1))
    const second = { preventDefault: vi.fn() }
    fake.app.emit('will-quit', second)
    expect(second.preventDefault).not.toHaveBeenCalled()
  })
})

it('reads its own flags and passes over those of Chromium', () => {
  expect(readFlags(['.', '--no-sandbox', '--history=/a b.sqlite', '--remote-debugging-port=0'])).toEqual({
    history: '/a b.sqlite',
  })
  expect(readFlags(['.', '--scenario', '/s.yaml'])).toEqual({ scenario: '/s.yaml' })
  expect(readFlags([])).toEqual({})
})
