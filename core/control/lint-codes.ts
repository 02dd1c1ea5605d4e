/**
 * What remarks on rules are about: what is usually a mistake, what servers mishandle, and what a rule does not do although one
 * might think so. Texts are plain and name figures.
 */
import type { LiveJob } from './live-job.ts'
import type { ServerRules } from './server-rules.ts'

export const LINT_CODES = [
  'SHADOWED', // rules before it match all that it does
  'SHADOWED_LIVE', // all live jobs that it matches fall under rules before it
  'WIDE', // a wildcard that matches many live jobs
  'TYPE_MISMATCH', // a field that the running TBF type does not have
  'UNBOUND', // no class for more than a minute
  'NOT_EVERYWHERE', // some servers lack it
  'DIFFERS', // another rate, condition or place on some servers
  'TYPES_DIFFER', // servers run different TBF types
  'CPTS_DISAGREE', // CPTs of one server do not have the same rules
  'BINDS_SYSTEM', // a live job of root or of the system falls under it
  'ROOT_NOT_EXEMPT', // it limits root, and no rule before it spares root
  'MISHANDLED', // servers take it and mishandle it
  'ODD', // servers take it, but it is hardly meant
  'NAME_TOO_LONG', // more than 15 characters
  'RATE_LOSES', // so fast that TBF falls short of it
  'HP_NOT_COVERED', // high-priority RPCs pass it by
  'CREATE_NOT_LIMITED', // mds_reint does not limit opens and creates
  'SLOTS_SHARED', // a limited job fills the RPC slots of clients that others use
  'REALTIME_BURST', // what an idle job may send at once
] as const
export type LintCode = (typeof LINT_CODES)[number]

export interface Lint {
  readonly code: LintCode
  /** bad: a server refuses or mishandles it; watch: usually a mistake; info: worth knowing. */
  readonly level: 'info' | 'watch' | 'bad'
  /** Rule that it is about; empty for the list as a whole. */
  readonly rule: string
  readonly text: string
  /** Servers that it is about, where not all. */
  readonly servers?: readonly string[]
}

export interface LintContext {
  /** Servers of one service with their rules as they are, or as they would be. */
  readonly servers: readonly ServerRules[]
  readonly service: 'ost_io' | 'mdt' | 'mdt_readpage'
  /** Jobs that run now; absent: nothing is said about them. */
  readonly jobs?: readonly LiveJob[] | undefined
  /** How long a rule has had no class on any server, ms; undefined while it has one. */
  readonly unboundMs?: ((rule: string) => number | undefined) | undefined
  /** Jobs that run at the limit of their rule now. */
  readonly isLimited?: ((jobId: string) => boolean) | undefined
  /** Rules that are decided server by server (a controller's): they need not be alike, and are not remarked on one by one. */
  readonly isPrivate?: ((rule: string) => boolean) | undefined
  /** RPCs that a client has in flight to one target, max_rpcs_in_flight. @default 8 */
  readonly clientSlots?: number | undefined
}

/** A rule without a class for this long is remarked on. */
export const UNBOUND_MS = 60_000
