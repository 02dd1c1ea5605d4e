/**
 * Metadata QoS in the contract: control hierarchy, channels, jobs and policies. Two planes enforce, in the same format: PADLL's stages in
 * front of the jobs, and the TBF rules of a metadata server. Rates are op/s.
 */
import * as z from 'zod'
import { PADLL_ALGORITHMS } from '../controllers/settings.ts'
import { isScope, type Scope } from '../padll/vocabulary.ts'
import { against, expression, filtered, filterError, level, ms, notice, streamHead as head } from './parts.ts'

const count = z.number().int().nonnegative()
const numbers = z.array(z.number())
const texts = z.array(z.string())
const gappy = z.array(z.number().nullable())

export const padllPlane = z.enum(['stages', 'mds'])
export type PadllPlane = z.infer<typeof padllPlane>
export const padllAlgorithm = z.enum(PADLL_ALGORITHMS)

/**
 * Scopes whose rates are byte/s instead of op/s: a call costs the bytes that it requests. Source: spec/padll 1.1, 1.7. `total` adds both.
 */
export const BYTE_SCOPES: ReadonlySet<string> = new Set([
  'read',
  'write',
  'pread',
  'pwrite',
  'pread64',
  'pwrite64',
  'data',
  'data_op',
])

/** Largest policy file that a window may send, characters. */
export const POLICIES_MAX = 262_144

/** One line of the policy file in force. */
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

/** A fault of a policy text: its position, and the expected input. */
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
  /** Planes of this source, and the one shown; null if it has neither. */
  planes: z.array(padllPlane),
  plane: padllPlane.nullable(),
  /** Scopes with a limit, a policy or a channel, and the one shown (`meta_op`, `open`, …). */
  scopes: texts,
  scope: z.string(),
  filterError,
  against,
  /** Filter counts, of stages or of metadata servers' rules: tree, channels and listed jobs are filtered, sums are not. */
  filtered: filtered.optional(),
  controller: z.object({
    /** Name of the global controller, its location and its epoch; for `mds` the console itself. */
    name: z.string(),
    host: z.string(),
    epoch: count,
    /** null: neither it nor the other settings were recorded. */
    algorithm: padllAlgorithm.nullable(),
    epsilon: z.number(),
    split: z.enum(['equal', 'usage']),
    intervalMs: z.number(),
    collectRounds: count,
    /** Duration of one control cycle, ms. */
    cycleMs: z.number().nullable(),
    /** Behavior of stages when their controller stops responding, as text. */
    lease: z.string(),
    /** Time at which its newest cycle was read; null: it does not answer. */
    seenMs: ms.nullable(),
  }),
  /** Limit of all jobs together in the shown scope, op/s; null: no limit. */
  limit: z.number().nullable(),
  /** The hierarchy, depth first: global (0), local or MDS (1), stage or rule (2). One entry per row. */
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
    /** Reason for a level other than ok: `at its limit`, `silent for 4 s`, `held on its lease`; else empty. */
    why: texts,
    /** Rows beyond those sent under a local controller. */
    more: numbers,
    /** Measured rate at A, if two instants are compared; null: no row there. */
    against: gappy.optional(),
  }),
  /** Jobs by demand (plane `mds`: by measured rate), largest first: at most 7 and `other` last, if there are more. */
  jobs: z.object({
    jobId: texts,
    colour: numbers,
    stages: numbers,
    /** Values at the cursor: policies of the job; demanded, allocated and measured op/s. */
    demandPolicy: gappy,
    limitPolicy: gappy,
    asked: gappy,
    allocated: gappy,
    measured: gappy,
    /** Operations waiting, and sum of all waits in the window, s; 0 in plane `mds`, where they are unknown. */
    queued: numbers,
    throttledS: numbers,
    /** Series over the window, aligned with `t`. */
    askedSeries: z.array(gappy),
    allocatedSeries: z.array(gappy),
    measuredSeries: z.array(gappy),
    /** Measured rate at A. */
    against: gappy.optional(),
  }),
  /** Unix ms of the series. */
  t: numbers,
  /** Sums over all jobs: demand, and false allocation (allocated but unused while others wait), op/s. */
  asked: gappy,
  falseAllocation: gappy,
  /** The system limit over the window. */
  limits: gappy,
  /** Jobs that join and leave, policies, lost controllers. */
  marks: z.array(
    z.object({ atMs: ms, kind: z.enum(['join', 'leave', 'policy', 'lost', 'controller']), text: z.string(), level }),
  ),
  /** Channels (or rules) of the selection: a stage, a job (its stages summed) or, without a selection, all. */
  channels: z.object({
    of: z.string(),
    key: texts,
    /** Channel number or rule name. */
    channel: texts,
    scope: texts,
    /** Its operations or RPC opcodes, as text. */
    operations: texts,
    asked: gappy,
    limit: gappy,
    measured: gappy,
    /** Share of operations that waited, 0..1; null if unknown (TBF rules do not report it). */
    waited: gappy,
    waitMs: gappy,
    queued: gappy,
    refillMs: gappy,
    spark: z.array(gappy),
    /** Values at A. */
    against: z.object({ limit: gappy, measured: gappy }).optional(),
  }),
  policies: z.object({
    text: z.string(),
    steps: z.array(policyStep),
    /** Time until the next step, s; null: none is pending. */
    nextInS: z.number().nullable(),
    startedMs: ms.nullable(),
  }),
  /** Policies that this plane cannot express, as text (TBF: classes without a separate opcode, shared opcodes). */
  unexpressed: z.array(z.object({ line: count, text: z.string() })),
  /** Desired rules of plane `mds` in the grammar of the server, by service. */
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

/** Largest op/s of one limit. */
export const METADATA_RATE_MAX = 1e9
export const SLOTS_MAX = 10_000

/** Settings of metadata control on servers: the operator's choices, and the stored state of a live cluster. */
export const metadataSettings = z.object({
  algorithm: padllAlgorithm,
  epsilon: z.number().min(0).max(1),
  /** Divisor of `uniform`; null: the number of jobs. */
  slots: z.int().min(1).max(SLOTS_MAX).nullable(),
  /** Limit of all jobs with a policy together, by scope, op/s. */
  limits: z
    .array(
      z
        .object({
          scope: z.custom<Scope>((v) => typeof v === 'string' && isScope(v)),
          rate: z.number().min(1).max(METADATA_RATE_MAX),
        })
        .readonly(),
    )
    .readonly(),
  /** Policy file as entered, text or YAML; empty: none. */
  policies: z.string(),
  /** Second 0 of the policy file, Unix ms; null without policies. */
  startedMs: z.number().nullable(),
  /** Length of one control cycle. */
  intervalMs: z.number().positive(),
})
export type MetadataSettings = Readonly<z.infer<typeof metadataSettings>>

/** Changes of a controller's settings; an absent field is unchanged. The host refuses a value out of range with a notice. */
export const padllChange = z.object({
  plane: padllPlane,
  algorithm: padllAlgorithm.optional(),
  /** op/s; null removes the limit. */
  limit: z.object({ scope: z.string().max(40), rate: z.number().nullable() }).optional(),
  epsilon: z.number().optional(),
  split: z.enum(['equal', 'usage']).optional(),
  collectRounds: z.number().optional(),
})
export type PadllChange = z.infer<typeof padllChange>

export const policiesInput = z.object({ plane: padllPlane, text: z.string().max(POLICIES_MAX) })

/** Check of a policy text: its faults, its steps, and the changes against the text in force. */
export const policiesCheck = z.object({
  faults: z.array(policyFault),
  steps: z.array(policyStep),
  /** The same policies as a text in the public line format, where the input was YAML; else the input. */
  lines: z.string(),
  diff: z.array(z.object({ op: z.enum(['add', 'del', 'keep']), text: z.string() })),
  /** The literal command that would send it to the controller; for `mds` the commands to each server. */
  commands: texts,
  /** Demands of present jobs above the system limit, and other remarks. */
  remarks: z.array(z.object({ level, text: z.string() })),
  /** Required to apply the text: valid only while the controller's state is unchanged. */
  planId: z.string(),
})
export type PoliciesCheck = z.infer<typeof policiesCheck>
