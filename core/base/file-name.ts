/** Validation of user-chosen file names: valid on every system, without a path. */

/** Letters, digits, blanks, dot, dash and underscore; no dot or blank at either end. */
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]*[\p{L}\p{N}_-])?$/u
/** Device names reserved by Windows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** @param most  largest length. */
export const isFileName = (bare: string, most: number): boolean =>
  bare.length <= most && NAME.test(bare) && !bare.includes('..') && !DEVICE.test(bare)

/** The rule as a message for the user. */
export const fileNameRule = (most: number): string =>
  `it is a name of up to ${most} letters, digits, blanks, dots, dashes and underscores, and no path`
