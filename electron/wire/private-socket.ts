/**
 * UNIX sockets in a folder that only their user can enter. Node cannot query the peer of a UNIX socket (SO_PEERCRED):
 * instead, a folder closed to all others and a socket file owned by the user secure both sides. The socket that a stage
 * in C connects to is also checked by its credentials (resources/stage/control.c).
 */
import { lstatSync, mkdirSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'

/** Limit of sockaddr_un. */
export const SOCKET_PATH_MAX = 107

function checkPath(socket: string): Result<string> {
  if (isAbsolute(socket) && Buffer.byteLength(socket) <= SOCKET_PATH_MAX && !socket.includes('\0'))
    return ok(dirname(socket))
  return fail({
    code: 'SOCKET_PATH',
    what: 'Not a valid socket path',
    why: `an absolute path of at most ${SOCKET_PATH_MAX} bytes is needed`,
    next: 'Name another socket, or set SLUICE_PADLL (SLUICE_CCPFS for ccPFS) to a folder with a shorter path.',
  })
}

const refusedFolder = (folder: string, why: string): Result<never> =>
  fail({
    code: 'SOCKET_FOLDER',
    what: `The folder ${folder} cannot be used`,
    why,
    next: 'Name a socket in a folder of your own with mode 0700, or set SLUICE_PADLL (SLUICE_CCPFS for ccPFS) to such a folder.',
  })

/** Checks that a folder is owned by this user, closed to all others, and not a link. */
function checkFolder(folder: string): Result<string> {
  const found = lstatSync(folder)
  if (!found.isDirectory()) return refusedFolder(folder, 'it is not a folder')
  if (found.uid !== process.getuid?.()) return refusedFolder(folder, 'it belongs to another user')
  if ((found.mode & 0o077) !== 0) return refusedFolder(folder, 'other users can enter it')
  return ok(folder)
}

const isAbsent = (e: unknown): boolean => e instanceof Error && 'code' in e && e.code === 'ENOENT'
const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/**
 * Creates the folder of a socket if needed, and checks that it can be trusted.
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
 * Checks that a socket to connect to can only belong to a program of this user. In a temporary folder anyone can create
 * the expected name.
 *
 * @returns whether it exists; SOCKET_PATH, SOCKET_FOLDER, SOCKET_OWNER.
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
      why: found.isSocket() ? 'it belongs to another user' : 'it is not a socket',
      next: 'Remove it, and start the program that listens there again.',
    })
  } catch (e) {
    return isAbsent(e) ? ok(false) : refusedFolder(folder.value, messageOf(e))
  }
}
