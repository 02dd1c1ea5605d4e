/**
 * How much of the time a job runs at its rule's limit. job_stats shows no waiting, so it is inferred: over the last second
 * the server served the job 90 % of its rule's rate or more.
 */
const SPAN = 10
const LIMIT = 0.9

interface Recent {
  readonly served: Float64Array
  readonly allowed: Float64Array
  /** Sample number of the newest entry, and where the next one goes. */
  at: number
  next: number
  servedSum: number
  allowedSum: number
}

export class Throttling {
  readonly #recent = new Map<string, Recent>()
  readonly #bridge: number

  /** @param bridge  samples between two entries that follow each other; 1: none may be missing. */
  constructor(bridge = 1) {
    this.#bridge = bridge
  }

  /**
   * Takes one sample of one job on one server. Samples that were not handed in (no rule, no reading) begin anew: what was a
   * burst ago says nothing of now.
   *
   * @param number   of the sample.
   * @param served   RPCs in the sample.
   * @param allowed  RPCs that the rule allowed in the sample; 0 without a rule.
   * @returns        whether the job is at its limit.
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
