/**
 * Cost model of the paper's cluster: one set of figures for all experiments.
 *
 * Source: spec/seqdlm 16, calibrated on Fig. 17, 18a, 19b and Table III. Two figures belong to one application each,
 * not to the cluster: `tileBlockUs` (fitted at 1 stripe of Fig. 23) and `forwardMBps`.
 */
export interface Costs {
  /** Round trip of a lock RPC. */
  readonly rttUs: number
  /** Lock server CPU for a request, downgrade or release: 213 kOPS. */
  readonly rpcUs: number
  /** Additional lock server CPU for checking a lock request. */
  readonly lockUs: number
  /** Lock server CPU for sending a revocation, and for processing its reply. */
  readonly revokeUs: number
  readonly revokeReplyUs: number
  /** Client's processing of a message. */
  readonly clientUs: number
  /** Copy of a write's data into registered pages, before the lock: cached pages, and fresh ones. */
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
  /** IO thread of a server, per flush or read; as many as there are requests. */
  readonly ioUs: number
  readonly deviceMBps: number
  /** Device, per extent: page-aligned, and unaligned. */
  readonly extentUs: number
  readonly unalignedUs: number
  /** Relative variation of every cost, up and down, uniform. */
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
  rttUs: 17.5,
  rpcUs: 4.7,
  lockUs: 1.8,
  revokeUs: 1.2,
  revokeReplyUs: 1.2,
  clientUs: 0.5,
  hotMBps: 4750,
  coldMBps: 2350,
  stageUs: 1,
  insertMBps: 80_000,
  insertUs: 1.5,
  netMBps: 12_500,
  verbsUs: 5,
  ioUs: 28,
  deviceMBps: 1900,
  extentUs: 4,
  unalignedUs: 8,
  jitter: 0.1,
  skewUs: 1000,
  mpiUs: 3,
  tileBlockUs: 45,
  forwardMBps: 3500,
}
