/** Door server over files in memory: the protocol of docs/ccpfs-door.md with a strict decoder, for tests of the library. */
import { createServer, type Server, type Socket } from 'node:net'
import { constants } from 'node:os'

const { errno } = constants
const MAX_DATA = 1 << 20
/** Bytes before the data of the largest request: number, operation, handle, offset. */
const MAX_REQUEST = MAX_DATA + 4 + 1 + 12
const O_ACCMODE = 3
const { O_CREAT, O_EXCL, O_TRUNC, O_WRONLY, O_RDWR } = {
  O_CREAT: 0o100,
  O_EXCL: 0o200,
  O_TRUNC: 0o1000,
  O_WRONLY: 1,
  O_RDWR: 2,
}
const S_IFREG = 0o100000
const S_IFDIR = 0o040000

interface Node {
  readonly ino: bigint
  readonly mode: number
  /** Space, of which `size` bytes are used; undefined for a directory. */
  bytes: Buffer | undefined
  size: number
  mtimeNs: bigint
}

/** A refusal: the number of the error. */
class Refusal extends Error {
  readonly errno: number
  constructor(errno: number) {
    super(`errno ${errno}`)
    this.errno = errno
  }
}

/** Reads a request's content; anything missing or left over ends the connection. */
class Fields {
  #at = 0
  readonly #from: Buffer
  constructor(from: Buffer) {
    this.#from = from
  }
  u32(): number {
    this.#at += 4
    return this.#from.readUInt32LE(this.#at - 4)
  }
  u64(): number {
    this.#at += 8
    const n = this.#from.readBigUInt64LE(this.#at - 8)
    if (n > BigInt(Number.MAX_SAFE_INTEGER)) throw new Refusal(errno.EFBIG)
    return Number(n)
  }
  rest(): Buffer {
    const bytes = this.#from.subarray(this.#at)
    this.#at = this.#from.length
    return bytes
  }
  path(): string {
    return pathOf(this.rest())
  }
  end(): void {
    if (this.#at !== this.#from.length) throw new RangeError('bytes are left over')
  }
}

/** Paths are bytes, kept as latin1. */
function pathOf(bytes: Buffer): string {
  const text = bytes.toString('latin1')
  const components = text.split('/').slice(1)
  const isNormal = text === '/' || components.every((name) => name !== '' && name !== '.' && name !== '..')
  if (!text.startsWith('/') || text.includes('\0') || !isNormal) throw new RangeError('not a normalised path')
  if (components.some((name) => name.length > 255)) throw new Refusal(errno.ENAMETOOLONG)
  return text
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

export interface Reply {
  readonly result: number
  readonly content?: Buffer
}

/** Encodes a reply. */
export function replyFrame(id: number, { result, content = Buffer.alloc(0) }: Reply): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt32LE(8 + content.length, 0)
  head.writeUInt32LE(id, 4)
  head.writeInt32LE(result, 8)
  return Buffer.concat([head, content])
}

export interface DoorServerOptions {
  /** Replaces the reply to a request, as bytes; undefined: the regular one. */
  readonly instead?: (op: number, id: number) => Buffer | undefined
  /** Replies to this operation wait until so many are there, and are then sent in reverse. */
  readonly hold?: { readonly op: number; readonly count: number }
}

export class DoorServer {
  readonly #nodes = new Map<string, Node>()
  #lastIno = 1n
  #clock = 1_700_000_000_000_000_000n
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #options: DoorServerOptions
  /** Requests that were received, and errors of the decoder: a library never causes one. */
  requests = 0
  readonly violations: string[] = []

  constructor(options: DoorServerOptions = {}) {
    this.#options = options
    this.#nodes.set('/', this.#node(S_IFDIR | 0o755))
    this.#server = createServer((socket) => this.#serve(socket))
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(path, () => resolve())
    })
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  /** Ends every connection, as the death of a daemon does. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  get connections(): number {
    return this.#sockets.size
  }

  #node(mode: number): Node {
    const bytes = mode & S_IFREG ? Buffer.alloc(0) : undefined
    return { ino: ++this.#lastIno, mode, bytes, size: 0, mtimeNs: ++this.#clock }
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    const handles = new Map<number, { node: Node; access: number }>()
    let lastHandle = 0
    let greeted = false
    let buffered = Buffer.alloc(0)
    const held: Buffer[] = []
    const run = (op: number, f: Fields): Reply => {
      if ((op === 0) === greeted) throw new RangeError('hello is the first request, and only that')
      if (op === 0) {
        if (f.u32() !== 1) throw new RangeError('version')
        f.u64()
        f.end()
        greeted = true
        return { result: 0 }
      }
      if (op === 1) {
        const flags = f.u32()
        const node = this.#open(flags, f.u32(), f.path())
        handles.set(++lastHandle, { node, access: flags & O_ACCMODE })
        return { result: lastHandle, content: number64(node.size) }
      }
      if (op >= 9) return this.#name(op, f)
      const handle = f.u32()
      const open = handles.get(handle)
      if (!open) throw new RangeError(`operation ${op} with an unknown handle`)
      if (op !== 2) return this.#data(op, f, open.node, open.access)
      f.end()
      handles.delete(handle)
      return { result: 0 }
    }
    socket.on('data', (some) => {
      buffered = Buffer.concat([buffered, some])
      try {
        while (buffered.length >= 4) {
          const length = buffered.readUInt32LE(0)
          if (length < 5 || length > MAX_REQUEST) throw new RangeError(`length ${length}`)
          if (buffered.length < 4 + length) break
          const frame = buffered.subarray(4, 4 + length)
          buffered = buffered.subarray(4 + length)
          this.requests++
          const id = frame.readUInt32LE(0)
          const op = frame[4] ?? 0
          let reply: Reply
          try {
            reply = run(op, new Fields(frame.subarray(5)))
          } catch (e) {
            if (!(e instanceof Refusal)) throw e
            reply = { result: -e.errno }
          }
          const bytes = this.#options.instead?.(op, id) ?? replyFrame(id, reply)
          if (op === this.#options.hold?.op) {
            held.unshift(bytes)
            if (held.length === this.#options.hold.count) socket.write(Buffer.concat(held.splice(0)))
          } else {
            socket.write(bytes)
          }
        }
      } catch (e) {
        this.violations.push(String(e))
        socket.destroy()
      }
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #lookup(path: string): Node {
    const found = this.#nodes.get(path)
    if (found) return found
    // A component that is a file is another error than one that is missing.
    for (let at = parentOf(path); at !== '/'; at = parentOf(at)) {
      if (this.#nodes.get(at)?.bytes) throw new Refusal(errno.ENOTDIR)
    }
    throw new Refusal(errno.ENOENT)
  }

  /** Checks that a name can be created. */
  #vacant(path: string): void {
    if (this.#nodes.has(path)) throw new Refusal(errno.EEXIST)
    if (this.#lookup(parentOf(path)).bytes) throw new Refusal(errno.ENOTDIR)
  }

  #open(flags: number, mode: number, path: string): Node {
    let node = this.#nodes.get(path)
    if (!node && flags & O_CREAT) {
      this.#vacant(path)
      node = this.#node(S_IFREG | (mode & 0o7777))
      this.#nodes.set(path, node)
      return node
    }
    node ??= this.#lookup(path)
    if (flags & O_CREAT && flags & O_EXCL) throw new Refusal(errno.EEXIST)
    if (!node.bytes) throw new Refusal(errno.EISDIR)
    if (flags & O_TRUNC) {
      this.#resize(node, 0)
      node.mtimeNs = ++this.#clock
    }
    return node
  }

  #resize(node: Node, size: number): void {
    const bytes = node.bytes ?? Buffer.alloc(0)
    if (size > bytes.length) {
      if (size > 2 ** 30) throw new Refusal(errno.EFBIG)
      node.bytes = Buffer.alloc(Math.max(size, 2 * bytes.length))
      bytes.copy(node.bytes, 0, 0, node.size)
    } else if (size < node.size) {
      bytes.fill(0, size, node.size)
    }
    node.size = size
  }

  #write(node: Node, at: number, data: Buffer): void {
    if (at + data.length > node.size) this.#resize(node, at + data.length)
    data.copy(node.bytes ?? Buffer.alloc(0), at)
    node.mtimeNs = ++this.#clock
  }

  #data(op: number, f: Fields, node: Node, access: number): Reply {
    const mayWrite = access === O_WRONLY || access === O_RDWR
    if (op === 3) {
      const at = f.u64()
      const length = f.u32()
      f.end()
      if (length > MAX_DATA) throw new RangeError(`pread of ${length}`)
      if (access === O_WRONLY) throw new Refusal(errno.EBADF)
      const content = Buffer.from((node.bytes ?? Buffer.alloc(0)).subarray(at, Math.min(at + length, node.size)))
      return { result: content.length, content }
    }
    if (op === 4 || op === 5) {
      const at = op === 4 ? f.u64() : node.size
      const data = f.rest()
      if (!mayWrite) throw new Refusal(errno.EBADF)
      if (data.length === 0 || data.length > MAX_DATA) throw new RangeError(`write of ${data.length}`)
      this.#write(node, at, data)
      return op === 4 ? { result: data.length } : { result: data.length, content: number64(at) }
    }
    if (op === 7) {
      const size = f.u64()
      f.end()
      if (!mayWrite) throw new Refusal(errno.EINVAL)
      this.#resize(node, size)
      node.mtimeNs = ++this.#clock
      return { result: 0 }
    }
    f.end()
    if (op === 6) return { result: 0 }
    if (op === 8) return { result: 0, content: attributes(node) }
    throw new RangeError(`operation ${op}`)
  }

  #isEmpty(path: string): boolean {
    return ![...this.#nodes.keys()].some((other) => other !== path && parentOf(other) === path)
  }

  #name(op: number, f: Fields): Reply {
    const mode = op === 12 ? f.u32() : 0
    const raw = f.rest()
    if (op === 11) return this.#rename(raw)
    const path = pathOf(raw)
    if (op === 9) return { result: 0, content: attributes(this.#lookup(path)) }
    if (op === 12) {
      this.#vacant(path)
      this.#nodes.set(path, this.#node(S_IFDIR | (mode & 0o7777)))
      return { result: 0 }
    }
    const node = this.#lookup(path)
    if (op === 10) {
      if (!node.bytes) throw new Refusal(errno.EISDIR)
      this.#nodes.delete(path)
      return { result: 0 }
    }
    if (node.bytes) throw new Refusal(errno.ENOTDIR)
    if (op === 13) {
      if (path === '/') throw new Refusal(errno.EBUSY)
      if (!this.#isEmpty(path)) throw new Refusal(errno.ENOTEMPTY)
      this.#nodes.delete(path)
      return { result: 0 }
    }
    if (op !== 14) throw new RangeError(`operation ${op}`)
    const names = [...this.#nodes.keys()].filter((other) => other !== '/' && parentOf(other) === path)
    const prefix = path === '/' ? 1 : path.length + 1
    return {
      result: names.length,
      content: Buffer.from(names.map((name) => `${name.slice(prefix)}\0`).join(''), 'latin1'),
    }
  }

  #rename(raw: Buffer): Reply {
    const end = raw.indexOf(0)
    if (end < 0) throw new RangeError('rename with one path')
    const from = pathOf(raw.subarray(0, end))
    const to = pathOf(raw.subarray(end + 1))
    // Both folders are found before the names in them.
    for (const path of [from, to]) if (this.#lookup(parentOf(path)).bytes) throw new Refusal(errno.ENOTDIR)
    const node = this.#lookup(from)
    const old = this.#nodes.get(to)
    if (to.startsWith(`${from}/`)) throw new Refusal(errno.EINVAL)
    if (from === to) return { result: 0 }
    if (from.startsWith(`${to}/`)) throw new Refusal(errno.ENOTEMPTY)
    if (old && !node.bytes && old.bytes) throw new Refusal(errno.ENOTDIR)
    if (old && node.bytes && !old.bytes) throw new Refusal(errno.EISDIR)
    if (old && !old.bytes && !this.#isEmpty(to)) throw new Refusal(errno.ENOTEMPTY)
    for (const [path, one] of [...this.#nodes]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue
      this.#nodes.delete(path)
      this.#nodes.set(to + path.slice(from.length), one)
    }
    return { result: 0 }
  }
}

function number64(n: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(n))
  return bytes
}

function attributes(node: Node): Buffer {
  const bytes = Buffer.alloc(28)
  bytes.writeBigUInt64LE(BigInt(node.size), 0)
  bytes.writeBigUInt64LE(node.mtimeNs, 8)
  bytes.writeUInt32LE(node.mode, 16)
  bytes.writeBigUInt64LE(node.ino, 20)
  return bytes
}
