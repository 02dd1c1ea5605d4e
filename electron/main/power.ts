/** Reports power events, the screen lock and window focus to the host. A closed lid is a sleep or a locked screen. */
import { app, BrowserWindow, powerMonitor } from 'electron'
import type { ShellMessage } from '#electron/host/shell/shell.ts'

/** Polling interval for the screen lock on Linux, which has no event for it, ms. */
const LOOK_MS = 5_000
/** Idle threshold that the polling call requires, s; its idle state is not used. */
const IDLE_S = 3600

/** Reports a lock and an unlock once each. */
function watchLock(notify: (message: ShellMessage) => void): void {
  let wasLocked = false
  const look = (): void => {
    const isLocked = powerMonitor.getSystemIdleState(IDLE_S) === 'locked'
    if (isLocked !== wasLocked) notify({ kind: 'power', what: isLocked ? 'lock-screen' : 'unlock-screen' })
    wasLocked = isLocked
  }
  setInterval(look, LOOK_MS).unref()
}

export function followMachine(
  notify: (message: ShellMessage) => void,
  platform: NodeJS.Platform = process.platform,
): void {
  powerMonitor.on('suspend', () => notify({ kind: 'power', what: 'suspend' }))
  powerMonitor.on('resume', () => notify({ kind: 'power', what: 'resume' }))
  powerMonitor.on('lock-screen', () => notify({ kind: 'power', what: 'lock-screen' }))
  powerMonitor.on('unlock-screen', () => notify({ kind: 'power', what: 'unlock-screen' }))
  // Fast user switching, without a lock.
  powerMonitor.on('user-did-resign-active', () => notify({ kind: 'power', what: 'lock-screen' }))
  powerMonitor.on('user-did-become-active', () => notify({ kind: 'power', what: 'unlock-screen' }))
  if (platform === 'linux') watchLock(notify)
  app.on('browser-window-focus', () => notify({ kind: 'focus', isFocused: true }))
  // Focus that moves to another window of the program is reported right after this.
  app.on('browser-window-blur', () => notify({ kind: 'focus', isFocused: BrowserWindow.getFocusedWindow() !== null }))
}
