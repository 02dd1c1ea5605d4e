/** Faults of a text of many lines: carried along while it is edited, and cut out of their lines. */
import type { PolicyFault } from '#core/api/padll.ts'

/**
 * Moves faults that the host found in `before` to their places in `now`: faults of unchanged lines move with them, the
 * others are dropped until the host has checked the new text.
 */
export function carryLines(faults: readonly PolicyFault[], before: string, now: string): readonly PolicyFault[] {
  if (before === now || faults.length === 0) return faults
  const a = before.split('\n')
  const b = now.split('\n')
  const most = Math.min(a.length, b.length)
  let start = 0
  while (start < most && a[start] === b[start]) start++
  let end = 0
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  return faults.flatMap((fault) => {
    if (fault.line <= start) return [fault]
    return fault.line > a.length - end ? [{ ...fault, line: fault.line + b.length - a.length }] : []
  })
}

/** Piece of a line: plain, or with a fault. */
export interface Piece {
  readonly text: string
  readonly fault: PolicyFault | null
}

/** Cuts a line at its faults, in order and without overlap; a fault without length takes one character, at the end none. */
export function cutLine(line: string, faults: readonly PolicyFault[]): Piece[] {
  const out: Piece[] = []
  let at = 0
  for (const fault of [...faults].sort((x, y) => x.column - y.column)) {
    const from = Math.min(Math.max(0, fault.column - 1), line.length)
    if (from < at) continue // overlaps the fault before it; the list below the text still has it
    if (from > at) out.push({ text: line.slice(at, from), fault: null })
    const to = Math.min(line.length, from + Math.max(1, fault.length))
    out.push({ text: line.slice(from, to), fault })
    at = to
  }
  if (at < line.length || out.length === 0) out.push({ text: line.slice(at), fault: null })
  return out
}

export const faultPlace = ({ line, column }: PolicyFault): string => `line ${line}, column ${column}`

/** Returns the index of a place in the text, for the caret of a field. */
export function placeIndex(text: string, line: number, column: number): number {
  let index = 0
  for (let n = 1; n < line; n++) {
    const next = text.indexOf('\n', index)
    if (next < 0) return text.length
    index = next + 1
  }
  const lineEnd = text.indexOf('\n', index)
  return Math.min(index + Math.max(0, column - 1), lineEnd < 0 ? text.length : lineEnd)
}
