/** Entry point of the desktop shell: one locked-down window, and the host in a process of its own. No listening socket. */
import { join } from 'node:path'
import { app, BrowserWindow, dialog, ipcMain, session } from 'electron'
import { formatFailure, ok, type Failure } from '#core/base/result.ts'
import { defaultHistoryFile } from '#electron/server/data-dir.ts'
import { readFlags } from './flags.ts'
import { startHost, type HostLink } from './host-link.ts'
import { lockContents, lockSession } from './lockdown.ts'
import { setMenu } from './menu.ts'
import { declareScheme, serveScheme } from './protocol.ts'
import { focusWindow, openWindow } from './window.ts'

const out = join(import.meta.dirname, '..')
const preload = join(out, 'preload/preload.cjs')
let host: HostLink | undefined

function stop(failure: Failure): void {
  dialog.showErrorBox('Sluice', formatFailure(failure))
  app.exit(1)
}

function begin(): void {
  const { history, scenario } = readFlags(process.argv.slice(1))
  const historyFile = history === undefined ? defaultHistoryFile() : ok(history)
  if (!historyFile.ok) return stop(historyFile.error)
  const link = startHost(
    join(out, 'main/host-process.js'),
    { historyFile: historyFile.value, ...(scenario === undefined ? {} : { scenarioFile: scenario }) },
    stop,
  )
  host = link
  lockSession(session.defaultSession)
  serveScheme(join(out, 'renderer'))
  setMenu()
  ipcMain.on('sluice:connect', (event) => link.connect(event))
  openWindow(preload)
  app.on('activate', () => {
    if (BrowserWindow.getAllWindows().length === 0) openWindow(preload)
  })
}

declareScheme()
app.enableSandbox()
if (app.requestSingleInstanceLock()) {
  app.on('second-instance', focusWindow)
  app.on('web-contents-created', (_event, contents) => lockContents(contents))
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit()
  })
  app.on('will-quit', (event) => {
    const open = host
    if (!open) return
    host = undefined
    event.preventDefault()
    void open.close().then(() => app.quit())
  })
  void app.whenReady().then(begin)
} else {
  app.quit()
}
