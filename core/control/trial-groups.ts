/** Groups servers with equal rules, which a trial evaluates once, and counts the classes that a job creates under a TBF type. */
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { Field } from '../tbf/request-key.ts'
import { Binder, ShapeCache } from './binding.ts'
import type { LiveJob } from './live-job.ts'
import {
  cptsOf,
  DEFAULT_RULE,
  firstHeadsText,
  headOf,
  QUEUES,
  typeOn,
  writtenRules,
  type ServerRules,
} from './server-rules.ts'

/** A server before and after a plan. */
export interface TriedServer {
  readonly before: ServerRules
  /** Rules of every TBF head after the plan, conditions as written (`EditPlan.expected`); absent: unchanged. */
  readonly after?: readonly RuleLine[] | undefined
}

/** Rules of one queue of a group, before or after a plan. */
export interface Side {
  readonly rules: readonly RuleLine[]
  readonly binder: Binder<RuleLine>
  readonly fallback: RuleLine | undefined
}

/**
 * Rules that differ between before and after: a job that matches none of them has the same rules with the same rates on both sides.
 * undefined: any job may be affected.
 */
export type Difference = ReadonlySet<RuleLine> | undefined

export interface Group {
  readonly servers: readonly string[]
  readonly queues: readonly {
    readonly before: Side
    readonly after: Side
    readonly difference: Difference
    readonly fields: readonly Field[]
    readonly cpts: number
  }[]
}

/** Key of a rule for comparing lists. */
const keyOf = ({ name, conditions, rate }: RuleLine): string => `${name} ${conditions} ${rate}`

function differenceOf({ rules: before, fallback: was }: Side, { rules: after, fallback: will }: Side): Difference {
  if (was?.rate !== will?.rate || was?.name !== will?.name) return undefined
  const ruleKeys = { before: before.map(keyOf), after: after.map(keyOf) }
  const present = { before: new Set(ruleKeys.before), after: new Set(ruleKeys.after) }
  const common = ruleKeys.before.filter((key) => present.after.has(key))
  const stay = ruleKeys.after.filter((key) => present.before.has(key))
  if (common.length !== stay.length || common.some((key, i) => key !== stay[i])) return undefined
  return new Set([
    ...before.filter((_, i) => !present.after.has(ruleKeys.before[i] as string)),
    ...after.filter((_, i) => !present.before.has(ruleKeys.after[i] as string)),
  ])
}

/** Groups servers with equal lists. */
export function groupServers(servers: readonly TriedServer[], shapes = new ShapeCache()): Group[] {
  const groups = new Map<string, { tried: TriedServer; before: readonly RuleLine[]; names: string[] }>()
  for (const tried of servers) {
    const before = writtenRules(tried.before)
    const { tbf, cpts, server, profile } = tried.before
    const sides = [before, tried.after ?? before].map(firstHeadsText)
    const key = JSON.stringify([tbf, cpts, profile.release, sides])
    const group = groups.get(key)
    if (group) group.names.push(server)
    else groups.set(key, { tried, before, names: [server] })
  }
  return [...groups.values()].map(({ tried, before, names }) => ({
    servers: names,
    queues: QUEUES.flatMap((queue) => {
      const type = typeOn(tried.before, queue)
      if (!type) return []
      const side = (rules: readonly RuleLine[]): Side => {
        const head = headOf(rules, queue, cptsOf(rules, queue)[0] ?? 0)
        const fallback = head.find((r) => r.name === DEFAULT_RULE)
        return { rules: head, binder: new Binder(head, type, shapes), fallback }
      }
      const was = side(before)
      const will = tried.after && tried.after !== before ? side(tried.after) : was
      const difference = differenceOf(was, will)
      return [{ before: was, after: will, difference, fields: type.fields, cpts: tried.before.cpts }]
    }),
  }))
}

/**
 * Returns a test for jobs that a trial must evaluate: those whose rules or rates may differ on one of the servers that they send to, and
 * those that a tried rule may cover. All others are unaffected.
 */
export function concerned(groups: readonly Group[], tried: ReadonlySet<string>): (job: LiveJob) => boolean {
  const everywhere = groups.map(({ servers, queues }) => {
    const names = new Set(servers)
    const tests = queues.map(({ before, after, difference }) => {
      if (!difference || tried.has(DEFAULT_RULE)) return () => true
      const leaves = before.binder.among((r) => difference.has(r))
      const comes = after.binder.among((r) => tried.has(r.name) || difference.has(r))
      const was = before.binder.distinguishes
      const will = after.binder.distinguishes
      const isNew = { nid: was.nid !== will.nid, opcode: was.opcode !== will.opcode }
      // If only one side distinguishes kinds of RPCs, the kinds of both sides are not comparable.
      const isSplit = ({ nids = [], opcodes = [] }: LiveJob): boolean =>
        (isNew.nid && nids.length > 1) || (isNew.opcode && opcodes.length > 1)
      return (job: LiveJob): boolean => comes(job) || leaves(job) || isSplit(job)
    })
    return (job: LiveJob): boolean => tests.some((test) => test(job)) && job.servers.some((s) => names.has(s))
  })
  return (job) => everywhere.some((test) => test(job))
}

/** Classes that a job creates on one TBF head under a TBF type. */
export interface JobClasses {
  /** Their number, as far as known. */
  readonly count: number
  /** True if `count` is exact: if the type distinguishes them, the NIDs, or the number of nodes, and the RPC names are known. */
  readonly isCounted: boolean
  /** True if `count` is exact and all fields but the NIDs are known, so that classes shared with other jobs are counted once. */
  readonly isKnown: boolean
  /** Their keys; unknown fields are assumed unshared. */
  readonly keys: () => string[]
}

/** @param index  position of the job among those tried. */
export function classesOf(job: LiveJob, fields: readonly Field[], index: number): JobClasses {
  const valuesOf = (field: Field): readonly string[] | undefined => {
    if (field === 'jobid') return [job.jobId]
    if (field === 'nid') return job.nids
    if (field === 'opcode') return job.opcodes
    const id = job[field]
    return id === undefined ? undefined : [String(id)]
  }
  const values = fields.map((field) => {
    const known = valuesOf(field)
    return known && known.length > 0 ? { field, known } : { field, known: undefined }
  })
  const nodes = Math.max(1, job.nodes ?? 1)
  const countOf = ({ field, known }: (typeof values)[number]): number => known?.length ?? (field === 'nid' ? nodes : 1)
  const isCounted = values.every(({ field, known }) =>
    field === 'nid' ? known !== undefined || job.nodes !== undefined : field !== 'opcode' || known !== undefined,
  )
  const keys = (): string[] =>
    values.reduce<string[]>(
      (all, v) => {
        const options = v.known ?? Array.from({ length: countOf(v) }, (_, i) => `?${index}.${i}`)
        return all.flatMap((k) => options.map((value) => `${k}\u0000${value}`))
      },
      [''],
    )
  return {
    count: values.reduce((n, v) => n * countOf(v), 1),
    isCounted,
    isKnown: isCounted && values.every((v) => v.field === 'nid' || v.known !== undefined),
    keys,
  }
}
