/**
 * Haechi in the contract: one data node with its pool, clients and capacity estimate. Counts are tokens, and a token is one I/O; times
 * inside a period are ms from its start.
 */
import * as z from 'zod'
import { HAECHI_PRESETS } from '../controllers/settings.ts'
import { against, filtered, filterError, level, ms, notice, streamHead as head } from './parts.ts'

const count = z.number().int().nonnegative()
const numbers = z.array(z.number())
const texts = z.array(z.string())
const gappy = z.array(z.number().nullable())

/** bare: no tokens; basic: without conversion; haechi: complete. */
export const tokensVariant = z.enum(['bare', 'basic', 'haechi'])
export type TokensVariant = z.infer<typeof tokensVariant>
/** Reading of the paper where it is ambiguous, or an advance. */
export const tokensPreset = z.enum(HAECHI_PRESETS)
export type TokensPreset = z.infer<typeof tokensPreset>
export const tokensSpan = z.enum(['period', 'minute'])
export type TokensSpan = z.infer<typeof tokensSpan>

export const tokensFrame = z.object({
  ...head,
  windowMs: z.number(),
  /** Data nodes of this source, and the one shown; empty and '' if it has none. */
  nodes: texts,
  node: z.string(),
  /** Running node: `processes on dn0`, and what is unusual about it; absent for an emulated or recorded one. */
  live: z.object({ host: z.string(), text: z.string(), level }).optional(),
  filterError,
  against,
  /** Filter result, with the keys of the clients that match; all clients are sent, because pool, inspector and form need them. */
  filtered: filtered.extend({ keys: texts }).optional(),
  /** false: the cursor time is no longer in memory. */
  isKept: z.boolean(),
  /** Settings of the node; null: not recorded. */
  variant: tokensVariant.nullable(),
  preset: tokensPreset.nullable(),
  periodMs: z.number(),
  checkMs: z.number().nullable(),
  batch: count.nullable(),
  epoch: count,
  /** Time since the period at the cursor began, ms. */
  elapsedMs: z.number(),
  phase: z.enum(['dispatch', 'wait', 'report', 'end']),
  pool: z.object({
    /** Signed: concurrent fetches may make it negative, which grants nothing. null without tokens. */
    now: z.number().nullable(),
    start: z.number().nullable(),
    lowest: z.number().nullable(),
    lowestAtMs: z.number().nullable(),
    /** Fetches that obtained nothing while it was lowest. */
    emptyFetches: count.nullable(),
    /** Sum of the residuals reported by clients, and the target of conversion. */
    reported: z.number().nullable(),
    target: z.number().nullable(),
  }),
  /** Series of the period (or of the last minute, `t` in ms from its start): pool, and computed pool without conversion. */
  series: z.object({ span: tokensSpan, t: numbers, pool: gappy, reported: gappy, target: gappy, unconverted: gappy }),
  phases: z.array(
    z.object({ kind: z.enum(['dispatch', 'wait', 'report', 'end']), fromMs: z.number(), toMs: z.number() }),
  ),
  /** Latest periods, oldest first, including this one. */
  epochs: z.array(z.object({ epoch: count, startMs: ms, missed: texts, isWhole: z.boolean() })),
  capacity: z.object({
    epoch: numbers,
    /** omega, U, sum of reservations, tokens per period. */
    estimate: gappy,
    used: gappy,
    reserved: gappy,
    /** Profiled capacity; 0: not recorded. */
    profile: z.number(),
    /** Least estimate; null: not recorded. */
    least: z.number().nullable(),
    /** Last action of the estimator, as text: `rose by 15 700`, `mean of 5`, `kept`. */
    action: z.string(),
    marks: z.array(z.object({ epoch: count, text: z.string() })),
  }),
  clients: z.object({
    key: texts,
    name: texts,
    jobId: texts,
    colour: numbers,
    state: z.array(z.enum(['active', 'joining', 'leaving', 'gone', 'crashed'])),
    /** R and L of a period; 0 and null: best effort, unlimited. */
    reservation: numbers,
    limit: gappy,
    /** xi left, g held, used of each kind, yielded by decay: this period. null: not recorded. */
    left: gappy,
    held: gappy,
    usedReserved: numbers,
    usedPool: numbers,
    yielded: numbers,
    /** Requests waiting at the client; null for a backlogged client, and if not recorded. */
    queued: gappy,
    inFlight: gappy,
    isThrottled: z.array(z.boolean()),
    /** True while it waits for a token. */
    isStarved: z.array(z.boolean()),
    /** Consecutive whole periods with a missed reservation. */
    missed: numbers,
    /** I/O per second over the last whole period, and by previous periods. */
    iops: gappy,
    spark: z.array(gappy),
    p99Us: gappy,
    level: z.array(level),
    why: texts,
    /** I/O per second over the last whole period at A, if two instants are compared; null: no row there. */
    against: gappy.optional(),
  }),
  foot: z.object({
    /** Wake-ups of the data node's CPU, in total and by data I/O: the second must be 0. null: not recorded. */
    cpuEvents: count.nullable(),
    dataCpuEvents: count.nullable(),
    dataIos: count.nullable(),
    /** Share of tokens idle while a client was starved, this period, 0..1. */
    idleShare: z.number().nullable(),
    /** Most periods that a client missed in a row, and from which number on it is alerted; null: not recorded. */
    worst: z.object({ client: z.string(), periods: count, alertAfter: count.nullable() }).nullable(),
    reserved: z.number(),
    /** Largest sum of reservations that admission accepts now. */
    admissible: z.number(),
    /** Finishing time of all reservations under equal shares, as a fraction of the period; above 1 they cannot be met. */
    fluidFinish: z.number().nullable(),
  }),
  events: z.array(z.object({ atMs: ms, kind: z.string(), level, client: z.string(), text: z.string() })),
  notices: z.array(notice),
})
export type TokensFrame = z.infer<typeof tokensFrame>

/** A requested reservation and limit; any input reaches the host, which validates it. */
export const tokensReserve = z.object({
  node: z.string().max(128),
  client: z.string().max(128),
  reservation: z.number(),
  limit: z.number().nullable(),
  /** Name of the data node, typed to change a running one; not needed for an emulated one. */
  typed: z.string().max(128).optional(),
})
export type TokensReserve = z.infer<typeof tokensReserve>

/** Result of admission; nothing is stored. */
export const tokensAdmission = z.object({
  admit: z.boolean(),
  /** `local: 1 200 over what one client can do`, `global: ...`, `fluid: ...`. */
  reasons: z.array(
    z.object({ kind: z.enum(['local', 'global', 'fluid', 'value']), by: z.number().nullable(), text: z.string() }),
  ),
  reserved: z.number(),
  admissible: z.number(),
  fluidFinish: z.number(),
})
export type TokensAdmission = z.infer<typeof tokensAdmission>

/** Settings of the node; absent fields are unchanged. */
export const tokensChange = z.object({
  node: z.string().max(128),
  variant: tokensVariant.optional(),
  preset: tokensPreset.optional(),
})
export type TokensChange = z.infer<typeof tokensChange>
