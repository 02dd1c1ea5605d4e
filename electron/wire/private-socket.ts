/**
 * UNIX sockets in a folder that only their user can enter. Node cannot ask who is at the other end of a UNIX socket (SO_PEERCRED): a
 * folder that lets nobody else in, and a socket file of one's own in it, take its place, for whoever listens and for whoever connects.
 * What a stage in C connects to is asked for its credentials besides (resources/stage/control.c).
 */
import { lstatSync, mkdirSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'

/** sockaddr_un. */
export const SOCKET_PATH_MAX = 107

function checkPath(socket: string): Result<string> {
  if (isAbsolute(socket) && Buffer.byteLength(socket) <= SOCKET_PATH_MAX && !socket.includes('\0'))
    return ok(dirname(socket))
  return fail({
    code: 'SOCKET_PATH',
    what: 'This is no path for a socket',
    why: `an absolute path of at most ${SOCKET_PATH_MAX} bytes is needed`,
  })
}

const refusedFolder = (folder: string, why: string): Result<never> =>
  fail({
    code: 'SOCKET_FOLDER',
    what: `The folder ${folder} cannot be used`,
    why,
    next: 'Name a socket in a folder of your own with mode 0700, or set SLUICE_PADLL to one.',
  })

/** One's own, closed to everybody else, and no link to what may be neither. */
function checkFolder(folder: string): Result<string> {
  const found = lstatSync(folder)
  if (!found.isDirectory()) return refusedFolder(folder, 'it is no folder')
  if (found.uid !== process.getuid?.()) return refusedFolder(folder, 'it belongs to somebody else')
  if ((found.mode & 0o077) !== 0) return refusedFolder(folder, 'others can enter it')
  return ok(folder)
}

const isAbsent = (e: unknown): boolean => e instanceof Error && 'code' in e && e.code === 'ENOENT'
const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/**
 * Makes the folder of a socket if need be, and says whether it can be trusted.
 *
 * @returns SOCKET_PATH, SOCKET_FOLDER.
 */
export function privateFolderOf(socket: string): Result<string> {
  const folder = checkPath(socket)
  if (!folder.ok) return folder
  try {
    mkdirSync(folder.value, { recursive: true, mode: 0o700 })
    return checkFolder(folder.value)
  } catch (e) {
    return refusedFolder(folder.value, messageOf(e))
  }
}

/**
 * Whether a socket to connect to can only be one's own program's. In a temporary folder anybody can make what was expected there.
 *
 * @returns whether it is there at all; SOCKET_PATH, SOCKET_FOLDER, SOCKET_OWNER.
 */
export function privateSocket(socket: string): Result<boolean> {
  const folder = checkPath(socket)
  if (!folder.ok) return folder
  try {
    const checked = checkFolder(folder.value)
    if (!checked.ok) return checked
    const found = lstatSync(socket)
    if (found.isSocket() && found.uid === process.getuid?.()) return ok(true)
    return fail({
      code: 'SOCKET_OWNER',
      what: `${socket} cannot be used`,
      why: found.isSocket() ? 'it belongs to somebody else' : 'it is no socket',
      next: 'Remove it, and start the program that listens there again.',
    })
  } catch (e) {
    return isAbsent(e) ? ok(false) : refusedFolder(folder.value, messageOf(e))
  }
}
