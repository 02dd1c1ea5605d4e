/**
 * Notebooks of incidents: list, find, create and change. A change starts from the stored document, not from an earlier
 * read, and fails if it cannot be written; an unreadable notebook is listed with the reason and never overwritten.
 */
import { join } from 'node:path'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { incident as shape, type Incident } from '#core/snapshot/notebook.ts'
import { fileErrorText } from '../../files/faults.ts'
import { UnreadableFile } from '../../files/plain-file.ts'
import type { Step } from '../../files/atomic-file.ts'
import { numberOf } from './notebook-numbers.ts'
import { FolderStorage, MemoryStorage, type StoredDocument, type NotebookStorage } from './notebook-storage.ts'

/** Most parsed notebooks cached. */
const HELD = 8
/** Most notebooks listed, the newest. */
const LISTED = 2_000
/** Longest time that one listing spends reading unknown documents, ms. */
const READING_MS = 25
/** Documents that it reads in any case. */
const LEAST = 16

/** List entry of a notebook. */
export type NotebookHead = Omit<Incident, 'cells'> & { readonly cells: number }

export interface NotebookRow {
  readonly id: string
  readonly changedMs: number
  /** undefined if it cannot be read. */
  readonly head: NotebookHead | undefined
  /** Reason why it cannot be read; empty if it can. */
  readonly fault: string
}

const PREVIOUS_KEPT = 'The previous version is kept.'

const failed = (code: string, what: string, why: string, next: string): Result<never> =>
  fail({ code, what, why, unaffected: PREVIOUS_KEPT, next })

const noIncident = (what: string): Result<never> =>
  fail({ code: 'NO_INCIDENT', what, why: 'there is no such incident', next: 'Choose another one from the list.' })

export class NotebookStore {
  readonly #shelf: NotebookStorage
  readonly #rows = new Map<string, { readonly stamp: string; readonly row: NotebookRow }>()
  readonly #held = new Map<string, { readonly stamp: string; readonly of: Incident }>()
  readonly #onMore: () => void
  #more: NodeJS.Timeout | undefined
  #fault = ''

  /**
   * @param dataDir  notebooks are in its folder `incidents`; undefined: in memory.
   * @param o        onMore: called when documents that a listing skipped can be read. at: after each step of a write
   * (tests).
   */
  constructor(
    dataDir: string | undefined,
    o: { readonly onMore?: () => void; readonly at?: (step: Step) => void } = {},
  ) {
    this.#onMore = o.onMore ?? (() => undefined)
    this.#shelf = dataDir === undefined ? new MemoryStorage() : new FolderStorage(join(dataDir, 'incidents'), o.at)
  }

  /** Reason why the folder cannot be listed; empty if it can. */
  get fault(): string {
    return this.#fault
  }

  /** Newest first. New documents that take long to read come with the next listing, which `onMore` requests. */
  list(): NotebookRow[] {
    return this.#read(READING_MS)
  }

  /** Same, complete, however long that takes. */
  readAll(): NotebookRow[] {
    return this.#read(Infinity)
  }

  #read(mostMs: number): NotebookRow[] {
    let all: readonly StoredDocument[]
    try {
      all = this.#shelf.all()
      this.#fault = ''
    } catch (e) {
      this.#fault = fileErrorText(e)
      return []
    }
    const newest = [...all].sort((a, b) => numberOf(b.id) - numberOf(a.id)).slice(0, LISTED)
    const until = performance.now() + mostMs
    let isWhole = true
    const out: NotebookRow[] = []
    let read = 0
    for (const lying of newest) {
      const known = this.#rows.get(lying.id)
      if (known?.stamp === lying.stamp) out.push(known.row)
      else if (read++ < LEAST || performance.now() < until) out.push(this.#rowOf(lying))
      else isWhole = false
    }
    if (this.#rows.size > 2 * LISTED) this.#rows.clear()
    if (!isWhole) this.#later()
    return out
  }

  find(id: string): Incident | undefined {
    const read = this.#find(id, '')
    return read.ok ? read.value : undefined
  }

  /**
   * Creates a notebook.
   *
   * @param make  makes it from its assigned id. Failures: INCIDENT_NOT_WRITTEN.
   */
  create(make: (id: string) => Incident): Result<Incident> {
    const what = 'The incident was not opened'
    let made: Incident
    try {
      made = make(this.#shelf.takeId())
    } catch (e) {
      return notWritten(what, e)
    }
    return this.#write(made, what)
  }

  /** Changes a notebook. Failures: those of `change`, NO_INCIDENT, INCIDENT_UNREADABLE, INCIDENT_FULL, INCIDENT_NOT_WRITTEN. */
  replace(id: string, what: string, change: (of: Incident) => Result<Incident>): Result<Incident> {
    const found = this.#find(id, what)
    if (!found.ok) return found
    const changed = change(found.value)
    return changed.ok ? this.#write(changed.value, what) : changed
  }

  /** Removes it from the list; it can be restored. Failures: NO_INCIDENT, INCIDENT_NOT_WRITTEN. */
  remove(id: string): Result<undefined> {
    const what = 'The incident was not removed'
    try {
      if (!this.#shelf.lying(id)) return noIncident(what)
      this.#shelf.remove(id)
      return ok(undefined)
    } catch (e) {
      return notWritten(what, e)
    }
  }

  /** Failures: NO_INCIDENT, INCIDENT_NOT_WRITTEN. */
  restore(id: string): Result<undefined> {
    const what = 'The incident was not restored'
    try {
      return this.#shelf.restore(id) ? ok(undefined) : noIncident(what)
    } catch (e) {
      return notWritten(what, e)
    }
  }

  /** Path of a file that belongs to an incident; undefined if nothing is kept on disk. */
  beside(id: string, what: string): string | undefined {
    return this.#shelf.beside(id, what)
  }

  close(): void {
    clearTimeout(this.#more)
  }

  #later(): void {
    if (this.#more !== undefined) return
    this.#more = setTimeout(() => {
      this.#more = undefined
      this.#onMore()
    }, 0)
    this.#more.unref()
  }

  #rowOf({ id, stamp, changedMs }: StoredDocument): NotebookRow {
    const read = this.#shelf.read(id)
    const row: NotebookRow = read.ok
      ? { id, changedMs, head: headOf(read.value), fault: '' }
      : { id, changedMs, head: undefined, fault: read.error }
    this.#rows.set(id, { stamp, row })
    return row
  }

  #find(id: string, what: string): Result<Incident> {
    let lying: StoredDocument | undefined
    try {
      lying = this.#shelf.lying(id)
    } catch (e) {
      return failed('INCIDENT_UNREADABLE', what, fileErrorText(e), 'Check the folder of incidents.')
    }
    if (!lying) return noIncident(what)
    const { stamp } = lying
    const held = this.#held.get(id)
    if (held?.stamp === stamp) return ok(held.of)
    const read = this.#shelf.read(id)
    if (!read.ok) {
      return fail({
        code: 'INCIDENT_UNREADABLE',
        what,
        why: `${id} cannot be read: ${read.error}`,
        unaffected: 'Its file and all other incidents are not changed.',
        next: 'Repair the file, open it with the Sluice that wrote it, or remove the incident.',
      })
    }
    this.#hold(stamp, read.value)
    return read
  }

  #hold(stamp: string, of: Incident): void {
    this.#held.delete(of.id)
    this.#held.set(of.id, { stamp, of })
    if (this.#held.size > HELD) this.#held.delete(this.#held.keys().next().value as string)
  }

  #write(of: Incident, what: string): Result<Incident> {
    const parsed = shape.safeParse(of)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      const why = `${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? ''}`
      return failed('INCIDENT_FULL', what, why, 'Remove or shorten cells.')
    }
    try {
      this.#shelf.write(parsed.data)
      const lying = this.#shelf.lying(of.id)
      if (lying) {
        this.#hold(lying.stamp, parsed.data)
        const row = { id: of.id, changedMs: lying.changedMs, head: headOf(parsed.data), fault: '' }
        this.#rows.set(of.id, { stamp: lying.stamp, row })
      }
      return ok(parsed.data)
    } catch (e) {
      return notWritten(what, e)
    }
  }
}

const headOf = ({ cells, ...of }: Incident): NotebookHead => ({ ...of, cells: cells.length })

function notWritten(what: string, e: unknown): Result<never> {
  const failure: Failure = {
    code: 'INCIDENT_NOT_WRITTEN',
    what,
    why: e instanceof UnreadableFile ? e.message : fileErrorText(e),
    unaffected: PREVIOUS_KEPT,
    next: 'Free space in the data folder, or make it writable, and try again.',
  }
  return fail(failure)
}
