/**
 * Messages between clients and servers. Plain values: they may be queued, delayed, repeated and printed.
 *
 * Source: spec/seqdlm 3, 11. Guarantees of the transport: messages between one client and one server about locks arrive
 * in the order sent; flushes and reads in any order; any of them may arrive twice; none arrives after its connection is
 * closed (a crash at either end, an eviction). Deviations: a size query for append; a refusal, so that a request that
 * cannot be granted is answered; flushes name the oldest unanswered one, so that a server can tell a repeated flush
 * from a new one with bounded memory (the SN does not show a repeat of old data under one SN).
 */
import type { LockMode, LockState } from './modes.ts'
import type { LockRange } from './ranges.ts'

export type ClientId = number
export type ServerId = number
/** A stripe of a file: both its data object and its lock resource. */
export type ResourceId = number

/** Bytes with the SN of the lock they were written under. */
export interface Block {
  readonly start: number
  /** Exclusive; EOF only for a hole. */
  readonly end: number
  readonly sn: number
  /** Content; null for a hole and if only extents are simulated. */
  readonly data: Uint8Array | null
  /** Truncated away: reads as zeros, and is not part of the object's size. */
  readonly hole: boolean
}

/** A lock as its client knows it, for a lock server that lost its state. */
export interface ReportedLock {
  readonly resource: ResourceId
  readonly lockId: number
  readonly range: LockRange
  readonly mode: LockMode
  readonly state: LockState
  readonly sn: number
  readonly minSn: number
}

export interface LockRequest {
  readonly kind: 'lock-request'
  readonly resource: ResourceId
  /** Ascending per client and server. */
  readonly reqId: number
  readonly range: LockRange
  readonly mode: LockMode
}

/** Messages from a client to the lock service of a server. */
export type ToLockServer =
  | LockRequest
  | { readonly kind: 'revoke-reply'; readonly resource: ResourceId; readonly lockId: number }
  | { readonly kind: 'downgrade'; readonly resource: ResourceId; readonly lockId: number; readonly mode: LockMode }
  | { readonly kind: 'release'; readonly resource: ResourceId; readonly lockId: number }
  | { readonly kind: 'recover-report'; readonly locks: readonly ReportedLock[] }

export interface LockGrant {
  readonly kind: 'lock-grant'
  readonly resource: ResourceId
  readonly reqId: number
  readonly lockId: number
  readonly range: LockRange
  readonly mode: LockMode
  readonly state: LockState
  readonly sn: number
  /** Locks of the same client that this one replaces. */
  readonly absorbed: readonly number[]
}

export type RefusalCode = 'E_RANGE' | 'E_MODE' | 'E_SN_EXHAUSTED'

/** Messages from the lock service to a client. */
export type FromLockServer =
  | LockGrant
  | { readonly kind: 'lock-refusal'; readonly resource: ResourceId; readonly reqId: number; readonly code: RefusalCode }
  | { readonly kind: 'revoke'; readonly resource: ResourceId; readonly lockId: number }
  /** A restarted server queries every lock; requests wait until it is open. */
  | { readonly kind: 'recover-query' }
  | { readonly kind: 'recover-open' }

export interface FlushRequest {
  readonly kind: 'flush-request'
  readonly resource: ResourceId
  /** Ascending per client and server. */
  readonly rpcSeq: number
  /** Every flush below this one has been answered. */
  readonly answeredBelow: number
  readonly blocks: readonly Block[]
}

/** Messages from a client to the IO service of a server. */
export type ToDataServer =
  | FlushRequest
  | {
      readonly kind: 'read-request'
      readonly resource: ResourceId
      readonly reqId: number
      readonly start: number
      readonly end: number
    }
  | { readonly kind: 'size-request'; readonly resource: ResourceId; readonly reqId: number }

/** Messages from the IO service to a client. */
export type FromDataServer =
  | { readonly kind: 'flush-reply'; readonly resource: ResourceId; readonly rpcSeq: number }
  | {
      readonly kind: 'read-reply'
      readonly reqId: number
      readonly start: number
      readonly end: number
      readonly data: Uint8Array | null
    }
  | { readonly kind: 'size-reply'; readonly reqId: number; readonly size: number }

export type ToServer = ToLockServer | ToDataServer
export type ToClient = FromLockServer | FromDataServer
export type Message = ToServer | ToClient

/** True if a message must keep its order among those of its client and server. */
export function isOrdered(message: Message): boolean {
  switch (message.kind) {
    case 'flush-request':
    case 'flush-reply':
    case 'read-request':
    case 'read-reply':
    case 'size-request':
    case 'size-reply':
      return false
    default:
      return true
  }
}

/** Bytes of file data that a message moves over the wire; headers are not counted. */
export function payloadBytes(message: Message): number {
  if (message.kind === 'flush-request') return bytesOf(message.blocks)
  if (message.kind === 'read-reply') return message.end - message.start
  return 0
}

/** Bytes in blocks; a hole has none. */
export function bytesOf(blocks: readonly Block[]): number {
  let bytes = 0
  for (const b of blocks) if (!b.hole) bytes += b.end - b.start
  return bytes
}
