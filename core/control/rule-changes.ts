/**
 * Which rates are worth sending, and in what order. On a running server every change, even to the same rate, hands each
 * class of the rule a fresh bucket of 3 tokens, so rewriting rates ten times a second gives away up to 30 RPC/s a job.
 */

/** A job and the rate of its rule, RPC/s. */
export interface JobRate {
  readonly jobId: string
  readonly ratePerSec: number
}

/** Which changes are too small to be sent: those within either bound. */
export interface Deadband {
  /** Of the rate in force. */
  readonly percent: number
  /** RPC/s. One token a period (1 / dt) is what integers alone move. */
  readonly ratePerSec: number
}

/** Every difference is sent. */
export const NO_DEADBAND: Deadband = { percent: 0, ratePerSec: 0 }

/** Steps from the rates in force to the ones wanted, to be taken in the order of the fields. */
export interface RuleChanges {
  /** Jobs that are no longer active. */
  readonly stop: readonly string[]
  readonly lower: readonly JobRate[]
  readonly raise: readonly JobRate[]
  /** New rules, lowest priority first: a rule that is started goes before the older ones. */
  readonly start: readonly JobRate[]
}

/**
 * The fewest changes that bring the rates in force to what is wanted, but for a deadband. The sum of live rates never
 * exceeds the larger of both sums in between.
 *
 * A rate within the deadband of the one in force is left as it is, so the sum may be off by as much.
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
  const kept = new Set(wanted.map(({ jobId }) => jobId))
  const stop = [...inForce.keys()].filter((jobId) => !kept.has(jobId))
  const [lower, raise, start]: [JobRate[], JobRate[], JobRate[]] = [[], [], []]
  for (const rate of wanted) {
    const present = inForce.get(rate.jobId)
    if (present === undefined) start.unshift(rate)
    else if (isWithin(present, rate.ratePerSec, deadband)) continue
    else if (rate.ratePerSec < present) lower.push(rate)
    else raise.push(rate)
  }
  return { stop, lower, raise, start }
}

/** The rates wanted, with those of the ones in force that a deadband keeps; for a plan that compares by itself. */
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
