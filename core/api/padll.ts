/**
 * What a window says and sees of metadata QoS: the control hierarchy, its channels, jobs and policies. Two planes enforce:
 * PADLL's stages in front of the jobs, and the TBF rules of a metadata server. Both look the same here. Rates are op/s.
 */
import * as z from 'zod'
import { PADLL_ALGORITHMS } from '../controllers/settings.ts'
import { expression, filtered, filterError, level, ms, notice, streamHead as head } from './parts.ts'

const count = z.number().int().nonnegative()
const numbers = z.array(z.number())
const texts = z.array(z.string())
const gappy = z.array(z.number().nullable())

export const padllPlane = z.enum(['stages', 'mds'])
export type PadllPlane = z.infer<typeof padllPlane>
export const padllAlgorithm = z.enum(PADLL_ALGORITHMS)

/**
 * Scopes whose rates are byte/s and not op/s: their calls cost the bytes that they ask for. Source: spec/padll 1.1, 1.7.
 * `total` adds both.
 */
export const BYTE_SCOPES: ReadonlySet<string> = new Set([
  ...['read', 'write', 'pread', 'pwrite', 'pread64', 'pwrite64'],
  ...['data', 'data_op'],
])

/** Most bytes of a policy file that a window may send. */
export const POLICIES_MAX = 262_144

/** One line of the policy file as it stands. */
export const policyStep = z.object({
  line: count,
  rule: count,
  atS: z.number(),
  kind: z.string(),
  job: z.string(),
  scope: z.string(),
  value: z.number(),
  state: z.enum(['waiting', 'active', 'replaced', 'unknown-job', 'ignored']),
})
export type PolicyStep = z.infer<typeof policyStep>

/** A fault of a policy text: where it is, and what was expected. */
export const policyFault = z.object({
  line: count,
  column: count,
  length: count,
  severity: z.enum(['error', 'warning']),
  message: z.string(),
})
export type PolicyFault = z.infer<typeof policyFault>

export const metadataFrame = z.object({
  ...head,
  windowMs: z.number(),
  /** Planes that this source has, and the one shown; null where it has neither. */
  planes: z.array(padllPlane),
  plane: padllPlane.nullable(),
  /** Scopes with a limit, a policy or a channel, and the one shown (`meta_op`, `open`, …). */
  scopes: texts,
  scope: z.string(),
  filterError,
  /** Of stages, or of rules of the metadata servers: tree, channels and the jobs that are named are theirs. Sums are of all. */
  filtered: filtered.optional(),
  controller: z.object({
    /** Name of the global controller, where it runs, and its epoch; for `mds` the console itself. */
    name: z.string(),
    host: z.string(),
    epoch: count,
    algorithm: padllAlgorithm,
    epsilon: z.number(),
    split: z.enum(['equal', 'usage']),
    intervalMs: z.number(),
    collectRounds: count,
    /** What one control cycle takes, ms. */
    cycleMs: z.number().nullable(),
    /** What stages do when their controller falls silent, in words. */
    lease: z.string(),
    /** When its newest cycle was read; null: it does not answer. */
    seenMs: ms.nullable(),
  }),
  /** Most that all jobs together may do in the shown scope, op/s; null: no limit. */
  limit: z.number().nullable(),
  /** The hierarchy, depth first: global (0), local or MDS (1), stage or rule (2). One entry a row. */
  tree: z.object({
    key: texts,
    kind: z.array(z.enum(['global', 'local', 'stage'])),
    depth: numbers,
    /** `job · instance` for a stage; a rule's name in plane `mds`. */
    name: texts,
    /** Job of a stage, else empty. */
    jobId: texts,
    colour: numbers,
    measured: gappy,
    limit: gappy,
    level: z.array(level),
    /** Why the level is not ok: `at its limit`, `silent for 4 s`, `held on its lease`; empty when it is. */
    why: texts,
    /** Rows beyond those sent under a local controller. */
    more: numbers,
  }),
  /** Jobs by what they asked for, biggest first: at most 7 and `other` last, where there are more. */
  jobs: z.object({
    jobId: texts,
    colour: numbers,
    stages: numbers,
    /** At the cursor: policies of the job, asked, allocated and measured op/s. */
    demandPolicy: gappy,
    limitPolicy: gappy,
    asked: gappy,
    allocated: gappy,
    measured: gappy,
    /** Operations waiting, and sum of all waits in the window, s. */
    queued: numbers,
    throttledS: numbers,
    /** Over the window, aligned with `t`. */
    askedSeries: z.array(gappy),
    allocatedSeries: z.array(gappy),
    measuredSeries: z.array(gappy),
  }),
  /** Unix ms of the series. */
  t: numbers,
  /** Sums over all jobs: asked, and false allocation (allocated but unused while others wait), op/s. */
  asked: gappy,
  falseAllocation: gappy,
  /** The system limit over the window. */
  limits: gappy,
  /** Jobs that join and leave, policies, lost controllers. */
  marks: z.array(
    z.object({ atMs: ms, kind: z.enum(['join', 'leave', 'policy', 'lost', 'controller']), text: z.string(), level }),
  ),
  /** Channels (or rules) of what is selected: a stage, a job (its stages added up) or, with nothing selected, all. */
  channels: z.object({
    of: z.string(),
    key: texts,
    /** Channel number or rule name. */
    channel: texts,
    scope: texts,
    /** Operations or RPC opcodes of it, in words. */
    operations: texts,
    asked: gappy,
    limit: gappy,
    measured: gappy,
    /** Share of operations that waited, 0..1; null where it is not known (TBF rules do not say). */
    waited: gappy,
    waitMs: gappy,
    queued: gappy,
    refillMs: gappy,
    spark: z.array(gappy),
  }),
  policies: z.object({
    text: z.string(),
    steps: z.array(policyStep),
    /** Until the next step is due, s; null: none is waiting. */
    nextInS: z.number().nullable(),
    startedMs: ms.nullable(),
  }),
  /** What this plane cannot do of the policies, in words (TBF: classes without an opcode of their own, shared opcodes). */
  unexpressed: z.array(z.object({ line: count, text: z.string() })),
  /** Rules of plane `mds` in the grammar of the server, by service: what is desired now. */
  compiled: z.array(
    z.object({
      service: z.string(),
      name: z.string(),
      expressions: z.array(expression),
      rate: z.number(),
      job: z.string(),
      scope: z.string(),
    }),
  ),
  notices: z.array(notice),
})
export type MetadataFrame = z.infer<typeof metadataFrame>

/** What may be changed of a controller; what is not named stays. The host refuses what it cannot use with a notice. */
export const padllChange = z.object({
  plane: padllPlane,
  algorithm: padllAlgorithm.optional(),
  /** op/s; null takes the limit away. */
  limit: z.object({ scope: z.string().max(40), rate: z.number().nullable() }).optional(),
  epsilon: z.number().optional(),
  split: z.enum(['equal', 'usage']).optional(),
  collectRounds: z.number().optional(),
})
export type PadllChange = z.infer<typeof padllChange>

export const policiesInput = z.object({ plane: padllPlane, text: z.string().max(POLICIES_MAX) })

/** What a policy text means: its faults, its steps, and what would change against the text in force. */
export const policiesCheck = z.object({
  faults: z.array(policyFault),
  steps: z.array(policyStep),
  /** The same policies as a text in the public line format, where the input was YAML; else the input. */
  lines: z.string(),
  diff: z.array(z.object({ op: z.enum(['add', 'del', 'keep']), text: z.string() })),
  /** The literal command that would carry it to the controller; for `mds` the commands to each server. */
  commands: texts,
  /** Demands of jobs that are there beyond the system limit, and other remarks. */
  remarks: z.array(z.object({ level, text: z.string() })),
  /** Named again when the text is applied: it holds only while the controller stands as it did. */
  planId: z.string(),
})
export type PoliciesCheck = z.infer<typeof policiesCheck>
