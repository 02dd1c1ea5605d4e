/**
 * Status of a global controller: one document, the answer of `sluice padll status`. The console reads it through a
 * node's shell, so an emulated controller and a real one look the same. Rates are op/s, times Unix ms.
 */
import * as z from 'zod'
import { ALGORITHMS } from './algorithms/algorithm.ts'

const count = z.number().int().nonnegative()
const rate = z.number().nonnegative()
const text = z.string().max(512)

const channel = z.object({
  channel: count,
  object: count,
  scope: text,
  /** Limit in force during these counts; null: unlimited. */
  limit: rate.nullable(),
  refillMs: z.number().nonnegative().nullable(),
  /** Figures since the last collection: arrived and served op/s, share that waited (0..1), mean wait, ms. */
  arrived: rate,
  served: rate,
  waited: z.number().min(0).max(1),
  waitMs: z.number().nonnegative(),
  /** Operations waiting now. */
  queued: count,
})

const stage = z.object({
  key: text,
  job: text,
  instance: count,
  hostname: text,
  pid: count,
  user: text,
  state: z.enum(['ok', 'silent', 'joining']),
  channels: z.array(channel),
})

const local = z.object({
  id: text,
  hostname: text,
  /** lost: dropped; its stages are those with reserved rates, shown as their limits. */
  state: z.enum(['ok', 'silent', 'lost']),
  lastSeenMs: z.number(),
  stages: z.array(stage),
})

/** One job in one scope. */
const job = z.object({
  job: text,
  scope: text,
  stages: count,
  /** Demand by policy, op/s; null without one. */
  demand: rate.nullable(),
  limit: rate.nullable(),
  /** Rates since the last collection, op/s: arrived and served. */
  asked: rate,
  measured: rate,
  /** Sum of the stages' limits during these counts; null if unlimited. */
  allocated: rate.nullable(),
  queued: count,
  /** Sum of all waits since the controller first saw the job, s. */
  throttledS: z.number().nonnegative(),
  /** Operations since the controller first saw the job; absent from earlier versions. */
  askedTotal: z.number().nonnegative().optional(),
  servedTotal: z.number().nonnegative().optional(),
})

const step = z.object({
  line: count,
  rule: count,
  /** Seconds after the start of the policy file. */
  atS: z.number().nonnegative(),
  kind: text,
  job: text,
  scope: text,
  value: z.number(),
  /** unknown-job: in force, but no such job is present; ignored: a kind that is read and not enforced. */
  state: z.enum(['waiting', 'active', 'replaced', 'unknown-job', 'ignored']),
})

const event = z.object({
  seq: count,
  atMs: z.number(),
  kind: z.enum(['join', 'leave', 'policy', 'lost', 'controller']),
  text,
  where: text,
})

export const padllStatus = z.object({
  version: z.literal(1),
  controller: text,
  epoch: count,
  atMs: z.number(),
  startedMs: z.number(),
  /** Control cycles so far, and what the last one took from collect to the last answer, ms. */
  cycle: count,
  cycleMs: z.number().nonnegative(),
  algorithm: z.enum(ALGORITHMS),
  epsilon: z.number(),
  split: z.enum(['equal', 'usage']),
  intervalMs: z.number().positive(),
  collectRounds: count,
  lease: z.object({ seconds: z.number(), onExpiry: z.union([z.literal('hold'), z.object({ rate })]) }),
  /** Most that all jobs together may do, by scope. */
  limits: z.array(z.object({ scope: text, rate })),
  jobs: z.array(job).max(10_000),
  locals: z.array(local).max(10_000),
  policies: z.object({ text: z.string().max(1_000_000), startedMs: z.number(), steps: z.array(step).max(10_000) }),
  /** Latest events, oldest first; `seq` tells which are new. */
  events: z.array(event).max(200),
  /** Failures of the controller, for display. */
  failures: z.array(z.object({ code: text, what: text, why: text, where: text })).max(100),
})
export type PadllStatus = z.infer<typeof padllStatus>

/** True once another controller has taken over: this one sends no more requests, and its figures no longer change. */
export const isSuperseded = ({ failures }: Pick<PadllStatus, 'failures'>): boolean =>
  failures.some((f) => f.code === 'SUPERSEDED')
