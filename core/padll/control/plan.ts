/**
 * Target rates of every stage, scope by scope: demands and limits from policies, rates from the algorithm, whole
 * numbers for stages. Source: spec/padll 5 and 6 (rows 8 to 10, 15, 16).
 */
import { allocate } from '../algorithms/allocate.ts'
import { sumOfForecasts, weightOf } from '../algorithms/psfa-adaptive.ts'
import type { PolicyNow } from '../rules/policy-schedule.ts'
import type { Scope } from '../vocabulary.ts'
import type { GlobalSettings } from './settings.ts'
import { splitRate, roundRates } from './split.ts'
import type { StageRecord, StageScope } from './stage-record.ts'

/** Policies of one job in one scope. */
export interface JobPolicy {
  demand: number | null
  limit: number | null
}

export type PoliciesByScope = ReadonlyMap<Scope, ReadonlyMap<string, JobPolicy>>

export function byScope(policies: readonly PolicyNow[]): PoliciesByScope {
  const scopes = new Map<Scope, Map<string, JobPolicy>>()
  for (const { scope, job, kind, value } of policies) {
    let jobs = scopes.get(scope)
    if (!jobs) scopes.set(scope, (jobs = new Map<string, JobPolicy>()))
    let of = jobs.get(job)
    if (!of) jobs.set(job, (of = { demand: null, limit: null }))
    of[kind] = value
  }
  return scopes
}

/** Plan of one scope. */
export interface ScopePlan {
  readonly scope: Scope
  /** Most that its limited stages may have together, with the floors that exceed the limit; Infinity for no limit. */
  readonly budget: number
  /** Stages that get a rate. */
  readonly limited: readonly StageScope[]
  /** Unlimited stages: they return to their housekeeping rates. */
  readonly free: readonly StageScope[]
  /** Rate of each job, op/s; unlimited jobs are omitted. */
  readonly allocated: ReadonlyMap<string, number>
}

export interface PlanInput {
  readonly stages: Iterable<StageRecord>
  readonly policies: PoliciesByScope
  readonly settings: GlobalSettings
  /** Rates of stages out of reach, op/s, by scope. */
  readonly reserved: ReadonlyMap<Scope, number>
  /** Upper bound below the limit; absent: the limit. */
  readonly caps?: ReadonlyMap<Scope, number> | undefined
  /** Housekeeping rate of an object, op/s. */
  readonly baseRate: (channel: number, object: number) => number
}

export interface Plan {
  readonly scopes: readonly ScopePlan[]
  /** Scopes whose rates cannot be computed: those in force stay. */
  readonly faults: readonly { readonly scope: Scope; readonly why: string }[]
}

const SHARED: ReadonlySet<string> = new Set(['psharing', 'psfa', 'psfa-adaptive'])
const NO_POLICY: JobPolicy = { demand: null, limit: null }
const NO_POLICIES: ReadonlyMap<string, JobPolicy> = new Map()

/** Computes the rates and stores them as `target` of every stage's scope. */
export function plan(input: PlanInput): Plan {
  const scopes = new Map<Scope, Map<string, StageScope[]>>()
  for (const stage of input.stages) {
    for (const [scope, of] of stage.scopes) {
      let jobs = scopes.get(scope)
      if (!jobs) scopes.set(scope, (jobs = new Map<string, StageScope[]>()))
      const some = jobs.get(stage.identity.job)
      if (some) some.push(of)
      else jobs.set(stage.identity.job, [of])
    }
  }
  const plans: ScopePlan[] = []
  const faults: { scope: Scope; why: string }[] = []
  for (const [scope, jobs] of scopes) {
    const one = planScope(scope, jobs, input)
    if (typeof one === 'string') faults.push({ scope, why: one })
    else plans.push(one)
  }
  return { scopes: plans, faults }
}

function planScope(scope: Scope, jobs: ReadonlyMap<string, StageScope[]>, input: PlanInput): ScopePlan | string {
  const { settings } = input
  const limit = settings.limits.get(scope)
  const cap = Math.min(limit ?? Infinity, input.caps?.get(scope) ?? (input.caps ? 0 : Infinity))
  const max = limit === undefined ? Infinity : cap - (input.reserved.get(scope) ?? 0)
  const rates = ratesOf(jobs, limit === undefined ? undefined : Math.max(1, max), input.policies.get(scope), settings)
  if (typeof rates === 'string') return rates
  const limited: StageScope[] = []
  const free: StageScope[] = []
  const allocated = new Map<string, number>()
  const named = [...jobs].filter(([job]) => rates.has(job))
  const rounded = roundRates(named.map(([job]) => rates.get(job)!))
  let beyond = 0
  for (const [i, [job, stages]] of named.entries()) {
    const parts = splitOver(stages, rounded[i]!, settings)
    let sum = 0
    for (const [k, of] of stages.entries()) {
      of.target = parts[k]!
      sum += of.target
      limited.push(of)
    }
    beyond += sum - rounded[i]!
    allocated.set(job, sum)
  }
  for (const [job, stages] of jobs) {
    if (rates.has(job)) continue
    for (const of of stages) {
      of.target = of.objects.reduce((sum, o) => sum + input.baseRate(o.channel, o.object), 0)
      free.push(of)
    }
  }
  const allowed = settings.oversubscription === 'allow' && !SHARED.has(settings.algorithm)
  const budget = allowed ? Infinity : Math.max(0, max) + beyond
  if (settings.suppress > 0) suppress(limited, budget, settings.suppress)
  return { scope, budget, limited, free, allocated }
}

/** Rates by job, not whole; unlimited jobs are omitted. A string is the reason for having no rates. */
function ratesOf(
  jobs: ReadonlyMap<string, readonly StageScope[]>,
  max: number | undefined,
  policies: ReadonlyMap<string, JobPolicy> = NO_POLICIES,
  settings: GlobalSettings,
): ReadonlyMap<string, number> | string {
  const { algorithm, epsilon, slots, oversubscription, leftover } = settings
  const rates = new Map<string, number>()
  if (max === undefined && algorithm !== 'static') {
    // Without a system limit nothing is shared: limits apply as they are, a demand alone gives no rate.
    for (const job of jobs.keys()) {
      const limit = policies.get(job)?.limit
      if (limit != null) rates.set(job, limit)
    }
    return rates
  }
  const isShared = SHARED.has(algorithm)
  // A job without a policy would demand 1 op/s (spec/padll 6, row 9) and nearly stop beside a busy one.
  const even = algorithm === 'static' || max === undefined ? null : max / jobs.size
  const input = [...jobs].map(([id, stages]) => {
    const { demand, limit } = policies.get(id) ?? NO_POLICY
    const forecast = algorithm === 'psfa-adaptive' ? sumOfForecasts(stages.map((of) => of.forecast)) : null
    return { id, demand: (isShared ? (demand ?? limit) : (limit ?? demand)) ?? even, usage: usageOf(stages), forecast }
  })
  const done = allocate({
    algorithm,
    maxRate: max ?? Infinity,
    jobs: input,
    epsilon,
    slots: slots ?? undefined,
    oversubscription,
    leftover,
  })
  if (!done.ok) return `${done.error.code}: ${done.error.message}`
  for (const [job, rate] of done.value) rates.set(job, Math.min(rate, policies.get(job)?.limit ?? Infinity))
  return rates
}

/** Sums the known usages; null in the first cycle of a job. */
function usageOf(stages: readonly StageScope[]): number | null {
  let sum: number | null = null
  for (const { usage } of stages) if (usage !== null) sum = (sum ?? 0) + usage
  return sum
}

/** Splits equally, by usage, or under `psfa-adaptive` by what each stage is expected to serve. */
function splitOver(stages: readonly StageScope[], total: number, { split, algorithm }: GlobalSettings): number[] {
  const floors = stages.map((of) => of.floor)
  const isAdaptive = algorithm === 'psfa-adaptive'
  const weights = stages.map((of) => (isAdaptive && of.forecast !== null ? weightOf(of.forecast) : of.usage))
  const known = weights.filter((weight) => weight !== null)
  if ((split === 'equal' && !isAdaptive) || known.length === 0) return splitRate(total, floors)
  // A stage without a sample counts as an average one.
  const mean = known.reduce((a, b) => a + b, 0) / known.length
  return splitRate(
    total,
    floors,
    weights.map((weight) => weight ?? mean),
  )
}

/** Keeps the rates of jobs that would hardly change, unless the sum would then exceed the budget. */
function suppress(limited: readonly StageScope[], budget: number, part: number): void {
  const isNear = (of: StageScope): boolean =>
    !of.isUnsure && of.request === undefined && Math.abs(of.target - of.most) <= part * of.target
  const far = new Set(limited.filter((of) => !isNear(of)).map((of) => of.stage.identity.job))
  const near = limited.filter((of) => !far.has(of.stage.identity.job))
  const sum = limited.reduce((s, of) => s + of.target, 0) + near.reduce((s, of) => s + of.most - of.target, 0)
  if (sum > budget) return
  for (const of of near) of.target = of.most
}
