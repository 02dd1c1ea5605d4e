/** `npm run package`: builds the installers of this platform, in dist/. */
import { build } from './build.mjs'
import { interruptCode } from './child.mjs'
import { fetchElectron } from './desktop.mjs'
import { say, Stop, stopwatch } from './messages.mjs'
import { tool } from './tools.mjs'

/**
 * Builds and packs. Electron is looked up first: offline that fails at once and in one line, electron-builder only after a
 * minute of retries.
 * @param {string[]} args passed to electron-builder, for example `--dir` for a folder instead of installers
 * @returns {Promise<number>} exit code @throws {Stop}
 */
export async function makePackage(args) {
  const built = await build()
  if (built !== 0) throw new Stop('nothing was packed: the console could not be built; the lines above say why.', built)
  const electron = await fetchElectron()
  const stopped = interruptCode()
  if (stopped !== undefined) throw new Stop('stopped before packing', stopped)
  if ('reason' in electron) {
    throw new Stop(
      `nothing was packed: ${electron.reason}. Packing needs Electron and the installers' tools from the internet; ` +
        'run the same command where there is a connection.',
    )
  }
  const took = stopwatch()
  const { code } = await tool('electron-builder', ['--publish', 'never', ...args])
  if (code !== 0) throw new Stop('electron-builder could not finish; its lines above say why.', interruptCode() ?? code)
  say(`packed into dist/ in ${took()}`)
  return 0
}
