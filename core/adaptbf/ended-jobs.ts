/**
 * The account of jobs that ended. Records must sum to 0 for ever, and jobs end with tokens lent or borrowed; what a job leaves behind is
 * carried on here, so that its own record can be forgotten.
 *
 * Deviation from AdapTBF III-A, which forgets nobody: with a thousand jobs a day, records that are kept for ever grow for ever. A job that
 * comes back after it was retired begins with nothing lent or borrowed. What jobs that go on are allotted does not change by a token.
 */

/** Its id where jobs are listed. No job can have it: names come from servers byte by byte, and this has characters above U+00FF. */
export const ENDED_JOBS = '⟨ended jobs⟩'
