/** Lock claims of an operation: one per stripe, as wide as needed, widened to the policy's alignment. */
import type { FileLayout, StripePart } from './layout.ts'
import type { ResourceId } from './messages.ts'
import type { DlmPolicy } from './policy.ts'
import { alignOutward, joined, lockRange, WHOLE, type LockRange, type Range } from './ranges.ts'

export interface Claim {
  readonly resource: ResourceId
  readonly range: LockRange
}

/** Returns claims on every byte of a file, by ascending resource. */
export const wholeFile = ({ base, stripes }: FileLayout): Claim[] =>
  Array.from({ length: stripes }, (_, k) => ({ resource: base + k, range: WHOLE }))

/**
 * Returns the locks of a read or write, by ascending resource: from the first to the last byte of each stripe, or the
 * exact extents if requests carry lists of them.
 *
 * @param locksWhole  lock the stripes from start to EOF.
 */
export const claimsOf = (policy: DlmPolicy, parts: readonly StripePart[], locksWhole: boolean): Claim[] =>
  parts.map((part) => ({ resource: part.resource, range: locksWhole ? WHOLE : required(policy, part) }))

export function alignedRange({ alignBytes }: DlmPolicy, range: Range): LockRange {
  const { start, end } = alignOutward(range, alignBytes)
  return lockRange(start, end)
}

function required(policy: DlmPolicy, { pieces }: StripePart): LockRange {
  const only = pieces.length === 1 ? pieces[0] : undefined
  if (only !== undefined) return alignedRange(policy, { start: only.local, end: only.local + only.length - 1 })
  const ranges = pieces.map((p) => ({ start: p.local, end: p.local + p.length - 1 }))
  const sorted = joined(ranges.sort((a, b) => a.start - b.start))
  const start = sorted[0]?.start ?? 0
  const end = sorted.at(-1)?.end ?? 0
  if (policy.datatype && sorted.length > 1) return { start, end, pieces: sorted }
  return alignedRange(policy, { start, end })
}
