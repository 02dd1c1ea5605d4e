/**
 * Writes a zip reproducibly, byte for byte the same for the same members: fixed times and attributes, no extra fields,
 * members one after another. It is written to a temporary file and renamed once it is complete and on disk. Its comment
 * is the SHA-256 of every byte before.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Readable, Transform, type TransformCallback, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { fail, ok, type Result } from '#core/base/result.ts'
import { taken, takeBundleName } from './take-name.ts'

/** Prefix of the hash in the comment. */
export const SEAL = 'sluice sha256 '
export const SEAL_BYTES = SEAL.length + 64
/** Plain file, rw-r--r--. */
export const MEMBER_MODE = 0o100644

/** The content is requested once, when it is written. */
export interface ZipMember {
  readonly name: string
  /** Deflate, 0 to 9; 6 by default. */
  readonly level?: number
  readonly content: () => string | Buffer | { readonly file: string } | Iterable<string>
}

export interface WrittenMember {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

export interface WrittenZip {
  readonly bytes: number
  readonly sha256: string
}

export interface ZipOptions {
  readonly signal?: AbortSignal | undefined
  readonly member?: ((name: string) => void) | undefined
  /** Sink of the bytes; a new file by default (tests). */
  readonly sink?: ((part: string) => Writable) | undefined
}

const PIECE = 256 * 1024

function* pieces(content: ReturnType<ZipMember['content']>): Generator<Buffer> {
  if (typeof content === 'string') content = Buffer.from(content)
  if (Buffer.isBuffer(content)) {
    for (let at = 0; at < content.length; at += PIECE) yield content.subarray(at, at + PIECE)
  } else if (Symbol.iterator in content) {
    for (const text of content) yield Buffer.from(text)
  }
}

/** Bytes of a member, counted and hashed as they pass; other tasks run between chunks. */
async function* hashed(member: ZipMember, done: (of: WrittenMember) => void): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let bytes = 0
  const content = member.content()
  const isFile = typeof content === 'object' && 'file' in content
  const source = isFile ? createReadStream(content.file, { highWaterMark: PIECE }) : pieces(content)
  for await (const piece of source as AsyncIterable<Buffer> | Iterable<Buffer>) {
    hash.update(piece)
    bytes += piece.length
    yield piece
    if (!isFile) await new Promise((next) => setImmediate(next))
  }
  done({ name: member.name, bytes, sha256: hash.digest('hex') })
}

/** Hashes the passing bytes; the comment is written last, when the hash is known. */
class Seal extends Transform {
  readonly #hash = createHash('sha256')
  readonly #digest = createHash('sha256')
  #held: Buffer = Buffer.alloc(0)
  bytes = 0
  /** Hash of the whole file, comment included. */
  sha256 = ''

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    const all = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const most = Math.max(0, all.length - SEAL_BYTES)
    this.#held = Buffer.from(all.subarray(most))
    if (most > 0) this.#pass(all.subarray(0, most))
    done()
  }

  override _flush(done: TransformCallback): void {
    const comment = Buffer.from(SEAL + this.#hash.digest('hex'))
    this.#digest.update(comment)
    this.bytes += comment.length
    this.sha256 = this.#digest.digest('hex')
    this.push(comment)
    done()
  }

  #pass(bytes: Buffer): void {
    this.#hash.update(bytes)
    this.#digest.update(bytes)
    this.bytes += bytes.length
    this.push(bytes)
  }
}

/** Time of all members: the earliest in a zip, independent of time zones. */
const TIME = new Date(1980, 0, 1)

/** @param signal  aborts in the middle: no more content is requested. */
function add(zip: ZipFile, member: ZipMember, signal: AbortSignal): Promise<WrittenMember> {
  return new Promise((resolve, reject) => {
    const stream = Readable.from(hashed(member, resolve), { objectMode: false, highWaterMark: PIECE, signal })
    stream.on('error', reject)
    const options = { mtime: TIME, mode: MEMBER_MODE, forceDosTimestamp: true, compressionLevel: member.level ?? 6 }
    zip.addReadStream(stream, member.name, options)
  })
}

function closed(stream: Writable): Promise<void> {
  if (stream.closed) return Promise.resolve()
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.destroy()
  })
}

const SPACE = 'Free space where bundles are kept, or choose a shorter range.'
const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
/** Advice depends on the error: free space helps only if the disk is full. */
const nextOf = (e: unknown): string =>
  e instanceof Error && 'code' in e && !FULL.has(e.code) ? 'Choose a writable folder.' : SPACE

/**
 * Writes members in order, followed by those generated from what was written before.
 *
 * Failures: BUNDLE_EXISTS; BUNDLE_CANCELLED; BUNDLE_FAILED (a full disk): no file is left then.
 */
export async function writeZip(
  file: string,
  members: Iterable<ZipMember>,
  last: readonly ((written: readonly WrittenMember[]) => ZipMember)[],
  options: ZipOptions = {},
): Promise<Result<WrittenZip>> {
  const { signal } = options
  if (existsSync(file)) return taken(file)
  const part = `${file}.${randomBytes(4).toString('hex')}.part`
  const zip = new ZipFile()
  const seal = new Seal()
  const stop = new AbortController()
  const cancel = (): void => stop.abort()
  let out: Writable | undefined
  try {
    signal?.throwIfAborted()
    signal?.addEventListener('abort', cancel, { once: true })
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    out = options.sink?.(part) ?? createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true })
    const done = pipeline(zip.outputStream as Readable, seal, out, { signal: stop.signal })
    const broken = new Promise<never>((_, reject) => {
      done.catch(reject)
      ;(zip as unknown as NodeJS.EventEmitter).on('error', reject)
    })
    broken.catch(() => undefined)
    const written: WrittenMember[] = []
    const put = async (member: ZipMember): Promise<void> => {
      options.member?.(member.name)
      written.push(await Promise.race([add(zip, member, stop.signal), broken]))
    }
    for (const member of members) await put(member)
    for (const made of last) await put(made(written))
    zip.end({ forceZip64Format: false, comment: SEAL + '0'.repeat(64) })
    await Promise.race([done, broken])
    signal?.throwIfAborted()
    const named = takeBundleName(part, file)
    return named.ok ? ok({ bytes: seal.bytes, sha256: seal.sha256 }) : named
  } catch (e) {
    stop.abort()
    if (signal?.aborted)
      return fail({
        code: 'BUNDLE_CANCELLED',
        what: 'The bundle was not written',
        why: 'the export was canceled',
        unaffected: 'No file was left.',
      })
    return fail({
      code: 'BUNDLE_FAILED',
      what: 'The bundle was not written',
      why: e instanceof Error ? e.message : String(e),
      unaffected: 'The history is not changed; no partial file was left.',
      next: nextOf(e),
    })
  } finally {
    signal?.removeEventListener('abort', cancel)
    if (out !== undefined) {
      // A file removed while it is being opened would be created afterwards.
      await closed(out)
      rmSync(part, { force: true })
    }
  }
}
