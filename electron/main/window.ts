/** Main window of the console. */
import { app, BrowserWindow, screen, type BrowserWindowConstructorOptions } from 'electron'
import { APP_ORIGIN } from './origin.ts'
import { placeOf, readState, writeState, type Place } from './window-state.ts'

/** Delay after the last move until the position is stored, ms. */
const SETTLED_MS = 1000

/** Options of the window; the security-relevant ones are stated even where they are Electron's defaults. */
export const windowOptions = (preload: string, bounds: Place['bounds']): BrowserWindowConstructorOptions => ({
  ...bounds,
  minWidth: 960,
  minHeight: 600,
  show: false,
  title: 'Sluice',
  backgroundColor: '#101418', // close to that of the page, to avoid a flash on opening
  webPreferences: {
    preload,
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    webviewTag: false,
    navigateOnDragDrop: false,
    spellcheck: false,
    disableDialogs: true,
    devTools: !app.isPackaged,
  },
})

/** Opens the window at its last position; it is shown when its first frame is ready. */
export function openWindow(preload: string, stateFile: string): BrowserWindow {
  const areas = [screen.getPrimaryDisplay(), ...screen.getAllDisplays()].map((d) => d.workArea)
  const place = placeOf(readState(stateFile), areas)
  const window = new BrowserWindow(windowOptions(preload, place.bounds))
  window.once('ready-to-show', () => {
    if (place.isMaximized) window.maximize()
    if (place.isFullScreen) window.setFullScreen(true)
    window.show()
  })
  window.webContents.on('did-finish-load', () => window.webContents.setZoomFactor(place.zoom))
  remember(window, stateFile)
  void window.loadURL(`${APP_ORIGIN}/index.html`)
  return window
}

function remember(window: BrowserWindow, stateFile: string): void {
  let settled: NodeJS.Timeout | undefined
  const write = (): void => {
    clearTimeout(settled)
    const { x, y, width, height } = window.getNormalBounds()
    const zoom = window.webContents.isCrashed() ? 1 : window.webContents.getZoomFactor()
    const isMaximized = window.isMaximized()
    const isFullScreen = window.isFullScreen()
    writeState(stateFile, { x, y, width, height, isMaximized, isFullScreen, zoom })
  }
  const later = (): void => {
    clearTimeout(settled)
    settled = setTimeout(write, SETTLED_MS)
  }
  window.on('resize', later)
  window.on('move', later)
  window.on('close', write)
  window.on('closed', () => clearTimeout(settled))
}

/** Focuses the open window. @returns true if there is one */
export function focusWindow(): boolean {
  const window = BrowserWindow.getAllWindows()[0]
  if (!window) return false
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
  return true
}
