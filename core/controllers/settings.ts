/** Settings of the controllers that have a fixed list of values, or a range: scenarios, the contract and menus derive from them. */

/**
 * Demand measures.
 *
 * - `served`: RPCs completed; all that `job_stats` shows, and the measure of the paper. A job held at its rate has a
 *   utilization of about 1, within its bucket.
 * - `dispatched`: RPCs handed to a thread: as `served`, counted before the service instead of after it.
 * - `arrivals`: RPCs that arrived, the paper's wording. Clients keep at most 8 RPCs in flight, so it follows `served`.
 * - `backlog`: dispatched (or served) plus the RPCs still waiting at the end.
 * - `saturation`: served; if that is at least 90 % of the tokens minus one, the larger of served and tokens plus 8: an
 *   approximation of `backlog` if no queue can be read.
 *
 * Source: spec/adaptbf 6 (A24); saturation inference is not in the paper.
 */
export const DEMAND_MEASURES = ['served', 'dispatched', 'arrivals', 'backlog', 'saturation'] as const
export type DemandMeasure = (typeof DEMAND_MEASURES)[number]

/**
 * Coefficient of a lender's utilization u in AdapTBF equation (13). `max`: max(1, u), as printed: an idle lender is repaid as fast as a
 * busy one. `min`: min(1, u), the extension of that name: the coefficient is at most 1, and an idle lender waits.
 */
export const COEFFICIENTS = ['max', 'min'] as const
export type Coefficient = (typeof COEFFICIENTS)[number]

/** Largest deadband, % of the rate in force: above it the rates no longer reflect the allocation. */
export const DEADBAND_MAX_PERCENT = 50

/**
 * Parts of a lock manager that can be switched on and off. conversion: locks of one client are merged under a stronger
 * mode, and canceled under the weakest sufficient one. Source: spec/seqdlm 12.
 */
export const LOCK_OPTIONS = ['earlyGrant', 'earlyRevocation', 'conversion', 'expansion'] as const
export type LockOption = (typeof LOCK_OPTIONS)[number]

/** Haechi's reservation decay: `demand`: xi <= X + queued; `literal`: xi <= X; `none`: nothing is yielded (A1). */
export const HAECHI_DECAY_RULES = ['demand', 'literal', 'none'] as const
export type DecayRule = (typeof HAECHI_DECAY_RULES)[number]
/** Refill target of Haechi's token pool (A7); `none` never refills it, `deadline` is an advance (`advances.ts`). */
export const HAECHI_CONVERSION_RULES = ['ledger', 'literal', 'budget', 'none', 'deadline'] as const
export type ConversionRule = (typeof HAECHI_CONVERSION_RULES)[number]
/**
 * Rule of Haechi's capacity estimate. `ge`: U >= omega - slack raises omega; `literal`: U == omega does (A4); `evidence` is an advance
 * (`advances.ts`).
 */
export const HAECHI_ESTIMATOR_RULES = ['ge', 'literal', 'evidence'] as const
export type EstimatorRule = (typeof HAECHI_ESTIMATOR_RULES)[number]
/**
 * Reading of the paper where it is ambiguous: as resolved in spec/haechi, or literal. The others are the first one with an advance
 * (`advances.ts`), or with both.
 */
export const HAECHI_PRESETS = ['default', 'paper-literal', 'deadline', 'evidence', 'deadline-evidence'] as const
export type HaechiPreset = (typeof HAECHI_PRESETS)[number]
/** bare: no tokens; basic: without conversion; haechi: complete. */
export const HAECHI_VARIANTS = ['bare', 'basic', 'haechi'] as const
export type HaechiVariant = (typeof HAECHI_VARIANTS)[number]

/** PADLL's control algorithms. Source: spec/padll 6; psfa-adaptive is an advance (`advances.ts`). */
export const PADLL_ALGORITHMS = ['static', 'uniform', 'priority', 'psharing', 'psfa', 'psfa-adaptive'] as const
export type PadllAlgorithm = (typeof PADLL_ALGORITHMS)[number]
