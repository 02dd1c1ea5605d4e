/**
 * AdapTBF as a controller of one target: observation in, token rates out. What the server cannot tell - how much a job would
 * have issued without its rule - is inferred here; the allocation itself is `TokenAllocator`.
 */
import { invariant } from '../base/result.ts'
import { NS_PER_S } from '../base/units.ts'
import { RATE_MAX } from '../lustre/nrs-tbf-rule.ts'
import type { Allocation, Controller, Decision, JobDemand, Observation } from '../control/controller.ts'
import { type AllocatedPeriod, TokenAllocator } from './allocation.ts'
import type { PeriodJob } from './job-ledger.ts'
import { EPS } from './rounding.ts'

/** RPCs added to the demand of a saturated job: what a client keeps in flight. */
const IN_FLIGHT_RPCS = 8

/**
 * How demand is read from what was served. `served`: as it is, what the authors used; a throttled job then never shows more
 * than its tokens. `saturation`: a job that used its tokens up is taken to want more.
 */
export const DEMAND_MEASURES = ['served', 'saturation'] as const
export type DemandMeasure = (typeof DEMAND_MEASURES)[number]

/** How one target is controlled. */
export interface AdapTbfOptions {
  /** Largest token rate of the target, T, RPC/s, > 0. Best at 0.95 to 1.0 of what the target can serve. */
  readonly maxRatePerSec: number
  /** Default: `saturation`. */
  readonly demand?: DemandMeasure | undefined
}

/**
 * AdapTBF for one target.
 *
 * Source: AdapTBF III-A (System Stats Controller, Rule Management Daemon) and III-C. Deviations: demand may be inferred (see
 * `DemandMeasure`); a period that cannot be evaluated repeats the last allocation instead of stopping the rules.
 */
export class AdapTbfController implements Controller {
  readonly name = 'adaptbf'
  readonly #maxRatePerSec: number
  readonly #demand: DemandMeasure
  readonly #allocator = new TokenAllocator()
  #last: Pick<Decision, 'budget' | 'allocations'> = { budget: 0, allocations: [] }

  /** @throws InvariantError when the rate is not above 0: options are checked where they are entered. */
  constructor(options: AdapTbfOptions) {
    const { maxRatePerSec, demand = 'saturation' } = options
    invariant(Number.isFinite(maxRatePerSec) && maxRatePerSec > 0, 'the largest token rate of a target is above 0')
    this.#maxRatePerSec = maxRatePerSec
    this.#demand = demand
  }

  step({ target, atNs, periodNs, jobs }: Observation): Decision {
    const stepped = this.#allocator.step({
      maxRatePerSec: this.#maxRatePerSec,
      dtSeconds: periodNs / NS_PER_S,
      jobs: mergeJobs(jobs).map((job) => this.#measure(job)),
    })
    this.#last = stepped.ok
      ? { budget: stepped.value.budget, allocations: toAllocations(stepped.value, periodNs) }
      : { ...this.#last, allocations: this.#last.allocations.map((held) => ({ ...held, recordDelta: 0 })) }
    return { target, atNs, ...this.#last, records: this.#allocator.records() }
  }

  #measure({ jobId: id, nodes, served }: CountedJob): PeriodJob {
    const previous = this.#demand === 'saturation' ? this.#allocator.previousTokens(id) : undefined
    // Without tokens in the last period the job ran without a rule: what it was served is what it wanted.
    const isSaturated = previous !== undefined && served >= 0.9 * previous - 1 - EPS
    return { id, nodes, demand: isSaturated ? Math.max(served, previous) + IN_FLIGHT_RPCS : served }
  }
}

interface CountedJob {
  readonly jobId: string
  readonly nodes: number
  readonly served: number
}

/** Jobs that can be counted, each once: entries of one JobID add up, on the largest number of nodes. */
function mergeJobs(jobs: readonly JobDemand[]): CountedJob[] {
  const merged = new Map<string, CountedJob>()
  for (const { jobId, nodes, served } of jobs) {
    if (jobId === '' || !Number.isFinite(served) || served <= 0) continue
    const known = merged.get(jobId)
    const counted = nodes !== undefined && Number.isFinite(nodes) ? toCount(nodes) : 1
    merged.set(jobId, {
      jobId,
      nodes: Math.max(counted, known?.nodes ?? 1),
      served: toCount(Math.round(served + (known?.served ?? 0))),
    })
  }
  return [...merged.values()]
}

/** At least 1, so that a job that was served is active; small enough to be counted exactly. */
const toCount = (value: number): number => Math.min(2 ** 52, Math.max(1, value))

function toAllocations({ ids, tokens, records, recordDeltas }: AllocatedPeriod, periodNs: number): Allocation[] {
  return ids.map((jobId, i) => {
    const rate = Math.round((tokens[i]! * NS_PER_S) / periodNs)
    const ratePerSec = Math.min(RATE_MAX, Math.max(1, rate))
    return { jobId, tokens: tokens[i]!, ratePerSec, record: records[i]!, recordDelta: recordDeltas[i]! }
  })
}
