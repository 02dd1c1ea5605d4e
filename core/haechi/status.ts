/**
 * Status of a running data node: one document, the answer of `sluice haechi status --json`. The console reads it through the node's
 * shell. Counts are tokens, and a token is one I/O; times are ns on the node's own clock, which starts with the run.
 */
import * as z from 'zod'
import { HAECHI_CONVERSION_RULES, HAECHI_DECAY_RULES } from '../controllers/settings.ts'

const count = z.number().int().nonnegative()
const whole = z.number().int()
const text = z.string().max(512)
const ns = z.number().nonnegative()

/** Columns of `samples[].n`, and of each row of `samples[].c` after the client's number. */
export const SAMPLE_COLUMNS = [
  ...(['t', 'epoch', 'pool', 'residual', 'target', 'omega', 'used', 'reserved', 'claimed', 'history'] as const),
  'isReporting',
] as const
export const SAMPLE_CLIENT_COLUMNS = [
  ...(['xi', 'g', 'bound', 'phase', 'queued', 'inflight', 'completed', 'yielded', 'isThrottled'] as const),
] as const

const sample = z.object({
  n: z.array(whole).length(SAMPLE_COLUMNS.length),
  c: z.array(z.array(whole).length(SAMPLE_CLIENT_COLUMNS.length + 1)).max(256),
})
export type StatusSample = z.infer<typeof sample>

const client = z.object({
  /** Number of the client, never reused in a run. */
  client: count,
  name: text,
  job: text,
  /** killed: its process ended without leaving. */
  state: z.enum(['active', 'left', 'killed']),
  pid: count.nullable(),
  workload: text,
  isBacklogged: z.boolean(),
  /** R and limit from the next period on. */
  reservation: count,
  limit: count.nullable(),
})
export type StatusClient = z.infer<typeof client>

const periodClient = z.object({
  client: count,
  reservation: count,
  limit: count.nullable(),
  completed: count,
  yielded: count,
  usedReserved: count,
  usedPool: count,
  isStarved: z.boolean(),
})

const period = z.object({
  epoch: count,
  startNs: ns,
  endNs: ns,
  omega: count,
  nextOmega: count,
  action: z.enum(['increase', 'average', 'keep', 'off']),
  reserved: count,
  initialPool: count,
  finalPool: whole,
  poolChecks: z.array(whole.nullable()).length(10),
  residual: count,
  target: count,
  used: count,
  claimed: count,
  yielded: whole,
  conversions: count,
  casRaces: count,
  clients: z.array(periodClient).max(256),
  /** Tokens that left the pool without a client that counts them: at most one batch per client killed in the period. */
  unowned: count,
  /** Tokens that killed clients held, reservation and pool. */
  lost: count,
})
export type StatusPeriod = z.infer<typeof period>

const event = z.object({
  seq: count,
  at: ns,
  kind: z.enum(['period', 'start-report', 'estimate', 'alert', 'client', 'refused']),
  client: text,
  epoch: count,
  /** period: tokens in the pool. estimate: U and the new omega. */
  a: whole,
  b: whole,
  /** estimate: the action. alert: its kind. */
  word: text,
  text: z.string().max(1000),
})
export type StatusEvent = z.infer<typeof event>

export const haechiStatus = z.object({
  version: z.literal(1),
  node: text,
  /** Changes with every start of the node. */
  run: z.string().regex(/^[0-9a-f]{16}$/),
  /** Clients are processes over a mapped file, or threads of the node's own process. */
  backend: z.object({ kind: z.enum(['processes', 'threads']), why: text }),
  atNs: ns,
  atMs: z.number(),
  startedMs: z.number(),
  epoch: count,
  /** Tokens of the next period. */
  omega: count,
  isOvercommitted: z.boolean(),
  settings: z.object({
    name: text,
    periodNs: z.number().positive(),
    checkNs: z.number().positive(),
    batch: count,
    window: count,
    decay: z.enum(HAECHI_DECAY_RULES),
    conversion: z.enum(HAECHI_CONVERSION_RULES),
    alertAfter: count,
    fluidAdmission: z.boolean(),
    omegaMin: count,
  }),
  profile: z.object({
    globalIops: z.number().positive(),
    localIops: z.number().positive(),
    /** Standard deviation of the capacity as a share of it. */
    sigma: z.number().min(0).max(1),
    /** Intervals measured and their length; 0: given. */
    intervals: count,
    intervalNs: ns,
    measuredMs: z.number(),
    from: z.enum(['measured', 'cache', 'given']),
  }),
  sampleNs: z.number().positive(),
  clients: z.array(client).max(10_000),
  /** Completed periods after the one asked for, oldest first. */
  periods: z.array(period).max(1000),
  samples: z.array(sample).max(10_000),
  /** Latest events, oldest first; `seq` tells which are new. */
  events: z.array(event).max(200),
  /** Wake-ups of the node's CPU since its start: by its own checks, by messages to it, by data I/Os. */
  wakes: z.object({ timer: count, send: count, data: count }),
  cpuNs: ns,
  dataIos: count,
  casRaces: count,
  /** Violations of token accounting since the start, and the latest of them. */
  violations: z.object({ count, latest: z.array(z.string().max(1000)).max(20) }),
  /** Clients that were killed, and the tokens that they held or that nobody counted. */
  kills: z.object({ count, lost: count, unowned: count }),
})
export type HaechiStatus = z.infer<typeof haechiStatus>

/** Largest status document, characters. */
const DOCUMENT_MAX = 16_000_000

/** Parses a status document; the error describes its fault. */
export function parseHaechiStatus(document: string): { readonly status: HaechiStatus } | { readonly fault: string } {
  if (document.length > DOCUMENT_MAX) return { fault: `the answer has ${document.length} characters` }
  let plain: unknown
  try {
    plain = JSON.parse(document)
  } catch {
    return { fault: 'the answer is not JSON' }
  }
  const read = haechiStatus.safeParse(plain)
  if (read.success) return { status: read.data }
  const issue = read.error.issues[0]
  return { fault: `${issue?.path.map(String).join('.').slice(0, 100) ?? ''}: ${issue?.message ?? 'not a status'}` }
}
