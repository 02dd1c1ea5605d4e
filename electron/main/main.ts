/** Entry point of the desktop shell: one locked-down window, and the host in a separate process. No listening socket. */
import { dirname, join } from 'node:path'
import { app, BrowserWindow, dialog, ipcMain, session } from 'electron'
import { formatFailure, ok, type Failure } from '#core/base/result.ts'
import { ForeignProcesses } from '#electron/foreign/processes.ts'
import { defaultHistoryFile } from '#electron/server/data-dir.ts'
import { startUtility } from './foreign-process.ts'
import { startHost, type HostLink } from './host-link.ts'
import { lockContents, lockSession } from './lockdown.ts'
import { native } from './native.ts'
import { followMachine } from './power.ts'
import { declareScheme, serveScheme } from './protocol.ts'
import { readFlags, switchFailure } from './switches.ts'
import { recoverWindow } from './window-crash.ts'
import { focusWindow, openWindow } from './window.ts'

const out = join(import.meta.dirname, '..')
const preload = join(out, 'preload/preload.cjs')
let host: HostLink | undefined
/** Reads untrusted files for the host. */
const readers = new ForeignProcesses(() => startUtility(join(out, 'main/foreign-process.js')))

function stop(failure: Failure): void {
  dialog.showErrorBox('Sluice', formatFailure(failure))
  app.exit(1)
}

async function confirmRestart(failure: Failure): Promise<boolean> {
  const { response } = await dialog.showMessageBox({
    type: 'error',
    title: 'Sluice',
    message: failure.what,
    detail: formatFailure(failure),
    buttons: ['Restart', 'Quit'],
    defaultId: 0,
    cancelId: 1,
    noLink: true,
  })
  return response === 0
}

function begin(): void {
  const { history, scenario } = readFlags(process.argv.slice(1))
  const historyFile = history === undefined ? defaultHistoryFile() : ok(history)
  if (!historyFile.ok) return stop(historyFile.error)
  const stateFile = join(dirname(historyFile.value), 'window.json')
  const open = (): void => recoverWindow(openWindow(preload, stateFile))
  const front = (): void => void (focusWindow() || open())
  const desktop = native((message) => host?.notify(message), front)
  const link = startHost({
    program: join(out, 'main/host-process.js'),
    given: { historyFile: historyFile.value, ...(scenario === undefined ? {} : { scenarioFile: scenario }) },
    native: desktop,
    runForeign: readers.run,
    onFailure: stop,
    confirmRestart,
  })
  host = link
  lockSession(session.defaultSession)
  serveScheme(join(out, 'renderer'))
  desktop.menu({ menus: [] })
  followMachine((message) => host?.notify(message))
  ipcMain.on('sluice:connect', (event) => {
    // Only pages of Sluice's own windows are answered.
    if (BrowserWindow.getAllWindows().some((window) => window.webContents === event.sender)) link.connect(event)
  })
  app.on('second-instance', front)
  app.on('activate', front)
  open()
}

declareScheme()
app.enableSandbox()
// The window has no network access; the host does not use Chromium to resolve names.
app.commandLine.appendSwitch('host-resolver-rules', 'MAP * ~NOTFOUND')
const refused = switchFailure(process.argv.slice(1), { isPackaged: app.isPackaged, isRoot: process.getuid?.() === 0 })
if (refused) stop(refused)
else if (app.requestSingleInstanceLock()) {
  app.on('web-contents-created', (_event, contents) => lockContents(contents))
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit()
  })
  app.on('will-quit', (event) => {
    const open = host
    if (!open) return
    host = undefined
    event.preventDefault()
    readers.close()
    void open.close().then(() => app.quit())
  })
  void app.whenReady().then(begin)
} else {
  app.quit()
}
