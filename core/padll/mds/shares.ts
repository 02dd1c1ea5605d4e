/**
 * Rates of each job in each scope named by policies: the computation of a global controller of stages, with job_stats
 * counters instead of stages.
 */
import type { Failure } from '../../base/result.ts'
import { allocate, fallsBack } from '../algorithms/allocate.ts'
import type { Algorithm } from '../algorithms/algorithm.ts'
import type { Scope } from '../vocabulary.ts'
import { MDS_SCOPES } from './operations.ts'

/** A policy that is in force now. */
export interface PolicyInForce {
  /** Line in the policy file. */
  readonly line: number
  /** A static limit, or a demand for the algorithm. */
  readonly kind: 'limit' | 'demand'
  readonly job: string
  readonly scope: Scope
  /** op/s, > 0. */
  readonly value: number
}

/** Part of a policy, a limit or a server that rules cannot express; line 0 for no policy. */
export interface UnexpressedLine {
  readonly line: number
  readonly text: string
}

export interface ControlSettings {
  readonly algorithm: Algorithm
  readonly epsilon: number
  readonly slots: number | null
  /** Limits of the named jobs together, op/s, by scope. */
  readonly limits: ReadonlyMap<Scope, number>
}

/** Rate of one job in one scope. */
export interface JobShare {
  readonly job: string
  readonly scope: Scope
  readonly demand: number | null
  readonly limit: number | null
  /** op/s; null if unlimited. */
  readonly allocated: number | null
  /** Lines of its policies. */
  readonly lines: readonly number[]
}

export interface JobActivity {
  /** Rate of a job in a scope since the last cycle, op/s; null if unknown. */
  usage(job: string, scope: Scope): number | null
  /** True for jobs seen recently: demands are shared among these. */
  isActive(job: string): boolean
}

interface Shares {
  readonly shares: JobShare[]
  readonly unexpressed: UnexpressedLine[]
  /** Scopes in which PSFA replaces `psfa-adaptive`: servers do not report waiting operations. */
  readonly fallbacks: Scope[]
  readonly failures: Failure[]
}

interface Named {
  readonly job: string
  demand: number | null
  limit: number | null
  readonly lines: number[]
}

/** Algorithms that share among present jobs; the others give fixed rates. */
const SHARES: ReadonlySet<Algorithm> = new Set(['psharing', 'psfa', 'psfa-adaptive'])

/**
 * Computes the rates of all jobs named by policies, scope by scope.
 *
 * A job's limit bounds what the algorithm gives it. Without a system limit nothing is shared: limits apply as they are,
 * and a demand alone gives no rate (reported). An absent job gets no share (0); its rules let it start (`compile.ts`),
 * and its first operations trigger a cycle that includes it.
 *
 * `psfa-adaptive` needs the operations that wait, which servers do not report: PSFA's rule replaces it (`fallbacks`).
 *
 * Source: spec/padll 5 and 6, rows 8, 10, 16. Deviation: a job is present if it did an operation recently, because a
 * server knows no stages.
 */
export function sharesOf(policies: readonly PolicyInForce[], settings: ControlSettings, activity: JobActivity): Shares {
  const scopes = new Map<Scope, Map<string, Named>>()
  for (const p of policies) {
    let jobs = scopes.get(p.scope)
    if (!jobs) scopes.set(p.scope, (jobs = new Map<string, Named>()))
    let named = jobs.get(p.job)
    if (!named) jobs.set(p.job, (named = { job: p.job, demand: null, limit: null, lines: [] }))
    named[p.kind] = p.value
    named.lines.push(p.line)
  }
  const named = [...settings.limits.keys()].filter((scope) => !scopes.has(scope))
  const idle = named.map((scope) => ({
    line: 0,
    text: `the system limit of ${scope} applies to no job: no policy names this scope`,
  }))
  const out: Shares = { shares: [], unexpressed: idle, fallbacks: [], failures: [] }
  for (const [scope, jobs] of scopes) {
    const rates = ratesOf(scope, [...jobs.values()], settings, activity)
    if (typeof rates === 'string') {
      out.failures.push({
        code: 'NOT_ALLOCATED',
        what: `The rates of ${scope} cannot be computed`,
        why: rates,
        unaffected: 'The rates in force stay as they are.',
      })
      return { ...out, shares: [] }
    }
    if (rates.isFallback) out.fallbacks.push(scope)
    for (const { job, demand, limit, lines } of jobs.values()) {
      const allocated = rates.rates.get(job) ?? null
      out.shares.push({ job, scope, demand, limit, allocated, lines })
      if (allocated === null && MDS_SCOPES[scope].opcodes.length > 0) {
        const text = `${job} gets no rate for ${scope}: its demand is a share of a system limit, and none is set`
        for (const line of lines) out.unexpressed.push({ line, text })
      }
    }
  }
  return out
}

/** Rates by job, and whether they are those of PSFA instead of its advance; a string is the reason for having none. */
function ratesOf(
  scope: Scope,
  jobs: readonly Named[],
  { algorithm, epsilon, slots, limits }: ControlSettings,
  activity: JobActivity,
): { readonly rates: ReadonlyMap<string, number>; readonly isFallback: boolean } | string {
  const maxRate = limits.get(scope)
  const bounded = (n: Named, rate: number): number => (n.limit === null ? rate : Math.min(rate, n.limit))
  const isShared = SHARES.has(algorithm)
  if (maxRate === undefined && algorithm !== 'static') {
    const rates = new Map(jobs.flatMap((n) => (n.limit === null ? [] : [[n.job, n.limit] as const])))
    return { rates, isFallback: false }
  }
  const present = isShared ? jobs.filter((n) => activity.isActive(n.job)) : jobs
  const demandOf = (n: Named): number | null => (isShared ? (n.demand ?? n.limit) : (n.limit ?? n.demand))
  const demands = present.map((n) => ({ id: n.job, demand: demandOf(n), usage: activity.usage(n.job, scope) }))
  const allocated = allocate({
    algorithm,
    maxRate: maxRate ?? Infinity,
    jobs: demands,
    epsilon,
    slots: slots ?? undefined,
  })
  if (!allocated.ok) return allocated.error.message
  const rates = new Map(
    jobs.flatMap((n) => {
      const rate = allocated.value.get(n.job) ?? (isShared ? 0 : undefined)
      return rate === undefined ? [] : [[n.job, bounded(n, rate)] as const]
    }),
  )
  return { rates, isFallback: fallsBack(algorithm, demands) }
}
