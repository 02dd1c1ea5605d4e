/** `npm start`: the console as an Electron window, or on loopback for a browser if no window is possible. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from './build.mjs'
import { interruptCode, run } from './child.mjs'
import { findElectron } from './desktop.mjs'
import { nodeToUse, root } from './install.mjs'
import { say, Stop } from './messages.mjs'

export const startUsage = `Usage: npm start -- [options]

Opens the console in an Electron window, or, where there can be no window,
serves it on 127.0.0.1 and prints the address to open in a browser.

  --web            do not try Electron (also SLUICE_WEB=1)
  --port N         port for the browser, 0 = any free one (implies --web;
                   default 7423, or a free one when 7423 is taken)
  --history FILE   where measurements are kept (default: the data folder)
  --scenario FILE  scenario for the built-in emulator
  --help           this text
`

/**
 * @param {string[]} args
 * @returns {{ help: boolean, web: boolean, port?: string, history?: string, scenario?: string }}
 * @throws {Stop} with code 2 on any unknown argument
 */
export function parseStart(args) {
  const wrong = (/** @type {string} */ text) => new Stop(`${text}. \`npm start -- --help\` lists the options.`, 2)
  /** @type {ReturnType<typeof parseStart>} */
  const options = { help: false, web: ['1', 'true'].includes(process.env.SLUICE_WEB ?? '') }
  for (let i = 0; i < args.length; i++) {
    const [name = '', inline] = (args[i] ?? '').split(/=(.*)/s)
    if (['--help', '-h', '--web'].includes(name)) {
      if (inline !== undefined) throw wrong(`${name} takes no value`)
      if (name === '--web') options.web = true
      else options.help = true
    } else if (name === '--port' || name === '--history' || name === '--scenario') {
      const value = inline ?? args[++i]
      if (value === undefined || value === '') throw wrong(`${name} needs a value`)
      if (name === '--port' && !(/^\d{1,5}$/.test(value) && Number(value) <= 65535)) {
        throw wrong(`--port needs a number from 0 to 65535, not ${value}`)
      }
      options[/** @type {'port' | 'history' | 'scenario'} */ (name.slice(2))] = value
    } else throw wrong(`unknown option ${args[i]}`)
  }
  if (options.port !== undefined) options.web = true
  return options
}

/**
 * Node flags and environment of the host process, the same as in the desktop (electron/main/host-link.ts): see
 * docs/decisions.md.
 * @type {{ flags: string[], env: Record<string, string> }}
 */
const HOST = JSON.parse(readFileSync(join(root, 'scripts/host-process.json'), 'utf8'))

/** npm changes into the checkout; a relative path refers to the user's working directory. @param {string} file */
const fromCaller = (file) => (file === ':memory:' ? file : resolve(process.env.INIT_CWD ?? process.cwd(), file))

/** @param {ReturnType<typeof parseStart>} options @returns {Promise<number>} exit code */
export async function start(options) {
  const built = await build()
  if (built !== 0) throw new Stop('the console could not be built; the lines above say why.', interruptCode() ?? built)

  const shared = []
  if (options.history !== undefined) shared.push(`--history=${fromCaller(options.history)}`)
  if (options.scenario !== undefined) shared.push(`--scenario=${fromCaller(options.scenario)}`)

  const electron = options.web ? { reason: 'asked for' } : await findElectron()
  const stopped = interruptCode()
  if (stopped !== undefined) return stopped
  let reason = 'reason' in electron ? electron.reason : ''
  if ('file' in electron) {
    say('opening the window ...')
    const { code } = await run(electron.file, [root, ...shared], { cwd: root })
    // 127: a shared library is missing; above: killed. Any other exit code comes from the window itself.
    if (code < 127 || interruptCode() !== undefined) return code
    reason = `Electron does not run here (exit ${code})`
  }
  say(`serving the console to a browser instead of a window: ${reason}`)
  const port = options.port === undefined ? [] : [`--port=${options.port}`]
  // The bundle starts in less than half the time of its sources.
  const bundle = join(root, 'out/main/server.js')
  const server = existsSync(bundle) ? bundle : join(root, 'electron/server/main.ts')
  const flags = ['--disable-warning=ExperimentalWarning', ...HOST.flags]
  return (await run(nodeToUse(), [...flags, server, ...port, ...shared], { env: { ...HOST.env, ...process.env } })).code
}
