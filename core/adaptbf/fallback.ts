/** Handling of RPCs of jobs without a rule; the paper and Lustre differ. */

/**
 * - `idle`: one queue for all of them, without a rate, served by threads that find no rule's queue due. The paper's reading
 *   (III-D, "allowing RPCs to be served if any idle I/O threads are available").
 * - `default-rule`: Lustre's reading: each such job has a queue at the default rule's rate. Its deadlines are early, so it
 *   is nearly always served first.
 *
 * They behave alike while threads are idle, that is, while the rates sum to no more than the target can serve (spec/adaptbf A22).
 */
export const FALLBACKS = ['idle', 'default-rule'] as const
export type Fallback = (typeof FALLBACKS)[number]

/** Rate of Lustre's default rule, RPC/s per queue. */
export const DEFAULT_RULE_RATE = 10_000
