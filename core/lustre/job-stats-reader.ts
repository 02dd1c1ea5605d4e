/**
 * Incremental reader of one target's job_stats. Most jobs are idle between two readings, and an entry with an unchanged `snapshot_time`
 * (its last update, in ns) is the entry that was read before: it is not parsed again.
 *
 * Releases before 2.15 print whole seconds; their entries are always parsed. A server updates the time before the counter, so a reading
 * between the two shows the RPC one update later; none is lost from the sums.
 */
import { bytesOf, byteText, type ToBytes } from './bytes.ts'
import type { JobEntry } from './job-entry.ts'
import { JobStatsScanner } from './job-stats-scanner.ts'
import type { JobStats } from './job-stats.ts'
import type { ByteText } from './text.ts'

const ENTRY = '\n- job_id:'

interface Block {
  readonly head: ByteText
  readonly length: number
  readonly lines: number
  readonly entry: JobEntry
}

/** Returns the id line and the snapshot_time line of an entry; undefined if the time has no ns. */
function headOf(text: ByteText, from: number, end: number): ByteText | undefined {
  const first = text.indexOf('\n', from)
  const second = first < 0 ? -1 : text.indexOf('\n', first + 1)
  if (second < 0 || second > end) return undefined
  const isExact = /^ {2}snapshot_time:\s+\d+\.\d/.test(text.slice(first + 1, second))
  return isExact ? text.slice(from, second) : undefined
}

/** Number of lines of an entry without other content. */
const linesOf = (e: JobEntry): number =>
  2 + (e.startTime === undefined ? 0 : 1) + (e.elapsedTime === undefined ? 0 : 1) + e.listed

export class JobStatsReader {
  readonly #toBytes: ToBytes
  #before = new Map<ByteText, Block>()

  /** @param toBytes  the platform's conversion to bytes. */
  constructor(toBytes: ToBytes = bytesOf) {
    this.#toBytes = toBytes
  }

  /**
   * Parses the parameter's value; the result equals that of `parseJobStats`, independent of earlier readings.
   *
   * @returns  entries that do not retain the text.
   */
  read(text: ByteText): JobStats {
    const entries: JobEntry[] = []
    const blocks = new Map<ByteText, Block>()
    const scanner = new JobStatsScanner({ entry: (e) => void entries.push(e) })
    const { skipped } = scanner
    let from = text.startsWith(ENTRY.slice(1)) ? 0 : text.indexOf(ENTRY) + 1
    if (from === 0 && !text.startsWith(ENTRY.slice(1))) from = text.length
    // Converted at once: an array for each of ten thousand entries would dominate the cost.
    const all = this.#toBytes(text)
    scanner.push(all.subarray(0, from))
    while (from < text.length) {
      const next = text.indexOf(ENTRY, from)
      const end = next < 0 ? text.length : next + 1
      const head = headOf(text, from, end)
      const known = head === undefined ? undefined : this.#before.get(head)
      if (head !== undefined && known?.length === end - from) {
        scanner.pass(known.length, known.lines)
        const [began] = known.entry.span
        entries.push(began === from ? known.entry : { ...known.entry, span: [from, end] })
        blocks.set(known.head, known)
      } else {
        const faults = skipped.count
        const before = entries.length
        const began = scanner.line
        scanner.push(all.subarray(from, end))
        if (next < 0) scanner.end()
        else scanner.endEntry()
        const entry = entries.length === before + 1 ? entries[before] : undefined
        const lines = scanner.line - began
        // A block with a fault, or with more than one entry, is parsed again.
        if (head !== undefined && entry && skipped.count === faults && lines === linesOf(entry)) {
          const copy = byteText(all, from, from + head.length)
          blocks.set(copy, { head: copy, length: end - from, lines, entry })
        }
      }
      from = end
    }
    scanner.end()
    this.#before = blocks
    return { entries, skipped: skipped.lines, skippedMore: skipped.more }
  }
}
