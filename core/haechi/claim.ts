/** Tokens that a FAA(-take) obtains when the pool held `before`: all, the rest, or none (spec/haechi 3). */
export const usablePart = (before: number, take: number): number => (before <= 0 ? 0 : before < take ? before : take)

/** Tokens granted between two readings of the pool, for the only process that refills it. */
export const grantedBetween = (before: number, after: number): number => Math.max(0, before) - Math.max(0, after)
