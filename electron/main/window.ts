/** The console's window. */
import { BrowserWindow, type BrowserWindowConstructorOptions } from 'electron'
import { APP_ORIGIN } from './origin.ts'

/** Options of the window; the security-relevant ones are stated even where they are Electron's defaults. */
export const windowOptions = (preload: string): BrowserWindowConstructorOptions => ({
  width: 1440,
  height: 900,
  minWidth: 960,
  minHeight: 600,
  show: false,
  title: 'Sluice',
  backgroundColor: '#101418', // close to the page's own, so that opening does not flash
  webPreferences: {
    preload,
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    webviewTag: false,
    navigateOnDragDrop: false,
    spellcheck: false,
  },
})

/** Opens the window; it shows itself when its first picture is ready. */
export function openWindow(preload: string): BrowserWindow {
  const window = new BrowserWindow(windowOptions(preload))
  window.once('ready-to-show', () => window.show())
  void window.loadURL(`${APP_ORIGIN}/index.html`)
  return window
}

/** Brings the window that is open to the front. */
export function focusWindow(): void {
  const window = BrowserWindow.getAllWindows()[0]
  if (!window) return
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}
