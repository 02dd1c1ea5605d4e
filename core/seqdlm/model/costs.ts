/**
 * What everything costs on the paper's cluster: one set of figures for every experiment.
 *
 * Source: spec/seqdlm 16, calibrated on Fig. 17, 18a, 19b and Table III. Two figures are of one application each and not of the
 * cluster: `tileBlockUs` (fitted at 1 stripe of Fig. 23) and `forwardMBps`.
 */
export interface Costs {
  /** Round trip of a lock RPC. */
  readonly rttUs: number
  /** Lock server CPU for a request, downgrade or release: 213 kOPS. */
  readonly rpcUs: number
  /** Lock server CPU for looking at a lock request, on top. */
  readonly lockUs: number
  /** Lock server CPU for sending a revocation, and for taking its reply. */
  readonly revokeUs: number
  readonly revokeReplyUs: number
  /** A client's handling of a message. */
  readonly clientUs: number
  /** Copy of a write's data into registered pages, before the lock: of pages that are in the caches, and of fresh ones. */
  readonly hotMBps: number
  readonly coldMBps: number
  readonly stageUs: number
  /** References to the pages into the page cache, under the lock. */
  readonly insertMBps: number
  readonly insertUs: number
  /** Network port, each side. */
  readonly netMBps: number
  /** Round trip of data traffic (verbs). */
  readonly verbsUs: number
  /** IO thread of a server, for each flush or read; as many as there are requests. */
  readonly ioUs: number
  readonly deviceMBps: number
  /** Device, for each extent: on page bounds, and off them. */
  readonly extentUs: number
  readonly unalignedUs: number
  /** Part by which every cost varies, up and down, uniformly. */
  readonly jitter: number
  /** Processes start within this time. */
  readonly skewUs: number
  /** One MPI message. */
  readonly mpiUs: number
  /** Tile-IO's handling of one non-contiguous block. */
  readonly tileBlockUs: number
  /** Copy through the IO-forwarding daemon of a node, all its threads together. */
  readonly forwardMBps: number
}

export const COSTS: Costs = {
  ...{ rttUs: 17.5, rpcUs: 4.7, lockUs: 1.8, revokeUs: 1.2, revokeReplyUs: 1.2, clientUs: 0.5 },
  ...{ hotMBps: 4750, coldMBps: 2350, stageUs: 1, insertMBps: 80_000, insertUs: 1.5 },
  ...{ netMBps: 12_500, verbsUs: 5, ioUs: 28, deviceMBps: 1900, extentUs: 4, unalignedUs: 8 },
  ...{ jitter: 0.1, skewUs: 1000, mpiUs: 3, tileBlockUs: 45, forwardMBps: 3500 },
}
