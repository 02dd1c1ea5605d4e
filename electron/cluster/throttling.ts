/**
 * Detects jobs that run at their rule's limit. job_stats shows no waiting, so it is inferred: over the last ten samples
 * the server served at least 90 % of the RPCs that the rule allowed.
 */

/** Number of samples. */
const SPAN = 10
/** Fraction of the allowed RPCs from which a job counts as limited. */
const LIMIT = 0.9

interface Recent {
  readonly served: Float64Array
  readonly allowed: Float64Array
  /** Sample number of the newest entry. */
  at: number
  /** Index of the next entry. */
  next: number
  servedSum: number
  allowedSum: number
}

export class Throttling {
  readonly #recent = new Map<string, Recent>()
  readonly #bridge: number

  /** @param bridge  largest distance of two consecutive entries, in samples; 1: none may be missing. */
  constructor(bridge = 1) {
    this.#bridge = bridge
  }

  /**
   * Adds one sample of one job on one server. Missing samples (no rule, no reading) reset it: an earlier burst does not
   * count.
   *
   * @param number   sample number.
   * @param served   RPCs in the sample.
   * @param allowed  RPCs that the rule allowed in the sample; 0 without a rule.
   * @returns        true while the job is at its limit.
   */
  sample(number: number, server: string, jobId: string, served: number, allowed: number): boolean {
    const key = `${server}\u0000${jobId}`
    let r = this.#recent.get(key)
    if (!r || number - r.at > this.#bridge || number <= r.at) {
      r = {
        served: new Float64Array(SPAN),
        allowed: new Float64Array(SPAN),
        at: number - 1,
        next: 0,
        servedSum: 0,
        allowedSum: 0,
      }
      this.#recent.set(key, r)
    }
    r.at = number
    const i = r.next
    r.next = (i + 1) % SPAN
    r.servedSum += served - (r.served[i] as number)
    r.allowedSum += allowed - (r.allowed[i] as number)
    r.served[i] = served
    r.allowed[i] = allowed
    return allowed > 0 && r.servedSum >= LIMIT * r.allowedSum
  }

  drop(jobId: string): void {
    for (const key of this.#recent.keys()) if (key.endsWith(`\u0000${jobId}`)) this.#recent.delete(key)
  }
}
