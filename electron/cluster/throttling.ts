/**
 * Share of time that a job runs at its rule's limit. job_stats shows no waiting, so it is inferred: over the last
 * second the server served 90 % of the job's rule rate or more.
 */
const SPAN = 10
const LIMIT = 0.9

interface Recent {
  readonly served: Float64Array
  readonly allowed: Float64Array
  /** Sample number of the newest entry, and the index of the next one. */
  at: number
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
   * @param number   of the sample.
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
