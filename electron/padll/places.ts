/** Where the daemons of one user meet: a folder that only this user can enter, and what is in it. */
import { lstatSync, mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'
import { SOCKET_PATH_MAX } from './stage-environment.ts'

type Env = Readonly<Record<string, string | undefined>>

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

/**
 * Makes the folder of a socket if need be, and says whether it can be trusted: one's own, and closed to everybody else. Node
 * cannot ask who is at the other end of a UNIX socket; that the folder lets nobody else in is what takes its place.
 *
 * @returns SOCKET_PATH, SOCKET_FOLDER.
 */
export function privateFolderOf(socket: string): Result<string> {
  if (!isAbsolute(socket) || Buffer.byteLength(socket) > SOCKET_PATH_MAX || socket.includes('\0')) {
    return fail({
      code: 'SOCKET_PATH',
      what: 'This is no path for a socket',
      why: `an absolute path of at most ${SOCKET_PATH_MAX} bytes is needed`,
    })
  }
  const folder = dirname(socket)
  const refused = (why: string): Result<never> =>
    fail({
      code: 'SOCKET_FOLDER',
      what: `The folder ${folder} cannot be used`,
      why,
      next: 'Name a socket in a folder of your own with mode 0700, or set SLUICE_PADLL to one.',
    })
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    if (!found.isDirectory()) return refused('it is no folder')
    if (found.uid !== process.getuid?.()) return refused('it belongs to somebody else')
    if ((found.mode & 0o077) !== 0) return refused('others can enter it')
    return ok(folder)
  } catch (e) {
    return refused(e instanceof Error ? e.message : String(e))
  }
}

/** Where a controller listens or is found: a UNIX socket, or a port. */
export type Address = { readonly path: string } | { readonly host: string; readonly port: number }

/** Reads `/a/path`, `unix:/a/path`, `host:port` or `[::1]:port`. */
export function parseAddress(text: string): Result<Address> {
  if (text.startsWith('/')) return ok({ path: text })
  if (text.startsWith('unix:/')) return ok({ path: text.slice('unix:'.length) })
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text)
  const host = found?.[1] ?? found?.[2]
  const port = Number(found?.[3])
  if (host !== undefined && port <= 65_535) return ok({ host, port })
  return fail({
    code: 'ADDRESS',
    what: 'This is no address of a controller',
    why: 'a path, unix:/path or host:port is expected',
  })
}

export const printAddress = (a: Address): string =>
  'path' in a ? a.path : a.host.includes(':') ? `[${a.host}]:${a.port}` : `${a.host}:${a.port}`

/** This machine, as controllers name it. */
export const thisHost = (): string => hostname().slice(0, 64)
