/**
 * Script of README.html. It is built from renderer/replay, the window's charts and formats: by `npm run build`, or in a
 * checkout when it is missing or one of its sources has changed since (scripts/replay-page.ts).
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { programPath } from '../../files/resources.ts'

/** Folder of the script and of the list of its sources. */
export const REPLAY_FOLDER = 'out/replay'
export const SCRIPT_FILE = 'replay.js'
export const SOURCES_FILE = 'sources.json'

/** SHA-256 of each source of the script, by its path in the checkout. */
export type SourceHashes = Readonly<Record<string, string>>

export const sourceHash = (path: string): string =>
  createHash('sha256')
    .update(readFileSync(programPath(path)))
    .digest('hex')

const read = (name: string): string => readFileSync(programPath(`${REPLAY_FOLDER}/${name}`), 'utf8')

/** True if the script was built from the sources as they are now. */
function isCurrent(): boolean {
  try {
    const hashes = JSON.parse(read(SOURCES_FILE)) as SourceHashes
    return Object.entries(hashes).every(([path, hash]) => sourceHash(path) === hash)
  } catch {
    return false
  }
}

/** Guard against a hang only. */
const BUILD_MS = 120_000

function build(builder: string): boolean {
  try {
    // The desktop shell's own program is a Node with this variable.
    const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' }
    execFileSync(process.execPath, [builder], { env, stdio: 'pipe', timeout: BUILD_MS })
    return true
  } catch {
    return false
  }
}

/** Returns the script, or null in a checkout that has neither a current one nor the tools to build it. */
export function replayScript(): string | null {
  const builder = programPath('scripts/replay-page.ts')
  // A package has the script and not its builder.
  if (existsSync(builder) && !isCurrent() && !build(builder)) return null
  return read(SCRIPT_FILE)
}
