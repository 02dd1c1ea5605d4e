/** Desktop services for the host: dialogs, notifications, browser, keychain, menu. */
import { join } from 'node:path'
import { app, BrowserWindow, dialog, Notification } from 'electron'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { MenuModel } from '#core/api/shell.ts'
import type { ShellMessage } from '#electron/host/shell/shell.ts'
import type { NativeRequest } from './host-messages.ts'
import { setMenu } from './menu.ts'
import { notOpened, openExternal, safeLink } from './open-external.ts'
import { keychain } from './secrets.ts'

/** Most notifications that stay clickable: one that is not referenced is collected with its listener. */
const HELD = 32

export interface Native {
  answer(ask: NativeRequest): Promise<Result<unknown>>
  notify(notification: { readonly id: string; readonly title: string; readonly body: string }): void
  menu(model: MenuModel): void
}

/** Linux desktops may interpret the text of a notification as markup. */
const inert = (text: string): string =>
  text.replaceAll('<', '\u2039').replaceAll('>', '\u203A').replaceAll('&', '\uFF06')

/**
 * @param tell   sends an event to the host.
 * @param front  brings the window to the front, or opens one.
 */
export function native(tell: (told: ShellMessage) => void, front: () => void): Native {
  const keys = keychain()
  const held = new Set<Notification>()
  let isLinkAsked = false

  async function askSave(name: string): Promise<Result<unknown>> {
    const [window] = BrowserWindow.getAllWindows()
    const options: Electron.SaveDialogOptions = {
      defaultPath: join(app.getPath('downloads'), name),
      properties: ['createDirectory', 'showOverwriteConfirmation', 'dontAddToRecent'],
    }
    const chosen = await (window ? dialog.showSaveDialog(window, options) : dialog.showSaveDialog(options))
    return ok({ path: chosen.canceled || chosen.filePath === '' ? null : chosen.filePath })
  }
  /** Asks the user before an address is opened: it could carry data of the window to another site. */
  async function askLink(url: string): Promise<Result<unknown>> {
    const link = safeLink(url)
    if (!link.ok) return link
    if (isLinkAsked) return notOpened('another page is waiting for confirmation')
    isLinkAsked = true
    const [window] = BrowserWindow.getAllWindows()
    const options: Electron.MessageBoxOptions = {
      type: 'question',
      title: 'Sluice',
      message: 'Open this page in the browser?',
      detail: link.value,
      buttons: ['Cancel', 'Open'],
      defaultId: 0,
      cancelId: 0,
      noLink: true,
    }
    const asked = window ? dialog.showMessageBox(window, options) : dialog.showMessageBox(options)
    const { response } = await asked.finally(() => (isLinkAsked = false))
    return response === 1 ? mapped(await openExternal(link.value), () => ({})) : notOpened('it was cancelled')
  }
  const mapped = <T>(result: Result<T>, to: (value: T) => object): Result<unknown> =>
    result.ok ? ok(to(result.value)) : result

  async function answered(ask: NativeRequest): Promise<Result<unknown>> {
    switch (ask.kind) {
      case 'save':
        return askSave(ask.name)
      case 'link':
        return askLink(ask.url)
      case 'keychain':
        return ok(await keys.state())
      case 'seal':
        return mapped(await keys.seal(ask.text), (sealed) => ({ sealed }))
      case 'open':
        return mapped(await keys.open(ask.sealed), (text) => ({ text }))
    }
  }

  return {
    answer: (ask) =>
      answered(ask).catch((e: unknown) =>
        fail({ code: 'SHELL', what: 'The desktop request failed', why: e instanceof Error ? e.message : String(e) }),
      ),
    notify({ id, title, body }) {
      if (!Notification.isSupported()) return
      const notification = new Notification({ title: inert(title), body: inert(body) })
      held.add(notification)
      const [oldest] = held
      if (held.size > HELD && oldest) held.delete(oldest)
      notification.on('click', () => {
        held.delete(notification)
        front()
        tell({ kind: 'notification', id })
      })
      notification.show()
    },
    menu: (model) => setMenu(model, { choose: (id) => tell({ kind: 'command', id }), isPackaged: app.isPackaged }),
  }
}
