/**
 * Reads an untrusted zip. Only the layout that `zip-out` writes is accepted: members one after another from the first
 * byte, then the directory, then the comment. Everything that a hostile archive needs (other paths, links, gaps between
 * members, contradictory headers) is refused before a byte is inflated.
 */
import { constants, closeSync, createWriteStream, fstatSync, openSync, readSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'
import * as yauzl from 'yauzl'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { isMemberName, LIMITS, MANIFEST } from '#core/snapshot/manifest.ts'
import { MEMBER_MODE, SEAL, SEAL_BYTES } from './zip-out.ts'

/** Signature, counts and offsets of the directory, length of the comment. */
const END_BYTES = 22
const END_MARK = 0x06054b50
const ZIP64_MARK = 0x07064b50
const ZIP64_BYTES = 20
const DESCRIPTOR_MARK = 0x08074b50
const DESCRIPTOR_BYTES = 16
const HEAD_BYTES = 30
/** Sizes after the data; names in UTF-8. */
const FLAGS = 0x808
const SIZES_BEHIND = 0x8
const RATIO_FROM = 2 ** 20

export interface ZipEntry {
  readonly name: string
  readonly bytes: number
  readonly packed: number
}

/** Thrown for a member whose bytes differ from those written; its message is shown to the operator. */
export class MemberDamaged extends Error {
  override readonly name = 'MemberDamaged'
}

export interface OpenedZip {
  readonly size: number
  readonly entries: ReadonlyMap<string, ZipEntry>
  /** SHA-256 of all bytes before the comment, as stored in the comment. */
  readonly seal: string
  /** Chunks of a member. @throws MemberDamaged. */
  stream(name: string): AsyncGenerator<Buffer, void, void>
  /** Reads a member into memory. Failures: BUNDLE_DAMAGED. */
  read(name: string, most: number): Promise<Result<Buffer>>
  /** Writes a member to a new file. Failures: BUNDLE_DAMAGED, BUNDLE_FAILED. */
  extract(name: string, to: string): Promise<Result<undefined>>
  /** Raw bytes of the file. */
  raw(): AsyncGenerator<Buffer, void, void>
  close(): void
}

const SAFE = 'Nothing of it was unpacked.'

const refused = (why: string): Failure => ({
  code: 'BUNDLE_REFUSED',
  what: 'This file is not opened as a bundle',
  why,
  unaffected: SAFE,
  next: 'Ask for the original bundle; a repacked one is not accepted.',
})
const foreign = (why: string): Failure => ({
  code: 'BUNDLE_FOREIGN',
  what: 'This file is not a bundle',
  why,
  unaffected: SAFE,
  next: 'Name a bundle that Sluice wrote (.zip).',
})
export const damaged = (member: string, why: string): Failure => ({
  code: 'BUNDLE_DAMAGED',
  what: `${member} of the bundle cannot be read`,
  why,
  unaffected: SAFE,
  next: 'Copy the bundle again from its origin.',
})

/** Untrusted name, for a message. */
const shown = (name: string): string => JSON.stringify(name.slice(0, 120))

const read = (fd: number, at: number, n: number): Buffer => {
  const buffer = Buffer.alloc(n)
  return buffer.subarray(0, readSync(fd, buffer, 0, n, at))
}

interface Directory {
  readonly at: number
  readonly entries: number
  readonly seal: string
}

/** End record of the archive, whose position must be exact. */
function directoryOf(fd: number, size: number): Result<Directory> {
  if (size === 0) return fail(foreign('it is empty'))
  const isZip = read(fd, 0, 4).toString('latin1') === 'PK\x03\x04'
  const endAt = size - END_BYTES - SEAL_BYTES
  const end = endAt < 0 ? Buffer.alloc(0) : read(fd, endAt, END_BYTES + SEAL_BYTES)
  if (end.length < END_BYTES + SEAL_BYTES || end.readUInt32LE(0) !== END_MARK) {
    const why = 'its end is not valid: it was truncated, appended to, or packed by another program'
    return fail(isZip ? refused(why) : foreign('it is not a zip'))
  }
  const comment = end.toString('latin1', END_BYTES)
  const entries = end.readUInt16LE(10)
  const bytes = end.readUInt32LE(12)
  const at = end.readUInt32LE(16)
  const isPlain = end.readUInt16LE(4) === 0 && end.readUInt16LE(6) === 0 && end.readUInt16LE(8) === entries
  if (!isPlain || end.readUInt16LE(20) !== SEAL_BYTES || !/^[0-9a-f]{64}$/.test(comment.slice(SEAL.length))) {
    return fail(refused('its end is not valid'))
  }
  if (!comment.startsWith(SEAL)) return fail(refused('its end is not valid'))
  if (endAt >= ZIP64_BYTES && read(fd, endAt - ZIP64_BYTES, 4).readUInt32LE(0) === ZIP64_MARK) {
    return fail(refused('it is a zip64 archive, larger than a bundle may be'))
  }
  if (entries > LIMITS.members + 1) return fail(refused(`it has ${entries} members; the limit is ${LIMITS.members}`))
  if (at + bytes !== endAt) return fail(refused('the offset of its directory is wrong'))
  return ok({ at, entries, seal: comment.slice(SEAL.length) })
}

/** Fault of a member in the directory; undefined if valid. */
function entryFault(e: yauzl.Entry, name: string): string | undefined {
  if (!isMemberName(name)) return `${shown(name)} is not a member name of a bundle`
  if ((e.generalPurposeBitFlag & ~FLAGS) !== 0) return `${shown(name)} is encrypted, or uses another compression`
  if (e.compressionMethod !== 0 && e.compressionMethod !== 8) return `${shown(name)} uses another compression`
  if (
    e.externalFileAttributes !== (MEMBER_MODE << 16) >>> 0 ||
    e.versionMadeBy >>> 8 !== 3 ||
    e.internalFileAttributes !== 0
  )
    return `${shown(name)} is not a regular file`
  if (e.extraFieldLength !== 0 || e.fileCommentLength !== 0) return `${shown(name)} has unexpected fields`
  const most = name === MANIFEST ? LIMITS.manifestBytes : LIMITS.memberBytes
  if (e.uncompressedSize > most) return `${shown(name)} declares ${e.uncompressedSize} bytes; the limit is ${most}`
  if (e.uncompressedSize > RATIO_FROM && e.uncompressedSize / Math.max(1, e.compressedSize) > LIMITS.ratio)
    return `${shown(name)} has an implausible compression ratio`
  if (e.compressionMethod === 0 && e.uncompressedSize !== e.compressedSize)
    return `${shown(name)} has contradictory sizes`
  return undefined
}

/**
 * Contradiction of the local header, or of the sizes after the data, with the directory; else the offset of the data.
 */
function headOf(fd: number, e: yauzl.Entry, name: string, size: number): Result<{ data: number; end: number }, string> {
  const at = e.relativeOffsetOfLocalHeader
  const head = read(fd, at, HEAD_BYTES + name.length)
  const invalid = (why: string): Result<never, string> => fail(`${shown(name)}: ${why}`)
  if (head.length < HEAD_BYTES + name.length || head.readUInt32LE(0) !== 0x04034b50)
    return invalid('its header is not where its directory has it')
  const isBehind = (e.generalPurposeBitFlag & SIZES_BEHIND) !== 0
  const [crc, packed, bytes] = isBehind ? [0, 0, 0] : [e.crc32, e.compressedSize, e.uncompressedSize]
  const isSame =
    head.readUInt16LE(4) === e.versionNeededToExtract &&
    head.readUInt16LE(6) === e.generalPurposeBitFlag &&
    head.readUInt16LE(8) === e.compressionMethod &&
    head.readUInt16LE(10) === e.lastModFileTime &&
    head.readUInt16LE(12) === e.lastModFileDate &&
    head.readUInt32LE(14) === crc &&
    head.readUInt32LE(18) === packed &&
    head.readUInt32LE(22) === bytes &&
    head.readUInt16LE(26) === name.length &&
    head.readUInt16LE(28) === 0 &&
    head.toString('latin1', HEAD_BYTES) === name
  if (!isSame) return invalid('its header contradicts the directory')
  const data = at + HEAD_BYTES + name.length
  const end = data + e.compressedSize
  if (end > size) return invalid('it does not end within the file')
  if (!isBehind) return ok({ data, end })
  const behind = read(fd, end, DESCRIPTOR_BYTES)
  const agrees =
    behind.length === DESCRIPTOR_BYTES &&
    behind.readUInt32LE(0) === DESCRIPTOR_MARK &&
    behind.readUInt32LE(4) === e.crc32 &&
    behind.readUInt32LE(8) === e.compressedSize &&
    behind.readUInt32LE(12) === e.uncompressedSize
  return agrees
    ? ok({ data, end: end + DESCRIPTOR_BYTES })
    : invalid('the sizes after its data contradict the directory')
}

interface Found {
  readonly zip: yauzl.ZipFile
  readonly entries: Map<string, yauzl.Entry>
}

const opened = (fd: number): Promise<yauzl.ZipFile> =>
  new Promise((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: true }
    yauzl.fromFd(fd, options, (e, zip) => (e ? reject(e) : resolve(zip)))
  })

function next(zip: yauzl.ZipFile): Promise<yauzl.Entry | undefined> {
  return new Promise((resolve, reject) => {
    const off = (): void => void zip.off('entry', entry).off('end', end).off('error', error)
    const entry = (e: yauzl.Entry): void => (off(), resolve(e))
    const end = (): void => (off(), resolve(undefined))
    const error = (e: Error): void => (off(), reject(e))
    zip.on('entry', entry).on('end', end).on('error', error)
    zip.readEntry()
  })
}

async function find(fd: number, size: number, directory: Directory): Promise<Result<Found>> {
  const zip = await opened(fd)
  const entries = new Map<string, yauzl.Entry>()
  let total = 0
  // Members are contiguous: there are no gaps, and no byte belongs to two.
  let at = 0
  for (let e = await next(zip); e; e = await next(zip)) {
    const name = e.fileNameRaw.toString('latin1')
    const fault = entryFault(e, name)
    if (fault !== undefined) return fail(refused(fault))
    if (entries.has(name)) return fail(refused(`${shown(name)} is in it twice`))
    total += e.uncompressedSize
    if (total > LIMITS.totalBytes) return fail(refused(`its members declare more than ${LIMITS.totalBytes} bytes`))
    if (e.relativeOffsetOfLocalHeader !== at)
      return fail(refused(`${shown(name)} does not begin where the previous member ends`))
    const head = headOf(fd, e, name, size)
    if (!head.ok) return fail(refused(head.error))
    at = head.value.end
    entries.set(name, e)
  }
  if (at !== directory.at) return fail(refused('there is data between its members and its directory'))
  if (Number(zip.readEntryCursor) !== size - END_BYTES - SEAL_BYTES)
    return fail(refused('the size of its directory is wrong'))
  if (!entries.has(MANIFEST)) return fail(foreign('it has no manifest'))
  return ok({ zip, entries })
}

class Reading implements OpenedZip {
  readonly size: number
  readonly seal: string
  readonly entries: ReadonlyMap<string, ZipEntry>
  readonly #fd: number
  readonly #found: Found
  #isOpen = true

  constructor(fd: number, size: number, seal: string, found: Found) {
    this.#fd = fd
    this.#found = found
    this.size = size
    this.seal = seal
    this.entries = new Map(
      [...found.entries].map(([name, e]) => [name, { name, bytes: e.uncompressedSize, packed: e.compressedSize }]),
    )
  }

  async *stream(name: string): AsyncGenerator<Buffer, void, void> {
    const e = this.#found.entries.get(name)
    if (!e) throw new MemberDamaged('it is not in the bundle')
    const stream = await new Promise<Readable>((resolve, reject) => {
      this.#found.zip.openReadStream(e, (fault, s) => (fault ? reject(fault) : resolve(s)))
    })
    let crc = 0
    let bytes = 0
    try {
      for await (const piece of stream as AsyncIterable<Buffer>) {
        bytes += piece.length
        if (bytes > e.uncompressedSize) throw new MemberDamaged('it is longer than declared')
        crc = crc32(piece, crc)
        yield piece
      }
    } catch (fault) {
      if (fault instanceof MemberDamaged) throw fault
      throw new MemberDamaged(`it cannot be unpacked: ${fault instanceof Error ? fault.message : String(fault)}`)
    } finally {
      stream.destroy()
    }
    if (bytes !== e.uncompressedSize) throw new MemberDamaged('it is shorter than declared')
    if (crc !== e.crc32) throw new MemberDamaged('its checksum does not match')
  }

  async read(name: string, most: number): Promise<Result<Buffer>> {
    const entry = this.entries.get(name)
    if (!entry) return fail(damaged(name, 'it is missing'))
    if (entry.bytes > most) return fail(damaged(name, `it has ${entry.bytes} bytes; the limit is ${most}`))
    const pieces: Buffer[] = []
    try {
      for await (const piece of this.stream(name)) pieces.push(piece)
    } catch (e) {
      if (e instanceof MemberDamaged) return fail(damaged(name, e.message))
      throw e
    }
    return ok(Buffer.concat(pieces))
  }

  async extract(name: string, to: string): Promise<Result<undefined>> {
    try {
      const stream = Readable.from(this.stream(name), { objectMode: false })
      await pipeline(stream, createWriteStream(to, { flags: 'wx', mode: 0o600 }))
      return ok(undefined)
    } catch (e) {
      if (e instanceof MemberDamaged) return fail(damaged(name, e.message))
      return fail({
        code: 'BUNDLE_FAILED',
        what: `${name} was not unpacked`,
        why: e instanceof Error ? e.message : String(e),
        next: 'Free space where temporary files are kept.',
      })
    }
  }

  async *raw(): AsyncGenerator<Buffer, void, void> {
    const piece = Buffer.alloc(2 ** 20)
    for (let at = 0; at < this.size;) {
      const n = readSync(this.#fd, piece, 0, piece.length, at)
      if (n === 0) return
      yield piece.subarray(0, n)
      at += n
      await new Promise((then) => setImmediate(then))
    }
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    // The file is closed with its last stream.
    this.#found.zip.close()
  }
}

/**
 * Opens a bundle's archive and checks its layout; nothing is inflated yet.
 *
 * Failures: BUNDLE_GONE; BUNDLE_UNREADABLE: not a file, or no permission; BUNDLE_FOREIGN: not a zip, or not a bundle;
 * BUNDLE_REFUSED: its layout is not that of a bundle, with the reason.
 */
export async function openZip(file: string): Promise<Result<OpenedZip>> {
  let fd: number
  try {
    // Does not block on a pipe.
    fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (e) {
    const isGone = e instanceof Error && 'code' in e && e.code === 'ENOENT'
    const why = isGone ? 'there is no such file' : e instanceof Error ? e.message : String(e)
    return fail({
      code: isGone ? 'BUNDLE_GONE' : 'BUNDLE_UNREADABLE',
      what: 'The bundle cannot be opened',
      why,
      next: 'Name another file.',
    })
  }
  let result: Result<OpenedZip> | undefined
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) {
      result = fail({
        code: 'BUNDLE_UNREADABLE',
        what: 'The bundle cannot be opened',
        why: 'it is not a file',
        next: 'Name another one.',
      })
      return result
    }
    const directory = directoryOf(fd, stat.size)
    if (!directory.ok) return (result = directory)
    const found = await find(fd, stat.size, directory.value)
    result = found.ok ? ok(new Reading(fd, stat.size, directory.value.seal, found.value)) : found
    return result
  } catch (e) {
    return (result = fail(refused(e instanceof Error ? e.message : String(e))))
  } finally {
    if (!result?.ok) closeSync(fd)
  }
}
