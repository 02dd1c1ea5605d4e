/** Tokens that a FAA(-take) owns when the pool held `before`: all, the rest, or none (spec/haechi 3). */
export const usablePart = (before: number, take: number): number => (before <= 0 ? 0 : before < take ? before : take)

/** Tokens granted between two readings of the pool by one who alone refills it. */
export const grantedBetween = (before: number, after: number): number => Math.max(0, before) - Math.max(0, after)
