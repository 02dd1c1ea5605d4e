/**
 * Objectives of the planes besides the OSTs: what a run measures of metadata (PADLL), locks (ccPFS) and tokens
 * (Haechi), and how two runs are compared by it. Verdict, tables, exports, the contract, the window and the
 * documentation derive from this list.
 *
 * A plane that is absent, or that nothing used, has no value: never 0.
 */

export const PLANES = ['metadata', 'locks', 'tokens'] as const
export type Plane = (typeof PLANES)[number]

/** part: 0..1. */
export const OBJECTIVE_UNITS = ['op/s', 'B/s', 'I/O/s', 'ms', 's', 'part'] as const
export type ObjectiveUnit = (typeof OBJECTIVE_UNITS)[number]

interface ObjectiveDefinition {
  readonly plane: Plane
  /** Name under the heading of its plane. */
  readonly what: string
  /** Name in a sentence. */
  readonly name: string
  readonly unit: ObjectiveUnit
  /** Direction of a gain; null: shown, not judged. */
  readonly better: 'higher' | 'lower' | null
  /** Smallest difference that counts, beyond the baseline's band: as a part of its edge, and in the unit. */
  readonly least: { readonly part: number; readonly amount: number }
  /** Definition, as a sentence. */
  readonly means: string
}

/** As for the total throughput of the OSTs: less than a tenth is the price of a policy. */
const A_TENTH = { part: 0.1, amount: 0 } as const
/** Waits are counted in bins of 4.4 %. */
const A_BIN = { part: 0.05, amount: 0.1 } as const
const A_HUNDREDTH = { part: 0, amount: 0.01 } as const

export const OBJECTIVES = {
  metadataServed: {
    plane: 'metadata',
    what: 'served',
    name: 'metadata operations served',
    unit: 'op/s',
    better: 'higher',
    least: A_TENTH,
    means: 'Metadata operations served by all MDTs, over the simulated time.',
  },
  metadataWaitMs: {
    plane: 'metadata',
    what: 'wait p95',
    name: 'metadata wait p95',
    unit: 'ms',
    better: 'lower',
    least: A_BIN,
    means: 'Time from the request of a process to the reply of a metadata operation, of all jobs, 95th percentile.',
  },
  metadataHeldMs: {
    plane: 'metadata',
    what: 'delayed by PADLL, p95',
    name: 'delay by PADLL, p95',
    unit: 'ms',
    better: null,
    least: A_BIN,
    means: "Part of the wait that operations spent in PADLL's stages, 95th percentile.",
  },
  falseAllocation: {
    plane: 'metadata',
    what: 'false allocation',
    name: 'false allocation',
    unit: 'op/s',
    better: 'lower',
    least: { part: 0.05, amount: 1 },
    means: 'Rate that jobs hold and do not use while operations of another job wait in its stages, mean of the run.',
  },
  metadataAbove: {
    plane: 'metadata',
    what: 'above the system limit',
    name: 'metadata above the system limit',
    unit: 'op/s',
    better: 'lower',
    least: { part: 0.05, amount: 1 },
    means:
      "Metadata operations of the jobs under PADLL beyond the scenario's system limit for `meta_op`, second by second, mean of the run.",
  },
  locksWritten: {
    plane: 'locks',
    what: 'written',
    name: 'writes to ccPFS',
    unit: 'B/s',
    better: 'higher',
    least: A_TENTH,
    means: 'Bytes that applications wrote to the ccPFS, over the simulated time.',
  },
  locksRead: {
    plane: 'locks',
    what: 'read',
    name: 'reads from ccPFS',
    unit: 'B/s',
    better: 'higher',
    least: A_TENTH,
    means: 'Bytes that applications read from the ccPFS, over the simulated time.',
  },
  lockWaitPart: {
    plane: 'locks',
    what: 'waiting for locks',
    name: 'time waiting for locks',
    unit: 'part',
    better: null,
    least: A_HUNDREDTH,
    means: "Part of the processes' time in which their lock requests waited at the servers.",
  },
  lockWaitP95Ms: {
    plane: 'locks',
    what: 'lock wait p95',
    name: 'lock wait p95',
    unit: 'ms',
    better: 'lower',
    least: A_BIN,
    means:
      'Time from a lock request to its grant at the server, 95th percentile; requests that still wait count with their time so far.',
  },
  convoyS: {
    plane: 'locks',
    what: 'convoys',
    name: 'lock convoys',
    unit: 's',
    better: 'lower',
    least: { part: 0.05, amount: 0.1 },
    means: 'Time in which 4 requests or more waited for one resource, sum over the resources.',
  },
  tokensCompleted: {
    plane: 'tokens',
    what: 'completed',
    name: 'data-node I/Os',
    unit: 'I/O/s',
    better: 'higher',
    least: A_TENTH,
    means: 'I/Os that the data nodes completed, over the simulated time.',
  },
  reservationsMet: {
    plane: 'tokens',
    what: 'reservations met',
    name: 'reservations met',
    unit: 'part',
    better: 'higher',
    least: A_HUNDREDTH,
    means:
      'Part of the reserved I/Os that were done in their periods. For a client that wants less than its reservation, the wanted I/Os count.',
  },
  reservationPeriods: {
    plane: 'tokens',
    what: 'reservations met in every period',
    name: 'periods with the reservation met',
    unit: 'part',
    better: 'higher',
    least: A_HUNDREDTH,
    means: 'Part of all periods of all clients with a reservation in which the whole reservation was met.',
  },
  poolIdle: {
    plane: 'tokens',
    what: 'idle while starved',
    name: 'tokens idle while starved',
    unit: 'part',
    better: 'lower',
    least: A_HUNDREDTH,
    means:
      'Part of the tokens that idle clients held while the pool was empty and a client without tokens had requests waiting, in the last minute.',
  },
} as const satisfies Readonly<Record<string, ObjectiveDefinition>>

export type ObjectiveKey = keyof typeof OBJECTIVES

/** In the order of display. */
export const OBJECTIVE_KEYS = Object.keys(OBJECTIVES) as ObjectiveKey[]
