/** Whether the console can open as an Electron window here, and where its binary is. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './child.mjs'
import { modules, nodeToUse } from './install.mjs'
import { say, stopwatch } from './say.mjs'

const FETCH_MS = 60_000
const folder = join(modules, 'electron')

/** The binary, where a complete one is installed. @returns {string | undefined} */
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

/** Why no window can open on this machine, whatever the binary. @returns {string | undefined} */
export function noWindowReason() {
  if (process.platform !== 'linux') return undefined
  if (!process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return 'no display'
  if (process.getuid?.() === 0) return "running as root, where Electron's sandbox does not work"
  return undefined
}

/**
 * Finds the Electron binary where it can open a window, fetching it once within a minute where it is missing.
 * @returns {Promise<{ file: string } | { reason: string }>}
 */
export async function findElectron() {
  const reason = noWindowReason()
  return reason ? { reason } : fetchElectron()
}

/** The same where no window is wanted. @returns {Promise<{ file: string } | { reason: string }>} */
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
