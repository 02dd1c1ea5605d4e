/**
 * Selection and order of rate changes. On a running server every change, even to the same rate, hands each class of the rule a fresh
 * bucket of 3 tokens, so rewriting rates ten times a second gives away up to 30 RPC/s a job.
 */

/** A job and the rate of its rule, RPC/s. */
export interface JobRate {
  readonly jobId: string
  readonly ratePerSec: number
}

/** Deadband: changes within either bound are not sent. */
export interface Deadband {
  /** Relative to the rate in force. */
  readonly percent: number
  /** RPC/s. Rounding to integers alone moves rates by one token a period (1 / dt). */
  readonly ratePerSec: number
}

/** No deadband: every difference is sent. */
export const NO_DEADBAND: Deadband = { percent: 0, ratePerSec: 0 }

/** Steps from the rates in force to the wanted ones, in the order of the fields. */
export interface RuleChanges {
  /** Jobs that are no longer active. */
  readonly stop: readonly string[]
  readonly lower: readonly JobRate[]
  readonly raise: readonly JobRate[]
  /** New rules, lowest priority first: a rule that is started goes before the older ones. */
  readonly start: readonly JobRate[]
}

/**
 * Returns the fewest changes from the rates in force to the wanted ones, except within a deadband. The sum of live rates never exceeds
 * the larger of both sums in between.
 *
 * A rate within the deadband of the one in force is kept, so the sum may deviate by as much.
 *
 * Source: AdapTBF III-D; order and deadband by spec/adaptbf 5 (A27). Deviations: unchanged rates are not sent.
 *
 * @param inForce  rates by JobID.
 * @param wanted   highest priority first, each job once.
 */
export function ruleChanges(
  inForce: ReadonlyMap<string, number>,
  wanted: readonly JobRate[],
  deadband: Deadband = NO_DEADBAND,
): RuleChanges {
  const wantedJobs = new Set(wanted.map(({ jobId }) => jobId))
  const stop = [...inForce.keys()].filter((jobId) => !wantedJobs.has(jobId))
  const lower: JobRate[] = []
  const raise: JobRate[] = []
  const start: JobRate[] = []
  for (const rate of wanted) {
    const present = inForce.get(rate.jobId)
    if (present === undefined) start.unshift(rate)
    else if (isWithin(present, rate.ratePerSec, deadband)) continue
    else if (rate.ratePerSec < present) lower.push(rate)
    else raise.push(rate)
  }
  return { stop, lower, raise, start }
}

/** Returns the wanted rates, with those in force kept within a deadband; for a plan that compares rates itself. */
export function withDeadband<J extends JobRate>(
  inForce: ReadonlyMap<string, number>,
  wanted: readonly J[],
  deadband: Deadband,
): J[] {
  return wanted.map((rate) => {
    const present = inForce.get(rate.jobId)
    if (present === undefined || !isWithin(present, rate.ratePerSec, deadband)) return rate
    return { ...rate, ratePerSec: present }
  })
}

const isWithin = (present: number, wanted: number, { percent, ratePerSec }: Deadband): boolean =>
  Math.abs(wanted - present) <= Math.max(ratePerSec, (percent / 100) * present)
