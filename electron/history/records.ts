/** Input records of the history: samples of jobs and targets, owners of jobs, events, moves between jobs. */
import type { CLUSTER_COLUMNS } from './reader.ts'

/** Sample of a job. null: a gap, because a server that the job uses was not measured. A job without a sample was idle. */
export interface JobSample {
  readonly jobId: string
  readonly rpcs: number | null
  readonly readBps: number | null
  readonly writeBps: number | null
  readonly throttled: number | null
  /** Integer; |record| < 2^48 is kept exactly. */
  readonly record: number | null
  /** Metadata RPC/s. */
  readonly mdops?: number | null
}

export interface TargetSample {
  readonly target: string
  readonly node: string
  readonly rpcs: number | null
  readonly serviceMs: number | null
  readonly queued: number | null
}

/** Sums over the cluster by the names of CLUSTER_COLUMNS; an omitted one is a gap. */
export type ClusterSample = Readonly<Partial<Record<(typeof CLUSTER_COLUMNS)[number], number | null>>>

export interface JobFacts {
  readonly jobId: string
  readonly user: string
  readonly account: string
  readonly nodes: number | null
}

export interface EventRecord {
  readonly atMs: number
  readonly kind: string
  readonly level: string
  readonly subject: string
  readonly text: string
  readonly where: string
}

/** Tokens that moved between two jobs on one target in one second. */
export interface MoveRecord {
  /** Start of the second. */
  readonly atMs: number
  readonly target: string
  readonly node: string
  readonly lender: string
  readonly borrower: string
  readonly kind: 'lend' | 'reclaim'
  /** > 0. */
  readonly tokens: number
}
