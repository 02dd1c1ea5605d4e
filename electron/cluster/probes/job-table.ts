/**
 * One target's job_stats as it stands, kept up by whole readings and by those that a server cut down (job-filter.ts).
 *
 * A cut-down reading is taken only when what is known afterwards has as many entries, and the same sums of their times, as the server
 * counted. Entries that are gone are those that were idle for longest, as servers clean up; anything else that goes (a job cleared by
 * hand, a clock set back, a text cut off) does not add up and is read whole.
 */
import { parseJobStats } from '#core/lustre/job-stats.ts'
import type { JobEntry } from '#core/lustre/job-entry.ts'
import type { ByteText } from '#core/lustre/text.ts'
import { detach, toBytes } from '../../base/detach.ts'
import type { FilterSum, Mark } from './job-filter.ts'

interface Row {
  readonly entry: JobEntry
  readonly s: number
  readonly ns: number
  /** The entry as printed, in two: its last counters have mostly never moved, and many entries share one text of those. */
  readonly text: ByteText
  readonly idle: ByteText
}

const IDLE = /  \w+: +\{ samples: +0,/y
/** Texts of counters that never moved: one for each set of operations that jobs use. */
const IDLE_TEXTS = 64

/** Where the counters begin that an entry ends with and that have never moved. */
function idleFrom(text: ByteText): number {
  for (let from = text.length; ;) {
    const line = text.lastIndexOf('\n', from - 2) + 1
    IDLE.lastIndex = line
    if (line === 0 || !IDLE.test(text)) return from
    from = line
  }
}

const isPrinted = ({ text, idle }: Row, printed: ByteText): boolean =>
  text.length + idle.length === printed.length && printed.startsWith(text) && printed.endsWith(idle)

const EXACT = /^(\d{1,12})\.(\d{9})$/

const isLater = (a: Mark, b: Mark): boolean => a.s > b.s || (a.s === b.s && a.ns > b.ns)
const order = (a: Mark, b: Mark): number => a.s - b.s || a.ns - b.ns

export class JobTable {
  /** In the order of the server; undefined: what is known does not do for a cut-down reading. */
  #rows: Map<string, Row> | undefined
  /** Newest times that moved in the reading before the last one, and in the last one. */
  #before: Mark | undefined
  #last: Mark | undefined
  readonly #idle = new Map<ByteText, ByteText>()

  /**
   * What the next reading may leave out: entries not touched since then. The reading before the last one had ended by the
   * time it names, so nothing that moved while the last one was printed is missed.
   */
  get mark(): Mark | undefined {
    return this.#rows && this.#before
  }

  /** Entries known. */
  get size(): number {
    return this.#rows?.size ?? -1
  }

  /** Text of an entry, as last printed. */
  textOf(entry: JobEntry): ByteText | undefined {
    const row = this.#rows?.get(entry.jobId)
    return row && row.text + row.idle
  }

  forget(): void {
    this.#rows = undefined
    this.#before = this.#last = undefined
  }

  /** Takes a whole reading. */
  whole(entries: readonly JobEntry[], text: ByteText): void {
    const known = this.#rows
    const rows = new Map<string, Row>()
    let moved: Mark | undefined
    for (const entry of entries) {
      const old = known?.get(entry.jobId)
      const isSame = old?.entry.counters === entry.counters && old.entry.snapshotTime === entry.snapshotTime
      const row = isSame ? old : this.#row(entry, text.slice(...entry.span))
      // Ids that print alike, and times in whole seconds: entries cannot be told apart by what is printed.
      if (!row || rows.has(entry.jobId)) return this.forget()
      rows.set(entry.jobId, row)
      if (!isSame && (!moved || isLater(row, moved))) moved = row
    }
    this.#rows = rows
    this.#mark(moved)
  }

  /**
   * Takes a cut-down reading.
   *
   * @returns  all entries as they stand; undefined when it does not add up: then nothing of it was taken.
   */
  part(
    text: ByteText,
    sum: FilterSum,
  ): { readonly entries: readonly JobEntry[]; readonly skipped: number } | undefined {
    const known = this.#rows
    if (!known || sum.odd > 0) return undefined
    const read = parseJobStats(text, undefined, toBytes)
    if (read.entries.length !== sum.printed || new Set(read.entries.map((e) => e.jobId)).size !== sum.printed)
      return undefined
    const rows = new Map(known)
    let moved: Mark | undefined
    for (const entry of read.entries) {
      const old = rows.get(entry.jobId)
      const printed = text.slice(...entry.span)
      if (old && isPrinted(old, printed)) continue
      const row = this.#row(entry, printed)
      if (!row) return undefined
      // Made anew, it stands at the end.
      if (old && old.entry.startTime !== entry.startTime) rows.delete(entry.jobId)
      rows.set(entry.jobId, row)
      if (!moved || isLater(row, moved)) moved = row
    }
    const gone = rows.size - sum.entries
    if (gone < 0) return undefined
    if (gone > 0) {
      const oldest = [...rows].sort(([, a], [, b]) => order(a, b)).slice(0, gone)
      for (const [id] of oldest) rows.delete(id)
    }
    let [s, ns] = [0, 0]
    for (const r of rows.values()) {
      s += r.s
      ns += r.ns
    }
    if (s !== sum.seconds || ns !== sum.nanos) return undefined
    this.#rows = rows
    this.#mark(moved)
    return { entries: [...rows.values()].map((r) => r.entry), skipped: read.skipped.length + read.skippedMore }
  }

  #row(entry: JobEntry, printed: ByteText): Row | undefined {
    const m = EXACT.exec(entry.snapshotTime)
    if (!m) return undefined
    const from = idleFrom(printed)
    const end = printed.slice(from)
    let idle = this.#idle.get(end)
    if (idle === undefined) {
      if (this.#idle.size >= IDLE_TEXTS) this.#idle.clear()
      idle = detach(end)
      this.#idle.set(idle, idle)
    }
    return { entry, s: Number(m[1]), ns: Number(m[2]), text: detach(printed.slice(0, from)), idle }
  }

  #mark(moved: Mark | undefined): void {
    const last = this.#last
    this.#before = last
    this.#last = moved ? { s: moved.s, ns: moved.ns } : last
  }
}
