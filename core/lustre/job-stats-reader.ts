/**
 * Successive readings of one target's job_stats. Most jobs are idle between two readings, and an entry whose
 * `snapshot_time` (its last update, in ns) stands still is the entry that was read before: it is not parsed again.
 *
 * Releases before 2.15 print whole seconds there; their entries are always parsed. A server bumps the time before the
 * counter, so a reading between the two shows the RPC one update later; none is lost from the sums.
 */
import { parseJobStats, type JobEntry, type JobStats } from './job-stats.ts'
import type { ByteText, SkippedLine } from './text.ts'

const ENTRY = '\n- job_id:'

interface Block {
  readonly head: ByteText
  readonly length: number
  readonly lines: number
  readonly entry: JobEntry
}

function countLines(text: ByteText): number {
  let n = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) n++
  return n
}

/** The id line and the snapshot_time line of an entry; undefined when the time has no ns. */
function headOf(text: ByteText, from: number, end: number): ByteText | undefined {
  const first = text.indexOf('\n', from)
  const second = first < 0 ? -1 : text.indexOf('\n', first + 1)
  if (second < 0 || second > end) return undefined
  const isExact = /^ {2}snapshot_time:\s+\d+\.\d/.test(text.slice(first + 1, second))
  return isExact ? text.slice(from, second) : undefined
}

export class JobStatsReader {
  #before = new Map<ByteText, Block>()

  /**
   * Reads the parameter's value; the same answer as `parseJobStats`, whatever was read before.
   *
   * @param detach  copies a text out of the one it was cut from, so that what is kept does not keep the whole answer.
   */
  read(text: ByteText, detach: (part: string) => string = (part) => part): JobStats {
    const entries: JobEntry[] = []
    const skipped: SkippedLine[] = []
    const blocks = new Map<ByteText, Block>()
    let line = 0
    let from = text.startsWith(ENTRY.slice(1)) ? 0 : text.indexOf(ENTRY) + 1
    const take = (begin: number, end: number): JobStats => {
      const part = parseJobStats(detach(text.slice(begin, end)))
      for (const s of part.skipped) skipped.push({ line: line + s.line, reason: s.reason })
      for (const e of part.entries) entries.push({ ...e, span: [begin + e.span[0], begin + e.span[1]] })
      return part
    }
    const hasEntries = text.startsWith(ENTRY.slice(1)) || from > 0
    if (!hasEntries) return parseJobStats(detach(text))
    if (from > 0) {
      take(0, from)
      line += countLines(text.slice(0, from))
    }
    while (from < text.length) {
      const next = text.indexOf(ENTRY, from)
      const end = next < 0 ? text.length : next + 1
      const head = headOf(text, from, end)
      const known = head === undefined ? undefined : this.#before.get(head)
      if (head !== undefined && known?.length === end - from) {
        entries.push({ ...known.entry, span: [from, end] })
        blocks.set(known.head, known)
        line += known.lines
      } else {
        const part = take(from, end)
        const lines = countLines(text.slice(from, end))
        const [entry] = part.entries
        // A block with a fault is parsed again, so that the fault is named again.
        if (head !== undefined && entry && part.skipped.length === 0) {
          const copy = detach(head)
          blocks.set(copy, { head: copy, length: end - from, lines, entry })
        }
        line += lines
      }
      from = end
    }
    this.#before = blocks
    return { entries, skipped }
  }
}
