/** Folder of bundles: its contents, read once and again when a file has changed. */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { BundleRow } from '#core/api/incidents.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { stampOf } from '../../files/file-stamp.ts'
import { bareName, bundlePath, SUFFIX, usualName } from './bundle-names.ts'
import { sweep } from './private-folder.ts'
import { readManifest } from '../bundle/read-manifest.ts'
import { openZip } from '../zip/zip-in.ts'

const LISTED_MAX = 500
const PART = /^[^/]*\.[0-9a-f]{8}\.part$/
/** Age beyond any export, ms. */
const PART_OLD_MS = 3_600_000

export class BundleFolder {
  readonly folder: string
  readonly #changed: () => void
  readonly #rows = new Map<string, { readonly stamp: string; readonly row: BundleRow }>()
  readonly #reading = new Map<string, Promise<void>>()

  constructor(folder: string, changed: () => void) {
    this.folder = folder
    this.#changed = changed
  }

  /** Folder of files in progress. */
  get work(): string {
    return join(this.folder, '.work')
  }

  /** Removes files of killed processes. */
  tidy(nowMs: number): void {
    sweep(this.work)
    for (const name of this.#names().filter((n) => PART.test(n))) {
      const file = join(this.folder, name)
      const old = statSync(file, { throwIfNoEntry: false })
      if (old && nowMs - old.mtimeMs > PART_OLD_MS) rmSync(file, { force: true })
    }
  }

  make(): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
  }

  pathOf(name: string): Result<string> {
    return bundlePath(this.folder, name)
  }

  /** Unused name. */
  freeName(incident: string | null, fromMs: number): string {
    const taken = new Set(this.#names())
    const usual = usualName(incident, fromMs)
    for (let i = 1; ; i++) {
      const name = i === 1 ? usual : `${usual} ${i}`
      if (!taken.has(name + SUFFIX)) return name
    }
  }

  /** Newest first; bundles not examined yet follow in a later listing. */
  list(): BundleRow[] {
    const names = this.#names()
      .filter((n) => n.endsWith(SUFFIX))
      .map(bareName)
      .slice(0, LISTED_MAX)
    for (const known of this.#rows.keys()) if (!names.includes(known)) this.#rows.delete(known)
    const rows = names.flatMap((name) => {
      const path = this.pathOf(name)
      const stamp = path.ok ? stampOf(path.value) : undefined
      if (!path.ok || stamp === undefined) return []
      const known = this.#rows.get(name)
      if (known?.stamp !== stamp) void this.refresh(name)
      return known?.stamp === stamp ? [known.row] : []
    })
    return rows.sort((a, b) => b.writtenMs - a.writtenMs || (a.name < b.name ? -1 : 1))
  }

  /** Reads the row of a bundle; resolves when it is in the list. */
  async refresh(name: string): Promise<void> {
    let reading = this.#reading.get(name)
    if (!reading) {
      reading = this.#readRow(name).finally(() => this.#reading.delete(name))
      this.#reading.set(name, reading)
    }
    await reading
  }

  /** Failures: BUNDLE_NAME, BUNDLE_KEPT if it cannot be removed. */
  remove(name: string): Result<undefined> {
    const path = this.pathOf(name)
    if (!path.ok) return path
    try {
      rmSync(path.value)
      return ok(undefined)
    } catch (e) {
      return fail({
        code: 'BUNDLE_KEPT',
        what: 'The bundle was not removed',
        why: e instanceof Error ? e.message : String(e),
        next: 'Check the folder and its permissions.',
      })
    }
  }

  async #readRow(name: string): Promise<void> {
    const path = this.pathOf(name)
    const stamp = path.ok ? stampOf(path.value) : undefined
    if (!path.ok || stamp === undefined) return
    const row = await rowOf(name, path.value)
    this.#rows.set(name, { stamp, row })
    this.#changed()
  }

  #names(): string[] {
    try {
      return readdirSync(this.folder)
    } catch {
      // There is no folder before the first bundle.
      return []
    }
  }
}

async function rowOf(name: string, file: string): Promise<BundleRow> {
  const stat = statSync(file, { throwIfNoEntry: false })
  const bytes = stat?.size ?? 0
  const writtenMs = stat?.mtimeMs ?? 0
  const none = { name, bytes, writtenMs, cluster: '', title: '', incident: null, fromMs: 0, toMs: 0, redacted: false }
  const zip = await openZip(file)
  if (!zip.ok) return { ...none, fault: zip.error.why ?? zip.error.what }
  try {
    const read = await readManifest(zip.value)
    if (!read.ok) return { ...none, fault: read.error.why ?? read.error.what }
    const { incident, source, range, redaction, createdMs } = read.value
    return {
      ...none,
      ...range,
      writtenMs: createdMs,
      cluster: source.cluster,
      fault: '',
      title: incident?.title ?? '',
      incident: incident?.id ?? null,
      redacted: redaction === 'pseudonyms',
    }
  } finally {
    zip.value.close()
  }
}
