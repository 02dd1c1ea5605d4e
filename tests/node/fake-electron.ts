/** Stand-in for the parts of Electron that main and preload use: records calls, and renders nothing. */
import { EventEmitter } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { PortLike } from '#electron/main/host-ports.ts'

/** Function that records its calls; vitest clears its own mocks between tests, and main runs once for all of them. */
export function recorder<A extends unknown[], R>(answer: (...args: A) => R) {
  const calls: A[] = []
  const record = (...args: A): R => {
    calls.push(args)
    return answer(...args)
  }
  return Object.assign(record, { calls })
}
const silent = () => recorder((..._args: unknown[]) => undefined)

/** Wraps a port of node:worker_threads like Electron's: events carry `data`. */
export const asElectronPort = (port: MessagePort): PortLike => ({
  on(event: 'message' | 'close', listener: (event: { data: unknown }) => void) {
    if (event === 'close') port.on('close', () => listener({ data: undefined }))
    else port.on('message', (data: unknown) => listener({ data }))
  },
  postMessage: (message) => port.postMessage(message),
  start: () => port.start(),
  close: () => port.close(),
})

/** The page of a window. */
export class FakeContents extends EventEmitter {
  zoom = 1
  readonly setZoomFactor = (zoom: number): void => void (this.zoom = zoom)
  readonly getZoomFactor = (): number => this.zoom
  readonly setWebRTCIPHandlingPolicy = silent()
  readonly isCrashed = (): boolean => false
  readonly reload = silent()
  readonly forcefullyCrashRenderer = silent()
}

export interface FakeWindowOptions {
  readonly x?: number
  readonly y?: number
  readonly width?: number
  readonly height?: number
  readonly webPreferences?: Record<string, unknown>
}

/** Shown notification. */
export class FakeNotification extends EventEmitter {
  static readonly all: FakeNotification[] = []
  static readonly isSupported = (): boolean => true
  readonly show = silent()
  readonly said: { title: string; body: string }
  constructor(notification: { title: string; body: string }) {
    super()
    this.said = notification
    FakeNotification.all.push(this)
  }
}

/** Opened window. */
export class FakeWindow extends EventEmitter {
  static readonly all: FakeWindow[] = []
  static readonly getAllWindows = (): FakeWindow[] => FakeWindow.all
  static focused: FakeWindow | null = null
  static readonly getFocusedWindow = (): FakeWindow | null => FakeWindow.focused
  readonly show = silent()
  readonly focus = silent()
  readonly restore = silent()
  readonly isMinimized = (): boolean => true
  readonly maximize = silent()
  readonly setFullScreen = silent()
  isMaximized = (): boolean => false
  isFullScreen = (): boolean => false
  isDestroyed = (): boolean => false
  bounds = { x: 10, y: 20, width: 1200, height: 800 }
  readonly getNormalBounds = () => this.bounds
  readonly loadURL = recorder((_url: string) => Promise.resolve())
  readonly webContents = new FakeContents()
  readonly options: FakeWindowOptions
  constructor(options: FakeWindowOptions) {
    super()
    this.options = options
    FakeWindow.all.push(this)
  }
}

/** The host process for main. */
export class FakeChild extends EventEmitter {
  readonly postMessage = recorder((_message: unknown, _ports: MessagePort[]) => undefined)
  readonly kill = recorder(() => this.emit('exit', 15))
}

/** Exports of vi.mock('electron'). */
export function fakeElectron() {
  const state = {
    response: 1,
    saved: { canceled: true, filePath: '' },
    backend: 'gnome_libsecret',
    isOpen: true,
    idle: 'active',
  }
  const openExternal = recorder((_url: string) => Promise.resolve())
  /** Host processes, newest last: a dead one is followed by another. */
  const children: FakeChild[] = []
  const display = { workArea: { x: 0, y: 0, width: 1920, height: 1050 } }
  return {
    app: Object.assign(new EventEmitter(), {
      isPackaged: false,
      getPath: (name: string) => `/home/ana/${name}`,
      enableSandbox: silent(),
      requestSingleInstanceLock: recorder(() => true),
      whenReady: () => Promise.resolve(),
      quit: silent(),
      exit: silent(),
      commandLine: { appendSwitch: recorder((_name: string, _value: string) => undefined) },
    }),
    BrowserWindow: FakeWindow,
    Menu: { setApplicationMenu: silent(), buildFromTemplate: (template: unknown) => template },
    MessageChannelMain: MessageChannel,
    dialog: {
      showErrorBox: recorder((_title: string, _text: string) => undefined),
      showMessageBox: recorder((..._args: unknown[]) => Promise.resolve({ response: state.response })),
      showSaveDialog: recorder((..._args: unknown[]) => Promise.resolve(state.saved)),
    },
    /** Answers to dialogs, and the state of the keychain. */
    state,
    Notification: FakeNotification,
    powerMonitor: Object.assign(new EventEmitter(), { getSystemIdleState: () => state.idle }),
    screen: { getPrimaryDisplay: () => display, getAllDisplays: () => [display] },
    shell: { openExternal },
    /** Addresses opened in the system's browser. */
    links: openExternal.calls,
    safeStorage: {
      getSelectedStorageBackend: () => state.backend,
      isAsyncEncryptionAvailable: () => Promise.resolve(state.isOpen),
      // Encoding that only this stand-in reads.
      encryptStringAsync: recorder((text: string) => Promise.resolve(Buffer.from(text, 'utf8').map((b) => b ^ 0x5a))),
      decryptStringAsync: (sealed: Buffer) =>
        Promise.resolve({ shouldReEncrypt: false, result: Buffer.from(sealed.map((b) => b ^ 0x5a)).toString('utf8') }),
    },
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
    utilityProcess: {
      fork: recorder((_program: string, _args: string[], _options: object) => {
        const child = new FakeChild()
        children.push(child)
        return child
      }),
    },
    children,
    /** The current host process. */
    child(): FakeChild {
      const child = children.at(-1)
      if (!child) throw new Error('no host was started')
      return child
    },
  }
}
export type FakeElectron = ReturnType<typeof fakeElectron>
