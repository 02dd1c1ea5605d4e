/** One file of a folder that others may have put anything into: read only where it is what it should be. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { hasCode } from './faults.ts'

/** Thrown for what is there and is not read; its message is for people. */
export class Unread extends Error {
  override readonly name = 'Unread'
}

/** Why something that is called like a file is not read as one; undefined: it is a plain file. */
export function kindFault(found: Stats): string | undefined {
  if (found.isSymbolicLink()) return 'it is a link, which is not followed'
  if (found.isDirectory()) return 'it is a folder'
  return found.isFile() ? undefined : 'it is no plain file'
}

/** The text of a plain file. @throws Unread for what is none or is longer than `most` bytes; what the system says of the rest. */
export function readPlain(file: string, most: number): string {
  let handle: number
  try {
    // A pipe would be waited for, a link followed.
    handle = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (e) {
    if (hasCode(e, 'ELOOP', 'EMLINK')) throw new Unread('it is a link, which is not followed')
    throw e
  }
  try {
    const found = fstatSync(handle)
    const fault = kindFault(found)
    if (fault !== undefined) throw new Unread(fault)
    if (found.size > most) throw new Unread(`it has ${found.size} bytes: more than ${most} are not read`)
    const bytes = Buffer.allocUnsafe(found.size)
    let at = 0
    for (let n = 1; at < bytes.length && n > 0; at += n) n = readSync(handle, bytes, at, bytes.length - at, at)
    return bytes.toString('utf8', 0, at)
  } finally {
    closeSync(handle)
  }
}
