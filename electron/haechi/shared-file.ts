/**
 * Memory of a node as a file without a name: created in memory (/dev/shm) for this user alone and removed from its folder at once.
 * Only processes that are handed the descriptor can map it, and it is gone with the last of them.
 */
import { closeSync, constants, fchmodSync, fstatSync, openSync, unlinkSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'

const FOLDERS = ['/dev/shm', tmpdir()]
const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

/**
 * Opens a new file without a name, mode 0600.
 *
 * @returns its descriptor. HAECHI_MEMORY if no folder allows it.
 */
export function openSharedFile(folders: readonly string[] = FOLDERS): Result<number> {
  let why = ''
  for (const folder of folders) {
    try {
      // O_EXCL: no file or link that another user put there is opened.
      const path = join(folder, `.sluice-haechi-${randomBytes(16).toString('hex')}`)
      const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
      unlinkSync(path)
      fchmodSync(fd, 0o600)
      if (fstatSync(fd).nlink === 0) return ok(fd)
      closeSync(fd)
      why = `${folder}: the file keeps its name`
    } catch (e) {
      why = e instanceof Error ? e.message : String(e)
    }
  }
  return fail({
    code: 'HAECHI_MEMORY',
    what: 'The memory of the node could not be made',
    why,
    next: 'Mount /dev/shm, or make the temporary folder writable.',
  })
}
