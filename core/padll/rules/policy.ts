/** Policies: an administrator's limits and demands of jobs over time. */
import type { Scope } from '../vocabulary.ts'
import type { RuleFault } from './rule-fault.ts'

/** limit: a static rate; demand: rate to get from a shared limit. Text files call a limit `job`. */
export const POLICY_KINDS = ['limit', 'demand'] as const
export type PolicyKind = (typeof POLICY_KINDS)[number]

/** Kinds in sample files that no control plane applies: read, shown, not enforced. */
export const IGNORED_KINDS = ['user', 'mds'] as const
export type IgnoredKind = (typeof IGNORED_KINDS)[number]

export interface Policy {
  /** Line in the file, from 1. */
  readonly line: number
  /** Number in the file; it has no effect. */
  readonly rule: number
  /** Seconds after the policies came into force. */
  readonly atS: number
  readonly kind: PolicyKind | IgnoredKind
  readonly job: string
  readonly scope: Scope
  /** op/s (byte/s for data classes), > 0. */
  readonly value: number
}

export const isEnforced = (p: Policy): p is Policy & { readonly kind: PolicyKind } =>
  p.kind === 'limit' || p.kind === 'demand'

export interface PolicyFile {
  readonly format: 'text' | 'yaml'
  /** Policies in the order of the file; faulty lines are omitted. */
  readonly policies: readonly Policy[]
  readonly faults: readonly RuleFault[]
}

/** Longest job name, characters: that of a stage's identity. */
export const JOB_NAME_MAX = 200
/** Largest rate of a policy: 1 TB/s. */
export const POLICY_RATE_MAX = 1e12
/** Latest second: 30 years. */
export const SECOND_MAX = 946_080_000

/** Returns why a text is not valid as a job name of a policy; undefined if it is. */
export function jobNameFault(name: string): string | undefined {
  if (name === '') return 'the name of a job must not be empty'
  if (name.length > JOB_NAME_MAX) return `the name of a job has at most ${JOB_NAME_MAX} characters`

  if (/[\s\u0000-\u001f\u007f-\u009f]/.test(name))
    return 'the name of a job must contain no blanks and no control characters'
  return undefined
}
