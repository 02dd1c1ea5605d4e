/** The native menu: what every program has, and between that the commands of the window, which it tells itself. */
import { Menu, type MenuItemConstructorOptions } from 'electron'
import { plainText } from '#core/base/plain-text.ts'
import type { MenuModel } from '#core/api/shell.ts'

export interface MenuParts {
  /** A command was chosen. */
  readonly choose: (id: string) => void
  /** A packaged program has no tools of developers. */
  readonly isPackaged: boolean
  readonly platform?: NodeJS.Platform
}

/** `&` would underline the letter behind it. */
const words = (text: string): string => plainText(text).replaceAll('&', '&&')
const separator = { type: 'separator' } as const

export function menuTemplate(
  { menus }: MenuModel,
  { choose, isPackaged, platform = process.platform }: MenuParts,
): MenuItemConstructorOptions[] {
  const isMac = platform === 'darwin'
  const own = menus.map(({ title, entries }) => ({
    label: words(title),
    submenu: entries.map(({ id, title: label, accelerator, enabled }) => ({
      ...{ label: words(label), enabled, click: () => choose(id) },
      // The window takes its keys itself, also those that were changed; the menu shows them. On macOS a menu has them after the window.
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
        ...[{ role: 'reload' as const }, separator],
        ...[{ role: 'resetZoom' as const }, { role: 'zoomIn' as const }, { role: 'zoomOut' as const }, separator],
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
