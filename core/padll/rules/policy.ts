/** Policies: what an administrator wants of a job, and from when on. */
import type { Scope } from '../vocabulary.ts'
import type { RuleFault } from './rule-fault.ts'

/** limit: a static rate; demand: what the job is to have of a shared limit. Text files call a limit `job`. */
export const POLICY_KINDS = ['limit', 'demand'] as const
export type PolicyKind = (typeof POLICY_KINDS)[number]

/** Kinds that sample files have and no control plane acts on: read, shown, not enforced. */
export const IGNORED_KINDS = ['user', 'mds'] as const
export type IgnoredKind = (typeof IGNORED_KINDS)[number]

export interface Policy {
  /** Where it stands, from 1. */
  readonly line: number
  /** Number that the file gives it; it changes nothing. */
  readonly rule: number
  /** Seconds after the policies were put in force. */
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
  /** In the order of the file; lines with errors are left out. */
  readonly policies: readonly Policy[]
  readonly faults: readonly RuleFault[]
}

/** Most bytes of a job's name: that of a stage's identity. */
export const JOB_NAME_MAX = 200
/** Largest rate of a policy: of data a terabyte a second. */
export const POLICY_RATE_MAX = 1e12
/** Latest second: 30 years. */
export const SECOND_MAX = 946_080_000

/** Why a text is no name of a job that a policy can have; undefined when it is. */
export function jobNameFault(name: string): string | undefined {
  if (name === '') return 'the name of a job is not empty'
  if (name.length > JOB_NAME_MAX) return `the name of a job has at most ${JOB_NAME_MAX} characters`

  if (/[\s\u0000-\u001f\u007f-\u009f]/.test(name)) return 'the name of a job has no blanks and no control characters'
  return undefined
}
