/**
 * What the algorithms give each job in each scope that policies name: the same computation as a global controller of stages
 * makes, from counters of job_stats instead of stages.
 */
import type { Failure } from '../../base/result.ts'
import { allocate } from '../algorithms/allocate.ts'
import type { Algorithm } from '../algorithms/algorithm.ts'
import type { Scope } from '../vocabulary.ts'
import { MDS_SCOPES } from './operations.ts'

/** A policy that is in force now. */
export interface PolicyInForce {
  /** Of the policy file. */
  readonly line: number
  /** A static limit, or a demand that the algorithm shares by. */
  readonly kind: 'limit' | 'demand'
  readonly job: string
  readonly scope: Scope
  /** op/s, > 0. */
  readonly value: number
}

/** What a policy, a limit or a server cannot be given, in words; line 0: of no policy. */
export interface UnexpressedLine {
  readonly line: number
  readonly text: string
}

export interface ControlSettings {
  readonly algorithm: Algorithm
  readonly epsilon: number
  readonly slots: number | null
  /** Most that the jobs that policies name may do together, op/s, by scope. */
  readonly limits: ReadonlyMap<Scope, number>
}

/** One job in one scope, and what it may do. */
export interface JobShare {
  readonly job: string
  readonly scope: Scope
  readonly demand: number | null
  readonly limit: number | null
  /** op/s; null: nothing limits it. */
  readonly allocated: number | null
  /** Lines of its policies. */
  readonly lines: readonly number[]
}

export interface JobActivity {
  /** op/s of a job in a scope since the last cycle; null where that is not known. */
  usage(job: string, scope: Scope): number | null
  /** Whether it was seen of late: demands are shared among those that are there. */
  isActive(job: string): boolean
}

interface Named {
  readonly job: string
  demand: number | null
  limit: number | null
  readonly lines: number[]
}

/** Algorithms that share among the jobs that are there; the others give fixed rates, whoever is there. */
const SHARES: ReadonlySet<Algorithm> = new Set(['psharing', 'psfa'])

/**
 * The rates of all jobs that policies name, scope by scope.
 *
 * A job's limit bounds what the algorithm gives it. Where no system limit stands there is nothing to share: limits hold as
 * they are, and a demand alone gives no rate (said). A job that is not there holds no share of what is shared (0); its
 * rules let it begin (`compile.ts`), and its first operations start a cycle that counts it in.
 *
 * Source: spec/padll 5 and 6, rows 8, 10, 16. Deviation: presence is having done an operation of late, because a server
 * knows no stages that connect.
 */
export function sharesOf(
  policies: readonly PolicyInForce[],
  settings: ControlSettings,
  activity: JobActivity,
): { shares: JobShare[]; unexpressed: UnexpressedLine[]; failures: Failure[] } {
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
    text: `the system limit of ${scope} holds nobody: it is shared by jobs that policies name, and none names it`,
  }))
  const out = { shares: [] as JobShare[], unexpressed: idle as UnexpressedLine[], failures: [] as Failure[] }
  for (const [scope, jobs] of scopes) {
    const rates = ratesOf(scope, [...jobs.values()], settings, activity)
    if (typeof rates === 'string') {
      out.failures.push({
        code: 'NOT_ALLOCATED',
        what: `The rates of ${scope} cannot be computed`,
        why: rates,
        unaffected: 'The rates in force stay as they are.',
      })
      return { shares: [], unexpressed: out.unexpressed, failures: out.failures }
    }
    for (const { job, demand, limit, lines } of jobs.values()) {
      const allocated = rates.get(job) ?? null
      out.shares.push({ job, scope, demand, limit, allocated, lines })
      if (allocated === null && MDS_SCOPES[scope].opcodes.length > 0) {
        const text = `${job} gets no rate for ${scope}: its demand is a share of a system limit, and none is set`
        for (const line of lines) out.unexpressed.push({ line, text })
      }
    }
  }
  return out
}

/** Rates by job; a text says why there are none. */
function ratesOf(
  scope: Scope,
  jobs: readonly Named[],
  { algorithm, epsilon, slots, limits }: ControlSettings,
  activity: JobActivity,
): ReadonlyMap<string, number> | string {
  const maxRate = limits.get(scope)
  const bounded = (n: Named, rate: number): number => (n.limit === null ? rate : Math.min(rate, n.limit))
  const isShared = SHARES.has(algorithm)
  if (maxRate === undefined && algorithm !== 'static') {
    return new Map(jobs.flatMap((n) => (n.limit === null ? [] : [[n.job, n.limit] as const])))
  }
  const present = isShared ? jobs.filter((n) => activity.isActive(n.job)) : jobs
  const demandOf = (n: Named): number | null => (isShared ? (n.demand ?? n.limit) : (n.limit ?? n.demand))
  const allocated = allocate({
    algorithm,
    maxRate: maxRate ?? Infinity,
    jobs: present.map((n) => ({ id: n.job, demand: demandOf(n), usage: activity.usage(n.job, scope) })),
    epsilon,
    slots: slots ?? undefined,
  })
  if (!allocated.ok) return allocated.error.message
  return new Map(
    jobs.flatMap((n) => {
      const rate = allocated.value.get(n.job) ?? (isShared ? 0 : undefined)
      return rate === undefined ? [] : [[n.job, bounded(n, rate)] as const]
    }),
  )
}
