/**
 * Reads small files that trust decisions rest on: whole, bounded, only plain files, and never one that others may
 * write.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

export type FileRead =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly why: string }

/** others-cannot-write: for settings; others-cannot-read: for private keys. Not checked on systems without modes. */
export type FileGuard = 'none' | 'others-cannot-write' | 'others-cannot-read'

const GUARD_BITS: Readonly<Record<FileGuard, number>> = {
  none: 0,
  'others-cannot-write': 0o022,
  'others-cannot-read': 0o077,
}

/** Reads a file. absent: no such file; a directory in its path, or missing permission, counts as unreadable. */
export function readPlainFile(path: string, maxBytes: number, guard: FileGuard = 'none'): FileRead {
  const unreadable = (why: string): FileRead => ({ kind: 'unreadable', why })
  let fd
  try {
    // A FIFO without a writer must not block the console.
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (e) {
    if (e instanceof Error && 'code' in e && e.code === 'ENOENT') return { kind: 'absent' }
    return unreadable(e instanceof Error ? e.message : String(e))
  }
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) return unreadable('it is not a plain file')
    if (stat.size > maxBytes) return unreadable(`it has more than ${maxBytes} bytes`)
    if (process.platform !== 'win32') {
      if ((stat.mode & GUARD_BITS[guard]) !== 0) {
        const mode = (stat.mode & 0o777).toString(8)
        return unreadable(`other users may ${guard === 'others-cannot-read' ? 'read' : 'write'} it (mode ${mode})`)
      }
      const uid = process.getuid?.()
      if (guard !== 'none' && stat.uid !== uid && stat.uid !== 0) return unreadable('it belongs to another user')
    }
    const bytes = Buffer.alloc(stat.size + 1)
    let length = 0
    for (let n = 1; n > 0 && length < bytes.length; length += n) {
      n = readSync(fd, bytes, length, bytes.length - length, null)
    }
    if (length === bytes.length) return unreadable('it grew while it was read')
    return { kind: 'read', bytes: bytes.subarray(0, length) }
  } catch (e) {
    return unreadable(e instanceof Error ? e.message : String(e))
  } finally {
    closeSync(fd)
  }
}
