/** A page that ends or hangs: it is loaded again, and its state comes from the host, which goes on. A page that keeps ending is asked about. */
import { app, dialog, type BrowserWindow } from 'electron'
import { CrashLimit } from './crash-limit.ts'

const UNAFFECTED = 'Sampling, the history and rules on the servers go on.'
/** Ends that another load does not cure. */
const LASTING: ReadonlySet<string> = new Set(['launch-failed', 'integrity-failure'])

export function recoverWindow(window: BrowserWindow, limit = new CrashLimit()): void {
  const { webContents } = window
  let hanging: AbortController | undefined

  async function askReload(reason: string): Promise<void> {
    const { response } = await dialog.showMessageBox({
      ...{ type: 'error', title: 'Sluice', message: 'The window of Sluice keeps ending' },
      detail: `It ended again (${reason}). ${UNAFFECTED}`,
      ...{ buttons: ['Load it again', 'Quit'], defaultId: 0, cancelId: 1, noLink: true },
    })
    if (response !== 0) return app.quit()
    limit.forgive()
    if (!window.isDestroyed()) webContents.reload()
  }
  webContents.on('render-process-gone', (_event, { reason }) => {
    hanging?.abort()
    if (reason === 'clean-exit') return
    const pause = limit.note()
    if (pause === null || LASTING.has(reason)) return void askReload(reason)
    // Not within the event that told of it.
    setTimeout(() => void (window.isDestroyed() || webContents.reload()), 0)
  })
  window.on('unresponsive', () => {
    if (hanging) return
    const asked = (hanging = new AbortController())
    void dialog
      .showMessageBox(window, {
        ...{ type: 'warning', title: 'Sluice', message: 'The window of Sluice does not answer' },
        detail: UNAFFECTED,
        ...{ buttons: ['Wait', 'Load it again'], defaultId: 0, cancelId: 0, noLink: true, signal: asked.signal },
      })
      .then(({ response }) => {
        if (hanging === asked) hanging = undefined
        // What hangs does not hear of a reload: it is ended, and loaded again as after a crash.
        if (response === 1 && !asked.signal.aborted && !window.isDestroyed()) webContents.forcefullyCrashRenderer()
      })
  })
  window.on('responsive', () => {
    hanging?.abort()
    hanging = undefined
  })
}
