/** Paths of one user's daemons: a folder that only this user can enter, and the sockets in it. */
import { hostname } from 'node:os'
import { join } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

/** Protocol name of the controllers, to which their keys are bound. */
export const PURPOSE = 'sluice-padll/1'

/** $XDG_RUNTIME_DIR, otherwise /run for root, otherwise the temporary folder; the name contains the user id. */
export function padllFolder(env: Env = process.env, uid = process.getuid?.() ?? 0): string {
  if (env.SLUICE_PADLL) return env.SLUICE_PADLL
  if (env.XDG_RUNTIME_DIR) return join(env.XDG_RUNTIME_DIR, 'sluice-padll')
  return uid === 0 ? '/run/sluice-padll' : `/tmp/sluice-padll-${uid}`
}

/**
 * Sockets: of the local controller for stages, of the global controller for local ones, and of the global controller for commands.
 */
export const localSocket = (folder = padllFolder()): string => join(folder, 'local.socket')
export const globalSocket = (folder = padllFolder()): string => join(folder, 'global.socket')
export const controlSocket = (folder = padllFolder()): string => join(folder, 'control.socket')
export const stateFile = (folder = padllFolder()): string => join(folder, 'global.json')

/** Name of this machine for controllers. */
export const thisHost = (): string => hostname().slice(0, 64)
