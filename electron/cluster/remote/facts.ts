/** Facts about one server, discovered before it is read by read-only commands, each once. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { ServerRole } from '#core/api/clusters.ts'
import type { Failure } from '#core/base/result.ts'
import type { PolicyStatus } from '#core/lustre/nrs-policies.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { LustreVersion } from '#core/lustre/version.ts'
import type { TimerKind } from '../../base/connection.ts'
import type { SudoScope } from './sudo-scope.ts'

export interface ServiceFacts {
  readonly service: ServiceName
  readonly policies: readonly PolicyStatus[]
  /** Set if its rules can be read: false without TBF, and without the necessary rights. */
  readonly readsRules: boolean
  readonly rules: readonly RuleLine[]
}

export interface NodeFacts {
  /** Name given by the operator. */
  readonly host: string
  /** Hostname reported by the server. */
  readonly hostname: string
  readonly user: string
  readonly isRoot: boolean
  readonly sudo: SudoScope
  /** lctl as called; a path, or `lctl` if root finds it by name. */
  readonly lctl: string
  /** undefined: lctl does not exist, or its version cannot be read; nothing is ever written there. */
  readonly version: LustreVersion | undefined
  readonly versionText: string
  readonly roles: readonly ServerRole[]
  readonly targets: readonly string[]
  /** Targets registered at this MGS, of all file systems; empty without an MGS. */
  readonly expected: readonly string[]
  readonly services: readonly ServiceFacts[]
  /** CPU partitions; undefined: not readable. */
  readonly cpts: number | undefined
  readonly jobid: { readonly variable: string; readonly name: string } | undefined
  readonly timers: TimerKind
  /** Server clock minus local clock at the middle of the round trip, ms. */
  readonly clockSkewMs: number | undefined
  /** Round trip of a command that does nothing, ms. */
  readonly roundTripMs: number
}

/**
 * Reason why a server is not read. Codes: REMOTE_SHELL (the login's shell runs no commands), SUDO_NEEDED (numbers
 * without root are wrong), NO_LCTL, LUSTRE_NOT_LOADED, and those of a command without an answer.
 */
export interface DiscoveryFailure extends Failure {
  /** Facts found until then. */
  readonly facts: NodeFacts | undefined
}
