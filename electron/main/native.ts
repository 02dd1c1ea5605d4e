/** Desktop services for the host: dialogs, notifications, browser, keychain, menu. */
import { join } from 'node:path'
import { app, BrowserWindow, dialog, Menu, Notification, type MenuItemConstructorOptions } from 'electron'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { MenuModel } from '#core/api/shell.ts'
import type { ShellMessage } from '#electron/host/shell/shell.ts'
import { plainText } from '#core/base/plain-text.ts'
import type { NativeRequest } from './host-messages.ts'
import { notOpened, openExternal, safeLink } from './open-external.ts'
import { keychain } from './secrets.ts'

/** Most notifications that stay clickable: one that is not referenced is collected with its listener. */
const HELD = 32

interface MenuParts {
  /** Called when a command was chosen. */
  readonly choose: (id: string) => void
  /** A packaged program has no developer tools. */
  readonly isPackaged: boolean
  readonly platform?: NodeJS.Platform
}

/** `&` would underline the following letter. */
const menuText = (text: string): string => plainText(text).replaceAll('&', '&&')
const separator = { type: 'separator' } as const

/** Native application menu: the standard entries, and the commands that the window registers. */
export function menuTemplate(
  { menus }: MenuModel,
  { choose, isPackaged, platform = process.platform }: MenuParts,
): MenuItemConstructorOptions[] {
  const isMac = platform === 'darwin'
  const own = menus.map(({ title, entries }) => ({
    label: menuText(title),
    submenu: entries.map(({ id, title: label, accelerator, enabled }) => ({
      label: menuText(label),
      enabled,
      click: () => choose(id),
      // The window handles its shortcuts itself, including custom ones; the menu only displays them. On macOS the menu receives
      // them after the window.
      ...(accelerator === null ? {} : { accelerator, registerAccelerator: isMac }),
    })),
  }))
  const tools: MenuItemConstructorOptions[] = isPackaged ? [] : [separator, { role: 'toggleDevTools' }]
  return [
    ...(isMac ? [{ role: 'appMenu' as const }] : []),
    { label: 'File', submenu: [isMac ? { role: 'close' } : { role: 'quit' }] },
    { role: 'editMenu' },
    {
      label: 'View',
      submenu: [
        { role: 'reload' as const },
        separator,
        { role: 'resetZoom' as const },
        { role: 'zoomIn' as const },
        { role: 'zoomOut' as const },
        separator,
        { role: 'togglefullscreen' },
        ...tools,
      ],
    },
    ...own,
    { role: 'windowMenu' },
  ]
}

function setMenu(model: MenuModel, parts: MenuParts): void {
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(model, parts)))
}

export interface Native {
  answer(request: NativeRequest): Promise<Result<unknown>>
  notify(notification: { readonly id: string; readonly title: string; readonly body: string }): void
  menu(model: MenuModel): void
}

/** Linux desktops may interpret the text of a notification as markup. */
const inert = (text: string): string =>
  text.replaceAll('<', '\u2039').replaceAll('>', '\u203A').replaceAll('&', '\uFF06')

/**
 * @param notify   sends an event to the host.
 * @param front  brings the window to the front, or opens one.
 */
export function native(notify: (message: ShellMessage) => void, front: () => void): Native {
  const keys = keychain()
  const held = new Set<Notification>()
  let isLinkPrompted = false

  async function promptSave(name: string): Promise<Result<unknown>> {
    const [window] = BrowserWindow.getAllWindows()
    const options: Electron.SaveDialogOptions = {
      defaultPath: join(app.getPath('downloads'), name),
      properties: ['createDirectory', 'showOverwriteConfirmation', 'dontAddToRecent'],
    }
    const chosen = await (window ? dialog.showSaveDialog(window, options) : dialog.showSaveDialog(options))
    return ok({ path: chosen.canceled || chosen.filePath === '' ? null : chosen.filePath })
  }
  /** Asks the user before an address is opened: it could carry data of the window to another site. */
  async function promptLink(url: string): Promise<Result<unknown>> {
    const link = safeLink(url)
    if (!link.ok) return link
    if (isLinkPrompted) return notOpened('another page is waiting for confirmation')
    isLinkPrompted = true
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
    const prompted = window ? dialog.showMessageBox(window, options) : dialog.showMessageBox(options)
    const { response } = await prompted.finally(() => (isLinkPrompted = false))
    return response === 1 ? mapped(await openExternal(link.value), () => ({})) : notOpened('it was canceled')
  }
  const mapped = <T>(result: Result<T>, to: (value: T) => object): Result<unknown> =>
    result.ok ? ok(to(result.value)) : result

  async function answered(request: NativeRequest): Promise<Result<unknown>> {
    switch (request.kind) {
      case 'save':
        return promptSave(request.name)
      case 'link':
        return promptLink(request.url)
      case 'keychain':
        return ok(await keys.state())
      case 'seal':
        return mapped(await keys.seal(request.text), (sealed) => ({ sealed }))
      case 'open':
        return mapped(await keys.open(request.sealed), (text) => ({ text }))
    }
  }

  return {
    answer: (request) =>
      answered(request).catch((e: unknown) =>
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
        notify({ kind: 'notification', id })
      })
      notification.show()
    },
    menu: (model) => setMenu(model, { choose: (id) => notify({ kind: 'command', id }), isPackaged: app.isPackaged }),
  }
}
