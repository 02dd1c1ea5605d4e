/** Workload of an experiment's jobs: processes that write or read whole RPCs, one outstanding each. */

/** One process. It issues its next RPC after the reply to the last one. */
export interface ProcessSetup {
  /** Total RPCs of 1 MiB; Infinity for an endless process. */
  readonly rpcs: number
  /** Start, s. */
  readonly startS: number
  /** Bursts of this many RPCs, each followed by a pause; undefined: continuous. */
  readonly burst?: { readonly rpcs: number; readonly thinkS: number } | undefined
}

/** One job on a client node of its own. */
export interface JobSetup {
  readonly id: string
  /** Number of compute nodes, which is the priority. */
  readonly nodes: number
  readonly processes: readonly ProcessSetup[]
}

/** A file of 1 GiB in RPCs of 1 MiB. */
export const FILE_RPCS = 1024

/** `count` equal processes. */
export const processes = (count: number, setup: ProcessSetup): ProcessSetup[] =>
  Array.from({ length: count }, () => setup)

/** A process without pauses. */
export const continuous = (startS = 0, rpcs = FILE_RPCS): ProcessSetup => ({ rpcs, startS })

/** A process of bursts. */
export const bursts = (burstRpcs: number, thinkS: number, startS: number, rpcs = FILE_RPCS): ProcessSetup => ({
  rpcs,
  startS,
  burst: { rpcs: burstRpcs, thinkS },
})
