/** Unreadable lines of a text: a bounded list with number and reason, and a count of the rest. */
import type { SkippedLine } from './text.ts'

/** Enough to see the problem; a gigabyte of junk must not become a list. */
export const MAX_SKIPPED = 10_000

export class SkippedLines {
  readonly #limit: number
  readonly lines: SkippedLine[] = []
  /** Lines beyond those listed. */
  more = 0

  constructor(limit: number = MAX_SKIPPED) {
    this.#limit = limit
  }

  /** Total number of skipped lines. */
  get count(): number {
    return this.lines.length + this.more
  }

  add(line: number, reason: string): void {
    if (this.lines.length < this.#limit) this.lines.push({ line, reason })
    else this.more++
  }
}
