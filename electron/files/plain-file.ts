/** Reader of plain files in a folder that others can write to: anything but a plain file is refused. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { hasCode } from './faults.ts'

/** Thrown for a file that exists but is not read; its message is shown to the operator. */
export class UnreadableFile extends Error {
  override readonly name = 'Unread'
}

/** Reason why a path is not read as a file; undefined for a plain file. */
export function kindFault(found: Stats): string | undefined {
  if (found.isSymbolicLink()) return 'it is a link, which is not followed'
  if (found.isDirectory()) return 'it is a folder'
  return found.isFile() ? undefined : 'it is not a regular file'
}

/**
 * Reads the text of a plain file. @throws Unread if it is not a plain file or is longer than `most` bytes; otherwise
 * the system error.
 */
export function readPlain(file: string, most: number): string {
  let handle: number
  try {
    // Does not block on a pipe and does not follow a link.
    handle = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (e) {
    if (hasCode(e, 'ELOOP', 'EMLINK')) throw new UnreadableFile('it is a link, which is not followed')
    throw e
  }
  try {
    const found = fstatSync(handle)
    const fault = kindFault(found)
    if (fault !== undefined) throw new UnreadableFile(fault)
    if (found.size > most) throw new UnreadableFile(`it has ${found.size} bytes; the limit is ${most}`)
    const bytes = Buffer.allocUnsafe(found.size)
    let at = 0
    for (let n = 1; at < bytes.length && n > 0; at += n) n = readSync(handle, bytes, at, bytes.length - at, at)
    return bytes.toString('utf8', 0, at)
  } finally {
    closeSync(handle)
  }
}
