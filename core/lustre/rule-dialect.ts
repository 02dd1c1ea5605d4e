/**
 * What the releases differ in about NRS TBF: types, grammar, errors, printing of rules, and what leaving a policy does.
 *
 * Source: spec/lustre 0.2 and 1, measured A4-A6, B8, B9 (2.15.8, 2.17.0 and the development line). 2.12 is played as 2.15.8
 * and 2.16 between 2.15.8 and 2.17.0 where the sheet does not tell them apart.
 */
import type { Release } from './release.ts'

/** What a rule may match by, in the order in which the sheet names them. */
export const RULE_FIELDS = ['jobid', 'nid', 'opcode', 'uid', 'gid', 'projid', 'nodemap'] as const
export type RuleField = (typeof RULE_FIELDS)[number]

export interface RuleDialect {
  /** Fields that exist: words of a TBF type, and what generic TBF matches by. */
  readonly fields: readonly RuleField[]
  /** Whether a type may be several words joined by `+`. */
  readonly hasCombinations: boolean
  /** Whether `tbf generic` is the same as `tbf`. */
  readonly knowsGenericWord: boolean
  /** What an unknown word of a type is. lctl prints ENOTSUPP as its number and ends with 12, the exit code of ENOMEM. */
  readonly unknownTypeErrno: 'EINVAL' | 'ENOTSUPP'
  /**
   * When an argument of 16 bytes or more is EINVAL: always, or only on a policy that runs (a stopped one hands it on, and
   * TBF itself refuses 20 bytes).
   */
  readonly limitsArgument: 'always' | 'when started'
  /** Whether a policy that stopped forgets its argument, or goes on printing it. */
  readonly forgetsArgument: boolean
  /**
   * Types whose rules are read and printed by a grammar of their own: one `field={list}`, in whose list commas and `&` are
   * characters, printed as `{list}`, the built-in rule as `{*}`. Other rules are split at every `,` and `&`, inside braces
   * too, and printed as typed, the built-in rule as `*`.
   */
  readonly listTypes: readonly RuleField[]
  /** Whether blanks around `=` and behind the last item are ignored; else they are EINVAL. */
  readonly trimsBlanks: boolean
  /** Whether numbers are read as C reads them, with `0x`, `+` and, for ids, more than 32 bits; else digits only. */
  readonly readsCNumbers: boolean
  /** Whether a NID may be an IPv6 address, or an address with a prefix length. */
  readonly hasNetmasks: boolean
  /** Whether a range of octets needs all its numbers, so that `[5-]` and `[1-9/x]` are EINVAL. */
  readonly needsWholeRanges: boolean
  /** Whether `[9-1]` is EINVAL rather than a range of nothing. */
  readonly ordersRanges: boolean
  /** Names of LNet networks, in the order in which a name is compared with them. */
  readonly nets: readonly string[]
  /** RPCs of the table that this release does not know yet. */
  readonly lacksOpcodes: readonly string[]
  /** Whether rule names are checked for length; else they are cut to 15 bytes, and an empty one is taken. */
  readonly checksNames: boolean
  /** Largest rate, RPC/s. */
  readonly rateMax: number
  /** Whether a policy that stops releases what it holds at once, or at the rate of its rules (measured B9). */
  readonly drainsByForce: boolean
  /** Whether a change of the TBF type waits for what is queued; else those RPCs are lost for good (measured B8). */
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
