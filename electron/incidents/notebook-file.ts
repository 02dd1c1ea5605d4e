/** One file of a folder that others may have put anything into: read only where it is what it should be, written whole or not at all. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
  type Stats,
} from 'node:fs'
import { dirname } from 'node:path'

/** What a write has done, in order; the first four leave the old file, the last the new one. */
export type Step = 'begun' | 'opened' | 'written' | 'synced' | 'named'

/** Ends the names of files that are being written. */
export const PART = '.part'

const isErrno = (e: unknown): e is NodeJS.ErrnoException => e instanceof Error && 'code' in e
export const hasCode = (e: unknown, ...codes: string[]): boolean => isErrno(e) && codes.includes(e.code ?? '')

/** Why a file could not be written, in words. */
export function whyNot(e: unknown): string {
  if (hasCode(e, 'ENOSPC', 'EDQUOT')) return 'the disk is full'
  if (hasCode(e, 'EFBIG')) return 'files may not become so large here'
  if (hasCode(e, 'EROFS')) return 'the disk is read-only'
  if (hasCode(e, 'EACCES', 'EPERM')) return 'this user may not write there'
  return e instanceof Error ? e.message : String(e)
}

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

/** Makes a rename last. A system whose folders cannot be synced does it by itself. */
function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, constants.O_RDONLY)
    try {
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch {
    // The file is whole all the same.
  }
}

/**
 * Writes a file beside its place and gives it its name when it is on disk: whoever reads it, after whatever ended this, reads the old or the
 * new one.
 *
 * @param at  called after each step (tests end the process there).
 * @throws    what the system says; nothing is left and the old file stands.
 */
export function writeWhole(file: string, text: string, at: (step: Step) => void = () => undefined): void {
  const beside = `${file}.${randomBytes(6).toString('hex')}${PART}`
  at('begun')
  try {
    const handle = openSync(beside, 'wx', 0o600)
    try {
      at('opened')
      const bytes = Buffer.from(text, 'utf8')
      // A disk that is nearly full takes less than it is given.
      for (let done = 0; done < bytes.length;) done += writeSync(handle, bytes, done)
      at('written')
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    at('synced')
    renameSync(beside, file)
  } catch (e) {
    rmSync(beside, { force: true })
    throw e
  }
  syncFolder(dirname(file))
  at('named')
}
