/** Storage of notebooks: a folder with one document each, or memory without a data folder. */
import { lstatSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { fail, type Result, ok } from '#core/base/result.ts'
import { incidentId, type Incident, incident, NOTEBOOK_FORMAT } from '#core/snapshot/notebook.ts'
import { notebookJson } from '#core/snapshot/notebook-json.ts'
import { hasCode } from '../../files/faults.ts'
import { kindFault, readPlain, UnreadableFile } from '../../files/plain-file.ts'
import { PART, writeFileAtomic, type Step } from '../../files/atomic-file.ts'
import { highestIn, idOf, namesIn, numberOf, takeNumber } from './notebook-numbers.ts'

/** Longest document that is read or written, bytes. */
export const DOCUMENT_BYTES = 32 * 2 ** 20

/** Upgrades a document to the next format, by its present format. There has been one format so far. */
type Upgrades = ReadonlyMap<number, (document: Record<string, unknown>) => Record<string, unknown>>
const UPGRADES: Upgrades = new Map()

const anyFormat = z.looseObject({ format: z.number().int().positive().max(1e6) })

/** First fault, and its position. */
function faultOf(error: z.ZodError): string {
  const issue = error.issues[0]
  const where = issue && issue.path.length > 0 ? `${issue.path.map(String).join('.').slice(0, 100)}: ` : ''
  return `it is damaged: ${where}${(issue?.message ?? 'its format is not valid').slice(0, 200)}`
}

/**
 * Parses the text of a notebook from any author: validated by a schema; a newer format is refused.
 *
 * @param id        from the file name; a document with another id is refused.
 * @param upgrades  (tests) steps from older formats.
 * @returns         reason for a refusal, as text.
 */
export function readNotebook(
  text: string,
  id: string,
  upgrades: Upgrades = UPGRADES,
  newest = NOTEBOOK_FORMAT,
): Result<Incident, string> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return fail('it is damaged: it is not JSON')
  }
  const head = anyFormat.safeParse(value)
  if (!head.success) return fail(faultOf(head.error))
  let document: Record<string, unknown> = head.data
  const { format } = head.data
  if (format > newest) {
    return fail(`a newer Sluice wrote it (format ${format}); this one reads up to ${newest}`)
  }
  for (let of = format; of < newest; of++) {
    const step = upgrades.get(of)
    if (!step) return fail(`it is of format ${format}, which is unknown`)
    document = { ...step(document), format: of + 1 }
  }
  const read = incident.safeParse(document)
  if (!read.success) return fail(faultOf(read.error))
  return read.data.id === id ? ok(read.data) : fail(`its id is ${read.data.id}`)
}

/** Removed notebooks kept in the folder. Those removed since the start of the process are all kept. */
const REMOVED_MOST = 50
/** Most notebooks in memory. */
const MEMORY_MOST = 500
/** Age from which a partial file counts as abandoned. */
const LEFTOVER_AGE_MS = 600_000
/** Validity of a listing while the folder is unchanged: file contents may change. */
const HELD_MS = 2_000

export const isId = (name: string): boolean => incidentId.safeParse(name).success

/** Document in the folder; its stamp changes with it. */
export interface StoredDocument {
  readonly id: string
  readonly stamp: string
  readonly changedMs: number
}

/** All methods except `read` throw the system error. */
export interface NotebookStorage {
  /** Unordered. */
  all(): readonly StoredDocument[]
  lying(id: string): StoredDocument | undefined
  /** Returns the reason as text if it cannot be read. */
  read(id: string): Result<Incident, string>
  takeId(): string
  write(of: Incident): void
  remove(id: string): void
  /** false: it is not among the removed. */
  restore(id: string): boolean
  /** File that belongs to an incident and moves with it; undefined in memory. */
  beside(id: string, what: string): string | undefined
}

export class MemoryStorage implements NotebookStorage {
  readonly #cache = new Map<string, { readonly of: Incident; readonly lying: StoredDocument }>()
  readonly #removed = new Map<string, Incident>()
  #number = 0
  #writes = 0

  all(): readonly StoredDocument[] {
    return Array.from(this.#cache.values(), (k) => k.lying)
  }
  lying(id: string): StoredDocument | undefined {
    return this.#cache.get(id)?.lying
  }
  read(id: string): Result<Incident, string> {
    const cached = this.#cache.get(id)
    return cached ? { ok: true, value: cached.of } : fail('it no longer exists')
  }
  takeId(): string {
    if (this.#cache.size >= MEMORY_MOST) {
      throw new UnreadableFile(`memory holds ${MEMORY_MOST} at most, and there is no data folder`)
    }
    return idOf(++this.#number)
  }
  write(of: Incident): void {
    this.#cache.set(of.id, { of, lying: { id: of.id, stamp: String(++this.#writes), changedMs: of.changedMs } })
  }
  remove(id: string): void {
    const cached = this.#cache.get(id)
    if (!cached) return
    this.#cache.delete(id)
    this.#removed.set(id, cached.of)
    if (this.#removed.size > REMOVED_MOST) this.#removed.delete(this.#removed.keys().next().value as string)
  }
  restore(id: string): boolean {
    const of = this.#removed.get(id)
    if (!of) return false
    this.#removed.delete(id)
    this.write(of)
    return true
  }
  beside(): undefined {
    return undefined
  }
}

export class FolderStorage implements NotebookStorage {
  readonly folder: string
  readonly #removed: string
  readonly #numbers: string
  /** Removed since the start. */
  readonly #mine = new Set<string>()
  readonly #at: ((step: Step) => void) | undefined
  #held: { readonly mtimeMs: number; readonly untilMs: number; readonly all: readonly StoredDocument[] } | undefined

  /** @param at  called after each step of a write (tests). */
  constructor(folder: string, at?: (step: Step) => void) {
    this.folder = folder
    this.#removed = join(folder, 'removed')
    this.#numbers = join(folder, 'numbers')
    this.#at = at
    this.#sweep()
  }

  all(): readonly StoredDocument[] {
    const found = statSync(this.folder, { throwIfNoEntry: false })
    const nowMs = performance.now()
    if (!found) return []
    if (this.#held?.mtimeMs === found.mtimeMs && nowMs < this.#held.untilMs) return this.#held.all
    const all = namesIn(this.folder).flatMap((name) => {
      const id = name.endsWith('.json') ? name.slice(0, -5) : ''
      return isId(id) ? (this.lying(id) ?? []) : []
    })
    this.#held = { mtimeMs: found.mtimeMs, untilMs: nowMs + HELD_MS, all }
    return all
  }

  lying(id: string): StoredDocument | undefined {
    const found = isId(id) ? lstatSync(this.#file(id), { throwIfNoEntry: false }) : undefined
    return (
      found && {
        id,
        stamp: `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`,
        changedMs: found.mtimeMs,
      }
    )
  }

  read(id: string): Result<Incident, string> {
    try {
      return readNotebook(readPlain(this.#file(id), DOCUMENT_BYTES), id)
    } catch (e) {
      if (e instanceof UnreadableFile) return fail(e.message)
      return fail(e instanceof Error ? `it cannot be read: ${e.message}` : 'it cannot be read')
    }
  }

  takeId(): string {
    const present = (): number => Math.max(highestIn(namesIn(this.folder)), highestIn(namesIn(this.#removed)))
    return idOf(takeNumber(this.#numbers, present))
  }

  write(of: Incident): void {
    const text = notebookJson(of)
    const bytes = Buffer.byteLength(text)
    if (bytes > DOCUMENT_BYTES) throw new UnreadableFile(`it would have ${bytes} bytes; the limit is ${DOCUMENT_BYTES}`)
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    const there = lstatSync(this.#file(of.id), { throwIfNoEntry: false })
    const fault = there && kindFault(there)
    if (fault !== undefined) throw new UnreadableFile(fault)
    this.#held = undefined
    writeFileAtomic(this.#file(of.id), text, { at: this.#at })
  }

  remove(id: string): void {
    mkdirSync(this.#removed, { recursive: true, mode: 0o700 })
    this.#move(id, this.folder, this.#removed)
    this.#mine.add(id)
    this.#prune()
  }

  restore(id: string): boolean {
    if (!isId(id) || !lstatSync(join(this.#removed, `${id}.json`), { throwIfNoEntry: false })) return false
    this.#move(id, this.#removed, this.folder)
    this.#mine.delete(id)
    return true
  }

  beside(id: string, what: string): string | undefined {
    return isId(id) ? join(this.folder, `${id}.${what}.json`) : undefined
  }

  #file(id: string): string {
    return join(this.folder, `${id}.json`)
  }

  /** Moves its files as well; the document last, so that a listed one is complete. */
  #move(id: string, from: string, to: string): void {
    this.#held = undefined
    if (lstatSync(join(to, `${id}.json`), { throwIfNoEntry: false })) {
      throw new UnreadableFile(`that number exists in ${to}`)
    }
    const copies = namesIn(from).filter((name) => name !== `${id}.json` && name.startsWith(`${id}.`))
    for (const name of copies) if (!name.endsWith(PART)) renameSync(join(from, name), join(to, name))
    renameSync(join(from, `${id}.json`), join(to, `${id}.json`))
  }

  /** Deletes the oldest removed notebooks permanently. */
  #prune(): void {
    const old = namesIn(this.#removed).flatMap((name) => {
      const id = name.endsWith('.json') ? name.slice(0, -5) : ''
      const found = isId(id) ? lstatSync(join(this.#removed, name), { throwIfNoEntry: false }) : undefined
      return found && !found.isDirectory() && !this.#mine.has(id) ? [{ id, atMs: found.ctimeMs }] : []
    })
    old.sort((a, b) => b.atMs - a.atMs || numberOf(b.id) - numberOf(a.id))
    const names = namesIn(this.#removed)
    for (const { id } of old.slice(Math.max(0, REMOVED_MOST - this.#mine.size))) {
      for (const name of names) if (name.startsWith(`${id}.`)) rmSync(join(this.#removed, name), { force: true })
    }
  }

  /** Deletes partial files of interrupted writes. */
  #sweep(): void {
    try {
      for (const name of namesIn(this.folder)) {
        if (!name.startsWith('INC-') || !name.endsWith(PART)) continue
        const file = join(this.folder, name)
        const found = lstatSync(file, { throwIfNoEntry: false })
        if (found?.isFile() && Date.now() - found.mtimeMs > LEFTOVER_AGE_MS) rmSync(file, { force: true })
      }
    } catch (e) {
      // A folder that cannot be read or written is reported when it is used.
      if (!hasCode(e, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR')) throw e
    }
  }
}
