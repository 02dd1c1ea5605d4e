/** One target, or one server, in full: what its disks did, and how long its services expect to take. */
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
  /** The server of a target; of a server itself. */
  node: z.string(),
  /** false: the sample shown has no such place. */
  known: z.boolean(),
  /** The target, or those of the server; means of the last second, null: a gap. */
  targets: z.array(z.object({ name: z.string(), rpcs: z.number().nullable(), serviceMs: z.number().nullable() })),
  /** RPCs that wait on the server; null: a gap. */
  queued: z.number().nullable(),
  /** Difference of the last two readings of brw_stats up to the instant shown; of a server the sum over its targets. */
  disk: z
    .object({
      /** When the later of both was read, and the time between them. */
      atMs: ms,
      seconds: z.number(),
      reads: count,
      writes: count,
      /** By what is counted; a server that has no such section leaves it out. */
      sizeBytes: ioBins.optional(),
      timeMs: ioBins.optional(),
      inFlight: ioBins.optional(),
      fragments: ioBins.optional(),
    })
    .nullable(),
  /** Why there is no newer reading; empty when there is nothing to say. */
  diskNote: z.string(),
  /** One entry a service and CPT; seconds. */
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
