/**
 * Observation of the ccPFS daemons of one node: the answer of `sluice ccpfs observe`, one JSON document. The console reads it
 * through the node's shell. Times are ns of the clock of each server; ranges end with null at EOF.
 */
import * as z from 'zod'
import type { LockEvent } from './lock-events.ts'
import { LOCK_MODES } from './modes.ts'
import { EOF } from './ranges.ts'

const whole = z.number().int().nonnegative()
const offset = whole
const end = z.union([offset, z.null()]).transform((v) => v ?? EOF)
const mode = z.enum(LOCK_MODES)
const state = z.enum(['GRANTED', 'CANCELING'])
const text = z.string().max(512)
const range = z.object({
  start: offset,
  end,
  pieces: z
    .array(z.object({ start: offset, end }))
    .max(65_536)
    .nullable(),
})

// The internal client of a server has the id -1.
const common = { resource: whole, at: whole, client: z.number().int() }
const ofLock = { ...common, lockId: whole }

/** Resource of an event. */
export const ofResource = z.object({ resource: whole })

/** Lock event as a server reports it. */
export const lockEvent: z.ZodType<LockEvent> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('asked'), ...common, reqId: whole, mode, range }),
  z.object({ kind: z.literal('waiting'), ...common, reqId: whole, behindClient: z.number().int() }),
  z.object({ kind: z.literal('withdrawn'), ...common, reqId: whole }),
  z.object({
    kind: z.literal('granted'),
    ...ofLock,
    reqId: whole,
    asked: mode,
    mode,
    range,
    required: range,
    state,
    sn: whole,
    minSn: whole,
    absorbed: z.array(whole).max(65_536),
    waitedNs: whole,
    rule: z.enum(['free', 'early-grant', 'normal-grant']),
  }),
  z.object({ kind: z.enum(['revoked', 'canceling', 'released', 'evicted']), ...ofLock }),
  z.object({ kind: z.literal('downgraded'), ...ofLock, mode }),
])

/** Parts of a server's status that the console uses. */
const server = z.object({
  pid: whole,
  address: text,
  startedMs: z.number(),
  nowNs: whole,
  policy: text,
  evictMs: whole,
  fileSystem: whole,
  server: whole,
  clients: z.array(z.object({ client: whole, name: text })).max(4096),
  /** Busiest resources, each with its first locks and requests; `unreleased` and `waiting` count all. */
  resources: z
    .array(
      z.object({
        resource: whole,
        unreleased: whole,
        waiting: whole,
        locks: z.array(
          z.object({ lockId: whole, client: whole, mode, state, sn: whole, minSn: whole, start: offset, end }),
        ),
        requests: z.array(z.object({ client: whole, reqId: whole, mode, start: offset, end })),
      }),
    )
    .max(1000),
  locks: z.object({ resources: whole }),
  /** Number of the newest event at this status. */
  lastEvent: whole,
})
export type ObservedServer = z.infer<typeof server>

export const ccpfsObservation = z.object({
  kind: z.literal('ccpfs'),
  version: z.literal(1),
  /** Lock and data servers of this node that answered; events after the requested number, each checked by `lockEvent`. */
  servers: z
    .array(
      z.object({
        status: server,
        last: whole,
        events: z.array(z.object({ number: whole, event: z.unknown() })).max(20_000),
      }),
    )
    .max(64),
  /** Daemons that should run and did not answer. */
  silent: z.array(z.object({ kind: z.enum(['server', 'meta']), address: text, why: text })).max(64),
  /** Files of the named resources, by a metadata server of this node. */
  files: z.array(z.object({ base: whole, stripes: whole.max(1024), path: z.string().max(8192) })).max(5000),
})
export type CcpfsObservation = z.infer<typeof ccpfsObservation>
