/** Schemas shared by several messages of the contract. */
import * as z from 'zod'
import { COLORS } from '../base/categorical-color.ts'

/** Unix milliseconds on the source's clock. */
export const ms = z.number()
const count = z.number().int().nonnegative()

/** Index of a categorical color, 1 to 14; 0: gray, for `other` and for jobs without a color. */
export const colorIndex = z.number().int().min(0).max(COLORS)

export const level = z.enum(['ok', 'watch', 'bad', 'idle', 'unknown'])
export type Level = z.infer<typeof level>

/** A failure or remark for the operator; the shape of Failure in base/result.ts. */
export const notice = z.object({
  code: z.string(),
  what: z.string(),
  why: z.string().optional(),
  unaffected: z.string().optional(),
  next: z.string().optional(),
})
export type Notice = z.infer<typeof notice>

/** A lease of another console that is live on a server. */
export const otherLease = z.object({
  host: z.string(),
  /** `user@host` of that console, or `another console` if its timer does not name it. */
  console: z.string(),
  /** Unit of its timer. */
  lease: z.string(),
  /** Its end unless renewed; absent if not read. */
  expiresMs: ms.nullable().optional(),
})
export type OtherLease = z.infer<typeof otherLease>

export const errors = {
  /** The verb was understood and refused; the data contains the reason and the next step. */
  REFUSED: { status: 409, data: notice },
}

/** Fields of every frame of a stream. */
export const streamHead = {
  /** Number of this frame in its stream, from 1. */
  seq: count,
  /** Sequence number of the sample it shows. */
  sample: count,
  /** Time of that sample; null before the first one. */
  atMs: ms.nullable(),
  /** Number of source switches when it was made: frames of two turns belong to two sources. */
  turn: count.optional(),
  /** Set on an unrequested frame: of a sample adjacent to the one shown. */
  isAhead: z.boolean().optional(),
}

/** One expression of a rule's condition; `join` is its operator to the preceding one. */
export const expression = z.object({
  join: z.enum(['', 'and', 'or']),
  field: z.string(),
  items: z.array(z.string()),
})
export type Expression = z.infer<typeof expression>

export const diffLine = z.object({ kind: z.enum(['add', 'mod', 'del']), text: z.string() })

/** A in a comparison of two times. null: no data at A. */
export const against = z.object({ atMs: ms }).nullable().optional()

/** Set if the filter of a query is invalid; nothing is hidden then. */
export const filterError = z.object({ column: count, message: z.string() }).optional()
/** Result of a filter on a table; absent if the filter is empty or invalid. */
export const filtered = z.object({
  /** The filter that produced it. */
  filter: z.string(),
  passing: count,
  of: count,
})
