/**
 * Events that a lock resource reports to an observer, in order: enough to draw lanes, replay a schedule and check the
 * protocol externally.
 */
import type { ClientId, ResourceId } from './messages.ts'
import type { LockMode, LockState } from './modes.ts'
import type { LockRange } from './ranges.ts'

/** Rule of a grant: no conflict, over CANCELING NBW locks (Table II, N/Y), or after conflicting ones were removed. */
export type GrantRule = 'free' | 'early-grant' | 'normal-grant'

interface OfResource {
  readonly resource: ResourceId
  /** ns. */
  readonly at: number
  readonly client: ClientId
}

interface OfLock extends OfResource {
  readonly lockId: number
}

export type LockEvent =
  | (OfResource & {
      readonly kind: 'asked'
      readonly reqId: number
      readonly mode: LockMode
      readonly range: LockRange
    })
  | (OfResource & { readonly kind: 'waiting'; readonly reqId: number; readonly behindClient: ClientId })
  /** A waiting request that will not be granted: its client is gone, or the resource has no SNs left. */
  | (OfResource & { readonly kind: 'withdrawn'; readonly reqId: number })
  | (OfLock & {
      readonly kind: 'granted'
      readonly reqId: number
      readonly asked: LockMode
      readonly mode: LockMode
      /** Granted range, after expansion. */
      readonly range: LockRange
      readonly required: LockRange
      readonly state: LockState
      readonly sn: number
      readonly minSn: number
      readonly absorbed: readonly number[]
      readonly waitedNs: number
      readonly rule: GrantRule
    })
  | (OfLock & { readonly kind: 'revoked' | 'canceling' | 'released' | 'evicted' })
  | (OfLock & { readonly kind: 'downgraded'; readonly mode: LockMode })

export type LockObserver = (event: LockEvent) => void
