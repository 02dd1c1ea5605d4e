/** Builds window, preload and Electron main, only when a source changed. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './install.mjs'
import { say, stopwatch } from './messages.mjs'
import { tool } from './tools.mjs'

const SOURCES = ['core', 'electron', 'renderer', 'resources']
const FILES = ['electron.vite.config.ts', 'scripts/replay-page.ts', 'package.json', 'package-lock.json']
const stamp = join(root, 'out/.built')

/** Hash of name, size and time of every source. */
function fingerprint() {
  const hash = createHash('sha256')
  const add = (/** @type {string} */ file) => {
    const { mtimeMs, size } = statSync(join(root, file))
    hash.update(`${file} ${size} ${mtimeMs}\n`)
  }
  for (const folder of SOURCES.filter((name) => existsSync(join(root, name)))) {
    const names = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.(test|bench)\.ts$/.test(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    for (const name of names.sort()) add(name)
  }
  for (const file of FILES.filter((name) => existsSync(join(root, name)))) add(file)
  return hash.digest('hex')
}

/** Builds out/ if it is older than its sources. @returns {Promise<number>} 0, or the exit code of the build */
export async function build({ always = false } = {}) {
  const now = fingerprint()
  const built = existsSync(join(root, 'out/renderer/index.html')) && existsSync(stamp)
  if (!always && built && readFileSync(stamp, 'utf8') === now) return 0
  say('building ...')
  const took = stopwatch()
  rmSync(stamp, { force: true })
  const { code } = await tool('electron-vite', ['build', '--logLevel', 'warn'])
  if (code !== 0) return code
  mkdirSync(join(root, 'out'), { recursive: true })
  writeFileSync(stamp, now)
  say(`built in ${took()}`)
  return 0
}
