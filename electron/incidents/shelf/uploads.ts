/** Bundles that come in parts: each in a file of its own until it is whole, verified, and has its name. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { BundleShelf } from './bundle-shelf.ts'
import { dropFolder, privateFolder } from './private-folder.ts'
import { takeBundleName } from '../zip/take-name.ts'
import type { VerifyBundle } from '../bundle/verify.ts'

export const UPLOAD_MOST = 2 ** 31
const UPLOADS = 4
/** Nothing came for so long: it is given up. */
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
  ...{ code, what: 'The bundle was not taken', why, unaffected: 'Bundles that are there were not changed.', next },
})

export class Uploads {
  readonly #shelf: BundleShelf
  readonly #verify: VerifyBundle
  readonly #open = new Map<string, Upload>()
  /** Whole and being verified: nothing is added to them any more. */
  readonly #whole = new Set<Upload>()

  constructor(shelf: BundleShelf, verify: VerifyBundle) {
    this.#shelf = shelf
    this.#verify = verify
  }

  /**
   * Takes one part.
   *
   * Failures: BUNDLE_NAME, BUNDLE_EXISTS, UPLOAD_BUSY: four others are coming, UPLOAD_ORDER: it is not the part that follows,
   * UPLOAD_LARGE, UPLOAD_FAILED (a full disk), BUNDLE_CHANGED: it is not as it was written, and those of its verification. Whatever
   * fails, the upload is over.
   */
  async put(part: UploadPart, nowMs: number): Promise<Result<undefined>> {
    this.#dropStale(nowMs)
    const begun = part.at === 0 ? this.#begin(part, nowMs) : ok(this.#open.get(part.upload))
    if (!begun.ok) return begun
    const of = begun.value
    const order = refused(
      'UPLOAD_ORDER',
      'it is not the part that follows',
      'Send the bundle once more from its beginning.',
    )
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
      this.#whole.add(of)
      fsyncSync(of.handle)
      return await this.#finish(of)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      this.#drop(part.upload)
      return fail(refused('UPLOAD_FAILED', why, 'Free space where bundles are kept.'))
    } finally {
      if (this.#whole.delete(of)) end(of)
    }
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.#drop(id)
    for (const of of this.#whole) end(of)
    this.#whole.clear()
  }

  #begin(part: UploadPart, nowMs: number): Result<Upload> {
    const path = this.#shelf.pathOf(part.name)
    if (!path.ok) return path
    this.#drop(part.upload)
    if (this.#open.size + this.#whole.size >= UPLOADS) {
      return fail(refused('UPLOAD_BUSY', `${UPLOADS} others are coming`, 'Wait for the end of one of them.'))
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
    if (!verdict.ok) return fail({ ...verdict.error, what: 'The bundle was not taken' })
    const changed = verdict.value.changed[0]
    if (changed) {
      const why = `it is not as it was written: ${changed.member}: ${changed.why}`
      return fail(refused('BUNDLE_CHANGED', why, 'Get it once more from where it was written.'))
    }
    const named = takeBundleName(of.file, path.value)
    return named.ok ? ok(undefined) : fail({ ...named.error, what: 'The bundle was not taken' })
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
