/**
 * Access rights of a parameter's file, and errors of opening it.
 *
 * sysfs refuses even root what the file's mode does not allow. A file of /proc or debugfs opens for root regardless; a write to
 * a read-only one ends with EIO and EINVAL (the kernel's rules; of these, only sysfs was measured).
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import { entryMode, type TreeEntry } from './parameter-tree.ts'

const OWNER_READ = 0o400
const OWNER_WRITE = 0o200
const WORLD_READ = 0o004
const WORLD_WRITE = 0o002

/** Reads a file; EACCES when the user may not. */
export function readEntry(e: TreeEntry, isRoot: boolean): Result<string, Errno> {
  if (!e.file) return fail('EISDIR')
  return (entryMode(e) & (isRoot ? OWNER_READ : WORLD_READ)) === 0 ? fail('EACCES') : e.file.read()
}

/** Opens a file for writing; returns its write function, or the error. */
export function openEntry(e: TreeEntry, isRoot: boolean): Result<(value: string) => Errno | undefined, Errno> {
  const { file } = e
  if (!file) return fail('EISDIR')
  const mode = entryMode(e)
  if (!isRoot && (mode & WORLD_WRITE) === 0) return fail('EACCES')
  if (isRoot && file.tree === 'sysfs' && (mode & OWNER_WRITE) === 0) return fail('EACCES')
  return ok((value) => {
    if (!file.write) return file.tree === 'proc' ? 'EIO' : 'EINVAL'
    const written = file.write(value)
    return written.ok ? undefined : written.error
  })
}
