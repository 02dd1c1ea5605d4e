/** System parts that tests use and npm cannot install: a Chromium for the browser suite. */
import { existsSync, readFileSync } from 'node:fs'
import { run } from './child.mjs'
import { say, stopwatch } from './say.mjs'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]
const PACKAGES = ['chromium', 'fonts-dejavu-core']

const chromium = () => [process.env.CHROMIUM, ...PLACES].find((file) => file && existsSync(file))

const isDebian = () => {
  try {
    return /^ID="?debian"?$/m.test(readFileSync('/etc/os-release', 'utf8'))
  } catch {
    return false
  }
}

/**
 * Finds Chromium; on Debian, as root, installs it.
 * @returns {Promise<{ env: Record<string, string>, missing?: string }>} env for the tests: CHROMIUM is its path, or
 *   SLUICE_NO_CHROMIUM says why there is none
 */
export async function testParts() {
  if (!chromium() && isDebian() && process.getuid?.() === 0) {
    say(`installing ${PACKAGES.join(' and ')} (apt-get) ...`)
    const took = stopwatch()
    const options = {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      keep: true,
      stdio: /** @type {import('node:child_process').StdioOptions} */ (['ignore', 'ignore', 'pipe']),
    }
    const update = await run('apt-get', ['update'], options)
    const added = await run('apt-get', ['install', '-y', '--no-install-recommends', ...PACKAGES], options)
    if (added.code === 0) say(`installed in ${took()}`)
    else {
      const line = `${update.stderr}\n${added.stderr}`.split('\n').findLast((text) => text.startsWith('E:'))
      say(`apt-get could not install it: ${line ?? `exit ${added.code}`}`)
    }
  }
  const file = chromium()
  if (file) return { env: { CHROMIUM: file } }
  const missing = 'Chromium is missing (set CHROMIUM to its path, or install it): the browser suite is skipped'
  return { env: { SLUICE_NO_CHROMIUM: 'Chromium is not installed' }, missing }
}
