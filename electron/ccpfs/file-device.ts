/**
 * Storage of a data server in files: one file an object, in 256 folders. An object of size 0 has no file.
 *
 * A write is done when the operating system has the bytes: they survive the end of this process, not of the machine. `sync` puts them on
 * stable storage; with `syncsWrites` each write does, too. Writes of one object take effect in order. A failed write is repeated until it succeeds, and its flush is not
 * answered before; a failed sync is remembered, since the system reports it only once.
 */
import { close, fdatasync, ftruncate, mkdirSync, open, read, statSync, unlink, writev, constants } from 'node:fs'
import { constants as system } from 'node:os'
import { dirname, join } from 'node:path'
import type { Device } from '#core/seqdlm/device.ts'
import type { Block, ResourceId } from '#core/seqdlm/messages.ts'
import { EOF } from '#core/seqdlm/ranges.ts'

const FOLDERS = 256
const OPEN_MAX = 512
const RETRY_MS = 1000
const ZEROS = Buffer.alloc(1 << 20)
/** IOV_MAX of Linux. */
const VECTORS_MAX = 1024

interface Write {
  readonly blocks: readonly Block[]
  readonly done: () => void
}

interface OpenObject {
  readonly resource: ResourceId
  /** Undefined before it is opened, and while the object has no file. */
  fd: number | undefined
  readonly writes: Write[]
  isBusy: boolean
  users: number
  /** Called when no write is waiting. */
  idle: (() => void)[]
}

export interface FileDeviceHost {
  /** Called when reads or writes of an object begin to fail, and with 0 when they succeed again. */
  readonly onFault: (resource: ResourceId, errno: number) => void
  /** True if a write is done only when its data are on stable storage. */
  readonly syncsWrites?: boolean | undefined
}

export interface DeviceCounters {
  writes: number
  bytesWritten: number
  reads: number
  bytesRead: number
  syncs: number
}

/** Number of a system error, EIO for one without. */
export const errnoOf = (e: NodeJS.ErrnoException): number =>
  (system.errno as Readonly<Record<string, number>>)[e.code ?? ''] ?? system.errno.EIO

export class FileDevice implements Device {
  readonly counters: DeviceCounters = { writes: 0, bytesWritten: 0, reads: 0, bytesRead: 0, syncs: 0 }
  readonly #folder: string
  readonly #host: FileDeviceHost
  /** Least recently used first. */
  readonly #objects = new Map<ResourceId, OpenObject>()
  readonly #sizes = new Map<ResourceId, number>()
  readonly #failed = new Map<ResourceId, number>()
  readonly #retries = new Set<NodeJS.Timeout>()
  /** Errors of objects whose operations are being repeated. */
  readonly #failing = new Map<ResourceId, number>()
  #isClosed = false

  /** @throws the system error for a folder that cannot be created. */
  constructor(folder: string, host: FileDeviceHost) {
    this.#folder = folder
    this.#host = host
    for (let i = 0; i < FOLDERS; i++) mkdirSync(join(folder, folderName(i)), { recursive: true, mode: 0o700 })
  }

  /** Errors by object, while its operations are being repeated. */
  get failing(): ReadonlyMap<ResourceId, number> {
    return this.#failing
  }

  /** Writes that wait or are under way. */
  get waiting(): number {
    let n = 0
    for (const object of this.#objects.values()) n += object.writes.length
    return n
  }

  write(resource: ResourceId, blocks: readonly Block[], done: () => void): void {
    if (blocks.length === 0) {
      // Older data won everywhere; they may still be on their way to the file.
      this.#whenIdle(resource, done)
      return
    }
    let size = this.size(resource)
    for (const { start, end, hole } of blocks) {
      if (!hole) size = Math.max(size, end)
      else if (end >= size) size = Math.min(size, start)
    }
    this.#sizes.set(resource, size)
    const object = this.#use(resource)
    object.writes.push({ blocks, done })
    this.#next(object)
  }

  read(resource: ResourceId, start: number, end: number, done: (data: Uint8Array | null) => void): void {
    const length = end - start
    const object = this.#use(resource)
    object.users++
    const finish = (data: Buffer): void => {
      object.users--
      this.counters.reads++
      this.counters.bytesRead += length
      done(data)
    }
    if (start >= this.size(resource)) {
      finish(Buffer.alloc(length))
      return
    }
    const out = Buffer.alloc(length)
    let filled = 0
    const more = (fd: number): void =>
      read(fd, out, filled, length - filled, start + filled, (e, n) => {
        if (e !== null) {
          this.#fault(resource, errnoOf(e))
          this.#later(() => more(fd))
          return
        }
        this.#recovered(resource)
        filled += n
        if (n === 0 || filled === length) finish(out)
        else more(fd)
      })
    this.#withFile(object, more)
  }

  size(resource: ResourceId): number {
    let size = this.#sizes.get(resource)
    if (size === undefined) {
      size = statSync(this.#path(resource), { throwIfNoEntry: false })?.size ?? 0
      this.#sizes.set(resource, size)
    }
    return size
  }

  /** Calls back with 0 once every acknowledged write of an object is on stable storage, otherwise with the error. */
  sync(resource: ResourceId, done: (errno: number) => void): void {
    const before = this.#failed.get(resource)
    const errno = before ?? this.#failing.get(resource)
    if (errno !== undefined) {
      done(errno)
      return
    }
    if (this.size(resource) === 0) {
      this.#whenIdle(resource, () => done(0))
      return
    }
    const object = this.#use(resource)
    object.users++
    this.#withFile(object, (fd) =>
      fdatasync(fd, (e) => {
        object.users--
        this.counters.syncs++
        const errno = e === null ? 0 : errnoOf(e)
        if (errno !== 0) this.#failed.set(resource, errno)
        done(errno)
      }),
    )
  }

  /** Waits for writes under way and closes the files. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const retry of this.#retries) clearTimeout(retry)
    await Promise.all(
      [...this.#objects.values()]
        .filter((o) => o.writes.length > 0 && !this.#failing.has(o.resource))
        .map((o) => new Promise<void>((resolve) => o.idle.push(resolve))),
    )
    for (const { fd } of this.#objects.values()) if (fd !== undefined) close(fd)
    this.#objects.clear()
  }

  #whenIdle(resource: ResourceId, done: () => void): void {
    const object = this.#objects.get(resource)
    if (object === undefined || object.writes.length === 0) done()
    else object.idle.push(done)
  }

  #next(object: OpenObject): void {
    const first = object.writes[0]
    if (object.isBusy || first === undefined) return
    object.isBusy = true
    const steps = [...first.blocks]
    const step = (): void => {
      const block = steps[0]
      if (block === undefined) {
        this.#stable(object, () => {
          object.writes.shift()
          object.isBusy = false
          this.counters.writes++
          first.done()
          if (object.writes.length === 0) for (const idle of object.idle.splice(0)) idle()
          this.#next(object)
        })
        return
      }
      const run = block.hole ? [block] : touching(steps)
      const finished = (e: NodeJS.ErrnoException | null): void => {
        if (e !== null) {
          this.#fault(object.resource, errnoOf(e))
          this.#later(step)
          return
        }
        this.#recovered(object.resource)
        steps.splice(0, run.length)
        step()
      }
      if (block.hole) this.#punch(object, block, finished)
      else this.#withFile(object, (fd) => this.#writeAll(fd, run, finished))
    }
    step()
  }

  /** Puts a write on stable storage, if each one must be. An error is remembered for `sync`, like one of its own. */
  #stable({ resource, fd }: OpenObject, done: () => void): void {
    if (!this.#host.syncsWrites || fd === undefined) {
      done()
      return
    }
    fdatasync(fd, (e) => {
      this.counters.syncs++
      if (e !== null) this.#failed.set(resource, errnoOf(e))
      done()
    })
  }

  #writeAll(fd: number, run: readonly Block[], done: (e: NodeJS.ErrnoException | null) => void): void {
    let buffers = run.map((b) => b.data ?? Buffer.alloc(b.end - b.start))
    let at = run[0]?.start ?? 0
    const more = (): void => {
      writev(fd, buffers, at, (e, n) => {
        if (e !== null) {
          done(e)
          return
        }
        this.counters.bytesWritten += n
        at += n
        buffers = without(buffers, n)
        if (buffers.length === 0) done(null)
        else more()
      })
    }
    more()
  }

  /** Truncates the file, or zeroes a part of it; what was never written stays a hole of the file. */
  #punch(object: OpenObject, { start, end }: Block, done: (e: NodeJS.ErrnoException | null) => void): void {
    const path = this.#path(object.resource)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined || found.size <= start) {
      done(null)
      return
    }
    if (end === EOF || end >= found.size) {
      if (start > 0) {
        this.#withFile(object, (fd) => ftruncate(fd, start, done))
        return
      }
      const { fd } = object
      if (object.users === 0 && fd !== undefined) {
        object.fd = undefined
        close(fd)
      } else if (fd !== undefined) {
        ftruncate(fd, 0, done)
        return
      }
      unlink(path, done)
      return
    }
    this.#withFile(object, (fd) => zero(fd, start, Math.min(end, found.size), done))
  }

  #use(resource: ResourceId): OpenObject {
    let object = this.#objects.get(resource)
    if (object === undefined) object = { resource, fd: undefined, writes: [], isBusy: false, users: 0, idle: [] }
    else this.#objects.delete(resource)
    this.#objects.set(resource, object)
    if (this.#objects.size > OPEN_MAX) this.#evict()
    return object
  }

  /** Closes the least recently used files that no operation uses. */
  #evict(): void {
    for (const [resource, object] of this.#objects) {
      if (this.#objects.size <= OPEN_MAX) return
      if (object.writes.length > 0 || object.users > 0) continue
      this.#objects.delete(resource)
      if (object.fd !== undefined) close(object.fd)
    }
  }

  #withFile(object: OpenObject, then: (fd: number) => void): void {
    if (object.fd !== undefined) {
      then(object.fd)
      return
    }
    object.users++
    const attempt = (): void =>
      open(this.#path(object.resource), constants.O_RDWR | constants.O_CREAT, 0o600, (e, fd) => {
        if (e !== null) {
          this.#fault(object.resource, errnoOf(e))
          this.#later(attempt)
          return
        }
        object.users--
        // Two operations may have opened it at the same time.
        if (object.fd !== undefined) close(fd)
        else object.fd = fd
        then(object.fd)
      })
    attempt()
  }

  #fault(resource: ResourceId, errno: number): void {
    if (this.#failing.get(resource) === errno) return
    this.#failing.set(resource, errno)
    this.#host.onFault(resource, errno)
  }

  #recovered(resource: ResourceId): void {
    if (this.#failing.delete(resource)) this.#host.onFault(resource, 0)
  }

  #later(task: () => void): void {
    if (this.#isClosed) return
    const timer = setTimeout(() => {
      this.#retries.delete(timer)
      task()
    }, RETRY_MS)
    this.#retries.add(timer)
  }

  #path(resource: ResourceId): string {
    return join(this.#folder, folderName(resource % FOLDERS), String(resource))
  }

  /** Makes the names of new files durable. */
  syncFolders(resources: Iterable<ResourceId>, done: (errno: number) => void): void {
    const folders = [...new Set([...resources].map((r) => dirname(this.#path(r))))]
    let remaining = folders.length
    let errno = 0
    if (remaining === 0) done(0)
    const one = (e: NodeJS.ErrnoException | null): void => {
      if (e !== null) errno = errnoOf(e)
      if (--remaining === 0) done(errno)
    }
    for (const folder of folders) {
      open(folder, constants.O_RDONLY, (e, fd) => {
        if (e !== null) {
          one(e)
          return
        }
        fdatasync(fd, (failed) => {
          close(fd)
          one(failed)
        })
      })
    }
  }
}

const folderName = (i: number): string => i.toString(16).padStart(2, '0')

/** Returns the first blocks that touch each other. */
function touching(blocks: readonly Block[]): Block[] {
  const run: Block[] = []
  for (const b of blocks) {
    const last = run.at(-1)
    if (run.length === VECTORS_MAX || (last !== undefined && (b.hole || last.end !== b.start))) break
    run.push(b)
  }
  return run
}

/** Removes the first n bytes. */
function without(buffers: readonly Uint8Array[], n: number): Uint8Array[] {
  const rest: Uint8Array[] = []
  for (const b of buffers) {
    if (n >= b.length) n -= b.length
    else {
      rest.push(n === 0 ? b : b.subarray(n))
      n = 0
    }
  }
  return rest
}

/** Zeroes bytes that are not zero already, so that holes stay holes. */
function zero(fd: number, start: number, end: number, done: (e: NodeJS.ErrnoException | null) => void): void {
  if (start >= end) {
    done(null)
    return
  }
  const length = Math.min(ZEROS.length, end - start)
  const found = Buffer.alloc(length)
  read(fd, found, 0, length, start, (e) => {
    if (e !== null) {
      done(e)
      return
    }
    const next = (failed: NodeJS.ErrnoException | null): void => {
      if (failed !== null) done(failed)
      else zero(fd, start + length, end, done)
    }
    if (found.equals(ZEROS.subarray(0, length))) next(null)
    else writev(fd, [ZEROS.subarray(0, length)], start, next)
  })
}
