/**
 * Calls of clients to the metadata server: their numbers, and the bytes of their arguments and results. A result >= 0 is a success,
 * otherwise the negative number of a system error.
 */
import { constants as system } from 'node:os'
import type { FileLayout } from '#core/seqdlm/layout.ts'
import { WireReader, WireWriter } from './wire/bytes.ts'

export const { errno: ERRNO } = system

export const OP = {
  /** Opens a file, or creates it. Arguments: OpenArguments. Result: 1 if created; attributes. */
  open: 1,
  /** Drops a client's last handle of a file: node. Result: 1 and attributes if its objects can now be removed. */
  close: 2,
  /** Attributes of a path. */
  stat: 3,
  /** Attributes of an open node. */
  attributes: 4,
  /** Result: 1 and attributes if its objects can be removed now. */
  unlink: 5,
  /** Two paths, separated by NUL. Result as of unlink, for a file that was replaced. */
  rename: 6,
  /** mode (u32), path. */
  mkdir: 7,
  rmdir: 8,
  /** Names in a folder, separated by NUL. */
  readdir: 9,
  /** Records the time of the last write: node (u64), microseconds (u64). */
  touch: 10,
  /** Puts names and layouts on stable storage. */
  sync: 11,
  /** The objects of an unlinked node were removed. */
  purged: 12,
  /** An unlinked node whose objects are to be removed: result 1 and attributes, or 0. */
  orphan: 13,
  /** Nodes that a returning client has open: a list of u64. */
  reopen: 14,
  /** Id for a client that was evicted by a server, and whose old one is not used again: result body u64. */
  identity: 15,
} as const

/** Calls that change something: each is carried out once, even if it is repeated after a reconnection. */
export const CHANGING: ReadonlySet<number> = new Set<number>([
  OP.open,
  OP.unlink,
  OP.rename,
  OP.mkdir,
  OP.rmdir,
  OP.touch,
  OP.purged,
])

/** Flags of open, as in Linux. */
export const O_CREAT = 0o100
export const O_EXCL = 0o200
export const O_TRUNC = 0o1000
export const O_APPEND = 0o2000
export const O_DIRECTORY = 0o200000
export const O_ACCMODE = 3

export const PATH_MAX = 4096
export const NAME_MAX = 255
export const STRIPES_MAX = 1024
export const STRIPE_SIZE_MAX = 2 ** 30
export const STRIPE_ALIGN = 4096

export type NodeKind = 'file' | 'folder'

/** Attributes of a file or folder. */
export interface Attributes {
  readonly node: number
  readonly kind: NodeKind
  /** Permission bits. */
  readonly mode: number
  /** Microseconds since 1970. */
  readonly mtimeUs: number
  /** Undefined for a folder. */
  readonly layout: FileLayout | undefined
}

export interface OpenArguments {
  readonly flags: number
  readonly mode: number
  /** 0 for the default of the file system. */
  readonly stripes: number
  readonly stripeSize: number
  readonly path: Buffer
}

/** Encodes with a writer. */
export function encoded(content: (to: WireWriter) => void): Buffer {
  const to = new WireWriter(512)
  content(to)
  return Buffer.concat(to.take())
}

export function writeAttributes(to: WireWriter, a: Attributes): void {
  to.u64(a.node)
  to.u8(a.kind === 'file' ? 1 : 2)
  to.u32(a.mode)
  to.u64(a.mtimeUs)
  to.u64(a.layout?.base ?? 0)
  to.u32(a.layout?.stripes ?? 0)
  to.u32(a.layout?.stripeSize ?? 0)
}

export function readAttributes(from: WireReader): Attributes {
  const node = from.u64()
  const kind = from.u8() === 1 ? 'file' : 'folder'
  const mode = from.u32()
  const mtimeUs = from.u64()
  const layout = { base: from.u64(), stripes: from.u32(), stripeSize: from.u32() }
  if (kind === 'file' && (layout.stripes < 1 || layout.stripeSize < 1)) from.refuse('a layout is empty')
  return { node, kind, mode, mtimeUs, layout: kind === 'file' ? layout : undefined }
}

export const openArguments = ({ flags, mode, stripes, stripeSize, path }: OpenArguments): Buffer =>
  encoded((to) => {
    to.u32(flags)
    to.u32(mode)
    to.u32(stripes)
    to.u32(stripeSize)
    to.bytes(path)
  })

export function readOpenArguments(from: WireReader): OpenArguments {
  const flags = from.u32()
  const mode = from.u32()
  const stripes = from.u32()
  const stripeSize = from.u32()
  return { flags, mode, stripes, stripeSize, path: from.rest() }
}

/**
 * Splits a path into its names. `.` and empty names are skipped and `..` removes a name: there are no links, so this is exact.
 *
 * @returns an error number for a path that is too long or contains NUL.
 */
export function namesOf(path: Buffer): Buffer[] | number {
  if (path.length > PATH_MAX) return ERRNO.ENAMETOOLONG
  if (path.includes(0)) return ERRNO.EINVAL
  const names: Buffer[] = []
  for (let at = 0; at <= path.length;) {
    const slash = path.indexOf(0x2f, at)
    const end = slash < 0 ? path.length : slash
    const name = path.subarray(at, end)
    at = end + 1
    if (name.length > NAME_MAX) return ERRNO.ENAMETOOLONG
    const isDot = name.length === 1 && name[0] === 0x2e
    if (name.length === 0 || isDot) continue
    if (name.length === 2 && name[0] === 0x2e && name[1] === 0x2e) names.pop()
    else names.push(name)
  }
  return names
}
