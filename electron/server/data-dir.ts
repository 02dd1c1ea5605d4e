/** Default data folder of the console. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'

/** Inputs of the choice; by default those of this machine. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly platform?: NodeJS.Platform
  readonly home?: string
}

/** Data folder: $SLUICE_DATA, otherwise the platform's usual folder for application data. Creates nothing. */
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
 * Default history file; its folder is created, readable by its owner only. An existing default folder loses further permissions; a
 * folder named by SLUICE_DATA keeps its own. Fails with DATA_DIR if the folder cannot be created.
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
