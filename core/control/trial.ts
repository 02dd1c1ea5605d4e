/**
 * Trial of a plan against the current jobs, before anything is sent: the rule of each job, its resulting ceiling, and other jobs
 * affected.
 *
 * Unknown fields of a job give "may", never a guess. Ceilings and classes follow spec/lustre 2.5.
 */
import { ended, type Steps } from '../base/steps.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { Field } from '../tbf/request-key.ts'
import { LUSTRE_DEFAULTS } from '../tbf/rule-list.ts'
import { sharesOf, type Binding, type Share } from './binding.ts'
import { cptsReached } from './ceiling.ts'
import type { LiveJob } from './live-job.ts'
import { DEFAULT_RULE } from './server-rules.ts'
import {
  classesOf,
  concerned,
  groupServers,
  type Group,
  type JobClasses,
  type Side,
  type TriedServer,
} from './trial-groups.ts'

export type { TriedServer } from './trial-groups.ts'

export interface TriedJob {
  readonly jobId: string
  /** Coverage by a tried rule on any server: all of its RPCs, some, or perhaps; none if the rules only stop covering it. */
  readonly how: Share | 'none'
  /** RPC/s without the plan (`LiveJob.rpcs`). */
  readonly rpcs: number
  /** Rules that it matches, in match order, `default` included. */
  readonly before: readonly string[]
  readonly after: readonly string[]
  /**
   * Most RPC/s that its rules allow, all servers; undefined if only an unchanged `default` limits it, and if its number of classes is
   * unknown.
   */
  readonly ceilingBefore: number | undefined
  readonly ceilingAfter: number | undefined
  /** The new ceiling relative to `rpcs`, -1.. ; undefined without a ceiling, or for an idle job. */
  readonly change: number | undefined
  /** Servers on which its rules or their rates differ after the plan, or on which a tried rule covers it. */
  readonly servers: readonly string[]
}

export interface TrialResult {
  /** Jobs that a tried rule covers, or whose rule or rate changes; most RPC/s first. */
  readonly jobs: readonly TriedJob[]
  /** Jobs certainly covered by a tried rule, at least in part; jobs perhaps covered; jobs that change although none covers them. */
  readonly sure: number
  readonly may: number
  readonly others: number
  /** Classes of the covered jobs: jobs x CPTs x queues x servers, as distinguished by the type; an upper bound. */
  readonly classes: number
  /** True if all fields of a class (of NIDs the number) were known for these jobs; else there may be more. */
  readonly knowsClasses: boolean
  readonly targets: readonly string[]
  readonly servers: readonly string[]
  /** Sum of `rpcs` of the covered jobs. */
  readonly rpcsNow: number
  /** Most RPC/s that the rules allow them after the plan; undefined if one of them has no limit. */
  readonly rpcsAfter: number | undefined
}

const isUntouchedDefault = (r: RuleLine | undefined): boolean =>
  r === undefined || (r.name === DEFAULT_RULE && r.rate >= LUSTRE_DEFAULTS.rate)

/**
 * Returns the ceiling of a job on one queue of one server: each kind at the highest rate of the rules that it may match; undefined
 * without a limit, and if its number of classes is unknown.
 */
function reach(
  bindings: readonly Binding<RuleLine>[],
  fallback: RuleLine | undefined,
  classes: JobClasses,
): number | undefined {
  if (!classes.isCounted) return undefined
  let sum = 0
  for (const { sure, may } of bindings) {
    const last = sure ?? fallback
    if (isUntouchedDefault(last)) return undefined
    sum += Math.max(last?.rate ?? 0, ...may.map((r) => r.rate))
  }
  // Kinds are classes, or several classes of one kind, or several kinds of one class.
  return (sum / bindings.length) * classes.count
}

const namesOf = (bindings: readonly Binding<RuleLine>[]): string[] =>
  [...sharesOf(bindings).keys()].map((r) => r?.name ?? DEFAULT_RULE)

const isAlike = (a: RuleLine | undefined, b: RuleLine | undefined): boolean =>
  a === b || (a?.name === b?.name && a?.rate === b?.rate)

/** True if a job's RPCs match rules of the same names and rates. */
function areAlike(
  was: readonly Binding<RuleLine>[],
  before: Side,
  will: readonly Binding<RuleLine>[],
  after: Side,
): boolean {
  return (
    was.length === will.length &&
    was.every(({ sure, may }, k) => {
      const to = will[k] as Binding<RuleLine>
      return (
        isAlike(sure ?? before.fallback, to.sure ?? after.fallback) &&
        may.length === to.may.length &&
        may.every((rule, i) => isAlike(rule, to.may[i]))
      )
    })
  )
}

const STRENGTH = { none: 0, may: 1, some: 2, all: 3 } as const
const stronger = (a: Share | 'none', b: Share | 'none'): Share | 'none' => (STRENGTH[b] > STRENGTH[a] ? b : a)

class JobTrial {
  readonly #job: LiveJob
  readonly #index: number
  readonly #tried: ReadonlySet<string>
  readonly before = new Set<string>()
  readonly after = new Set<string>()
  readonly servers = new Set<string>()
  how: Share | 'none' = 'none'
  #ceilings: { before: number | undefined; after: number | undefined } = { before: 0, after: 0 }
  /** Number of classes, if the type distinguishes jobs; else their keys, because jobs may share them. */
  classes = 0
  readonly classKeys: string[] = []
  knowsClasses = true

  constructor(job: LiveJob, index: number, tried: ReadonlySet<string>) {
    this.#job = job
    this.#index = index
    this.#tried = tried
  }

  /** Evaluates the job on the servers of a group that it sends to. */
  look(group: Group): void {
    const on = group.servers.filter((s) => this.#job.servers.includes(s))
    if (on.length === 0) return
    for (const [q, { before, after, fields, cpts }] of group.queues.entries()) {
      const was = before.binder.bindJob(this.#job)
      const will = after.binder.bindJob(this.#job)
      const classes = classesOf(this.#job, fields, this.#index)
      const covered = this.#cover(will)
      const isChanged = !areAlike(was, before, will, after)
      if (isChanged || covered !== 'none') for (const s of on) this.servers.add(s)
      const reached = cptsReached(fields, cpts)
      if (covered !== 'none') {
        if (!classes.isKnown) this.knowsClasses = false
        this.#count(on, q, fields, reached, classes, will)
      }
      // On the high-priority queue `default` is implied.
      for (const name of namesOf(was)) if (q === 0 || name !== DEFAULT_RULE) this.before.add(name)
      for (const name of namesOf(will)) if (q === 0 || name !== DEFAULT_RULE) this.after.add(name)
      // High-priority RPCs are few: the limit of the regular ones is the ceiling, and a rule on hp adds its own.
      const scale = reached * on.length
      const isHp = q > 0
      this.#add('before', reach(was, before.fallback, classes), scale, isHp)
      this.#add('after', reach(will, after.fallback, classes), scale, isHp)
    }
  }

  #count(
    on: readonly string[],
    queue: number,
    fields: readonly Field[],
    cpts: number,
    classes: JobClasses,
    bindings: readonly Binding<RuleLine>[],
  ): void {
    if (!fields.includes('jobid')) {
      for (const s of on)
        for (const k of classes.keys()) for (let c = 0; c < cpts; c++) this.classKeys.push(`${s} ${queue} ${c} ${k}`)
      return
    }
    const isTried = (r: RuleLine | undefined): boolean => this.#tried.has(r?.name ?? DEFAULT_RULE)
    const kinds = bindings.filter((b) => isTried(b.sure) || b.may.some(isTried)).length
    this.classes += Math.round((on.length * cpts * classes.count * kinds) / bindings.length)
  }

  #cover(bindings: readonly Binding<RuleLine>[]): Share | 'none' {
    let how: Share | 'none' = 'none'
    for (const [rule, share] of sharesOf(bindings))
      if (this.#tried.has(rule?.name ?? DEFAULT_RULE)) how = stronger(how, share)
    this.how = stronger(this.how, how)
    return how
  }

  #add(side: 'before' | 'after', most: number | undefined, scale: number, isHp: boolean): void {
    if (most === undefined && isHp) return
    const sum = this.#ceilings[side]
    this.#ceilings[side] = most === undefined || sum === undefined ? undefined : sum + most * scale
  }

  result(): TriedJob {
    const { before: ceilingBefore, after: ceilingAfter } = this.#ceilings
    const { jobId, rpcs } = this.#job
    return {
      jobId,
      how: this.how,
      rpcs,
      before: [...this.before],
      after: [...this.after],
      ceilingBefore,
      ceilingAfter,
      change: ceilingAfter === undefined || !(rpcs > 0) ? undefined : (ceilingAfter - rpcs) / rpcs,
      servers: [...this.servers],
    }
  }
}

/**
 * Runs a trial.
 *
 * @param rules   names of the tried rules: those that the plan starts or changes.
 * @param groups  groups of the servers, to reuse them for several sets of rules.
 */
export function runTrial(
  servers: readonly TriedServer[],
  jobs: readonly LiveJob[],
  rules: Iterable<string>,
  groups: readonly Group[] = groupServers(servers),
): TrialResult {
  return ended(runTrialInSteps(jobs, rules, groups))
}

/** Jobs per step. */
const JOBS_AT_ONCE = 128

/** The same in steps of about a millisecond: ten thousand jobs under one rule take a fifth of a second in total. */
export function* runTrialInSteps(
  jobs: readonly LiveJob[],
  rules: Iterable<string>,
  groups: readonly Group[],
): Steps<TrialResult> {
  const tried = new Set(rules)
  const found: { job: LiveJob; trial: JobTrial; result: TriedJob }[] = []
  const isConcerned = concerned(groups, tried)
  for (const [index, job] of jobs.entries()) {
    if (index % JOBS_AT_ONCE === JOBS_AT_ONCE - 1) yield
    if (!isConcerned(job)) continue
    const trial = new JobTrial(job, index, tried)
    for (const g of groups) trial.look(g)
    if (trial.servers.size > 0) found.push({ job, trial, result: trial.result() })
  }
  found.sort((a, b) => b.result.rpcs - a.result.rpcs)
  const covered = found.filter((f) => f.result.how !== 'none')
  const sure = covered.filter((f) => f.result.how !== 'may')
  return {
    jobs: found.map((f) => f.result),
    sure: sure.length,
    may: covered.length - sure.length,
    others: found.length - covered.length,
    classes: covered.reduce((n, f) => n + f.trial.classes, 0) + new Set(covered.flatMap((f) => f.trial.classKeys)).size,
    knowsClasses: covered.every((f) => f.trial.knowsClasses),
    targets: [...new Set(found.flatMap((f) => f.job.targets ?? []))].sort(),
    servers: [...new Set(found.flatMap((f) => f.result.servers))].sort(),
    rpcsNow: covered.reduce((n, f) => n + f.result.rpcs, 0),
    rpcsAfter: covered.reduce<number | undefined>(
      (n, f) => (n === undefined || f.result.ceilingAfter === undefined ? undefined : n + f.result.ceilingAfter),
      0,
    ),
  }
}

/**
 * Returns the classes of each of some rules, as separate trials would count them.
 *
 * @param rules   names, without `default`.
 */
export function classesOfEach(
  jobs: readonly LiveJob[],
  rules: Iterable<string>,
  groups: readonly Group[],
): Map<string, number> {
  const out = new Map<string, number>()
  const among = new Map<string, Set<LiveJob>>()
  const names = new Set(rules)
  const binders = groups.flatMap(({ queues }) => queues.map(({ after: { binder } }) => binder))
  // Each job is processed once, not once for every rule.
  for (const binder of new Set(binders)) {
    const isMet = binder.among((r) => names.has(r.name))
    for (const job of jobs) {
      if (!isMet(job)) continue
      for (const rule of binder.matching(job).keys()) {
        if (!names.has(rule.name)) continue
        const there = among.get(rule.name) ?? new Set<LiveJob>()
        among.set(rule.name, there.add(job))
      }
    }
  }
  for (const name of names) {
    const jobs = [...(among.get(name) ?? [])]
    out.set(name, runTrial([], jobs, [name], groups).classes)
  }
  return out
}
