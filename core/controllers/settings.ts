/** Settings of the controllers that have a fixed list of values, or a range: scenarios, the contract and menus derive from them. */

/**
 * The measures of demand.
 *
 * - `served`: RPCs completed; all that `job_stats` shows, and what the authors used. A job held at its rate sits at a
 *   utilisation of 1, give or take its bucket.
 * - `dispatched`: RPCs handed to a thread; as `served`, without the RPCs under way.
 * - `arrivals`: RPCs that came in, the paper's wording. Clients keep at most 8 RPCs in flight, so it follows `served`.
 * - `backlog`: dispatched (or served) plus what still waits at the end: what ran and what wants to run.
 * - `saturation`: served, and where that is nine tenths of the tokens less one or more, the tokens plus 8: a stand-in for
 *   `backlog` where no queue can be read.
 *
 * Source: spec/adaptbf 6 (A24); saturation inference is not in the paper.
 */
export const DEMAND_MEASURES = ['served', 'dispatched', 'arrivals', 'backlog', 'saturation'] as const
export type DemandMeasure = (typeof DEMAND_MEASURES)[number]

/**
 * Coefficient of a lender's utilisation u in AdapTBF equation (13). `max`: max(1, u), as printed: an idle lender is paid back as fast as a
 * busy one. `min`: min(1, u), the extension of that name: the coefficient is a part of 1, and an idle lender waits.
 */
export const COEFFICIENTS = ['max', 'min'] as const
export type Coefficient = (typeof COEFFICIENTS)[number]

/** Largest deadband, % of the rate in force: beyond it the rates say nothing of the allocation any more. */
export const DEADBAND_MAX_PERCENT = 50

/** PADLL's control algorithms. Source: spec/padll 6. */
export const PADLL_ALGORITHMS = ['static', 'uniform', 'priority', 'psharing', 'psfa'] as const
export type PadllAlgorithm = (typeof PADLL_ALGORITHMS)[number]
