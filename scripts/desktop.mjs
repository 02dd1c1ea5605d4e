/** Electron binary, and checks that a window can open on this machine. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './child.mjs'
import { modules, nodeToUse } from './install.mjs'
import { say, stopwatch } from './messages.mjs'

const FETCH_MS = 60_000
const folder = join(modules, 'electron')

/**
 * Path of the binary, if completely installed. @returns {string | undefined}
 */
export function electronBinary() {
  try {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    if (readFileSync(join(folder, 'dist/version'), 'utf8').trim().replace(/^v/, '') !== version) return undefined
    const file = join(folder, 'dist', readFileSync(join(folder, 'path.txt'), 'utf8'))
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

/**
 * Reason for which no window can open on this machine, with any binary. @returns {string | undefined}
 */
export function noWindowReason() {
  if (process.platform !== 'linux') return undefined
  if (!process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return 'no display'
  if (process.getuid?.() === 0) return "running as root, where Electron's sandbox does not work"
  return undefined
}

/**
 * Finds the Electron binary if a window can open, downloading it within a minute if missing.
 * @returns {Promise<{ file: string } | { reason: string }>}
 */
export async function findElectron() {
  const reason = noWindowReason()
  return reason ? { reason } : fetchElectron()
}

/**
 * Finds or downloads the binary without the window check. @returns {Promise<{ file: string } | { reason: string }>}
 */
export async function fetchElectron() {
  const there = electronBinary()
  if (there) return { file: there }
  say(`fetching the Electron binary (at most ${FETCH_MS / 1000} s) ...`)
  const took = stopwatch()
  const result = await run(nodeToUse(), [join(folder, 'install.js')], {
    keep: true,
    limitMs: FETCH_MS,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const file = electronBinary()
  if (file) {
    say(`fetched in ${took()}`)
    return { file }
  }
  if (result.timedOut) {
    return {
      reason:
        `the Electron binary did not arrive within ${FETCH_MS / 1000} s; ` +
        '`node node_modules/electron/install.js` fetches it without a limit',
    }
  }
  const line = result.stderr.split('\n').find((text) => /error|EAI_|E[A-Z]{4,}|status/i.test(text))
  return { reason: `the Electron binary could not be fetched: ${line?.trim() ?? 'no answer'}` }
}
