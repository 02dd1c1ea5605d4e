/** Names that people give to files of ours: names on every system, and no path. */

/** Letters, digits, blanks, dot, dash and underscore; no dot or blank at either end. */
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]*[\p{L}\p{N}_-])?$/u
/** Names that Windows gives to devices. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** @param most  its length at most. */
export const isFileName = (bare: string, most: number): boolean =>
  bare.length <= most && NAME.test(bare) && !bare.includes('..') && !DEVICE.test(bare)

/** The same in words, for whoever chose another one. */
export const fileNameRule = (most: number): string =>
  `it is a name of up to ${most} letters, digits, blanks, dots, dashes and underscores, and no path`
