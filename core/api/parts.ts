/** Shapes that several messages of the contract share. */
import * as z from 'zod'

/** Unix milliseconds on the source's clock. */
export const ms = z.number()
const count = z.number().int().nonnegative()

export const level = z.enum(['ok', 'watch', 'bad', 'idle', 'unknown'])
export type Level = z.infer<typeof level>

/** A failure or a remark that the operator should read; the shape of base/result.ts Failure. */
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
  /** `user@host` of that console, or `another console` where its timer does not say. */
  console: z.string(),
  /** Unit of its timer. */
  lease: z.string(),
  /** When it ends unless it is renewed; left out where that was not read. */
  expiresMs: ms.nullable().optional(),
})
export type OtherLease = z.infer<typeof otherLease>

export const errors = {
  /** The verb was understood and refused; the data says why and what to do. */
  REFUSED: { status: 409, data: notice },
}

/** What every frame of a stream carries. */
export const streamHead = {
  /** Number of this frame in its stream, from 1. */
  seq: count,
  /** Sequence number of the sample it shows. */
  sample: count,
  /** Instant of that sample; null before the first one. */
  atMs: ms.nullable(),
  /** How often something else had come on screen when it was made: frames of two turns are of two sources. */
  turn: count.optional(),
  /** Set on one that was not asked for: of a sample beside the one that the window stands on. */
  isAhead: z.boolean().optional(),
}

/** One expression of a rule's condition; `join` says how it hangs on the one before it. */
export const expression = z.object({
  join: z.enum(['', 'and', 'or']),
  field: z.string(),
  items: z.array(z.string()),
})
export type Expression = z.infer<typeof expression>

export const diffLine = z.object({ kind: z.enum(['add', 'mod', 'del']), text: z.string() })

/** A where two instants are compared: where A stands. null: nothing is kept of it. */
export const against = z.object({ atMs: ms }).nullable().optional()

/** Set where the filter of a query could not be read; nothing is hidden then. */
export const filterError = z.object({ column: count, message: z.string() }).optional()
/** What a filter leaves of a table; absent where it is empty or could not be read. */
export const filtered = z.object({
  /** The filter that this was found by. */
  filter: z.string(),
  passing: count,
  of: count,
})
