/**
 * Twelve OSSes with 48 OSTs on which jobs come and go, for measuring the host: what each job does on each of its targets in a second,
 * known to the process that answers as its servers and to the host that is measured alike.
 *
 * A job is at work for one minute of four. Four of five have their files on one OST, the others on 4 or on 16.
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

/** OSTs that a job has its files on. */
export function targetsOf(job: number): readonly number[] {
  const kind = job % 20
  const count = kind === 0 ? 16 : kind < 4 ? 4 : 1
  return Array.from({ length: count }, (_, k) => (job * 7 + k * 3) % TARGETS)
}

/** Whether a job is at work in a second; `share` is the part of all jobs that are. */
export const isBusy = (job: number, second: number, share: number): boolean =>
  share >= 1 || (second + job * 13) % CYCLE_S < (BUSY_S * share) / 0.25

/** RPCs of a job on one of its targets in a second in which it is at work. */
export const rpcsOf = (job: number, target: number, second: number): number =>
  5 + ((job * 31 + target * 7 + second * 17) % 60)

export const writes = (job: number): boolean => job % 4 !== 2
export const reads = (job: number): boolean => job % 4 >= 2
/** Bytes of one RPC. */
export const sizeOf = (job: number): number => MIB >> (job % 5)
/** Service time of one RPC, microseconds. */
export const USECS = 3000
/** When a server is read in a second, ns behind its start: never twice at the same instant of it. */
export const readAtNs = (second: number): number => second * 1_000_000_000 + ((second * 7919) % 9_000_000)
