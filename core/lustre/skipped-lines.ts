/** The lines of a text that could not be read: the first so many of them by number and reason, the rest as a count. */
import type { SkippedLine } from './text.ts'

/** Enough for a person to see what is wrong; a gigabyte of junk must not become a list. */
export const MAX_SKIPPED = 10_000

export class SkippedLines {
  readonly #limit: number
  readonly lines: SkippedLine[] = []
  /** Lines beyond those listed. */
  more = 0

  constructor(limit: number = MAX_SKIPPED) {
    this.#limit = limit
  }

  /** All of them. */
  get count(): number {
    return this.lines.length + this.more
  }

  add(line: number, reason: string): void {
    if (this.lines.length < this.#limit) this.lines.push({ line, reason })
    else this.more++
  }
}
