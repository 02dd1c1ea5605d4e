/**
 * Descriptors, FILE* handles and working directory of one process: the mount point of each descriptor, and the path of
 * those that a later call may start from. Entries are copied on dup, dup2, dup3, fcntl(F_DUPFD) and fork, and removed
 * on close.
 *
 * Source: spec/padll 1.2. Deviations from the public code (recommended in spec/padll 1.2): closed descriptors are
 * forgotten at once, F_DUPFD copies, an unknown descriptor is never managed. Bounds: at most FD_LIMIT descriptors (the
 * kernel's fs.nr_open); a path is stored for at most PATHS_MOST of them. The others keep only their mount point, and
 * relative paths from them are assumed to stay in it.
 */
import { type MountPoints, resolvedPath, UNMANAGED } from './mount-points.ts'

export const FD_LIMIT = 1_048_576
export const PATHS_MOST = 65_536
const FILES_MOST = 65_536
/** Mount of a descriptor or handle that was not opened. */
export const UNKNOWN = -2

const PAGE = 4096
/** Page entry: 0 unknown, else mount + OFFSET. */
const OFFSET = 2

/** `dirfd` of a call that means the working directory. */
export const AT_FDCWD = -100

const isFd = (fd: number): boolean => Number.isInteger(fd) && fd >= 0 && fd < FD_LIMIT

interface Handle {
  readonly mount: number
  readonly fd: number
}

export class ProcessFiles {
  #cwd: string
  /** Descriptors by pages of PAGE; an empty page is freed. */
  readonly #pages: (Int16Array<ArrayBuffer> | undefined)[] = []
  readonly #used: number[] = []
  readonly #paths = new Map<number, string>()
  readonly #handles = new Map<number, Handle>()
  #size = 0

  /** @param cwd  absolute; `/` if it is not. */
  constructor(cwd = '/') {
    this.#cwd = resolvedPath(cwd, '/') ?? '/'
  }

  get cwd(): string {
    return this.#cwd
  }

  /** Number of known descriptors, under any mount point or none. */
  get size(): number {
    return this.#size
  }

  get handles(): number {
    return this.#handles.size
  }

  /** Returns the mount point of a descriptor: its index, UNMANAGED, or UNKNOWN. */
  mountOfFd(fd: number): number {
    const page = this.#pages[fd >>> 12]
    return page === undefined || fd !== fd >>> 0 ? UNKNOWN : (page[fd & (PAGE - 1)] as number) - OFFSET
  }

  /** Returns the mount point of a FILE*. */
  mountOfFile(file: number): number {
    return this.#handles.get(file)?.mount ?? UNKNOWN
  }

  /** Returns the mount point of a path as a process passes it, relative to a directory descriptor if given. */
  mountOfPath(path: string, dirfd: number | undefined, mounts: MountPoints): number {
    if (mounts.substring || path.charCodeAt(0) === 47) return mounts.mountOf(path, '/')
    if (dirfd === undefined || dirfd === AT_FDCWD) return path === '' ? UNMANAGED : mounts.mountOf(path, this.#cwd)
    const from = this.#paths.get(dirfd)
    if (from !== undefined) return mounts.mountOf(path === '' ? '.' : path, from)
    return Math.max(this.mountOfFd(dirfd), UNMANAGED)
  }

  /** Records a descriptor opened for a path. Ignores an invalid descriptor. */
  opened(fd: number, path: string | undefined, dirfd: number | undefined, mount: number): void {
    if (!isFd(fd)) return
    const from = dirfd === undefined || dirfd === AT_FDCWD ? this.#cwd : this.#paths.get(dirfd)
    const absolute = path?.startsWith('/') === true
    this.#set(
      fd,
      mount,
      path === undefined || (from === undefined && !absolute) ? undefined : resolvedPath(path, from ?? '/'),
    )
  }

  /** Copies the entry of `fd` to `copy`; an unknown `fd` leaves `copy` unknown. */
  duplicated(fd: number, copy: number): void {
    if (!isFd(copy) || fd === copy) return
    const mount = this.mountOfFd(fd)
    if (mount === UNKNOWN) this.closed(copy)
    else this.#set(copy, mount, this.#paths.get(fd))
  }

  closed(fd: number): void {
    const page = this.#pages[fd >>> 12]
    if (page === undefined || this.mountOfFd(fd) === UNKNOWN) return
    page[fd & (PAGE - 1)] = 0
    this.#paths.delete(fd)
    this.#size--
    const used = (this.#used[fd >>> 12] as number) - 1
    this.#used[fd >>> 12] = used
    if (used === 0) this.#pages[fd >>> 12] = undefined
  }

  /** `close_range`: from `first` to `last`, both included. */
  closedRange(first: number, last: number): void {
    if (!(first >= 0)) return
    const end = Math.min(last, this.#pages.length * PAGE - 1)
    for (let fd = Math.ceil(first); fd <= end; fd++) {
      if (this.#pages[fd >>> 12] === undefined) fd |= PAGE - 1
      else this.closed(fd)
    }
  }

  /** `fopen` returned `file`, with the descriptor `fd` if the host knows it. */
  openedFile(file: number, fd: number | undefined, path: string | undefined, mount: number): void {
    if (fd !== undefined) this.opened(fd, path, undefined, mount)
    if (this.#handles.size < FILES_MOST || this.#handles.has(file)) this.#handles.set(file, { mount, fd: fd ?? -1 })
  }

  /** `fclose`: the descriptor is closed, too. */
  closedFile(file: number): void {
    const handle = this.#handles.get(file)
    if (handle === undefined) return
    this.#handles.delete(file)
    this.closed(handle.fd)
  }

  chdir(path: string): void {
    this.#cwd = resolvedPath(path, this.#cwd) ?? this.#cwd
  }

  fchdir(fd: number): void {
    this.#cwd = this.#paths.get(fd) ?? this.#cwd
  }

  /** State of a child process. */
  fork(): ProcessFiles {
    const child = new ProcessFiles(this.#cwd)
    for (const [i, page] of this.#pages.entries()) child.#pages[i] = page?.slice()
    for (const [i, n] of this.#used.entries()) child.#used[i] = n
    for (const [fd, path] of this.#paths) child.#paths.set(fd, path)
    for (const [file, handle] of this.#handles) child.#handles.set(file, handle)
    child.#size = this.#size
    return child
  }

  #set(fd: number, mount: number, path: string | undefined): void {
    const n = fd >>> 12
    while (this.#pages.length <= n) {
      this.#pages.push(undefined)
      this.#used.push(0)
    }
    const page = (this.#pages[n] ??= new Int16Array(PAGE))
    if (page[fd & (PAGE - 1)] === 0) {
      this.#used[n] = (this.#used[n] as number) + 1
      this.#size++
    }
    page[fd & (PAGE - 1)] = mount + OFFSET
    this.#paths.delete(fd)
    if (path !== undefined && this.#paths.size < PATHS_MOST) this.#paths.set(fd, path)
  }
}
