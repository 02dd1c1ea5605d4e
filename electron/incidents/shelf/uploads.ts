/** Bundles uploaded in parts: each in a separate file until it is complete, verified, and has its name. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { BundleFolder } from './bundle-folder.ts'
import { dropFolder, privateFolder } from './private-folder.ts'
import { takeBundleName } from '../zip/take-name.ts'
import type { VerifyBundle } from '../bundle/verify.ts'

export const UPLOAD_MOST = 2 ** 31
const UPLOADS = 4
/** Time without a part after which an upload is abandoned. */
const STALE_MS = 600_000
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export interface UploadPart {
  readonly name: string
  readonly upload: string
  readonly at: number
  readonly base64: string
  readonly isLast: boolean
}

interface Upload {
  readonly name: string
  readonly folder: string
  readonly file: string
  readonly handle: number
  size: number
  touchedMs: number
}

const refused = (code: string, why: string, next: string): Failure => ({
  code,
  what: 'The bundle was not uploaded',
  why,
  unaffected: 'Existing bundles are not changed.',
  next,
})

export class Uploads {
  readonly #shelf: BundleFolder
  readonly #verify: VerifyBundle
  readonly #open = new Map<string, Upload>()
  /** Complete uploads being verified, which accept no more parts. */
  readonly #complete = new Set<Upload>()

  constructor(shelf: BundleFolder, verify: VerifyBundle) {
    this.#shelf = shelf
    this.#verify = verify
  }

  /**
   * Accepts one part.
   *
   * Failures: BUNDLE_NAME, BUNDLE_EXISTS, UPLOAD_BUSY: four other uploads are active, UPLOAD_ORDER: it is not the next
   * part, UPLOAD_LARGE, UPLOAD_FAILED (a full disk), BUNDLE_CHANGED: it is not as it was written, and those of its
   * verification. Any failure ends the upload.
   */
  async put(part: UploadPart, nowMs: number): Promise<Result<undefined>> {
    this.#dropStale(nowMs)
    const begun = part.at === 0 ? this.#begin(part, nowMs) : ok(this.#open.get(part.upload))
    if (!begun.ok) return begun
    const of = begun.value
    const order = refused('UPLOAD_ORDER', 'it is not the next part', 'Upload the bundle again from the beginning.')
    if (!of || of.name !== part.name || of.size !== part.at || !BASE64.test(part.base64)) {
      this.#drop(part.upload)
      return fail(order)
    }
    const bytes = Buffer.from(part.base64, 'base64')
    if (of.size + bytes.length > UPLOAD_MOST) {
      this.#drop(part.upload)
      return fail(refused('UPLOAD_LARGE', 'it is larger than 2 GiB', 'Copy it into the folder of bundles.'))
    }
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(of.handle, bytes, at)
      of.size += bytes.length
      of.touchedMs = nowMs
      if (!part.isLast) return ok(undefined)
      this.#open.delete(part.upload)
      this.#complete.add(of)
      fsyncSync(of.handle)
      return await this.#finish(of)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      this.#drop(part.upload)
      return fail(refused('UPLOAD_FAILED', why, 'Free space where bundles are kept.'))
    } finally {
      if (this.#complete.delete(of)) end(of)
    }
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.#drop(id)
    for (const of of this.#complete) end(of)
    this.#complete.clear()
  }

  #begin(part: UploadPart, nowMs: number): Result<Upload> {
    const path = this.#shelf.pathOf(part.name)
    if (!path.ok) return path
    this.#drop(part.upload)
    if (this.#open.size + this.#complete.size >= UPLOADS) {
      return fail(refused('UPLOAD_BUSY', `${UPLOADS} other uploads are active`, 'Wait until one of them ends.'))
    }
    try {
      this.#shelf.make()
      const folder = privateFolder(this.#shelf.work)
      const file = join(folder, 'upload')
      const handle = openSync(file, 'wx', 0o600)
      const upload = { name: part.name, folder, file, handle, size: 0, touchedMs: nowMs }
      this.#open.set(part.upload, upload)
      return ok(upload)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return fail(refused('UPLOAD_FAILED', why, 'Free space where bundles are kept.'))
    }
  }

  async #finish(of: Upload): Promise<Result<undefined>> {
    const path = this.#shelf.pathOf(of.name)
    if (!path.ok) return path
    const verdict = await this.#verify(of.file)
    if (!verdict.ok) return fail({ ...verdict.error, what: 'The bundle was not uploaded' })
    const changed = verdict.value.changed[0]
    if (changed) {
      const why = `it was changed: ${changed.member}: ${changed.why}`
      return fail(refused('BUNDLE_CHANGED', why, 'Copy it again from its origin.'))
    }
    const named = takeBundleName(of.file, path.value)
    return named.ok ? ok(undefined) : fail({ ...named.error, what: 'The bundle was not uploaded' })
  }

  #dropStale(nowMs: number): void {
    for (const [id, of] of [...this.#open]) if (nowMs - of.touchedMs > STALE_MS) this.#drop(id)
  }

  #drop(id: string): void {
    const of = this.#open.get(id)
    if (!of) return
    this.#open.delete(id)
    end(of)
  }
}

function end(of: Upload): void {
  closeSync(of.handle)
  rmSync(of.file, { force: true })
  dropFolder(of.folder)
}
