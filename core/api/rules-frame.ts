/** Rule list of one service, on one server or merged over all. */
import * as z from 'zod'
import { against, diffLine, expression, filtered, filterError, ms, streamHead as head } from './parts.ts'
import { lint, service } from './rule-edits.ts'

const count = z.number().int().nonnegative()
const texts = z.array(z.string())
const gappy = z.array(z.number().nullable())

export const rulesFrame = z.object({
  ...head,
  against,
  /** Rules present at A but not now. */
  gone: z.array(z.object({ name: z.string(), conditions: z.string(), rate: z.number() })).optional(),
  /** Services of the source, and the one shown. */
  services: z.array(service),
  service,
  /** Available nodes, and the one shown; empty = all, merged. */
  nodes: texts,
  node: z.string(),
  queue: z.enum(['reg', 'hp']),
  /** Policy as named by the server, for example `tbf jobid`. */
  policy: z.string(),
  cpts: count,
  /** Total number of rules, and the first row of this slice. */
  known: count,
  offset: count,
  /** Position of the requested rule in the unfiltered list, from 0; null: no such rule. */
  sought: z.object({ name: z.string(), at: count.nullable() }).optional(),
  filterError,
  /** Number of hidden rules with staged changes, and the rules before which another one can be placed. */
  filtered: filtered.extend({ staged: count, ranks: texts }).optional(),
  /** Release of the shown node (or the first), for example `2.17.57`; empty if not read. */
  release: z.string(),
  /** RPCs waiting in this queue of the service, all shown servers. */
  queued: count,
  /** Rules that differ between servers although no controller of Sluice decides that; `differs` describes the differences. */
  drifting: count,
  differs: z.string(),
  /** Remarks on the current rules. */
  lints: z.array(lint),
  rows: z.array(
    z.object({
      name: z.string(),
      /** Position in the whole list, from 1, while a filter hides rules; includes staged changes, as the list does. */
      rank: count.optional(),
      conditions: z.string(),
      expressions: z.array(expression),
      /** RPC/s per class; min and max differ if servers have different rates. */
      rateMin: z.number(),
      rateMax: z.number(),
      /** Largest rate of one class: sum over servers of rate x CPTs, RPC/s, and in bytes at the job's mean size. */
      ceiling: z.number(),
      ceilingBps: z.number().nullable(),
      /** RPCs waiting for the service on the rule's servers while its job runs at the limit; else absent. */
      queued: z.number().optional(),
      /** Classes attached, summed over CPTs and servers. */
      ref: z.number(),
      refZeroMs: z.number().nullable(),
      /** Served over rate, 0..1 and above in a burst; null unless the rule names a single job. */
      used: z.number().nullable(),
      spark: gappy,
      /** sluice: of a controller; operator: committed manually here; lustre: the built-in rule; other: foreign. */
      owner: z.enum(['sluice', 'operator', 'lustre', 'other']),
      jobId: z.string().optional(),
      expiresMs: ms.nullable(),
      createdMs: ms.nullable(),
      servers: count,
      serversTotal: count,
      /** Hosts without it or with other conditions, and hosts with another rate, as `oss02: rate 400`; none for a controller's rule. */
      missing: texts,
      /** The rule at A: its rate, or its absence; undefined unless two times are compared. */
      against: z
        .object({ there: z.boolean(), rateMin: z.number().nullable(), rateMax: z.number().nullable() })
        .optional(),
      /** Staged change of this rule, and its resulting rate; '' for none. */
      staged: z.enum(['', 'add', 'mod', 'del']),
      rateStaged: z.number().nullable(),
      /** Classes that would bind, for a rule that is only staged. */
      would: count.nullable(),
      /** Reason given with the change that made it; empty for rules not managed by Sluice. */
      reason: z.string(),
    }),
  ),
  /** Latest plan of the controller on each shown node that has one, in the order of the nodes. */
  plans: z.array(
    z.object({
      node: z.string(),
      atMs: ms,
      state: z.enum(['applied', 'shown', 'failed', 'unknown']),
      detail: z.string(),
      diff: z.array(diffLine),
      commands: texts,
      inverse: texts,
      /** Further commands. */
      more: count,
    }),
  ),
  /** Servers whose list has unreadable lines: the first one, their number, and the number of rules read. */
  unread: z.array(z.object({ node: z.string(), line: count, text: z.string(), lines: count, rules: count })).optional(),
  /** Output of `lctl get_param ost.OSS.ost_io.nrs_tbf_rule` on the shown node (or the first). */
  server: z.object({
    node: z.string(),
    command: z.string(),
    text: z.string(),
    /** null: the output at that time is no longer in memory. */
    exit: z.number().nullable(),
    /** Further lines. */
    more: count,
  }),
})
export type RulesFrame = z.infer<typeof rulesFrame>
