/** Where notebooks lie: a folder with one document each, or memory where there is no data folder. */
import { lstatSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fail, type Result } from '#core/base/result.ts'
import { incidentId, type Incident } from '#core/snapshot/notebook.ts'
import { notebookJson } from '#core/snapshot/notebook-json.ts'
import { hasCode } from '../../files/faults.ts'
import { kindFault, readPlain, Unread } from '../../files/plain-file.ts'
import { PART, writeWhole, type Step } from '../../files/whole-file.ts'
import { highestIn, idOf, namesIn, numberOf, takeNumber } from './notebook-numbers.ts'
import { DOCUMENT_BYTES, readNotebook } from './notebook-read.ts'

/** Removed ones that stay in the folder. Those that were removed since the start of the process all stay. */
const REMOVED_MOST = 50
/** Notebooks in memory. */
const MEMORY_MOST = 500
/** A file that has been written for so long is no longer being written. */
const LEFT_MS = 600_000
/** How long a listing holds where nothing in the folder has come or gone: what is in a file may have changed. */
const HELD_MS = 2_000

export const isId = (name: string): boolean => incidentId.safeParse(name).success

/** A document as it lies there; the stamp is another one when it is. */
export interface Lying {
  readonly id: string
  readonly stamp: string
  readonly changedMs: number
}

/** Every method but `read` throws what the system says where it cannot be done. */
export interface Shelf {
  /** In no order. */
  all(): readonly Lying[]
  lying(id: string): Lying | undefined
  /** Why it cannot be read, in words, where it cannot. */
  read(id: string): Result<Incident, string>
  takeId(): string
  write(of: Incident): void
  remove(id: string): void
  /** false: it is not among the removed. */
  restore(id: string): boolean
  /** A file that belongs to an incident and goes where it goes; undefined in memory. */
  beside(id: string, what: string): string | undefined
}

export class MemoryShelf implements Shelf {
  readonly #kept = new Map<string, { readonly of: Incident; readonly lying: Lying }>()
  readonly #removed = new Map<string, Incident>()
  #number = 0
  #writes = 0

  all(): readonly Lying[] {
    return Array.from(this.#kept.values(), (k) => k.lying)
  }
  lying(id: string): Lying | undefined {
    return this.#kept.get(id)?.lying
  }
  read(id: string): Result<Incident, string> {
    const kept = this.#kept.get(id)
    return kept ? { ok: true, value: kept.of } : fail('it is gone')
  }
  takeId(): string {
    if (this.#kept.size >= MEMORY_MOST) {
      throw new Unread(`memory holds ${MEMORY_MOST} at most, and there is no data folder`)
    }
    return idOf(++this.#number)
  }
  write(of: Incident): void {
    this.#kept.set(of.id, { of, lying: { id: of.id, stamp: String(++this.#writes), changedMs: of.changedMs } })
  }
  remove(id: string): void {
    const kept = this.#kept.get(id)
    if (!kept) return
    this.#kept.delete(id)
    this.#removed.set(id, kept.of)
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

export class FolderShelf implements Shelf {
  readonly folder: string
  readonly #removed: string
  readonly #numbers: string
  /** Removed since the start. */
  readonly #mine = new Set<string>()
  readonly #at: ((step: Step) => void) | undefined
  #held: { readonly mtimeMs: number; readonly untilMs: number; readonly all: readonly Lying[] } | undefined

  /** @param at  called after each step of a write (tests). */
  constructor(folder: string, at?: (step: Step) => void) {
    this.folder = folder
    this.#removed = join(folder, 'removed')
    this.#numbers = join(folder, 'numbers')
    this.#at = at
    this.#sweep()
  }

  all(): readonly Lying[] {
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

  lying(id: string): Lying | undefined {
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
      if (e instanceof Unread) return fail(e.message)
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
    if (bytes > DOCUMENT_BYTES) throw new Unread(`it would have ${bytes} bytes; ${DOCUMENT_BYTES} are the most`)
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    const there = lstatSync(this.#file(of.id), { throwIfNoEntry: false })
    const fault = there && kindFault(there)
    if (fault !== undefined) throw new Unread(fault)
    this.#held = undefined
    writeWhole(this.#file(of.id), text, { at: this.#at })
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

  /** With what belongs to it; the document last, so that one that is listed has the rest. */
  #move(id: string, from: string, to: string): void {
    this.#held = undefined
    if (lstatSync(join(to, `${id}.json`), { throwIfNoEntry: false })) {
      throw new Unread(`there is one of that number in ${to}`)
    }
    const own = namesIn(from).filter((name) => name !== `${id}.json` && name.startsWith(`${id}.`))
    for (const name of own) if (!name.endsWith(PART)) renameSync(join(from, name), join(to, name))
    renameSync(join(from, `${id}.json`), join(to, `${id}.json`))
  }

  /** The oldest removed ones go for good. */
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

  /** What writes that were ended have left. */
  #sweep(): void {
    try {
      for (const name of namesIn(this.folder)) {
        if (!name.startsWith('INC-') || !name.endsWith(PART)) continue
        const file = join(this.folder, name)
        const found = lstatSync(file, { throwIfNoEntry: false })
        if (found?.isFile() && Date.now() - found.mtimeMs > LEFT_MS) rmSync(file, { force: true })
      }
    } catch (e) {
      // A folder that cannot be read or written tells when it is used.
      if (!hasCode(e, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR')) throw e
    }
  }
}
