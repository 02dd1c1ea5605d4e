/** What the jobs of an experiment do: processes that write or read whole RPCs, one outstanding each. */

/** One process. It issues its next RPC when the reply to the last one is there. */
export interface ProcessSetup {
  /** RPCs of 1 MiB in all; Infinity for one that never ends. */
  readonly rpcs: number
  /** When it begins, s. */
  readonly startS: number
  /** Bursts of so many RPCs with a pause of so many seconds after each; undefined: continuous. */
  readonly burst?: { readonly rpcs: number; readonly thinkS: number } | undefined
}

/** One job on a client node of its own. */
export interface JobSetup {
  readonly id: string
  /** Compute nodes, which are its priority. */
  readonly nodes: number
  readonly processes: readonly ProcessSetup[]
}

/** A file of 1 GiB in RPCs of 1 MiB. */
export const FILE_RPCS = 1024

/** `count` processes that do the same. */
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
