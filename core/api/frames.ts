/**
 * Frames of the views that a window requested, as columns (one array per column, all of one length). Times are Unix milliseconds on the
 * source's clock; rates are per second; sizes are bytes.
 */
import { CONTROLLER_NAMES } from '../controllers/registry.ts'
import * as z from 'zod'
import { runningPeriod, safeMode } from './clusters.ts'
import { adaptbfStatus, cycle, jobPairs, ledgerLine, pairColumns } from './adaptbf.ts'
import { mark, playback, type Mark } from './history.ts'
import { alert } from './incidents.ts'
import { against, colorIndex, level, ms, notice, otherLease, streamHead as head } from './parts.ts'
import { serverPeriod } from './periods.ts'
import { service as serviceName } from './rule-edits.ts'

const count = z.number().int().nonnegative()
const numbers = z.array(z.number())
const texts = z.array(z.string())
/** null: not measured; a gap is never a zero. */
const gappy = z.array(z.number().nullable())

export { level, notice, expression } from './parts.ts'
export type { Level, Notice, Expression, OtherLease } from './parts.ts'

export const mode = z.enum(['observe', 'advise', 'enforce'])
export const controllerName = z.enum(CONTROLLER_NAMES)
export const sourceKind = z.enum(['LIVE', 'RECORDED', 'EMULATED'])
export const statusFrame = z.object({
  ...head,
  source: z.object({
    kind: sourceKind,
    cluster: z.string(),
    env: z.enum(['PROD', 'STAGE', 'DEV', 'DEMO']),
    /** Scenario title and seed of an emulated source. */
    scenario: z.string().optional(),
    seed: z.number().optional(),
    sinceMs: ms,
  }),
  /** Oldest sample in memory: the limit of the cursor. */
  oldest: count,
  clock: z.object({
    /** Requested emulated seconds per wall second; 0 = emulator paused. */
    speed: z.number(),
    /** The achieved speed over the last second. */
    achieved: z.number(),
    /** Sampling interval on the source's clock. */
    intervalMs: z.number(),
    /** Reason for an interval longer than configured; otherwise absent. */
    period: runningPeriod.optional(),
    /** Wall time since the newest sample arrived. */
    sampleAgeMs: z.number().nullable(),
  }),
  mode,
  /** Write protection, and the end of the unlock: null while locked, or if none is needed. */
  safeMode,
  unlockedUntilMs: ms.nullable(),
  /** The timed rule that stops next; null for none. Absent if the source does not report it. */
  nextExpiry: z
    .object({
      service: serviceName,
      name: z.string(),
      createdMs: ms,
      expiresMs: ms,
      servers: count,
      running: count.optional(),
    })
    .nullable()
    .optional(),
  controller: controllerName,
  adaptbf: adaptbfStatus,
  /** Duration of a cycle of reading, deciding and writing; null before the first sample and while no node answers. */
  cycle: cycle.nullable(),
  /** Control periods of the servers of a live cluster; absent while no controller decides. */
  periods: z.array(serverPeriod).max(512).optional(),
  nodes: z.object({
    total: count,
    reporting: count,
    missing: z.array(z.object({ host: z.string(), reason: z.string(), sinceMs: ms })),
  }),
  /** rules: null if unknown. */
  counts: z.object({ jobs: count, targets: count, rules: count.nullable() }),
  /** Monitoring overhead: text received, and server time spent answering. */
  cost: z.object({ bytesPerSec: z.number(), serverMsPerSec: z.number() }),
  /** Leases of other consoles on the servers of the cluster; absent if not checked. */
  otherLeases: z.array(otherLease).optional(),
  /** Progress of the global stop; null while none runs. */
  stopping: z
    .object({ step: z.enum(['waiting', 'removing', 'reading back']) })
    .nullable()
    .optional(),
  audit: count,
  staged: count,
  history: z.object({ recording: z.boolean(), file: z.string().optional() }),
  /** Active alerts, then those that ended within the last ten minutes, each newest first. Absent if the source is not watched. */
  alerts: z.array(alert).max(20).optional(),
  /** Set while recorded data is shown; `source.kind` is then RECORDED. */
  playback: playback.nullable().optional(),
  notices: z.array(notice),
})
export type StatusFrame = z.infer<typeof statusFrame>

export { mark, type Mark }

export const stripFrame = z.object({
  ...head,
  fromMs: ms,
  toMs: ms,
  /** Total RPC/s, at most 480 points over [fromMs, toMs]. */
  t: numbers,
  rpcs: gappy,
  marks: z.array(mark),
})
export type StripFrame = z.infer<typeof stripFrame>

/** Values over A's complete window, on the time axis of B's. */
const overlay = z.object({ t: numbers, values: gappy }).nullable().optional()

/** A stacked chart: the top jobs by mean over the window, biggest first, then `other`. */
export const stack = z.object({
  t: numbers,
  series: z.array(
    z.object({
      /** Job id; empty for `other`. */
      jobId: z.string(),
      colour: colorIndex,
      values: gappy,
    }),
  ),
})
export type Stack = z.infer<typeof stack>

/** locks: only if the source has a lock manager that reports its queues. */
export const tileId = z.enum(['read', 'write', 'rpc', 'service', 'queued', 'budget', 'rules', 'lent', 'locks'])
export type TileId = z.infer<typeof tileId>
export const tile = z.object({
  id: tileId,
  value: z.number().nullable(),
  /** Mean of the preceding window, for the delta; null if there is none. */
  before: z.number().nullable(),
  /** Value at A. */
  against: z.number().nullable().optional(),
  spark: gappy,
  level,
  /** Some servers were not measured: the value covers the others only, a lower bound of the total. */
  partial: z.boolean().optional(),
  /** Short addition, for example the server with the queue: `oss01`. */
  note: z.string().optional(),
})
export type Tile = z.infer<typeof tile>

export const overviewFrame = z.object({
  ...head,
  windowMs: z.number(),
  against,
  tiles: z.array(tile),
  /** One entry per target, ordered by node, then target. */
  targets: z.object({
    name: texts,
    node: texts,
    /** Served RPC/s over the target's token rate, 0..1 and above. */
    utilisation: gappy,
    /** Mean service time of an RPC, ms. */
    serviceMs: gappy,
    /** RPCs queued in the NRS of the target's node. */
    queued: gappy,
    /** RPC/s over the mean of all targets; 1 = even. */
    imbalance: gappy,
    rpcs: gappy,
    /** Served RPC/s, service time and queue at A. */
    against: z.object({ rpcs: gappy, serviceMs: gappy, queued: gappy }).optional(),
  }),
  /** Bytes per second written and read, by job. */
  stack,
  overlay,
  /** Mean RPC/s over the last sixth of the window; `delta` from the rest of the window, or from that sixth at A. Largest change first. */
  movers: z.object({
    jobId: texts,
    user: texts,
    account: texts,
    nodes: gappy,
    colour: numbers,
    rpcs: numbers,
    delta: numbers,
    spark: z.array(gappy),
    /** Indices into targets: those that the job used in the window. */
    targets: z.array(numbers),
  }),
  events: z.array(mark),
  timers: z.array(
    z.object({
      name: z.string(),
      detail: z.string(),
      unit: z.string(),
      createdMs: ms,
      expiresMs: ms.nullable(),
    }),
  ),
})
export type OverviewFrame = z.infer<typeof overviewFrame>

export const jobColumn = z.enum([
  'jobId',
  'account',
  'nodes',
  'rpcs',
  'readBps',
  'writeBps',
  'mdops',
  'ioBytes',
  'throttled',
  'rule',
  'record',
])
export type JobColumn = z.infer<typeof jobColumn>

/** Grouping of jobs; node = the servers of the targets where they were seen, so that a job may count in several. */
export const jobGroupBy = z.enum(['user', 'account', 'exe', 'node'])
export type JobGroupBy = z.infer<typeof jobGroupBy>

export const jobsFrame = z.object({
  ...head,
  windowMs: z.number(),
  against,
  /** Available targets, and the one whose records are shown; empty = all, summed. */
  targets: texts,
  target: z.string(),
  /** Jobs known, jobs that match the filter, first row of this slice. */
  known: count,
  shown: count,
  offset: count,
  /** Set if the filter is invalid; the rows are then unfiltered. */
  filterError: z.object({ column: count, message: z.string() }).optional(),
  rows: z.object({
    jobId: texts,
    user: texts,
    account: texts,
    nodes: gappy,
    colour: numbers,
    rpcs: gappy,
    readBps: gappy,
    writeBps: gappy,
    /** Metadata RPCs on MDTs per second; `rpcs` counts data RPCs on OSTs. */
    mdops: gappy,
    /** Some of the job's targets were not measured: its rates cover the others. Absent if all were. */
    partial: z.array(z.boolean()).optional(),
    /** Mean bytes of a read or write RPC in the last second; null without one. */
    ioBytes: gappy,
    topOp: texts,
    /** Share of (node, sample) pairs of the last 10 s in which the job ran at 90 % of its rule's rate or more, 0..1. */
    throttled: gappy,
    /** Name of the matching rule; `default` if none matches; empty if the rules are no longer in memory. */
    rule: texts,
    /** Rate of that rule summed over nodes, RPC/s; null for default. */
    ruleRate: gappy,
    /** Tokens lent (+) or borrowed (-), of the shown target or summed over all; null without a ledger. */
    record: gappy,
    /** RPC/s over the window. */
    spark: z.array(gappy),
    /** The same jobs at A; null: not present then. */
    against: z
      .object({ rpcs: gappy, readBps: gappy, writeBps: gappy, mdops: gappy, throttled: gappy, record: gappy })
      .optional(),
  }),
  /** Number of pinned rows before all others. Optional for a source. */
  pinned: count.optional(),
  /**
   * Jobs that match the filter, summed by the requested group, most RPCs first; `throttled` is the mean of those with RPCs. null:
   * servers do not report it by job.
   */
  groups: z
    .object({
      by: jobGroupBy,
      known: count,
      name: texts,
      count: numbers,
      nodes: numbers,
      rpcs: gappy,
      readBps: gappy,
      writeBps: gappy,
      mdops: gappy,
      throttled: gappy,
      record: numbers,
      /** Some jobs were not measured: the rates cover the others. Absent if all were. */
      partial: z.array(z.boolean()).optional(),
    })
    .nullable()
    .optional(),
  /** Open debts of the jobs in this slice, largest first; null if no longer in memory. */
  pairs: pairColumns.nullable(),
  /** Sums over the jobs that match, of `throttled` the mean of those with RPCs; null if none of them was measured. */
  totals: z.object({
    nodes: z.number(),
    rpcs: z.number().nullable(),
    readBps: z.number().nullable(),
    writeBps: z.number().nullable(),
    mdops: z.number().nullable(),
    throttled: z.number().nullable(),
    /** Some were not measured: the sums cover the others. */
    partial: z.boolean().optional(),
    rules: count,
    /** Sum of the records of all known jobs, including idle ones: must be 0. */
    record: z.number(),
  }),
  facets: z.object({
    account: z.array(z.object({ value: z.string(), count })),
    rule: z.array(z.object({ value: z.string(), count })),
    is: z.array(z.object({ value: z.string(), count })),
  }),
  /** RPC/s of the jobs that match, by job, or by group if `stackBy` is present. */
  stack,
  stackBy: jobGroupBy.optional(),
  overlay,
  /** Tokens moved between jobs per interval; every interval sums to zero. */
  ledger: z.object({ t: numbers, lent: numbers, borrowed: numbers, intervalMs: z.number() }),
})
export type JobsFrame = z.infer<typeof jobsFrame>

export const jobFrame = z.object({
  ...head,
  jobId: z.string(),
  /** false if the job is unknown at this sample. */
  known: z.boolean(),
  user: z.string(),
  account: z.string(),
  nodes: z.number().nullable(),
  colour: colorIndex,
  firstSeenMs: ms.nullable(),
  /** Reason why owner and nodes are unknown: no matching job in the batch system. */
  unmapped: z.string().optional(),
  /** Target of record, shares, pairs, ledger and series; empty = all. */
  target: z.string(),
  record: z.number().nullable(),
  /**
   * Share of all tokens allocated in the requested time, and the share that its nodes entitle it to on the same targets,
   * 0..1.
   */
  share: z.number().nullable(),
  entitled: z.number().nullable(),
  ioBytes: z.number().nullable(),
  serviceMs: z.number().nullable(),
  /** null for a gap. */
  rpcs: z.number().nullable(),
  /** Some of its targets were not measured: `rpcs` covers the others. */
  partial: z.boolean().optional(),
  /**
   * Over the window: record; RPC/s served; RPC/s that the rules in force allow (null for one target: a rule acts on a whole server);
   * RPC/s demanded and allocated, as counted by the controller.
   */
  against,
  series: z.object({
    t: numbers,
    record: gappy,
    rpcs: gappy,
    allowed: gappy,
    demand: gappy,
    allocated: gappy,
    rpcsAgainst: gappy.optional(),
  }),
  /** Debts to and of the job; null if no longer in memory. */
  pairs: jobPairs.nullable(),
  /** Tokens moved between it and others, newest first: one line per target, other job, kind and second. */
  ledger: z.array(ledgerLine),
  ops: z.array(z.object({ op: z.string(), perSec: z.number(), share: z.number() })),
  /** RPCs by size: upper bound of a power-of-two bin in bytes, share of the bin. */
  sizes: z.array(z.object({ bytes: z.number(), share: z.number() })),
  targets: z.object({ name: texts, node: texts, rpcs: gappy, tokens: gappy, record: gappy }),
  rules: z.array(
    z.object({ node: z.string(), name: z.string(), conditions: z.string(), rate: z.number(), ref: z.number() }),
  ),
  /** The entry as printed by the server, from the target with most RPCs. */
  raw: z.string(),
})
export type JobFrame = z.infer<typeof jobFrame>

export { rulesFrame, type RulesFrame } from './rules-frame.ts'
