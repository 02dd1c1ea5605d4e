/**
 * The experiments of the papers as a window asks for them: what there is, and one run of one of them. Everything here comes
 * from the model that the papers' claims are tested on; nothing is read from a cluster and nothing is written to one.
 */
import * as z from 'zod'
import { notice } from './parts.ts'

const count = z.number().int().nonnegative()

/** Most seeds of one run; medians are taken over them. */
export const SEEDS_MAX = 20
/** Longest line of a figure that is sent. */
export const POINTS_MAX = 600

const comparator = z.enum(['>=', '<=', '>', '<', 'between', 'info'])
/** null where it is not a number: never reached, or not measured. */
const value = z.number().nullable()
const measured = z.union([value, z.record(z.string(), value)])
export type MeasuredValue = z.infer<typeof measured>

/** What is asserted of an experiment. Names as in `sluice papers --json`. */
const claim = z.object({
  /** For example `adaptbf.IV-D.1`. */
  id: z.string(),
  /** Section or figure of the paper; `own` for what the paper does not treat. */
  ref: z.string(),
  what: z.string(),
  metric: z.string(),
  /** The paper's figure or words; null where it says nothing. */
  published: z.union([z.number(), z.string()]).nullable(),
  comparator,
  /** One bound, both ends of `between`, or null for information. */
  bound: z.union([z.number(), z.tuple([z.number(), z.number()])]).nullable(),
  /** Why a reproduction may differ from what was published. */
  note: z.string().optional(),
})
export type PaperClaim = z.infer<typeof claim>

const claimResult = claim.extend({
  system: z.string(),
  /** Median over the seeds. */
  measured,
  /** Least and most over the seeds; null for what is not one number. */
  range: z.tuple([value, value]).nullable(),
  /** Whether the median keeps the bound. */
  ok: z.boolean(),
  /** Seeds that alone do not keep it. */
  failed_seeds: z.array(count),
})
export type ClaimResult = z.infer<typeof claimResult>

/** Lines from 0 s on, at most POINTS_MAX values each: means of `binS` seconds. */
const lines = {
  binS: z.number().positive(),
  series: z.array(z.object({ name: z.string(), values: z.array(z.number()).max(POINTS_MAX) })),
}

/** Values over time, one series a job; what stands side by side has the same `binS`. */
const timeline = z.object({
  kind: z.literal('timeline'),
  id: z.string(),
  title: z.string(),
  unit: z.string(),
  /** End of the run; the lines end before it where a neighbour ended much earlier. */
  endS: z.number(),
  ...lines,
  /** The whole run with longer bins, where the lines or a neighbour's end early. */
  whole: z.object(lines).optional(),
  /** A limit that the values, or their sum, are held against. */
  limit: z.object({ name: z.string(), value: z.number() }).optional(),
  /** False: lines, although the unit is a rate. */
  isStacked: z.literal(false).optional(),
})
export type PaperTimeline = z.infer<typeof timeline>

/** Values by group and series. */
const bars = z.object({
  kind: z.literal('bars'),
  id: z.string(),
  title: z.string(),
  unit: z.string(),
  series: z.array(z.string()),
  groups: z.array(z.object({ name: z.string(), values: z.array(z.number()) })),
})
export type PaperBars = z.infer<typeof bars>

export const paperFigure = z.discriminatedUnion('kind', [timeline, bars])
export type PaperFigure = z.infer<typeof paperFigure>

/** What can be run, in the papers' order. */
export const paperExperiment = z.object({
  /** For example `adaptbf.IV-D`. */
  id: z.string(),
  /** The system whose paper it is, for example `adaptbf`. */
  system: z.string(),
  title: z.string(),
  /** The setup in words, a sentence or two each. */
  setup: z.array(z.string()),
  /** Variants that run once a seed. */
  parts: count,
  claims: z.array(claim),
})
export type PaperExperiment = z.infer<typeof paperExperiment>

export const papersList = z.object({ experiments: z.array(paperExperiment) })

export const papersRunInput = z.object({
  experiment: z.string().min(1).max(100),
  seeds: z.array(count.max(999_999_999_999_999)).min(1).max(SEEDS_MAX),
})

const runResult = z.object({
  kind: z.literal('result'),
  experiment: z.string(),
  seeds: z.array(count),
  seconds: z.number(),
  claims: z.array(claimResult),
  /** From the first seed. */
  figures: z.array(paperFigure),
})
export type PapersResult = z.infer<typeof runResult>

/** What a run sends: how far it is, and at the end its result or why there is none. */
export const papersEvent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('progress'),
    done: count,
    of: count,
    /** Done of all, 0..1. */
    fraction: z.number().min(0).max(1),
    /** What runs now: the variant's words and its seed. */
    part: z.string(),
    seed: count,
  }),
  runResult,
  z.object({ kind: z.literal('failed'), notice }),
])
export type PapersEvent = z.infer<typeof papersEvent>
export type PapersProgress = Extract<PapersEvent, { kind: 'progress' }>
