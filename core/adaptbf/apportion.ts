/** Distribution of whole tokens from givers to takers: fills a table of which only the row and column sums are known. */
import { EPS } from './rounding.ts'

/** Largest table, in cells, that is filled in proportion; a larger one is filled along its diagonal. */
const DENSE_CELLS = 1 << 12

/**
 * Fills the table with the given sums and calls `move` for every cell that is not 0, row by row.
 *
 * Each giver in turn divides its tokens over the takers in proportion to their remaining need, by largest remainder, ties to the first
 * taker. Needs and remaining tokens have the same sum, so no share exceeds a need, and the last giver meets every need exactly. A table
 * of more than 4096 cells is filled along its diagonal instead, first giver to first taker, which is linear and has at most one cell for
 * each row and column.
 *
 * Source: the paper gives sums by job only; this attribution is Sluice's own.
 *
 * @param given  whole, > 0; sums to the same as `needed`.
 * @param needed  whole, > 0.
 */
export function apportion(
  given: readonly number[],
  needed: readonly number[],
  move: (giver: number, taker: number, tokens: number) => void,
): void {
  if (given.length * needed.length > DENSE_CELLS) alongDiagonal(given, needed, move)
  else inProportion(given, needed, move)
}

function inProportion(
  given: readonly number[],
  needed: readonly number[],
  move: (giver: number, taker: number, tokens: number) => void,
): void {
  const need = Float64Array.from(needed)
  const part = new Float64Array(need.length)
  const rest = new Float64Array(need.length)
  let all = needed.reduce((sum, tokens) => sum + tokens, 0)
  for (const [g, tokens] of given.entries()) {
    let remaining = tokens
    const open: number[] = []
    for (let t = 0; t < need.length; t++) {
      const share = (tokens * need[t]!) / all
      part[t] = Math.min(need[t]!, Math.floor(share + EPS))
      // Rounded to billionths, so that equal fractions stay equal and the order breaks ties.
      rest[t] = Math.round((share - part[t]!) * 1e9)
      remaining -= part[t]!
      if (part[t]! < need[t]!) open.push(t)
    }
    if (remaining > 0) open.sort((a, b) => rest[b]! - rest[a]! || a - b)
    // Flooring leaves fewer tokens than there are fractions, so one more each is enough.
    for (let i = 0; i < remaining; i++) part[open[i]!]!++
    for (let t = 0; t < need.length; t++) {
      if (part[t] === 0) continue
      need[t]! -= part[t]!
      move(g, t, part[t]!)
    }
    all -= tokens
  }
}

function alongDiagonal(
  given: readonly number[],
  needed: readonly number[],
  move: (giver: number, taker: number, tokens: number) => void,
): void {
  let taker = 0
  let need = needed[0]!
  for (const [giver, tokens] of given.entries()) {
    for (let remaining = tokens; remaining > 0;) {
      const moved = Math.min(remaining, need)
      move(giver, taker, moved)
      remaining -= moved
      need -= moved
      if (need === 0) need = needed[++taker] ?? 0
    }
  }
}
