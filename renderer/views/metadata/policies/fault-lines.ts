/** Faults of a text of many lines: carried along while it is edited, and their places in it. */
import type { PolicyFault } from '#core/api/padll.ts'
import type { CodeFault } from '../../../widgets/code-editor.ts'

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

/** Most faults that are marked in the text. */
const MARKED = 200
/** Converts faults to ranges of the text; a fault without length takes one character, at the end of a line none. */
export function faultRanges(text: string, faults: readonly PolicyFault[]): CodeFault[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return faults.slice(0, MARKED).map(({ line, column, length, severity, message }) => {
    const start = starts[line - 1] ?? text.length
    const end = (starts[line] ?? text.length + 1) - 1
    const from = Math.min(end, start + Math.max(0, column - 1))
    return { from, length: Math.min(end - from, Math.max(1, length)), severity, message }
  })
}
