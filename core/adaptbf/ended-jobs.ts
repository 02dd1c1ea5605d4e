/**
 * Account of ended jobs. Records must always sum to 0, and jobs end with tokens lent or borrowed; their balance moves to this account, so
 * that their own records can be removed.
 *
 * Deviation from AdapTBF III-A, which keeps every job: with a thousand jobs a day, permanent records grow without bound. A job that
 * returns after it was retired starts with nothing lent or borrowed. The allocations of the remaining jobs do not change.
 */

/** Its id in job lists. No job can have it: names come from servers byte by byte, and this has characters above U+00FF. */
export const ENDED_JOBS = '⟨ended jobs⟩'
