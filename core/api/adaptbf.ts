/** AdapTBF in the contract: settings, control cycles, and debts between jobs. */
import * as z from 'zod'
import { COEFFICIENTS, DEADBAND_MAX_PERCENT, DEMAND_MEASURES } from '../controllers/settings.ts'
import { ms } from './parts.ts'

const count = z.number().int().nonnegative()
const texts = z.array(z.string())
const numbers = z.array(z.number())

export const demandMeasure = z.enum(DEMAND_MEASURES)
export type DemandMeasure = z.infer<typeof demandMeasure>

/** The settings in force. */
export const adaptbfOptions = z.object({
  demand: demandMeasure,
  /** % of the rate in force. */
  deadbandPercent: z.number().min(0).max(DEADBAND_MAX_PERCENT),
  coefficient: z.enum(COEFFICIENTS),
  overdraft: z.number().min(0).max(1),
  autoT: z.boolean(),
  spill: z.boolean(),
})
export type AdaptbfOptions = z.infer<typeof adaptbfOptions>

/**
 * Settings to change. Ranges are not validated here: the host refuses an invalid value with a notice that names the range, which a schema
 * error would not.
 */
export const adaptbfChange = z.object({
  demand: z.string().max(40).optional(),
  deadbandPercent: z.number().optional(),
  coefficient: z.string().max(40).optional(),
  overdraft: z.number().optional(),
  autoT: z.boolean().optional(),
  spill: z.boolean().optional(),
})
export type AdaptbfChange = z.infer<typeof adaptbfChange>

export const adaptbfStatus = z.object({
  options: adaptbfOptions,
  /** Demand measures supported by this source. */
  measures: z.array(demandMeasure),
  /** Largest token rate T by target, RPC/s; adapted by `autoT`. */
  maxRates: z.array(z.object({ target: z.string(), ratePerSec: z.number() })),
  /** Clearing of job_stats after each period, and how often a server was cleared since it was switched on. */
  clearing: z.object({ isOn: z.boolean(), clears: count }),
  /** Longest delays over the targets in the last period; null if none was decided. */
  lag: z
    .object({
      /** From the reading of the counters to the decision, ms. */
      ageMs: z.number(),
      /** From the start of the period until its rules were in force and read back, ms; null if none changed. */
      inForceMs: z.number().nullable(),
    })
    .nullable(),
})

/** Time of one cycle, ms of wall time. */
const cycleParts = {
  /** Time from sending the read commands to their last byte. */
  collect: z.number(),
  parse: z.number(),
  /** Controllers and the plan. */
  allocate: z.number(),
  /** Timers, rules and the read-back. */
  apply: z.number(),
}

/** Cost of a cycle: means over the samples of the last second. */
export const cycle = z.object({
  ...cycleParts,
  /** Time from the first command to the last read-back; the sum of the parts. */
  total: z.number(),
  nodes: z.array(z.object({ node: z.string(), ...cycleParts })),
})
export type CycleFrame = z.infer<typeof cycle>

/** Open debts, largest first: one entry per pair and direction. */
export const pairColumns = z.object({
  lender: texts,
  borrower: texts,
  /** Tokens, > 0. */
  tokens: numbers,
})
export type PairColumns = z.infer<typeof pairColumns>

/** One line of a job's ledger: tokens moved between it and another job on one target in one second. */
export const ledgerLine = z.object({
  atMs: ms,
  target: z.string(),
  /** The other job. */
  other: z.string(),
  /** Seen from the job: it lent, reclaimed, borrowed or repaid. */
  kind: z.enum(['lent', 'reclaimed', 'borrowed', 'repaid']),
  /** Change of the job's record. */
  tokens: z.number(),
})
export type LedgerLine = z.infer<typeof ledgerLine>

/** Debts between one job and others. */
export const jobPairs = z.object({
  other: texts,
  /** Debt of the other to the job (+) or of the job to the other (-). Sums to the record, with `rest`. */
  tokens: numbers,
  /** Start of the debt; null if no longer known. */
  sinceMs: z.array(ms.nullable()),
  /** Number of pairs beyond those listed. */
  more: count,
  /** Sum of their tokens. */
  rest: z.number(),
})
export type JobPairs = z.infer<typeof jobPairs>
