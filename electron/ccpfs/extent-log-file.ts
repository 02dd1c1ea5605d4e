/**
 * Extent log of a data server in a file: update sets with checksums, written before the answers that rely on them leave.
 *
 * A record that a crash cut off is dropped with everything after it: no answer to its flush has left. A long file is rewritten with its
 * resulting extents. Record: length (u32), CRC-32 of the rest (u32), type (u8), object (u64), then extents (start, end, SN) or an SN.
 */
import { closeSync, fdatasync, fsyncSync, ftruncateSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { ExtentLog } from '#core/seqdlm/extent-log.ts'
import type { ResourceId } from '#core/seqdlm/messages.ts'
import type { SnExtent } from '#core/seqdlm/sn-merge.ts'
import { WireReader, WireWriter } from './wire/bytes.ts'

const EXTENTS = 1
const TRUNCATED = 2
const HIGHEST_SN = 3
const REWRITE_BYTES = 32 << 20
const RECORD_MAX = 16 << 20
/** Bytes before the extents, after the length: checksum, type, object. */
const HEAD_BYTES = 13
/** Extents of one record: each has a bounded length. */
const EXTENTS_MAX = 65_536

type Content = (to: WireWriter) => void

/** Encodes a record. */
function record(type: number, resource: ResourceId, content: Content): Buffer {
  const to = new WireWriter(256)
  to.u32(0)
  to.u32(0)
  to.u8(type)
  to.u64(resource)
  content(to)
  const bytes = Buffer.concat(to.take())
  bytes.writeUInt32LE(bytes.length - 4, 0)
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4)
  return bytes
}

function* extentRecords(resource: ResourceId, extents: readonly SnExtent[]): Generator<Buffer, void, void> {
  for (let from = 0; from < extents.length; from += EXTENTS_MAX) {
    yield record(EXTENTS, resource, (to) => {
      for (const { start, end, sn } of extents.slice(from, from + EXTENTS_MAX)) {
        to.u64(start)
        to.u64(end)
        to.u64(sn)
      }
    })
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
}

export class ExtentLogFile extends ExtentLog {
  /** Bytes at the end of the file that were not whole records when it was opened. */
  readonly tornBytes: number
  readonly #path: string
  readonly #highest = new Map<ResourceId, number>()
  #fd: number
  #pending: Buffer[] = []
  #bytes: number
  readonly #rewriteBytes: number
  #rewriteAt: number
  #isReplaying = true

  /**
   * @param rewriteBytes  length at which the file is rewritten.
   * @throws              the system error for a file that cannot be opened.
   */
  constructor(path: string, rewriteBytes = REWRITE_BYTES) {
    super()
    this.#path = path
    this.#rewriteBytes = rewriteBytes
    this.#rewriteAt = rewriteBytes
    this.#fd = openSync(path, 'a+', 0o600)
    const found = readFileSync(path)
    this.#bytes = this.#replayFile(found)
    this.tornBytes = found.length - this.#bytes
    if (this.tornBytes > 0) ftruncateSync(this.#fd, this.#bytes)
    this.#isReplaying = false
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Highest SN by object, also of logs that were truncated. */
  override get highestSn(): ReadonlyMap<ResourceId, number> {
    return this.#highest
  }

  override append(resource: ResourceId, updates: readonly SnExtent[]): void {
    super.append(resource, updates)
    let highest = this.#highest.get(resource) ?? 0
    for (const u of updates) highest = Math.max(highest, u.sn)
    this.#highest.set(resource, highest)
    if (!this.#isReplaying) this.#pending.push(...extentRecords(resource, updates))
  }

  override truncate(resource: ResourceId): void {
    super.truncate(resource)
    if (!this.#isReplaying) this.#pending.push(record(TRUNCATED, resource, () => undefined))
  }

  /** Writes appended records to the file. @throws the system error. */
  flush(): void {
    if (this.#pending.length === 0) return
    const bytes = this.#pending.length === 1 ? (this.#pending[0] as Buffer) : Buffer.concat(this.#pending)
    this.#pending = []
    writeAll(this.#fd, bytes)
    this.#bytes += bytes.length
    if (this.#bytes > this.#rewriteAt) this.#rewrite()
  }

  /** Puts the log on stable storage. */
  sync(done: (e: NodeJS.ErrnoException | null) => void): void {
    this.flush()
    fdatasync(this.#fd, done)
  }

  close(): void {
    this.flush()
    closeSync(this.#fd)
  }

  /** Returns the number of bytes that are whole records. */
  #replayFile(found: Buffer): number {
    let at = 0
    while (found.length - at >= 4 + HEAD_BYTES) {
      const length = found.readUInt32LE(at)
      const end = at + 4 + length
      if (length < HEAD_BYTES || length > RECORD_MAX || end > found.length) break
      if (crc32(found.subarray(at + 8, end)) !== found.readUInt32LE(at + 4)) break
      if (!this.#replayRecord(new WireReader(found, at + 8, end))) break
      at = end
    }
    return at
  }

  #replayRecord(from: WireReader): boolean {
    const type = from.u8()
    const resource = from.u64()
    if (type === TRUNCATED) this.truncate(resource)
    else if (type === HIGHEST_SN) this.#highest.set(resource, from.u64())
    else if (type === EXTENTS) {
      const updates: SnExtent[] = []
      while (from.remaining > 0) updates.push({ start: from.u64(), end: from.u64OrEof(), sn: from.u64() })
      if (from.fault !== undefined) return false
      this.append(resource, updates)
    } else return false
    from.finish()
    return from.fault === undefined
  }

  /** Replaces the file by one with the resulting extents. */
  #rewrite(): void {
    const beside = `${this.#path}.part`
    const fd = openSync(beside, 'w', 0o600)
    let bytes = 0
    const put = (one: Buffer): void => {
      writeAll(fd, one)
      bytes += one.length
    }
    for (const [resource, sn] of this.#highest) put(record(HIGHEST_SN, resource, (to) => to.u64(sn)))
    for (const resource of this.resources())
      for (const one of extentRecords(resource, [...this.replay(resource)])) put(one)
    fsyncSync(fd)
    closeSync(fd)
    renameSync(beside, this.#path)
    closeSync(this.#fd)
    this.#fd = openSync(this.#path, 'a', 0o600)
    this.#bytes = bytes
    this.#rewriteAt = Math.max(this.#rewriteBytes, 2 * bytes)
  }
}
