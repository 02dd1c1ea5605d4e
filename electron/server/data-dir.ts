/** Where the console keeps what it measures when nobody says otherwise. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'

/** What the choice depends on; the defaults are this machine. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly platform?: NodeJS.Platform
  readonly home?: string
}

/**
 * The data folder: $SLUICE_DATA, else the platform's own place for data of programs. Makes nothing.
 */
export function dataDir({
  env = process.env,
  platform = process.platform,
  home = homedir(),
}: Surroundings = {}): string {
  if (env.SLUICE_DATA) return env.SLUICE_DATA
  if (platform === 'darwin') return join(home, 'Library/Application Support/Sluice')
  if (platform === 'win32') return join(env.LOCALAPPDATA ?? join(home, 'AppData/Local'), 'Sluice')
  return join(env.XDG_DATA_HOME ?? join(home, '.local/share'), 'sluice')
}

/**
 * The default history file, its folder made and readable by its owner only; one that was there with more rights loses them, where it
 * is ours by name. A folder that somebody named with SLUICE_DATA is as they made it.
 * Fails with DATA_DIR where the folder cannot be made.
 */
export function defaultHistoryFile(surroundings: Surroundings = {}): Result<string> {
  const folder = dataDir(surroundings)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { env = process.env } = surroundings
    if (!env.SLUICE_DATA && (statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700)
  } catch (error) {
    return fail({
      code: 'DATA_DIR',
      what: `The data folder ${folder} could not be made`,
      why: error instanceof Error ? error.message : String(error),
      next: 'Set SLUICE_DATA to a folder you may write to, or name a file with --history.',
    })
  }
  return ok(join(folder, 'history.sqlite'))
}
