/** Jobs of a scenario: their clients, operations and patterns. */
import * as z from 'zod'
import { JOB_ID_MAX } from '../lustre/job-id.ts'
import { isData, OPERATIONS } from './operations.ts'
import { positive, positiveInteger } from './scenario-servers.ts'

/** Seconds up to eleven days: virtual time stays exact beyond the length of any run. */
const seconds = z.number().nonnegative().max(1e6)
/** uid, gid, projid; 2^32-1 means unknown. */
const id = z.number().int().nonnegative().max(0xffff_fffe).default(0)

const pattern = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('continuous'),
    think_ms: z
      .number()
      .nonnegative()
      .max(1e9)
      .default(0)
      .describe('mean time from a reply to the next RPC of the same slot, exponential'),
  }),
  z.strictObject({
    kind: z.literal('bursts'),
    rpcs: positiveInteger.describe('RPCs of each process in one burst'),
    every_s: positive.min(1e-6).max(1e6),
    /** Maximum delay of each burst as a fraction of the interval, uniform. */
    jitter: z.number().min(0).max(1).default(0),
  }),
  z.strictObject({ kind: z.literal('poisson'), rate: positive.min(1e-6).max(1e6).describe('RPC/s of each process') }),
  z.strictObject({
    kind: z.literal('phases'),
    /** Run in order, then repeated from the first. */
    phases: z
      .array(
        z.strictObject({
          for_s: positive.min(0.01).max(1e6),
          rate: z.number().nonnegative().max(1e6).describe('operations/s of each process; 0: no process runs'),
        }),
      )
      .min(1)
      .max(64),
  }),
])

/** Runs the job under PADLL; its processes are distributed evenly over this number of stages on each client. */
const stages = z.strictObject({
  per_client: positiveInteger.max(64).default(1),
  /** Directory of its files; default: the first mount point of the stages. */
  directory: z
    .string()
    .max(1024)
    .regex(/^\/[\u0001-\u00ff]*$/, 'an absolute path')
    .optional(),
})

/** One operation, or several that a process cycles through. */
const operations = z.preprocess(
  (v) => (Array.isArray(v) || v === undefined ? v : [v]),
  z.array(z.enum(OPERATIONS)).min(1).max(64),
)

export const job = z
  .strictObject({
    id: z
      .string()
      .min(1)
      .max(JOB_ID_MAX)
      .regex(/^[\u0001-\u00ff]*$/, 'a job id is bytes: characters up to U+00FF'),
    user: z.string().max(64).default(''),
    account: z.string().max(64).default(''),
    /** TBF match fields besides job id, NID and opcode; default 0. */
    uid: id,
    gid: id,
    projid: id,
    /** Client numbers from 1; their count is the job's node count in Slurm. */
    clients: z.array(positiveInteger).min(1),
    /** false: not started by Slurm, so its node count is unknown to the console. */
    in_slurm: z.boolean().default(true),
    processes: positiveInteger.max(100_000).default(1),
    outstanding: positiveInteger.max(1024).default(1).describe('RPCs in flight per process'),
    op: operations.describe('read, write, or a metadata operation; or a list that a process executes in order'),
    size_kib: positiveInteger.max(65_536).optional().describe('size of one read or write'),
    /** Writes go into the clients' caches and reach the target when another client's lock forces them out, or after 5 s. */
    cached: z.boolean().default(false),
    /** Name of the range for cached writes; jobs (and clients) that share it compete for its lock. */
    shared: z
      .string()
      .regex(/^[\w.-]{1,40}$/, 'a name of letters, digits, ., - and _')
      .optional(),
    targets: z.array(z.string()).default([]).describe('targets used; empty: all'),
    start_s: seconds.default(0),
    stop_s: seconds.optional(),
    stages: stages.optional(),
    total_rpcs: positiveInteger
      .optional()
      .describe('RPCs of all processes together; the job ends when they are served'),
    pattern,
  })
  .superRefine((j, context) => {
    const issue = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
    if (j.stop_s !== undefined && j.stop_s <= j.start_s) issue('stop_s', 'must be after start_s')
    if (j.op.some(isData) && j.size_kib === undefined) issue('size_kib', 'required for a job that reads or writes')
    if (j.cached !== (j.shared !== undefined)) {
      issue(j.cached ? 'cached' : 'shared', 'cached: true requires shared: NAME, and vice versa')
    }
    if (j.stages) {
      if (j.cached) issue('stages', 'cached writes do not pass a stage')
      if (j.processes < j.clients.length * j.stages.per_client) issue('processes', 'every stage needs a process')
      const count = (...ops: readonly string[]): number => j.op.filter((op) => ops.includes(op)).length
      if (count('close') > count('open', 'create'))
        issue('op', 'a job with stages cannot close more files than it opens')
    }
    if (j.pattern.kind === 'phases' && j.pattern.phases.every((p) => p.rate === 0)) {
      issue('pattern', 'at least one phase needs a rate above 0')
    }
    if (j.cached) {
      if (j.op.some((op) => op !== 'write')) issue('op', 'a cached job can only write')
      if (j.targets.length !== 1) issue('targets', 'a shared range is on one target: name exactly one')
      if (j.total_rpcs !== undefined)
        issue('total_rpcs', 'a cached job cannot have total_rpcs: its clients decide when to write')
    }
  })
  .transform((j) => ({ ...j, size_kib: j.size_kib ?? 0 }))
