/** Where the daemons of one user meet: a folder that only this user can enter, and what is in it. */
import { hostname } from 'node:os'
import { join } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

/** What controllers speak, to which their keys are bound. */
export const PURPOSE = 'sluice-padll/1'

/** $XDG_RUNTIME_DIR, else /run for the administrator, else the temporary folder; the name tells users apart. */
export function padllFolder(env: Env = process.env, uid = process.getuid?.() ?? 0): string {
  if (env.SLUICE_PADLL) return env.SLUICE_PADLL
  if (env.XDG_RUNTIME_DIR) return join(env.XDG_RUNTIME_DIR, 'sluice-padll')
  return uid === 0 ? '/run/sluice-padll' : `/tmp/sluice-padll-${uid}`
}

/** Where stages find their local controller, locals the global one, and commands the global one's ear. */
export const localSocket = (folder = padllFolder()): string => join(folder, 'local.socket')
export const globalSocket = (folder = padllFolder()): string => join(folder, 'global.socket')
export const controlSocket = (folder = padllFolder()): string => join(folder, 'control.socket')
export const stateFile = (folder = padllFolder()): string => join(folder, 'global.json')

/** This machine, as controllers name it. */
export const thisHost = (): string => hostname().slice(0, 64)
