/** Reports power events, the screen lock and window focus to the host. A closed lid is a sleep or a locked screen. */
import { app, BrowserWindow, powerMonitor } from 'electron'
import type { ShellMessage } from '#electron/host/shell/shell.ts'

/** Polling interval for the screen lock on Linux, which has no event for it, ms; and the idle threshold of the same call, s. */
const LOOK_MS = 5_000
const IDLE_S = 3600

/** Reports a lock and an unlock once each. */
function watchLock(tell: (told: ShellMessage) => void): void {
  let wasLocked = false
  const look = (): void => {
    const isLocked = powerMonitor.getSystemIdleState(IDLE_S) === 'locked'
    if (isLocked !== wasLocked) tell({ kind: 'power', what: isLocked ? 'lock-screen' : 'unlock-screen' })
    wasLocked = isLocked
  }
  setInterval(look, LOOK_MS).unref()
}

export function followMachine(tell: (told: ShellMessage) => void, platform: NodeJS.Platform = process.platform): void {
  powerMonitor.on('suspend', () => tell({ kind: 'power', what: 'suspend' }))
  powerMonitor.on('resume', () => tell({ kind: 'power', what: 'resume' }))
  powerMonitor.on('lock-screen', () => tell({ kind: 'power', what: 'lock-screen' }))
  powerMonitor.on('unlock-screen', () => tell({ kind: 'power', what: 'unlock-screen' }))
  // Fast user switching, without a lock.
  powerMonitor.on('user-did-resign-active', () => tell({ kind: 'power', what: 'lock-screen' }))
  powerMonitor.on('user-did-become-active', () => tell({ kind: 'power', what: 'unlock-screen' }))
  if (platform === 'linux') watchLock(tell)
  app.on('browser-window-focus', () => tell({ kind: 'focus', isFocused: true }))
  // Focus that moves to another window of the program is reported right after this.
  app.on('browser-window-blur', () => tell({ kind: 'focus', isFocused: BrowserWindow.getFocusedWindow() !== null }))
}
