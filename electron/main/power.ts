/** What the machine does, and whether a person looks at the window, told to the host. A closed lid is a sleep or a locked screen. */
import { app, BrowserWindow, powerMonitor } from 'electron'
import type { ShellTold } from '#electron/host/shell/shell.ts'

/** How often Linux, which tells of no locked screen, is asked for one, ms; and after how long without a key it would call itself idle, s. */
const LOOK_MS = 5_000
const IDLE_S = 3600

/** A screen that is locked is told once, and once when it is not any more. */
function watchLock(tell: (told: ShellTold) => void): void {
  let wasLocked = false
  const look = (): void => {
    const isLocked = powerMonitor.getSystemIdleState(IDLE_S) === 'locked'
    if (isLocked !== wasLocked) tell({ kind: 'power', what: isLocked ? 'lock-screen' : 'unlock-screen' })
    wasLocked = isLocked
  }
  setInterval(look, LOOK_MS).unref()
}

export function followMachine(tell: (told: ShellTold) => void, platform: NodeJS.Platform = process.platform): void {
  powerMonitor.on('suspend', () => tell({ kind: 'power', what: 'suspend' }))
  powerMonitor.on('resume', () => tell({ kind: 'power', what: 'resume' }))
  powerMonitor.on('lock-screen', () => tell({ kind: 'power', what: 'lock-screen' }))
  powerMonitor.on('unlock-screen', () => tell({ kind: 'power', what: 'unlock-screen' }))
  // Another user took the screen, without a lock.
  powerMonitor.on('user-did-resign-active', () => tell({ kind: 'power', what: 'lock-screen' }))
  powerMonitor.on('user-did-become-active', () => tell({ kind: 'power', what: 'unlock-screen' }))
  if (platform === 'linux') watchLock(tell)
  app.on('browser-window-focus', () => tell({ kind: 'focus', isFocused: true }))
  // Focus that goes to another window of the program is told right behind this.
  app.on('browser-window-blur', () => tell({ kind: 'focus', isFocused: BrowserWindow.getFocusedWindow() !== null }))
}
