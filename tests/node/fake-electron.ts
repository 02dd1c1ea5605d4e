/** A stand-in for the parts of Electron that main and preload touch: it records, and renders nothing. */
import { EventEmitter } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { PortLike } from '#electron/main/host-ports.ts'

/** A function that remembers its calls; vitest clears its own between tests, and main runs once for all of them. */
export function recorder<A extends unknown[], R>(answer: (...args: A) => R) {
  const calls: A[] = []
  const record = (...args: A): R => {
    calls.push(args)
    return answer(...args)
  }
  return Object.assign(record, { calls })
}
const silent = () => recorder((..._args: unknown[]) => undefined)

/** A port of node:worker_threads in the manner of Electron's: events carry `data`. */
export const asElectronPort = (port: MessagePort): PortLike => ({
  on(event: 'message' | 'close', listener: (event: { data: unknown }) => void) {
    if (event === 'close') port.on('close', () => listener({ data: undefined }))
    else port.on('message', (data: unknown) => listener({ data }))
  },
  postMessage: (message) => port.postMessage(message),
  start: () => port.start(),
})

/** One window that was opened. */
export class FakeWindow extends EventEmitter {
  static readonly all: FakeWindow[] = []
  static readonly getAllWindows = (): FakeWindow[] => FakeWindow.all
  readonly show = silent()
  readonly focus = silent()
  readonly restore = silent()
  readonly isMinimized = (): boolean => true
  readonly loadURL = recorder((_url: string) => Promise.resolve())
  readonly options: { webPreferences?: Record<string, unknown> }
  constructor(options: { webPreferences?: Record<string, unknown> }) {
    super()
    this.options = options
    FakeWindow.all.push(this)
  }
}

/** The host's process as main sees it. */
export class FakeChild extends EventEmitter {
  readonly postMessage = recorder((_message: unknown, _ports: MessagePort[]) => undefined)
  readonly kill = recorder(() => this.emit('exit', 15))
}

/** Everything that vi.mock('electron') hands out. */
export function fakeElectron() {
  const child = new FakeChild()
  return {
    app: Object.assign(new EventEmitter(), {
      enableSandbox: silent(),
      requestSingleInstanceLock: recorder(() => true),
      whenReady: () => Promise.resolve(),
      quit: silent(),
      exit: silent(),
    }),
    BrowserWindow: FakeWindow,
    Menu: { setApplicationMenu: silent(), buildFromTemplate: (template: unknown) => template },
    MessageChannelMain: MessageChannel,
    dialog: { showErrorBox: recorder((_title: string, _text: string) => undefined) },
    ipcMain: new EventEmitter(),
    ipcRenderer: Object.assign(new EventEmitter(), { send: recorder((_channel: string) => undefined) }),
    protocol: {
      registerSchemesAsPrivileged: silent(),
      handle: recorder((_scheme: string, _answer: (request: Request) => Promise<Response>) => undefined),
    },
    session: {
      defaultSession: Object.assign(new EventEmitter(), {
        setPermissionRequestHandler: recorder((_ask: (...args: unknown[]) => void) => undefined),
        setPermissionCheckHandler: recorder((_check: () => boolean) => undefined),
        setDevicePermissionHandler: recorder((_check: () => boolean) => undefined),
        webRequest: {
          onBeforeRequest: recorder(
            (_ask: (details: { url: string }, done: (answer: { cancel: boolean }) => void) => void) => undefined,
          ),
        },
      }),
    },
    utilityProcess: { fork: recorder((_program: string, _args: string[], _options: object) => child) },
    child,
  }
}
export type FakeElectron = ReturnType<typeof fakeElectron>
