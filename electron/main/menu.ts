/** The application menu: the platform's own entries, nothing that leads out of the console. */
import { Menu } from 'electron'

/** Sets the menu. */
export function setMenu(platform: NodeJS.Platform = process.platform): void {
  Menu.setApplicationMenu(
    Menu.buildFromTemplate([
      ...(platform === 'darwin' ? [{ role: 'appMenu' as const }] : []),
      { role: 'fileMenu' },
      { role: 'editMenu' },
      { role: 'viewMenu' },
      { role: 'windowMenu' },
    ]),
  )
}
