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

/** Column of a fault in the value, from 1. */
export const columnOf = (fault: RuleFault): number => fault.at + 1

export const faultText = (fault: RuleFault): string => `column ${columnOf(fault)}: ${fault.message}`
