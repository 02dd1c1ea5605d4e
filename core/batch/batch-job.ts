/** Job as reported by a batch system: owner, nodes, state. Names are hostile text: bounded, never code. */
import { withoutControls } from '../base/plain-text.ts'

export type BatchSystem = 'slurm' | 'pbs'

export interface BatchJob {
  /** Number at the beginning of job ids: `1234`; for PBS without the server. */
  readonly number: string
  readonly name: string
  readonly user: string
  readonly account: string
  /** Allocated nodes, or requested ones while pending; AdapTBF's priority. */
  readonly nodes: number
  /** Names of its nodes, if known, bounded; empty while pending. */
  readonly hosts: readonly string[]
  /** A batch system lists ended jobs for a while. */
  readonly state: 'running' | 'waiting' | 'ended'
}

/** Result of one reading of a batch system. */
export interface BatchReading {
  readonly jobs: readonly BatchJob[]
  /** Jobs that could not be parsed. */
  readonly skipped: number
}

/** Most jobs kept of one reading. */
export const JOBS_MAX = 200_000
/** Longest stored name, bytes: users, accounts and jobs have shorter ones. */
const NAME_MAX = 64

/** Bounds a name and removes control characters. */
export const batchName = (text: string): string => withoutControls(text.slice(0, NAME_MAX))
