/**
 * Policies of the distributed lock manager: SeqDLM, its ablations and the traditional ones are settings of the same
 * server and client.
 *
 * Source: spec/seqdlm 6, 12; A5, A7. Deviation: without upgrading, locks of one client still merge where one of the two
 * modes covers the other, since a cache that reuses its locks requires it ("own-lock merge" of the baselines).
 */
import { selectMode, type LockMode, type OperationKind } from './modes.ts'

export interface DlmPolicy {
  readonly name: string
  /** Four modes by Fig. 10, or PR for reads and PW for everything else. */
  readonly modes: 'four' | 'two'
  /** Grant NBW and BW over CANCELING NBW locks. */
  readonly earlyGrant: boolean
  /** Grant in state CANCELING if the lock would be revoked at once. */
  readonly earlyRevocation: boolean
  /** A request beside a lock of its own client takes a mode that covers both. */
  readonly upgrade: boolean
  /** Cancel a lock under the least sufficient mode. */
  readonly downgrade: boolean
  /** Extend the end of a granted range into free space. */
  readonly expand: boolean
  /** Waiting requests bound the expansion, too (A7); false is the ablation "granted locks only". */
  readonly queueLimits: boolean
  /** Longest expanded range in bytes while more than `capAbove` locks are unreleased on the resource; Infinity for no cap. */
  readonly capBytes: number
  readonly capAbove: number
  /** Required ranges are aligned outward to this many bytes before the request. */
  readonly alignBytes: number
  /** A request carries a list of extents. */
  readonly datatype: boolean
}

const PAGE = 4096

export const SEQDLM: DlmPolicy = {
  name: 'SeqDLM',
  modes: 'four',
  earlyGrant: true,
  earlyRevocation: true,
  upgrade: true,
  downgrade: true,
  expand: true,
  queueLimits: true,
  capBytes: Infinity,
  capAbove: Infinity,
  alignBytes: PAGE,
  datatype: false,
}

export const DLM_BASIC: DlmPolicy = {
  ...SEQDLM,
  name: 'DLM-basic',
  modes: 'two',
  earlyGrant: false,
  earlyRevocation: false,
  upgrade: false,
  downgrade: false,
}

export const DLM_LUSTRE: DlmPolicy = { ...DLM_BASIC, name: 'DLM-Lustre', capBytes: 32 * 1024 * 1024, capAbove: 32 }

export const DLM_DATATYPE: DlmPolicy = {
  ...DLM_BASIC,
  name: 'DLM-datatype',
  expand: false,
  alignBytes: 1,
  datatype: true,
}

export const POLICIES: readonly DlmPolicy[] = [SEQDLM, DLM_BASIC, DLM_LUSTRE, DLM_DATATYPE]

/** Returns the mode that an operation requests under a policy. */
export function modeFor(policy: DlmPolicy, kind: OperationKind, resources: number, implicitRead = false): LockMode {
  if (policy.modes === 'four') return selectMode(kind, resources, implicitRead)
  return kind === 'read' ? 'PR' : 'PW'
}
