/**
 * Notebooks of incidents: listed, found, made and changed. A change is made of what lies there, not of what was read once, and is
 * refused where it cannot be written; one that cannot be read stands in the list with the reason and is never written over.
 */
import { join } from 'node:path'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { incident as shape, type Incident } from '#core/snapshot/notebook.ts'
import { whyNot } from '../../files/faults.ts'
import { Unread } from '../../files/plain-file.ts'
import type { Step } from '../../files/whole-file.ts'
import { numberOf } from './notebook-numbers.ts'
import { FolderShelf, MemoryShelf, type Lying, type Shelf } from './notebook-shelf.ts'

/** Notebooks held as values. */
const HELD = 8
/** Newest ones that are listed. */
const LISTED = 2_000
/** Longest time that one listing reads documents it does not know yet, ms. */
const READING_MS = 25
/** Documents that it reads however long that takes. */
const LEAST = 16

/** What a list shows of a notebook. */
export type NotebookHead = Omit<Incident, 'cells'> & { readonly cells: number }

export interface NotebookRow {
  readonly id: string
  readonly changedMs: number
  /** undefined where it cannot be read. */
  readonly head: NotebookHead | undefined
  /** Why it cannot be read; empty for one that can. */
  readonly fault: string
}

const STANDS = 'What was kept before stands.'

const failed = (code: string, what: string, why: string, next: string): Result<never> =>
  fail({ code, what, why, unaffected: STANDS, next })

const noIncident = (what: string): Result<never> =>
  fail({ code: 'NO_INCIDENT', what, why: 'there is no such incident', next: 'Choose another one from the list.' })

export class NotebookStore {
  readonly #shelf: Shelf
  readonly #rows = new Map<string, { readonly stamp: string; readonly row: NotebookRow }>()
  readonly #held = new Map<string, { readonly stamp: string; readonly of: Incident }>()
  readonly #onMore: () => void
  #more: NodeJS.Timeout | undefined
  #fault = ''

  /**
   * @param dataDir  kept in a folder `incidents` of it; undefined: in memory.
   * @param o        onMore: called when documents that a listing had no time for are read. at: after each step of a write (tests).
   */
  constructor(
    dataDir: string | undefined,
    o: { readonly onMore?: () => void; readonly at?: (step: Step) => void } = {},
  ) {
    this.#onMore = o.onMore ?? (() => undefined)
    this.#shelf = dataDir === undefined ? new MemoryShelf() : new FolderShelf(join(dataDir, 'incidents'), o.at)
  }

  /** Why the folder cannot be listed; empty where it can. */
  get fault(): string {
    return this.#fault
  }

  /** Newest first. What is new and takes long to read comes with the next listing, which `onMore` asks for. */
  list(): NotebookRow[] {
    return this.#read(READING_MS)
  }

  /** The same with everything in it, however long that takes. */
  whole(): NotebookRow[] {
    return this.#read(Infinity)
  }

  #read(mostMs: number): NotebookRow[] {
    let all: readonly Lying[]
    try {
      all = this.#shelf.all()
      this.#fault = ''
    } catch (e) {
      this.#fault = whyNot(e)
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
   * Makes a notebook.
   *
   * @param make  of the number that it gets.
   * Failures: INCIDENT_NOT_WRITTEN.
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

  /** Takes it out of the list; it can be restored. Failures: NO_INCIDENT, INCIDENT_NOT_WRITTEN. */
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

  /** Path of a file that belongs to an incident; undefined where nothing is kept on disk. */
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

  #rowOf({ id, stamp, changedMs }: Lying): NotebookRow {
    const read = this.#shelf.read(id)
    const row: NotebookRow = read.ok
      ? { id, changedMs, head: headOf(read.value), fault: '' }
      : { id, changedMs, head: undefined, fault: read.error }
    this.#rows.set(id, { stamp, row })
    return row
  }

  #find(id: string, what: string): Result<Incident> {
    let lying: Lying | undefined
    try {
      lying = this.#shelf.lying(id)
    } catch (e) {
      return failed('INCIDENT_UNREADABLE', what, whyNot(e), 'Look at the folder of incidents.')
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
        unaffected: 'Its file and all other incidents stay as they are.',
        next: 'Mend the file, open it with the Sluice that wrote it, or remove the incident.',
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
    const fits = shape.safeParse(of)
    if (!fits.success) {
      const issue = fits.error.issues[0]
      const why = `${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? ''}`
      return failed('INCIDENT_FULL', what, why, 'Remove cells, or write less into them.')
    }
    try {
      this.#shelf.write(fits.data)
      const lying = this.#shelf.lying(of.id)
      if (lying) {
        this.#hold(lying.stamp, fits.data)
        const row = { id: of.id, changedMs: lying.changedMs, head: headOf(fits.data), fault: '' }
        this.#rows.set(of.id, { stamp: lying.stamp, row })
      }
      return ok(fits.data)
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
    why: e instanceof Unread ? e.message : whyNot(e),
    unaffected: STANDS,
    next: 'Make room in the data folder, or let this user write there, and try again.',
  }
  return fail(failure)
}
