/**
 * Door of the client daemon: local programs open files through a Unix socket, one connection a process (docs/ccpfs-protocol.md, Door).
 *
 * Requests of a connection run concurrently and are answered by their id. A fault in a frame ends the connection; handles belong to it and
 * are closed with it, while their dirty data stay in the daemon's cache.
 */
import type { Socket } from 'node:net'
import type { Ccpfs, CcpfsFile, CcpfsResult, FileStat } from './lib.ts'
import { encoded, ERRNO, O_ACCMODE, O_CREAT, O_DIRECTORY, O_EXCL, O_TRUNC } from './meta-calls.ts'
import { WireReader, WireWriter } from './wire/bytes.ts'
import { FrameSplitter } from './wire/frames.ts'
import { IO_MAX } from './wire/messages.ts'

export const DOOR_VERSION = 1
/** Request id and op. */
const HEAD_BYTES = 5
/** Longest frame after its length. */
const FRAME_MAX = IO_MAX + 64
const HANDLES_MAX = 65_536
/** Requests under way above which a connection is not read. */
const BUSY_MAX = 256
const S_IFREG = 0o100000
const S_IFDIR = 0o040000
const O_RDONLY = 0
const O_WRONLY = 1

export const DOOR = {
  hello: 0,
  open: 1,
  close: 2,
  pread: 3,
  pwrite: 4,
  append: 5,
  fsync: 6,
  ftruncate: 7,
  fstat: 8,
  stat: 9,
  unlink: 10,
  rename: 11,
  mkdir: 12,
  rmdir: 13,
  readdir: 14,
  /** State of the daemon as JSON, for `sluice ccpfs status`. */
  status: 100,
} as const

export interface DoorReply {
  /** A count or handle, or a negative error number. */
  readonly result: number
  readonly payload?: Uint8Array | undefined
}

interface Handle {
  readonly file: CcpfsFile
  /** O_RDONLY, O_WRONLY or O_RDWR. */
  readonly access: number
}

const refused = (errno: number): DoorReply => ({ result: -errno })
const DONE: DoorReply = { result: 0 }

function replyOf<T>(result: CcpfsResult<T>, reply: (value: T) => DoorReply = () => DONE): DoorReply {
  return result.ok ? reply(result.value) : refused(result.error.errno)
}

const statPayload = ({ size, mtimeUs, mode, kind, node }: FileStat): Buffer =>
  encoded((to) => {
    to.u64(size)
    to.u64Ns(mtimeUs)
    to.u32(mode | (kind === 'file' ? S_IFREG : S_IFDIR))
    to.u64(node)
  })

export interface DoorHost {
  readonly fs: Ccpfs
  readonly status: () => object
  readonly onClose: (connection: DoorConnection) => void
}

export class DoorConnection {
  readonly #socket: Socket
  readonly #host: DoorHost
  readonly #handles = new Map<number, Handle>()
  readonly #out = new WireWriter()
  #lastHandle = 0
  #busy = 0
  #isScheduled = false
  #isOver = false
  /** Process at the other end; 0 before its hello. */
  pid = 0
  requests = 0

  constructor(socket: Socket, host: DoorHost) {
    this.#socket = socket
    this.#host = host
    const frames = new FrameSplitter(HEAD_BYTES, FRAME_MAX)
    const onFrame = (buffer: Buffer, start: number, end: number): boolean => {
      this.#receive(new WireReader(buffer, start, end))
      return !this.#isOver
    }
    socket.on('data', (chunk: Buffer) => {
      if (frames.push(chunk, onFrame) !== undefined) socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => this.#over())
  }

  get handles(): number {
    return this.#handles.size
  }

  #receive(from: WireReader): void {
    const id = from.u32()
    const op = from.u8()
    if (this.pid === 0 && op !== DOOR.hello && op !== DOOR.status) {
      this.#socket.destroy()
      return
    }
    this.requests++
    if (++this.#busy >= BUSY_MAX) this.#socket.pause()
    void this.#act(op, from).then((reply) => {
      if (--this.#busy === BUSY_MAX - 1) this.#socket.resume()
      this.#reply(id, reply)
    })
  }

  #reply(id: number, { result, payload }: DoorReply): void {
    if (this.#isOver) return
    const out = this.#out
    const mark = out.beginLength()
    out.u32(id)
    out.i32(result)
    if (payload !== undefined) out.bytes(payload)
    out.endLength(mark)
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      if (this.#isOver) return
      this.#socket.cork()
      for (const part of out.take()) this.#socket.write(part)
      this.#socket.uncork()
    })
  }

  async #act(op: number, from: WireReader): Promise<DoorReply> {
    const { fs } = this.#host
    switch (op) {
      case DOOR.hello: {
        const version = from.u32()
        const pid = from.u64()
        if (from.fault !== undefined || version !== DOOR_VERSION) return refused(ERRNO.EPROTO)
        this.pid = pid || 1
        return DONE
      }
      case DOOR.open:
        return this.#open(from)
      case DOOR.stat:
        return replyOf(await fs.stat(pathOf(from)), (found) => ({ result: 0, payload: statPayload(found) }))
      case DOOR.unlink:
        return replyOf(await fs.unlink(pathOf(from)))
      case DOOR.rename: {
        const paths = pathOf(from)
        const at = paths.indexOf(0)
        if (at < 0) return refused(ERRNO.EINVAL)
        return replyOf(await fs.rename(paths.subarray(0, at), paths.subarray(at + 1)))
      }
      case DOOR.mkdir: {
        const mode = from.u32()
        return replyOf(await fs.mkdir(pathOf(from), mode))
      }
      case DOOR.rmdir:
        return replyOf(await fs.rmdir(pathOf(from)))
      case DOOR.readdir: {
        const names = await fs.readdir(pathOf(from))
        return replyOf(names, (found) => {
          const payload = Buffer.concat(found.flatMap((name) => [name, Buffer.alloc(1)]))
          return payload.length > IO_MAX ? refused(ERRNO.EOVERFLOW) : { result: found.length, payload }
        })
      }
      case DOOR.status:
        return { result: 0, payload: Buffer.from(JSON.stringify(this.#host.status())) }
      default:
        return this.#actOnHandle(op, from)
    }
  }

  async #open(from: WireReader): Promise<DoorReply> {
    const flags = from.u32()
    const mode = from.u32()
    const path = pathOf(from)
    if (from.fault !== undefined) return refused(ERRNO.EINVAL)
    if (this.#handles.size >= HANDLES_MAX) return refused(ERRNO.EMFILE)
    if ((flags & O_DIRECTORY) !== 0) return refused(ERRNO.ENOTSUP)
    const access = flags & O_ACCMODE
    const opened = await this.#host.fs.open(path, {
      create: (flags & O_CREAT) !== 0,
      exclusive: (flags & O_EXCL) !== 0,
      truncate: (flags & O_TRUNC) !== 0 && access !== O_RDONLY,
      mode,
    })
    if (!opened.ok) return refused(opened.error.errno)
    const file = opened.value
    const size = await file.size()
    if (!size.ok || this.#isOver) {
      await file.close()
      return refused(size.ok ? ERRNO.EIO : size.error.errno)
    }
    const handle = this.#newHandle()
    this.#handles.set(handle, { file, access })
    return { result: handle, payload: encoded((to) => to.u64(size.value)) }
  }

  #newHandle(): number {
    do this.#lastHandle = (this.#lastHandle % 0x7fff_ffff) + 1
    while (this.#handles.has(this.#lastHandle))
    return this.#lastHandle
  }

  async #actOnHandle(op: number, from: WireReader): Promise<DoorReply> {
    const number = from.u32()
    const handle = this.#handles.get(number)
    if (handle === undefined) return refused(op > DOOR.readdir ? ERRNO.ENOSYS : ERRNO.EBADF)
    const { file, access } = handle
    switch (op) {
      case DOOR.close:
        this.#handles.delete(number)
        return replyOf(await file.close())
      case DOOR.pread: {
        const offset = from.u64()
        const length = Math.min(from.u32(), IO_MAX)
        if (from.fault !== undefined) return refused(ERRNO.EINVAL)
        if (access === O_WRONLY) return refused(ERRNO.EBADF)
        return replyOf(await file.read(offset, length), (payload) => ({ result: payload.length, payload }))
      }
      case DOOR.pwrite: {
        const offset = from.u64()
        if (from.fault !== undefined) return refused(ERRNO.EINVAL)
        if (access === O_RDONLY) return refused(ERRNO.EBADF)
        return replyOf(await file.write(offset, kept(from.rest())), (result) => ({ result }))
      }
      case DOOR.append: {
        if (access === O_RDONLY) return refused(ERRNO.EBADF)
        const data = kept(from.rest())
        return replyOf(await file.append(data), (offset) => ({
          result: data.length,
          payload: encoded((to) => to.u64(offset)),
        }))
      }
      case DOOR.fsync:
        return replyOf(await file.fsync())
      case DOOR.ftruncate: {
        const size = from.u64()
        if (from.fault !== undefined || access === O_RDONLY) return refused(ERRNO.EINVAL)
        return replyOf(await file.truncate(size))
      }
      case DOOR.fstat:
        return replyOf(await file.stat(), (found) => ({ result: 0, payload: statPayload(found) }))
      default:
        return refused(ERRNO.ENOSYS)
    }
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const { file } of this.#handles.values()) void file.close()
    this.#handles.clear()
    this.#host.onClose(this)
  }

  end(): void {
    this.#socket.end()
  }
}

const pathOf = (from: WireReader): Buffer => Buffer.from(from.rest())

/** Data for the page cache, which keeps them: a part of a larger buffer would keep all of that. */
const kept = (data: Buffer): Uint8Array => (data.length * 2 < data.buffer.byteLength ? new Uint8Array(data) : data)
