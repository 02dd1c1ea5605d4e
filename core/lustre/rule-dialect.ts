/**
 * Differences of NRS TBF between releases: types, grammar, errors, printed rules, and the effect of leaving a policy.
 *
 * Source: spec/lustre 0.2 and 1, measured A4-A6, B8, B9 (2.15.8, 2.17.0 and the development line). 2.12 is emulated as 2.15.8, and 2.16
 * between 2.15.8 and 2.17.0, where spec/lustre does not distinguish them.
 */
import type { Release } from './release.ts'

/** Fields that a rule can match, in the order of spec/lustre. */
export const RULE_FIELDS = ['jobid', 'nid', 'opcode', 'uid', 'gid', 'projid', 'nodemap'] as const
export type RuleField = (typeof RULE_FIELDS)[number]

export interface RuleDialect {
  /** Supported fields: words of a TBF type, and conditions of generic TBF. */
  readonly fields: readonly RuleField[]
  /** True if a type may be several words joined by `+`. */
  readonly hasCombinations: boolean
  /** True if `tbf generic` is the same as `tbf`. */
  readonly knowsGenericWord: boolean
  /** Error for an unknown word of a type. lctl prints ENOTSUPP as its number and exits with 12, the exit code of ENOMEM. */
  readonly unknownTypeErrno: 'EINVAL' | 'ENOTSUPP'
  /**
   * Condition under which an argument of 16 bytes or more is EINVAL: always, or only on a running policy (a stopped one passes it on, and
   * TBF itself refuses 20 bytes).
   */
  readonly limitsArgument: 'always' | 'when started'
  /** True if a stopped policy clears its argument; else it still prints it. */
  readonly forgetsArgument: boolean
  /**
   * Types whose rules have a separate grammar: one `field={list}`, in whose list commas and `&` are characters, printed as `{list}`, the
   * built-in rule as `{*}`. Other rules are split at every `,` and `&`, also inside braces, and printed as typed, the built-in rule as
   * `*`.
   */
  readonly listTypes: readonly RuleField[]
  /** True if blanks around `=` and after the last item are ignored; else they are EINVAL. */
  readonly trimsBlanks: boolean
  /** True if numbers are parsed as in C, with `0x`, `+` and, for ids, more than 32 bits; else digits only. */
  readonly readsCNumbers: boolean
  /** True if a NID may be an IPv6 address, or an address with a prefix length. */
  readonly hasNetmasks: boolean
  /** True if a range of octets needs all its numbers, so that `[5-]` and `[1-9/x]` are EINVAL. */
  readonly needsWholeRanges: boolean
  /** True if `[9-1]` is EINVAL; else it is an empty range. */
  readonly ordersRanges: boolean
  /** Names of LNet networks, in the order of comparison. */
  readonly nets: readonly string[]
  /** RPCs of the table that this release does not know. */
  readonly lacksOpcodes: readonly string[]
  /** True if the length of rule names is checked; else they are truncated to 15 bytes, and an empty one is accepted. */
  readonly checksNames: boolean
  /** Largest rate, RPC/s. */
  readonly rateMax: number
  /** True if a stopping policy releases its queue at once; else at the rate of its rules (measured B9). */
  readonly drainsByForce: boolean
  /** True if a change of the TBF type waits for queued RPCs; else those RPCs are lost (measured B8). */
  readonly waitsOnRestart: boolean
}

const V2_15: RuleDialect = {
  fields: ['jobid', 'nid', 'opcode', 'uid', 'gid'],
  hasCombinations: false,
  knowsGenericWord: true,
  unknownTypeErrno: 'ENOTSUPP',
  limitsArgument: 'when started',
  forgetsArgument: false,
  listTypes: ['jobid', 'nid', 'opcode', 'uid', 'gid'],
  trimsBlanks: false,
  readsCNumbers: false,
  hasNetmasks: false,
  needsWholeRanges: false,
  ordersRanges: false,
  nets: ['lo', 'tcp', 'o2ib', 'gni', 'gip', 'ptlf', 'kfi'],
  lacksOpcodes: ['mds_batch', 'mds_hsm_data_version'],
  checksNames: true,
  rateMax: 999_999,
  drainsByForce: false,
  waitsOnRestart: false,
}

const V2_16: RuleDialect = {
  ...V2_15,
  limitsArgument: 'always',
  forgetsArgument: true,
  trimsBlanks: true,
  readsCNumbers: true,
  hasNetmasks: true,
  needsWholeRanges: true,
  lacksOpcodes: [],
  drainsByForce: true,
  waitsOnRestart: true,
}

const V2_17: RuleDialect = {
  ...V2_16,
  fields: ['jobid', 'nid', 'opcode', 'uid', 'gid', 'projid'],
  hasCombinations: true,
  unknownTypeErrno: 'EINVAL',
  ordersRanges: true,
  nets: [...V2_15.nets, 'efa', 'bxi3f'],
}

export const RULE_DIALECTS: Readonly<Record<Release, RuleDialect>> = {
  '2.12': {
    ...V2_15,
    nets: ['lo', 'tcp', 'o2ib', 'gni', 'gip', 'ptlf'],
    lacksOpcodes: ['ost_fallocate', 'ost_seek', 'mds_rmfid', 'mds_batch', 'mds_hsm_data_version'],
    checksNames: false,
    rateMax: 65_534,
  },
  '2.15': V2_15,
  '2.16': V2_16,
  '2.17': V2_17,
  dev: { ...V2_17, fields: RULE_FIELDS, knowsGenericWord: false, listTypes: [] },
}
