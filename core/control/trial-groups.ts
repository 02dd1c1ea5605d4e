/** What a trial judges jobs by: servers with equal rules once, and the classes that a job makes under a type. */
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { Field } from '../tbf/request-key.ts'
import { Binder, ShapeCache } from './binding.ts'
import type { LiveJob } from './live-job.ts'
import {
  cptsOf,
  DEFAULT_RULE,
  headOf,
  headText,
  QUEUES,
  typeOn,
  writtenRules,
  type ServerRules,
} from './server-rules.ts'

/** A server before and after a plan. */
export interface TriedServer {
  readonly before: ServerRules
  /** Every head after it, conditions as written (`EditPlan.expected`); absent: the rules stay. */
  readonly after?: readonly RuleLine[] | undefined
}

/** One queue of servers that have the same rules before and after. */
export interface Side {
  readonly binder: Binder<RuleLine>
  readonly fallback: RuleLine | undefined
}

export interface Group {
  readonly servers: readonly string[]
  readonly queues: readonly {
    readonly before: Side
    readonly after: Side
    readonly fields: readonly Field[]
    readonly cpts: number
  }[]
}

/** Servers with equal lists are judged once. */
export function groupServers(servers: readonly TriedServer[]): Group[] {
  const groups = new Map<string, { tried: TriedServer; before: RuleLine[]; names: string[] }>()
  for (const tried of servers) {
    const before = writtenRules(tried.before)
    const { tbf, cpts, server, profile } = tried.before
    const sides = [before, tried.after ?? before].flatMap((rules) =>
      QUEUES.map((q) => headText(headOf(rules, q, cptsOf(rules, q)[0] ?? 0))),
    )
    const key = JSON.stringify([tbf, cpts, profile.release, sides])
    const group = groups.get(key)
    if (group) group.names.push(server)
    else groups.set(key, { tried, before, names: [server] })
  }
  const shapes = new ShapeCache()
  return [...groups.values()].map(({ tried, before, names }) => ({
    servers: names,
    queues: QUEUES.flatMap((queue) => {
      const type = typeOn(tried.before, queue)
      if (!type) return []
      const side = (rules: readonly RuleLine[]): Side => {
        const head = headOf(rules, queue, cptsOf(rules, queue)[0] ?? 0)
        return { binder: new Binder(head, type, shapes), fallback: head.find((r) => r.name === DEFAULT_RULE) }
      }
      return [
        { before: side(before), after: side(tried.after ?? before), fields: type.fields, cpts: tried.before.cpts },
      ]
    }),
  }))
}

/** The classes that a job makes on one head under a type. */
export interface JobClasses {
  /** How many, as far as it is known. */
  readonly count: number
  /** Whether `count` is all of them: NIDs and RPC names are known where the type tells them apart. */
  readonly isCounted: boolean
  /** Whether all that makes a class is known, so that classes shared with other jobs are counted once. */
  readonly isKnown: boolean
  /** Their keys; what is not known is nobody else's. */
  readonly keys: () => string[]
}

/** @param index  of the job among those tried. */
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
        const mine = v.known ?? Array.from({ length: countOf(v) }, (_, i) => `?${index}.${i}`)
        return all.flatMap((k) => mine.map((value) => `${k}\u0000${value}`))
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
