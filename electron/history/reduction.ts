/** How the samples of a file were reduced when it was written; it goes with the file, so that it is known of it wherever it gets to. */
import type { Database } from 'better-sqlite3'
import * as z from 'zod'
import { RECORDING } from './recording-facts.ts'
import { TIER_COUNT } from './tiers.ts'

/** Key of the job that is the sum of others: those of jobs begin with 1. */
export const OTHERS_KEY = 0

const reduction = z.object({
  /** How many jobs are one, under OTHERS_KEY; 0: none. */
  others: z.number().int().min(0),
  /** Tiers left out for their size. */
  left: z
    .array(
      z
        .number()
        .int()
        .min(0)
        .max(TIER_COUNT - 1),
    )
    .max(TIER_COUNT),
  /** Moves between jobs were too many. */
  withoutMoves: z.boolean(),
})
export type Reduction = z.infer<typeof reduction>

const settings = z.object({ reduction })

/** undefined for a history, and for a recording of everything. */
export function reductionOf(db: Database): Reduction | undefined {
  const text = db.prepare('SELECT value FROM setting WHERE name = ?').pluck().get(RECORDING)
  if (typeof text !== 'string') return undefined
  try {
    const read = settings.safeParse(JSON.parse(text))
    return read.success ? read.data.reduction : undefined
  } catch {
    return undefined
  }
}
