/**
 * Recovery of a page that crashes or hangs: it is reloaded, with its state from the host, which keeps running. The user is asked
 * about a page that keeps crashing.
 */
import { app, dialog, type BrowserWindow } from 'electron'
import { CrashLimit } from './crash-limit.ts'

const UNAFFECTED = 'Sampling, the history and rules on the servers continue.'
/** Reasons that a reload does not fix. */
const LASTING: ReadonlySet<string> = new Set(['launch-failed', 'integrity-failure'])

export function recoverWindow(window: BrowserWindow, limit = new CrashLimit()): void {
  const { webContents } = window
  let hanging: AbortController | undefined

  async function promptReload(reason: string): Promise<void> {
    const { response } = await dialog.showMessageBox({
      type: 'error',
      title: 'Sluice',
      message: 'The Sluice window keeps crashing',
      detail: `It crashed again (${reason}). ${UNAFFECTED}`,
      buttons: ['Reload', 'Quit'],
      defaultId: 0,
      cancelId: 1,
      noLink: true,
    })
    if (response !== 0) return app.quit()
    limit.forgive()
    if (!window.isDestroyed()) webContents.reload()
  }
  webContents.on('render-process-gone', (_event, { reason }) => {
    hanging?.abort()
    if (reason === 'clean-exit') return
    const pause = limit.note()
    if (pause === null || LASTING.has(reason)) return void promptReload(reason)
    // Deferred: not within the crash event itself.
    setTimeout(() => void (window.isDestroyed() || webContents.reload()), 0)
  })
  window.on('unresponsive', () => {
    if (hanging) return
    const prompted = (hanging = new AbortController())
    void dialog
      .showMessageBox(window, {
        type: 'warning',
        title: 'Sluice',
        message: 'The Sluice window is not responding',
        detail: UNAFFECTED,
        buttons: ['Wait', 'Reload'],
        defaultId: 0,
        cancelId: 0,
        noLink: true,
        signal: prompted.signal,
      })
      .then(({ response }) => {
        if (hanging === prompted) hanging = undefined
        // A hung page ignores a reload: it is killed, and reloaded like after a crash.
        if (response === 1 && !prompted.signal.aborted && !window.isDestroyed()) webContents.forcefullyCrashRenderer()
      })
  })
  window.on('responsive', () => {
    hanging?.abort()
    hanging = undefined
  })
}
