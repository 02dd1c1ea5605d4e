/**
 * Model for benchmarks of the host: twelve OSSes with 48 OSTs and changing jobs. Defines the I/O of each job on each of its
 * targets per second, shared by the server process and the measured host.
 *
 * A job is active for one minute of four. Four of five have their files on one OST, the others on 4 or 16.
 */
export const SERVERS = 12
export const TARGETS = 48
const CYCLE_S = 240
const BUSY_S = 60
const MIB = 1_048_576

export const hostOf = (server: number): string => `oss${String(server + 1).padStart(2, '0')}`
export const targetName = (target: number): string => `lab-OST${target.toString(16).padStart(4, '0')}`
export const serverOf = (target: number): number => target % SERVERS
export const jobName = (job: number): string => `${400_000 + job}.app${job % 37}.u${job % 997}`

/** OSTs with files of a job. */
export function targetsOf(job: number): readonly number[] {
  const kind = job % 20
  const count = kind === 0 ? 16 : kind < 4 ? 4 : 1
  return Array.from({ length: count }, (_, k) => (job * 7 + k * 3) % TARGETS)
}

/** True while a job is active; `share` is the active part of all jobs. */
export const isBusy = (job: number, second: number, share: number): boolean =>
  share >= 1 || (second + job * 13) % CYCLE_S < (BUSY_S * share) / 0.25

/** RPCs of an active job on one of its targets in a second. */
export const rpcsOf = (job: number, target: number, second: number): number =>
  5 + ((job * 31 + target * 7 + second * 17) % 60)

export const writes = (job: number): boolean => job % 4 !== 2
export const reads = (job: number): boolean => job % 4 >= 2
/** Bytes of one RPC. */
export const sizeOf = (job: number): number => MIB >> (job % 5)
/** Service time of one RPC, microseconds. */
export const USECS = 3000
/** Read time of a server in a second, ns after its start: different in each second. */
export const readAtNs = (second: number): number => second * 1_000_000_000 + ((second * 7919) % 9_000_000)
