/** Paths of one user's daemons: a folder that only this user can enter, and the sockets in it. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { runtimeFolder } from '../wire/private-socket.ts'

/** Protocol name of the controllers, to which their keys are bound. */
export const PURPOSE = 'sluice-padll/1'

/** Folder of the controllers: that of $SLUICE_PADLL by default. */
export const padllFolder = (
  env: Readonly<Record<string, string | undefined>> = process.env,
  uid = process.getuid?.() ?? 0,
): string => runtimeFolder('padll', env, uid)

/**
 * Sockets: of the local controller for stages, of the global controller for local ones, and of the global controller for commands.
 */
export const localSocket = (folder = padllFolder()): string => join(folder, 'local.socket')
export const globalSocket = (folder = padllFolder()): string => join(folder, 'global.socket')
export const controlSocket = (folder = padllFolder()): string => join(folder, 'control.socket')
export const stateFile = (folder = padllFolder()): string => join(folder, 'global.json')

/** Name of this machine for controllers. */
export const thisHost = (): string => hostname().slice(0, 64)
