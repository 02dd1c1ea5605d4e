/** Details of one target or one server: disk I/O, and expected service times. */
import * as z from 'zod'
import { SERVICE_NAMES } from './rule-edits.ts'
import { ms, streamHead } from './parts.ts'

const count = z.number().int().nonnegative()

export const serverPlace = z.object({ kind: z.enum(['target', 'node']), name: z.string().min(1).max(300) })
export type ServerPlace = z.infer<typeof serverPlace>

/** A histogram of disk I/O: upper bound of a bin (bytes, ms, a number), reads, writes; ascending. */
const ioBins = z.array(z.tuple([z.number(), z.number(), z.number()]))

export const serverFrame = z.object({
  ...streamHead,
  ...serverPlace.shape,
  /** The server of a target; for a server, the server itself. */
  node: z.string(),
  /** false: the sample does not contain it. */
  known: z.boolean(),
  /** The target, or those of the server; means of the last second, null: a gap. */
  targets: z.array(z.object({ name: z.string(), rpcs: z.number().nullable(), serviceMs: z.number().nullable() })),
  /** RPCs queued on the server; null: a gap. */
  queued: z.number().nullable(),
  /** Difference of the last two readings of brw_stats up to the time shown; for a server the sum over its targets. */
  disk: z
    .object({
      /** Time of the later reading, and interval between both. */
      atMs: ms,
      seconds: z.number(),
      reads: count,
      writes: count,
      /** Histograms by quantity; absent if the server has no such section. */
      sizeBytes: ioBins.optional(),
      timeMs: ioBins.optional(),
      inFlight: ioBins.optional(),
      fragments: ioBins.optional(),
    })
    .nullable(),
  /** Reason for the lack of a newer reading; else empty. */
  diskNote: z.string(),
  /** One entry per service and CPT; seconds. */
  estimates: z.array(
    z.object({
      service: z.enum(SERVICE_NAMES),
      cpt: count,
      current: z.number(),
      worst: z.number(),
      worstAtMs: ms,
    }),
  ),
  estimatesAtMs: ms.nullable(),
  estimatesNote: z.string(),
})
export type ServerFrame = z.infer<typeof serverFrame>
