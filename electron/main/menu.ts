/** Native application menu: the standard entries, and the commands that the window registers. */
import { Menu, type MenuItemConstructorOptions } from 'electron'
import { plainText } from '#core/base/plain-text.ts'
import type { MenuModel } from '#core/api/shell.ts'

export interface MenuParts {
  /** Called when a command was chosen. */
  readonly choose: (id: string) => void
  /** A packaged program has no developer tools. */
  readonly isPackaged: boolean
  readonly platform?: NodeJS.Platform
}

/** `&` would underline the following letter. */
const menuText = (text: string): string => plainText(text).replaceAll('&', '&&')
const separator = { type: 'separator' } as const

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

export function setMenu(model: MenuModel, parts: MenuParts): void {
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(model, parts)))
}
