/**
 * Differences of the lctl tool between releases: options, search order, layout, messages and exit codes.
 *
 * Source: spec/lustre 0.2 and 7, measured A12, A20-A26, A32 and B10 (2.15.8, 2.17.0 and the development line). 2.12 is emulated as
 * 2.15.8, 2.16 as 2.17.0, except where spec/lustre 0.2 distinguishes them.
 */
import type { Release } from './release.ts'

/** Options as getopt takes them: a letter, `:` when it needs a value, `::` when it may have one. */
export interface LctlOptions {
  readonly get: string
  readonly list: string
  readonly set: string
}

export interface LctlDialect {
  /** Assignment that determines set_param's exit code: the first that failed, or the last one. */
  readonly setParamExit: 'first error' | 'last'
  /** True if a failed assignment is repeated in a second line, with the name as requested. */
  readonly repeatsFailure: boolean
  /** Message of set_param for a name without a value. */
  readonly noValueText: string
  readonly options: LctlOptions
  /** True if options have long names, too. */
  readonly hasLongOptions: boolean
  /** Stream of the usage of get_param, set_param and list_param; the exit code is 4 everywhere. */
  readonly usageTo: 'stdout' | 'stderr'
  /** Trees in look-up order; matches in an earlier one are printed first. */
  readonly trees: readonly ('proc' | 'sysfs' | 'debugfs')[]
  /** Columns from which a one-line `name=value` is broken after the `=`; undefined: never. */
  readonly breakAt: number | undefined
  /** True if an empty value is printed, as `name=`. */
  readonly printsEmpty: boolean
  /** True if `get_param -N` reads the files, so that it omits directories and unreadable files. */
  readonly namesAreRead: boolean
  /** True if the directories of `-R` are listed one after the other, instead of each at its name. */
  readonly collectsTree: boolean
  /** True if values invisible to a user are requested over netlink, without a message. */
  readonly hasNetlink: boolean
  /** True if elapsed_time of a table served over netlink is an absolute time (2.17.0, measured A12b). */
  readonly netlinkElapsedIsAbsolute: boolean
  /** `lctl version` besides `lctl --version`; an unknown command is answered in one line on stderr. */
  readonly isModernTool: boolean
}

const OLD: LctlDialect = {
  setParamExit: 'first error',
  repeatsFailure: false,
  noValueText: 'no value',
  options: { get: 'FRnN', list: 'FRD', set: 'dFnPt::' },
  hasLongOptions: false,
  usageTo: 'stderr',
  trees: ['sysfs', 'debugfs', 'proc'],
  breakAt: 80,
  printsEmpty: false,
  namesAreRead: false,
  collectsTree: false,
  hasNetlink: false,
  netlinkElapsedIsAbsolute: false,
  isModernTool: false,
}

const V2_17: LctlDialect = {
  setParamExit: 'last',
  repeatsFailure: true,
  noValueText: 'Invalid argument',
  options: { get: 'bc:FHlLnNmMprRtwy', list: 'bc::DFlLmMprRtw', set: 'C::dFnPt::' },
  hasLongOptions: true,
  usageTo: 'stdout',
  trees: ['sysfs', 'debugfs', 'proc'],
  breakAt: undefined,
  printsEmpty: true,
  namesAreRead: true,
  collectsTree: true,
  hasNetlink: true,
  netlinkElapsedIsAbsolute: true,
  isModernTool: true,
}

export const LCTL_DIALECTS: Readonly<Record<Release, LctlDialect>> = {
  '2.12': OLD,
  '2.15': OLD,
  '2.16': { ...V2_17, breakAt: 80, netlinkElapsedIsAbsolute: false },
  '2.17': V2_17,
  dev: {
    ...V2_17,
    options: { get: 'bc:FHlLnNmMoprRtwy', list: 'bc::DFlLmMoprRtw', set: 'C::dFnoPt::' },
    trees: ['proc', 'sysfs', 'debugfs'],
    netlinkElapsedIsAbsolute: false,
  },
}
