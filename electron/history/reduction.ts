/** Reduction of the samples of a file when it was written; stored in the file itself. */
import type { Database } from 'better-sqlite3'
import * as z from 'zod'
import { RECORDING } from './recording-facts.ts'
import { TIER_COUNT } from './tiers.ts'

/** Key of the job that is the sum of the others; keys of jobs start at 1. */
export const OTHER_JOBS_KEY = 0

const reduction = z.object({
  /** Number of jobs summed under OTHER_JOBS_KEY; 0: none. */
  others: z.number().int().min(0),
  /** Tiers omitted for their size. */
  left: z
    .array(
      z
        .number()
        .int()
        .min(0)
        .max(TIER_COUNT - 1),
    )
    .max(TIER_COUNT),
  /** Tiers of locks, metadata and tokens omitted for their size; none in older files. */
  planesLeft: z
    .array(
      z
        .number()
        .int()
        .min(0)
        .max(TIER_COUNT - 1),
    )
    .max(TIER_COUNT)
    .default([]),
  /** True if moves of tokens between jobs are omitted, because there were too many. */
  withoutMoves: z.boolean(),
})
export type Reduction = z.infer<typeof reduction>

const settings = z.object({ reduction })

/** Reads the reduction of a file; undefined for a history, and for a full recording. */
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
