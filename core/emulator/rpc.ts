/** One RPC on its way from a client to a target and back, and where it can go. */
import type { Ring } from '../base/ring.ts'
import type { RpcHistograms } from './io-histograms.ts'
import type { ExtentLocks } from './ldlm-extents.ts'
import type { Operation, RpcKind } from './operations.ts'
import type { ServiceRequest } from './ptlrpc-service.ts'

export interface Rpc extends ServiceRequest {
  readonly op: Operation
  /** Bulk data; 0 for metadata. */
  readonly bytes: number
  /** Place of its first byte in the object. */
  readonly offset: number
  readonly to: RpcTarget
  /** The sending process among those of its client. */
  readonly sender: number
  /** Write-back that another client's lock waits for: servers put it in their high-priority queue. */
  readonly isForced?: boolean
  /** Where its client sends it, and when it did; it is noted here for the same reason as `visit`. */
  line?: ClientLine | undefined
  sentNs?: number
  /** Called with it at the client when the reply is there. */
  readonly done: (rpc: Rpc) => void
}

/** An OST or an MDT as clients see it. */
export interface RpcTarget {
  readonly name: string
  /** Name of its server. */
  readonly host: string
  /** CPTs of its server. */
  readonly cpts: number
  /** Locks on the objects of an OST. */
  readonly extents?: ExtentLocks
  /** Takes an RPC off the network on a CPT; `reply` is called with it when its service ends. */
  receive(rpc: Rpc, cpt: number, reply: (rpc: Rpc) => void): void
}

/** What a client has under way to one target. */
export interface ClientLine {
  inFlight: number
  readonly waiting: Ring<Rpc>
  readonly urgent: Ring<Rpc>
  /** max_rpcs_in_flight of this connection. */
  slots: number
  /** RPCs under way by what they are. */
  readonly underWay: Record<RpcKind, number>
  /** `osc.*.rpc_stats`, `mdc.*.rpc_stats`. */
  readonly histograms: RpcHistograms
}
