/** Constants shared by both ends of the control plane. Times are ns. */
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'

/** Version in a stage's `hello`. */
export const PROTOCOL = 1

/** Request number of an `ack` that answers nothing: it reports calls that a stage cannot limit. */
export const NO_REQUEST = 0

/** Longest texts of a stage's identity, characters (spec/padll 3). */
export const IDENTITY_MAX = { job: 200, hostname: 64, user: 256 } as const

/** Lowest rate of an enforcement object, op/s: a rate of 0 would stop a job for good (spec/padll 1.6). */
export const RATE_FLOOR = 1

/** Timeouts of the local controller for an answer of a stage, and of the global one for an answer of a local one. */
export const STAGE_ANSWER_NS = 200 * NS_PER_MS
export const LOCAL_ANSWER_NS = 500 * NS_PER_MS
/** Timeout of a stage for one step of its handshake. */
export const HANDSHAKE_NS = 2 * NS_PER_S
/** Missed collections after which a stage, or a local controller, is dropped. */
export const MISSES_MAX = 3

/** Parts of a lease after which it is renewed if nothing else was sent. */
export const RENEWALS_PER_LEASE = 3

/**
 * Leases for which the rates of unreachable stages stay reserved. A lost local controller: its own lease, then that of
 * its stages, and one for messages under way. A stage lost without a goodbye: its lease, and one for messages under
 * way.
 */
export const LEASES_OF_LOCAL = 3
export const LEASES_OF_STAGE = 2
/**
 * A stage that may still run then follows its lease (the last rates, or the fallback), which stays reserved until the
 * stage or its node reports, or this time has passed: a node that never returns must not keep its share forever.
 */
export const REACH_NS = 3600 * NS_PER_S

/** Reason in `stage-left` of a stage that left regularly; after any other reason it may still hold its rate. */
export const GOODBYE = 'it said goodbye'
/**
 * Reason of a stage whose connection closed: the kernel closes it when the process ends, so it serves nothing any more.
 */
export const CONNECTION_GONE = 'its connection is gone'
