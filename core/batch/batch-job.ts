/** A job as a batch system tells it: who it belongs to, and where it runs. Names are hostile text: bounded, never code. */
import { withoutControls } from '../base/plain-text.ts'

export type BatchSystem = 'slurm' | 'pbs'

export interface BatchJob {
  /** As job ids begin with it: `1234`, of PBS without its server. */
  readonly number: string
  readonly name: string
  readonly user: string
  readonly account: string
  /** Nodes that it has, or asked for while it waits: what AdapTBF takes for its priority. */
  readonly nodes: number
  /** Names of its nodes, as far as they are known and there is room; empty while it waits. */
  readonly hosts: readonly string[]
  /** Whether it runs, waits, or is over; a batch system shows ended jobs for a while. */
  readonly state: 'running' | 'waiting' | 'ended'
}

/** What one reading of a batch system came to. */
export interface BatchReading {
  readonly jobs: readonly BatchJob[]
  /** Jobs that could not be read. */
  readonly skipped: number
}

/** Jobs of one reading that are kept. */
export const JOBS_MAX = 200_000
/** Bytes of a name that are kept: users, accounts and jobs have shorter ones. */
const NAME_MAX = 64

/** A name within its bounds, without control characters. */
export const batchName = (text: string): string => withoutControls(text.slice(0, NAME_MAX))
