/**
 * Lint remarks on rules: common mistakes, inputs that servers mishandle, and effects that a rule might be expected to have but does not.
 * Texts are plain and contain figures.
 */
import type { LiveJob } from './live-job.ts'
import type { ServerRules } from './server-rules.ts'

export const LINT_CODES = [
  'SHADOWED', // earlier rules match everything that it does
  'SHADOWED_LIVE', // all live jobs that it matches are matched by earlier rules
  'WIDE', // a wildcard that matches many live jobs
  'TYPE_MISMATCH', // a field that the running TBF type does not support
  'UNBOUND', // no class for more than a minute
  'NOT_EVERYWHERE', // some servers lack it
  'DIFFERS', // another rate, condition or position on some servers
  'TYPES_DIFFER', // servers run different TBF types
  'CPTS_DISAGREE', // CPTs of one server have different rules
  'BINDS_SYSTEM', // a live job of root or of the system matches it
  'ROOT_NOT_EXEMPT', // it limits root, and no earlier rule exempts root
  'MISHANDLED', // servers accept it and mishandle it
  'ODD', // servers accept it, but it is probably not intended
  'NAME_TOO_LONG', // more than 15 characters
  'RATE_LOSES', // a rate that TBF cannot fully reach
  'HP_NOT_COVERED', // high-priority RPCs are not limited by it
  'CREATE_NOT_LIMITED', // mds_reint does not limit opens and creates
  'SLOTS_SHARED', // a limited job fills the RPC slots of clients that others use
  'REALTIME_BURST', // burst that an idle job may send
] as const
export type LintCode = (typeof LINT_CODES)[number]

export interface Lint {
  readonly code: LintCode
  /** bad: a server refuses or mishandles it; watch: usually a mistake; info: good to know. */
  readonly level: 'info' | 'watch' | 'bad'
  /** Rule concerned; empty for the whole list. */
  readonly rule: string
  readonly text: string
  /** Servers concerned, if not all. */
  readonly servers?: readonly string[]
}

export interface LintContext {
  /** Servers of one service with their current or planned rules. */
  readonly servers: readonly ServerRules[]
  readonly service: 'ost_io' | 'mdt' | 'mdt_readpage'
  /** Current jobs; absent: no remarks about jobs. */
  readonly jobs?: readonly LiveJob[] | undefined
  /** Time without a class on any server, ms; undefined while the rule has one. */
  readonly unboundMs?: ((rule: string) => number | undefined) | undefined
  /** True if a job currently runs at the limit of its rule. */
  readonly isLimited?: ((jobId: string) => boolean) | undefined
  /** True for rules that are decided per server (a controller's): they may differ, and get no individual remarks. */
  readonly isPrivate?: ((rule: string) => boolean) | undefined
  /** RPCs that a client has in flight to one target, max_rpcs_in_flight. @default 8 */
  readonly clientSlots?: number | undefined
}

/** Time without a class before a rule gets a remark. */
export const UNBOUND_MS = 60_000
