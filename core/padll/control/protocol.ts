/** Numbers that both ends of the control plane go by. Times are ns. */
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'

/** What `hello` of a stage must say. */
export const PROTOCOL = 1

/** Longest texts of a stage's identity, characters (spec/padll 3). */
export const IDENTITY_MAX = { job: 200, hostname: 64, user: 256 } as const

/** Lowest rate of an enforcement object, op/s: a rate of 0 would stop a job for good (spec/padll 1.6). */
export const RATE_FLOOR = 1

/** How long a local controller waits for the answer of a stage, and the global one for that of a local one. */
export const STAGE_ANSWER_NS = 200 * NS_PER_MS
export const LOCAL_ANSWER_NS = 500 * NS_PER_MS
/** How long a stage may take for one step of its handshake. */
export const HANDSHAKE_NS = 2 * NS_PER_S
/** Collections without an answer after which a stage, or a local controller, is given up. */
export const MISSES_MAX = 3

/** Parts of a lease after which it is renewed where nothing else was to be said. */
export const RENEWALS_PER_LEASE = 3

/**
 * Leases for which the rates of stages out of reach stay reserved as they were. A local controller lost: its own lease, then
 * that of its stages, and one for what was under way. A stage lost without a goodbye: its lease, and one for what was under way.
 */
export const LEASES_OF_LOCAL = 3
export const LEASES_OF_STAGE = 2
/**
 * Whoever may still run then goes on under what its lease says (the last rates, or the fallback), which stays reserved until it
 * is heard of, its node is, or this time is over: a node that never comes back must not hold its part for ever.
 */
export const REACH_NS = 3600 * NS_PER_S

/** What `stage-left` says of a stage that took its leave; all else may still hold its rate. */
export const SAID_GOODBYE = 'it said goodbye'
/** What it says of one whose connection closed: the kernel closes it when the process ends, so it serves nothing any more. */
export const CONNECTION_GONE = 'its connection is gone'
