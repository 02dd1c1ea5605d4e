/**
 * What the releases differ in about the tool lctl: options, search order, layout, messages and exit codes.
 *
 * Source: spec/lustre 0.2 and 7, measured A12, A20-A26, A32 and B10 (2.15.8, 2.17.0 and the development line). 2.12 is
 * played as 2.15.8, 2.16 as 2.17.0 except where spec/lustre 0.2 tells them apart.
 */
import type { Release } from './release.ts'

/** Options as getopt takes them: a letter, `:` when it needs a value, `::` when it may have one. */
export interface LctlOptions {
  readonly get: string
  readonly list: string
  readonly set: string
}

export interface LctlDialect {
  /** Which assignment of several gives set_param its exit code: the first that failed, or the last one. */
  readonly setParamExit: 'first error' | 'last'
  /** Whether a failed assignment is repeated in a second line, with the name as it was asked for. */
  readonly repeatsFailure: boolean
  /** What set_param says of a name without a value. */
  readonly noValueText: string
  readonly options: LctlOptions
  /** Whether options have long names too. */
  readonly hasLongOptions: boolean
  /** Where the usage of get_param, set_param and list_param goes; the exit code is 4 everywhere. */
  readonly usageTo: 'stdout' | 'stderr'
  /** Trees in the order in which a name is looked up; what an earlier one holds is printed first. */
  readonly trees: readonly ('proc' | 'sysfs' | 'debugfs')[]
  /** Columns from which `name=value` of one line is broken after the `=`; undefined: never. */
  readonly breakAt: number | undefined
  /** Whether a value of no bytes is printed, as `name=`. */
  readonly printsEmpty: boolean
  /** Whether `get_param -N` reads the files, so that it leaves out directories and what cannot be read. */
  readonly namesAreRead: boolean
  /** Whether the directories of `-R` are listed one after the other, rather than each where its name stands. */
  readonly collectsTree: boolean
  /** Whether what a user cannot see is asked for over netlink, and nothing is said about it. */
  readonly hasNetlink: boolean
  /** Whether elapsed_time of a table served over netlink is an absolute time (2.17.0, measured A12b). */
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
