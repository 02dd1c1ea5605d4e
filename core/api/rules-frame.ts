/** The rule list of one service, on one server or merged over all. */
import * as z from 'zod'
import { against, diffLine, expression, filtered, filterError, ms, streamHead as head } from './parts.ts'
import { lint, service } from './rule-edits.ts'

const count = z.number().int().nonnegative()
const texts = z.array(z.string())
const gappy = z.array(z.number().nullable())

export const rulesFrame = z.object({
  ...head,
  against,
  /** Rules that stood at A and do not any more. */
  gone: z.array(z.object({ name: z.string(), conditions: z.string(), rate: z.number() })).optional(),
  /** Services that the source has servers for, and the one shown. */
  services: z.array(service),
  service,
  /** Nodes that can be chosen, and the one shown; empty = all, merged. */
  nodes: texts,
  node: z.string(),
  queue: z.enum(['reg', 'hp']),
  /** Policy as the server names it, for example `tbf jobid`. */
  policy: z.string(),
  cpts: count,
  /** Rules in all, and the first row of this slice. */
  known: count,
  offset: count,
  /** Where a rule that was asked for stands in the list without a filter, from 0; null: the list has none of that name. */
  sought: z.object({ name: z.string(), at: count.nullable() }).optional(),
  filterError,
  /** With how many of the rules that it hides have something staged, and the rules that another one can be placed before. */
  filtered: filtered.extend({ staged: count, ranks: texts }).optional(),
  /** Release of the shown node (or the first), for example `2.17.57`; empty when it was not read. */
  release: z.string(),
  /** RPCs waiting in this queue of the service, all shown servers. */
  queued: count,
  /** Rules that are not alike on all servers although no controller of ours decides that; `differs` says where, in words. */
  drifting: count,
  differs: z.string(),
  /** Remarks on the rules as they stand. */
  lints: z.array(lint),
  rows: z.array(
    z.object({
      name: z.string(),
      /** Place in the whole list, from 1, while a filter hides rules: with what is staged, as the list shows it. */
      rank: count.optional(),
      conditions: z.string(),
      expressions: z.array(expression),
      /** RPC/s per class; min and max differ where servers hold different rates. */
      rateMin: z.number(),
      rateMax: z.number(),
      /** Most that one class can reach: sum over servers of rate x CPTs, RPC/s, and in bytes at the job's mean size. */
      ceiling: z.number(),
      ceilingBps: z.number().nullable(),
      /** RPCs that wait for the service on the servers of the rule, while its job runs at the limit; absent otherwise. */
      queued: z.number().optional(),
      /** Classes attached, summed over CPTs and servers. */
      ref: z.number(),
      refZeroMs: z.number().nullable(),
      /** Served over rate, 0..1; null where nothing matches. */
      used: z.number().nullable(),
      spark: gappy,
      /** sluice: a controller's; operator: committed here by hand; lustre: the built-in one; other: foreign. */
      owner: z.enum(['sluice', 'operator', 'lustre', 'other']),
      jobId: z.string().optional(),
      expiresMs: ms.nullable(),
      createdMs: ms.nullable(),
      servers: count,
      serversTotal: count,
      /** Hosts that lack it, or have it with another rate or conditions. */
      missing: texts,
      /** What is staged for this rule, and the rate it would have then; '' for nothing. */
      /** How it stood at A: its rate, or that it was not there; absent when nothing is compared. */
      against: z
        .object({ there: z.boolean(), rateMin: z.number().nullable(), rateMax: z.number().nullable() })
        .optional(),
      staged: z.enum(['', 'add', 'mod', 'del']),
      rateStaged: z.number().nullable(),
      /** Classes that would bind, for a rule that is only staged. */
      would: count.nullable(),
      /** Why it stands, of the change that made it; empty for rules of others. */
      reason: z.string(),
    }),
  ),
  /** The newest plans of the controller, newest first, one per node. */
  plans: z.array(
    z.object({
      node: z.string(),
      atMs: ms,
      state: z.enum(['applied', 'shown', 'failed', 'unknown']),
      detail: z.string(),
      diff: z.array(diffLine),
      commands: texts,
      inverse: texts,
      /** Commands beyond those listed. */
      more: count,
    }),
  ),
  /** Servers whose list has lines that are no rules: the first such line, how many there are, and how many rules were read. */
  unread: z.array(z.object({ node: z.string(), line: count, text: z.string(), lines: count, rules: count })).optional(),
  /** What `lctl get_param ost.OSS.ost_io.nrs_tbf_rule` answered on the shown node (or the first). */
  server: z.object({
    node: z.string(),
    command: z.string(),
    text: z.string(),
    /** null: what the server answered then is no longer in memory. */
    exit: z.number().nullable(),
    /** Lines beyond those shown. */
    more: count,
  }),
})
export type RulesFrame = z.infer<typeof rulesFrame>
