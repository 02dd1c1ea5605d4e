/**
 * The papers' experiments in the contract: their list, and runs. All results come from the model on which the papers' claims are tested;
 * nothing is read from or written to a cluster.
 */
import * as z from 'zod'
import { notice } from './parts.ts'

const count = z.number().int().nonnegative()

/** Most seeds of one run; medians are taken over them. */
export const SEEDS_MAX = 20
/** Largest number of points of a line that is sent. */
export const POINTS_MAX = 600

const comparator = z.enum(['>=', '<=', '>', '<', 'between', 'info'])
/** null if not a number: never reached, or not measured. */
const value = z.number().nullable()
const measured = z.union([value, z.record(z.string(), value)])
export type MeasuredValue = z.infer<typeof measured>

const target = z.union([
  z.object({ at: z.number() }),
  z.object({ from: z.number(), to: z.number() }),
  z.object({ is: z.enum(['>=', '<=', '>', '<']), than: z.number() }),
])
const requirement = z.object({ target, on: z.enum(['median', 'every seed']) })

/** Claim of an experiment. Names as in `sluice papers --json`. */
const claim = z.object({
  /** Id, for example `adaptbf.IV-D.1`. */
  id: z.string(),
  /** Section or figure of the paper; `own` for claims beyond the paper. */
  ref: z.string(),
  what: z.string(),
  metric: z.string(),
  /** The paper's number or text; null if it has none. */
  published: z.union([z.number(), z.string()]).nullable(),
  /** Values that agree with the published one. */
  target: target.optional(),
  /** Requirement on an advance, on the median or on each seed; the paper's rule has none. */
  required: requirement.optional(),
  /** Distance from the target within which a value counts as reproduced, and the origin of that distance. */
  tolerance: z.object({ size: z.number(), isRelative: z.literal(true).optional(), reason: z.string() }).optional(),
  /** Constants that the published value determined. */
  calibrates: z.string().optional(),
  /** Proof that no faithful implementation can give the published value. */
  proof: z.string().optional(),
  /** Regression bound: guards changes of this program, and judges nothing published. */
  comparator,
  /** One bound, both ends of `between`, or null for information. */
  bound: z.union([z.number(), z.tuple([z.number(), z.number()])]).nullable(),
  /** Reason for a difference from the published value. */
  note: z.string().optional(),
})
export type PaperClaim = z.infer<typeof claim>

/** Verdict on the published value, as defined in `core/papers/verdict.ts`. */
export const paperVerdict = z.enum(['reproduced', 'calibrated', 'differs', 'contradicts'])
export type PaperVerdict = z.infer<typeof paperVerdict>

const claimResult = claim.extend({
  system: z.string(),
  /** Median over the seeds. */
  measured,
  /** True if the requirement is met. */
  met: z.boolean().optional(),
  /** Median of the paper's rule in the same runs; only for advances. */
  original: measured.optional(),
  /** Judges the published value; null where the paper is silent. */
  verdict: paperVerdict.nullable(),
  /** Distance from the target as a fraction of it; null without a target. */
  deviation: value,
  /** Minimum and maximum over the seeds; null unless a single number. */
  range: z.tuple([value, value]).nullable(),
  /** True if the median is within the regression bound. */
  ok: z.boolean(),
  /** Seeds that individually violate it. */
  failed_seeds: z.array(count),
})
export type ClaimResult = z.infer<typeof claimResult>

/** Lines from 0 s on, at most POINTS_MAX values each: means of `binS` seconds. */
const lines = {
  binS: z.number().positive(),
  series: z.array(z.object({ name: z.string(), values: z.array(z.number()).max(POINTS_MAX) })),
}

const publishedLines = z.array(
  z.object({ name: z.string(), points: z.array(z.tuple([z.number(), z.number()])).max(POINTS_MAX) }),
)

/** Values over time, one series per job; figures shown together have the same `binS`. */
const timeline = z.object({
  kind: z.literal('timeline'),
  id: z.string(),
  title: z.string(),
  unit: z.string(),
  /** End of the run; the lines end earlier if a neighbor ended much earlier. */
  endS: z.number(),
  ...lines,
  /** The whole run with longer bins, if the lines or a neighbor's end early. */
  whole: z.object(lines).optional(),
  /** A limit for the values or their sum. */
  limit: z.object({ name: z.string(), value: z.number() }).optional(),
  /** False: lines, although the unit is a rate. */
  isStacked: z.literal(false).optional(),
  /** Published lines, as [s, value] points. */
  published: publishedLines.optional(),
})
export type PaperTimeline = z.infer<typeof timeline>

/** Values by group and series. */
const bars = z.object({
  kind: z.literal('bars'),
  id: z.string(),
  title: z.string(),
  unit: z.string(),
  series: z.array(z.string()),
  /** `published` in the order of the series; null: not published. */
  groups: z.array(
    z.object({ name: z.string(), values: z.array(z.number()), published: z.array(z.number().nullable()).optional() }),
  ),
})
export type PaperBars = z.infer<typeof bars>

/** Values over a quantity other than time. */
const curve = z.object({
  kind: z.literal('curve'),
  id: z.string(),
  title: z.string(),
  unit: z.string(),
  /** Name and unit of x. */
  across: z.string(),
  isLog: z.literal(true).optional(),
  series: publishedLines,
  published: publishedLines.optional(),
})
export type PaperCurve = z.infer<typeof curve>

export const paperFigure = z.discriminatedUnion('kind', [timeline, bars, curve])
export type PaperFigure = z.infer<typeof paperFigure>

/** Available experiments, in the papers' order. */
export const paperExperiment = z.object({
  /** Id, for example `adaptbf.IV-D`. */
  id: z.string(),
  /** System of the paper, for example `adaptbf`. */
  system: z.string(),
  title: z.string(),
  /** Description of the setup, a sentence or two each. */
  setup: z.array(z.string()),
  /** Variants that run once per seed. */
  parts: count,
  claims: z.array(claim),
  /** Fitted constants of the model. */
  fits: z.array(z.object({ constant: z.string(), value: z.string(), fittedTo: z.string(), outOfSample: z.string() })),
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
  /** Figures of the run with the first seed. */
  figures: z.array(paperFigure),
})
export type PapersResult = z.infer<typeof runResult>

/** Events of a run: progress, and finally its result or the reason for its absence. */
export const papersEvent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('progress'),
    done: count,
    of: count,
    /** Fraction done, 0..1. */
    fraction: z.number().min(0).max(1),
    /** Current part: the variant's description and its seed. */
    part: z.string(),
    seed: count,
  }),
  runResult,
  z.object({ kind: z.literal('failed'), notice }),
])
export type PapersEvent = z.infer<typeof papersEvent>
export type PapersProgress = Extract<PapersEvent, { kind: 'progress' }>
