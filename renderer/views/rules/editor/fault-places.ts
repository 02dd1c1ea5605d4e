/** Places of faults in a text while it is typed: faults that the host found in the previous text are carried along. */
import type { RuleFault } from '#core/api/rule-edits.ts'

function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let n = 0
  while (n < most && a[n] === b[n]) n++
  return n
}

/**
 * Keeps the faults that are wholly before or behind the edit, moved with their characters; the others are dropped until the
 * host has checked the new text.
 */
export function carryFaults(faults: readonly RuleFault[], before: string, now: string): readonly RuleFault[] {
  if (before === now) return faults
  const start = commonStart(before, now)
  let end = 0
  while (end < Math.min(before.length, now.length) - start && before.at(-1 - end) === now.at(-1 - end)) end++
  const moved = now.length - before.length
  return faults.flatMap((fault) => {
    if (fault.at + Math.max(1, fault.length) <= start) return [fault]
    return fault.at >= before.length - end ? [{ ...fault, at: fault.at + moved }] : []
  })
}

/** Piece of the text: plain, or with a fault. */
export interface Piece {
  readonly text: string
  readonly fault: RuleFault | null
}

/**
 * Cuts the text at its faults, in order and without overlap. A fault without length, as of something missing, takes the
 * character after it, and at the end an empty piece.
 */
export function pieces(text: string, faults: readonly RuleFault[]): Piece[] {
  const out: Piece[] = []
  let at = 0
  for (const fault of [...faults].sort((a, b) => a.at - b.at)) {
    const from = Math.min(fault.at, text.length)
    if (from < at) continue // overlaps the fault before it; the list beside the text still has it
    if (from > at) out.push({ text: text.slice(at, from), fault: null })
    const to = Math.min(text.length, from + Math.max(1, fault.length))
    out.push({ text: text.slice(from, to), fault })
    at = to
  }
  if (at < text.length) out.push({ text: text.slice(at), fault: null })
  return out
}

/** Column of a fault in the value, from 1. */
export const columnOf = (fault: RuleFault): number => fault.at + 1

export const faultText = (fault: RuleFault): string => `column ${columnOf(fault)}: ${fault.message}`
