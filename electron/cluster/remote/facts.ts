/** What is found out about one server before it is read: read-only commands, each once. */
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
  /** Whether its rules can be read: false without TBF, and without the right to. */
  readonly readsRules: boolean
  readonly rules: readonly RuleLine[]
}

export interface NodeFacts {
  /** The name that the operator wrote. */
  readonly host: string
  /** What the server calls itself. */
  readonly hostname: string
  readonly user: string
  readonly isRoot: boolean
  readonly sudo: SudoScope
  /** lctl as it is called; a path, or `lctl` where root finds it by name. */
  readonly lctl: string
  /** undefined: lctl is not there, or its version cannot be read; nothing is ever written there. */
  readonly version: LustreVersion | undefined
  readonly versionText: string
  readonly roles: readonly ServerRole[]
  readonly targets: readonly string[]
  /** Targets that the MGS here knows of, of all file systems; empty where there is none. */
  readonly expected: readonly string[]
  readonly services: readonly ServiceFacts[]
  /** CPU partitions; undefined: not readable. */
  readonly cpts: number | undefined
  readonly jobid: { readonly variable: string; readonly name: string } | undefined
  readonly timers: TimerKind
  /** Server clock less ours at the middle of the round trip, ms. */
  readonly clockSkewMs: number | undefined
  /** What a command that does nothing takes, ms. */
  readonly roundTripMs: number
}

/**
 * Why a server is not read. Codes: REMOTE_SHELL (the login's shell runs no commands), SUDO_NEEDED (numbers without root are wrong),
 * NO_LCTL, LUSTRE_NOT_LOADED, and those of a command without an answer.
 */
export interface DiscoveryFailure extends Failure {
  /** What was found all the same. */
  readonly facts: NodeFacts | undefined
}
