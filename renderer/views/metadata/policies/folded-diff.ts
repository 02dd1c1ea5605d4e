/** Diff with unchanged lines folded, except those next to a change. */
import type { PoliciesCheck } from '#core/api/padll.ts'

type Line = PoliciesCheck['diff'][number]
export type DiffPart = Line | { readonly more: number }

/** Unchanged lines shown on each side of a change. */
const AROUND = 2
/** Most lines that are drawn; the rest is counted. */
const MOST = 400

export function aroundChanges(diff: readonly Line[]): DiffPart[] {
  const near = new Set<number>()
  diff.forEach(({ op }, i) => {
    if (op !== 'keep') for (let k = i - AROUND; k <= i + AROUND; k++) near.add(k)
  })
  const parts: DiffPart[] = []
  let more = 0
  for (const [i, line] of diff.entries()) {
    if (near.has(i) && parts.length < MOST) {
      if (more > 0) parts.push({ more })
      more = 0
      parts.push(line)
    } else more++
  }
  if (more > 0 && near.size > 0) parts.push({ more })
  return parts
}
