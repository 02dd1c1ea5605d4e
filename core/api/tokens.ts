/**
 * What a window sees of Haechi's tokens: one data node, its pool, its clients, its estimate of what it can do. Counts are
 * tokens, and a token is one I/O; times inside a period are ms from its beginning.
 */
import * as z from 'zod'
import { filtered, filterError, level, ms, notice, streamHead as head } from './parts.ts'

const count = z.number().int().nonnegative()
const numbers = z.array(z.number())
const texts = z.array(z.string())
const gappy = z.array(z.number().nullable())

/** bare: no tokens at all; basic: without conversion; haechi: the whole of it. */
export const tokensVariant = z.enum(['bare', 'basic', 'haechi'])
export type TokensVariant = z.infer<typeof tokensVariant>
/** How the paper is read where it is open: as the sheet resolves it, or to the letter. */
export const tokensPreset = z.enum(['default', 'paper-literal'])
export type TokensPreset = z.infer<typeof tokensPreset>
export const tokensSpan = z.enum(['period', 'minute'])
export type TokensSpan = z.infer<typeof tokensSpan>

export const tokensFrame = z.object({
  ...head,
  windowMs: z.number(),
  /** Data nodes of this source, and the one shown; empty and '' where it has none. */
  nodes: texts,
  node: z.string(),
  filterError,
  /** With the keys of the clients that pass; all of them are sent: the pool, an inspector and a form are of all. */
  filtered: filtered.extend({ keys: texts }).optional(),
  /** false: what the cursor points at is no longer in memory. */
  isKept: z.boolean(),
  variant: tokensVariant,
  preset: tokensPreset,
  periodMs: z.number(),
  checkMs: z.number(),
  batch: count,
  epoch: count,
  /** Of the period at the cursor, ms. */
  elapsedMs: z.number(),
  phase: z.enum(['dispatch', 'wait', 'report', 'end']),
  pool: z.object({
    /** Signed: fetches under way may take it below zero, where nobody owns anything. null without tokens. */
    now: z.number().nullable(),
    start: z.number().nullable(),
    lowest: z.number().nullable(),
    lowestAtMs: z.number().nullable(),
    /** Fetches that found nothing while it was lowest. */
    emptyFetches: count,
    /** Sum of what clients reported as left, and what conversion aims at. */
    reported: z.number().nullable(),
    target: z.number().nullable(),
  }),
  /** Of the period (or of the last minute, `t` in ms from its beginning): pool, and pool without conversion as reckoned. */
  series: z.object({ span: tokensSpan, t: numbers, pool: gappy, reported: gappy, target: gappy, unconverted: gappy }),
  phases: z.array(
    z.object({ kind: z.enum(['dispatch', 'wait', 'report', 'end']), fromMs: z.number(), toMs: z.number() }),
  ),
  /** The newest epochs, oldest first, this one last. */
  epochs: z.array(z.object({ epoch: count, startMs: ms, missed: texts, isWhole: z.boolean() })),
  capacity: z.object({
    epoch: numbers,
    /** omega, U, sum of reservations, tokens per period. */
    estimate: gappy,
    used: gappy,
    reserved: gappy,
    profile: z.number(),
    least: z.number(),
    /** What the estimator did last, in words: `rose by 15 700`, `mean of 5`, `kept`. */
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
    /** xi left, g held, used of each kind, yielded by decay: this period. */
    left: numbers,
    held: numbers,
    usedReserved: numbers,
    usedPool: numbers,
    yielded: numbers,
    /** Requests that wait at the client; null where it always has another one. */
    queued: gappy,
    inFlight: numbers,
    isThrottled: z.array(z.boolean()),
    /** Waits for a token that is not there. */
    isStarved: z.array(z.boolean()),
    /** Whole periods in a row in which the reservation was missed. */
    missed: numbers,
    /** I/O a second over the last whole period, and by period before. */
    iops: gappy,
    spark: z.array(gappy),
    p99Us: gappy,
    level: z.array(level),
    why: texts,
  }),
  foot: z.object({
    /** Times that the CPU of the data node was woken, and by data I/O: the second must read 0. */
    cpuEvents: count,
    dataCpuEvents: count,
    dataIos: count,
    /** Share of tokens that lay idle while a client was starved, this period, 0..1. */
    idleShare: z.number().nullable(),
    worst: z.object({ client: z.string(), periods: count, alertAfter: count }).nullable(),
    reserved: z.number(),
    /** Highest sum of reservations that admission lets in now. */
    admissible: z.number(),
    /** When all reservations would be done under equal shares, part of the period; above 1 they cannot be met. */
    fluidFinish: z.number(),
  }),
  events: z.array(z.object({ atMs: ms, kind: z.string(), level, client: z.string(), text: z.string() })),
  notices: z.array(notice),
})
export type TokensFrame = z.infer<typeof tokensFrame>

/** A reservation and limit as asked for; anything a person may type reaches the host, which refuses what cannot be. */
export const tokensReserve = z.object({
  node: z.string().max(128),
  client: z.string().max(128),
  reservation: z.number(),
  limit: z.number().nullable(),
})
export type TokensReserve = z.infer<typeof tokensReserve>

/** What admission says to it; nothing is kept. */
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

/** How the node runs; what is not named stays. */
export const tokensChange = z.object({
  node: z.string().max(128),
  variant: tokensVariant.optional(),
  preset: tokensPreset.optional(),
})
export type TokensChange = z.infer<typeof tokensChange>
