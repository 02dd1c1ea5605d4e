/** RPC between a client and a target, and the targets that can receive it. */
import type { Ring } from '../base/ring.ts'
import type { RpcHistograms } from './io-histograms.ts'
import type { ExtentLocks } from './ldlm-extents.ts'
import type { Operation, RpcKind } from './operations.ts'
import type { ServiceRequest } from './ptlrpc-service.ts'

export interface Rpc extends ServiceRequest {
  readonly op: Operation
  /** Bulk data, bytes; 0 for metadata. */
  readonly bytes: number
  /** Offset of its first byte in the object. */
  readonly offset: number
  readonly to: RpcTarget
  /** Index of the sending process on its client. */
  readonly sender: number
  /** Write-back that blocks another client's lock; servers put it in their high-priority queue. */
  readonly isForced?: boolean
  /** Queue that it was sent from, and the time of sending; stored here for the same reason as `visit`. */
  line?: ClientLine | undefined
  sentNs?: number
  /** Called at the client with the RPC when the reply arrives. */
  readonly done: (rpc: Rpc) => void
}

/** OST or MDT as seen by clients. */
export interface RpcTarget {
  readonly name: string
  /** Name of its server. */
  readonly host: string
  /** CPTs of its server. */
  readonly cpts: number
  /** Locks on the objects of an OST. */
  readonly extents?: ExtentLocks
  /** Receives an RPC on a CPT; calls `reply` with it when its service ends. */
  receive(rpc: Rpc, cpt: number, reply: (rpc: Rpc) => void): void
}

/** Queue of a client to one target. */
export interface ClientLine {
  inFlight: number
  readonly waiting: Ring<Rpc>
  readonly urgent: Ring<Rpc>
  /** max_rpcs_in_flight of this connection. */
  slots: number
  /** RPCs in flight by kind. */
  readonly underWay: Record<RpcKind, number>
  /** `osc.*.rpc_stats`, `mdc.*.rpc_stats`. */
  readonly histograms: RpcHistograms
}
