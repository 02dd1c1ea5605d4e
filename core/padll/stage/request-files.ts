/** Which file a request is about, and what an executed call does to the descriptors of its process. Source: spec/padll 1.2. */
import type { PosixCallRow } from '../posix-calls.ts'
import { type MountPoints, UNMANAGED } from './mount-points.ts'
import { type ProcessFiles, UNKNOWN } from './process-files.ts'
import type { CallResult, StageRequest } from './request.ts'

const pathMount = (
  path: string | undefined,
  dirfd: number | undefined,
  files: ProcessFiles,
  mounts: MountPoints,
): number => (path === undefined ? UNMANAGED : files.mountOfPath(path, dirfd, mounts))

/**
 * Mount point of a request: its place, UNMANAGED, or UNKNOWN for a descriptor nobody opened and for calls without a file.
 * A rename is under either of its paths; upstream (`mounts.substring`) looks at the new one alone, so that what leaves escapes.
 */
export function mountOfRequest(
  call: PosixCallRow,
  request: StageRequest,
  files: ProcessFiles,
  mounts: MountPoints,
): number {
  switch (call.locate) {
    case 'path':
      return pathMount(request.path, request.dirfd, files, mounts)
    case 'fd':
      return request.fd === undefined ? UNKNOWN : files.mountOfFd(request.fd)
    case 'file':
      return request.file === undefined ? UNKNOWN : files.mountOfFile(request.file)
    case 'new-path': {
      const to = pathMount(request.newPath, request.newDirfd, files, mounts)
      return to >= 0 || mounts.substring ? to : pathMount(request.path, request.dirfd, files, mounts)
    }
    case 'none':
      return UNKNOWN
  }
}

/** No descriptor at all: what a host leaves out. */
const NONE = -1

/** Opens, copies and closes in `files` what an executed call opened, copied and closed. */
export function applyEffect(
  call: PosixCallRow,
  request: StageRequest,
  result: CallResult,
  files: ProcessFiles,
  mounts: MountPoints,
): void {
  const { fd = NONE, newFd, path, dirfd } = request
  // Linux gives a descriptor back even where close reports an error.
  if (call.effect === 'close') return files.closed(fd)
  if (call.effect === 'fclose') return files.closedFile(request.file ?? NONE)
  if (result.failed === true) return
  switch (call.effect) {
    case 'open':
      return files.opened(result.fd ?? NONE, path, dirfd, pathMount(path, dirfd, files, mounts))
    case 'fopen':
      if (result.file === undefined) return
      return files.openedFile(result.file, result.fd, path, pathMount(path, dirfd, files, mounts))
    case 'dup':
      return files.duplicated(fd, result.fd ?? newFd ?? NONE)
    case 'fcntl':
      return request.duplicates === true ? files.duplicated(fd, result.fd ?? NONE) : undefined
    case 'close-range':
      return files.closedRange(fd, newFd ?? Infinity)
    case 'chdir':
      return path === undefined ? undefined : files.chdir(path)
    case 'fchdir':
      return files.fchdir(fd)
    case 'none':
      return undefined
  }
}
