/**
 * Current job_stats of one target, maintained from whole readings and from those filtered by the server
 * (job-filter.ts).
 *
 * A filtered reading is accepted only if the resulting state has as many entries, and the same sums of their times, as
 * the server counted. Removed entries are those that were idle for longest, as servers clean up; any other removal (a
 * job cleared manually, a clock set back, a truncated text) does not add up and causes a whole reading.
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
  /**
   * Entry as printed, in two parts: most of its last counters have never changed, and many entries share their text.
   */
  readonly text: ByteText
  readonly idle: ByteText
}

const IDLE = /  \w+: +\{ samples: +0,/y
/** Maximum texts of unused counters: one for each set of operations that jobs use. */
const IDLE_TEXTS = 64

/** Position from which all counters of an entry are unused. */
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
  /** Rows in the order of the server; undefined: the state is not sufficient for a filtered reading. */
  #rows: Map<string, Row> | undefined
  /** Newest changed times of the last two readings. */
  #before: Mark | undefined
  #last: Mark | undefined
  readonly #idle = new Map<ByteText, ByteText>()

  /**
   * Mark for the next reading, which may omit entries not changed since. The reading before the last one had ended by
   * this time, so no change during the last one is missed.
   */
  get mark(): Mark | undefined {
    return this.#rows && this.#before
  }

  /** Number of known entries. */
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

  /** Applies a whole reading. */
  whole(entries: readonly JobEntry[], text: ByteText): void {
    const known = this.#rows
    const rows = new Map<string, Row>()
    let moved: Mark | undefined
    for (const entry of entries) {
      const old = known?.get(entry.jobId)
      const isSame = old?.entry.counters === entry.counters && old.entry.snapshotTime === entry.snapshotTime
      const row = isSame ? old : this.#row(entry, text.slice(...entry.span))
      // Equal ids, or times in whole seconds: entries cannot be distinguished by their text.
      if (!row || rows.has(entry.jobId)) return this.forget()
      rows.set(entry.jobId, row)
      if (!isSame && (!moved || isLater(row, moved))) moved = row
    }
    this.#rows = rows
    this.#mark(moved)
  }

  /**
   * Applies a filtered reading.
   *
   * @returns  all current entries; undefined if the sums do not match: then nothing was applied.
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
      // A recreated entry is at the end.
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
    let s = 0
    let ns = 0
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
