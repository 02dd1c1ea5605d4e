/**
 * The `haechi` section of a scenario: data nodes that hand out tokens for one-sided I/O, their clients, and events on them.
 *
 * Names and job ids are bytes chosen by any user: bounded here, and treated as data everywhere after.
 */
import * as z from 'zod'
import {
  HAECHI_CONVERSION_RULES,
  HAECHI_DECAY_RULES,
  HAECHI_ESTIMATOR_RULES,
  HAECHI_PRESETS,
  HAECHI_VARIANTS,
} from '../controllers/settings.ts'
import { MAX_RESERVATION } from '../haechi/report-word.ts'
import { profiledTokens, MAX_TOKENS } from '../haechi/settings.ts'
import { JOB_ID_MAX } from '../lustre/job-id.ts'
import { hostName, positiveInteger } from './scenario-servers.ts'

const tokens = z.number().int().nonnegative().max(MAX_TOKENS)
const reserved = z.number().int().nonnegative().max(MAX_RESERVATION)
const iops = positiveInteger.max(MAX_TOKENS)
const seconds = z.number().nonnegative().max(1e6)

const workload = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('burst'), per_period: tokens, carry: z.boolean().default(true) }),
  z.strictObject({ kind: z.literal('constant'), per_period: tokens, carry: z.boolean().default(true) }),
  z.strictObject({ kind: z.literal('backlogged') }),
  z.strictObject({ kind: z.literal('poisson'), per_s: tokens }),
  z.strictObject({
    kind: z.literal('on-off'),
    on_ms: z.number().positive().max(3.6e6),
    off_ms: z.number().nonnegative().max(3.6e6),
    per_s: tokens,
  }),
])

const client = z.strictObject({
  name: z.string().min(1).max(64),
  job: z.string().max(JOB_ID_MAX).default(''),
  reservation: reserved.default(0).describe('reserved I/Os per period'),
  limit: tokens.nullable().default(null).describe('maximum I/Os per period'),
  workload: workload.default({ kind: 'backlogged' }),
  /** YCSB-like mix over the node's records; by default the I/Os are not tied to records. */
  records: z
    .strictObject({
      count: positiveInteger.max(2 ** 20),
      reads: z.number().min(0).max(1).default(0.5),
      keys: z.enum(['uniform', 'zipfian']).default('zipfian'),
    })
    .optional(),
  outside: z.boolean().default(false).describe('traffic unknown to the monitor'),
  start_s: seconds.default(0),
  leave_s: seconds.optional(),
  crash_s: seconds.optional(),
})

const node = z.strictObject({
  name: hostName,
  global_iops: iops.describe('saturated throughput as profiled'),
  local_iops: iops.describe('throughput of one client as profiled'),
  variant: z.enum(HAECHI_VARIANTS).default('haechi'),
  preset: z.enum(HAECHI_PRESETS).default('default'),
  decay: z.enum(HAECHI_DECAY_RULES).optional().describe('decay of unused reservations (default: that of the preset)'),
  conversion: z
    .enum(HAECHI_CONVERSION_RULES)
    .optional()
    .describe('refill target of the pool (default: that of the preset)'),
  estimator: z
    .strictObject({
      enabled: z.boolean().optional(),
      rule: z.enum(HAECHI_ESTIMATOR_RULES).optional(),
      history: positiveInteger.max(10_000).optional().describe('periods in the history'),
      increment: z.number().min(0).max(1).optional().describe('increment as a share of the profiled capacity'),
    })
    .default({})
    .describe('capacity estimate (default: that of the preset)'),
  period_ms: z.number().int().min(10).max(60_000).default(1000),
  batch: positiveInteger.max(1e6).default(1000),
  fluid_admission: z.boolean().default(false),
  slack: tokens
    .default(0)
    .describe('I/Os per period by which usage may fall short of the estimate and still count as full use'),
  clients: z.array(client).min(1).max(64),
  capacity: z
    .array(z.strictObject({ at_s: seconds, iops }))
    .max(1000)
    .default([])
    .describe('remaining throughput from `at_s` on'),
  changes: z
    .array(
      z.strictObject({
        at_s: seconds,
        client: z.string(),
        reservation: reserved,
        limit: tokens.nullable().default(null),
      }),
    )
    .max(1000)
    .default([]),
})

export const haechi = z.array(node).max(8).default([]).describe('data nodes with tokens for one-sided I/O')

interface ScenarioContext {
  readonly haechi: readonly DataNodeScenario[]
  readonly oss: readonly { readonly name: string }[]
  readonly mds: readonly { readonly name: string }[]
}

/** Checks that names are unique, that events refer to clients that exist, and that the reservations pass admission. */
export function checkHaechi(
  { haechi: nodes, oss, mds }: ScenarioContext,
  issue: (path: (string | number)[], message: string) => void,
): void {
  const names = new Set([...oss, ...mds].map((s) => s.name))
  nodes.forEach((n, i) => {
    if (names.has(n.name)) issue(['haechi', i, 'name'], `another node is called ${n.name}`)
    names.add(n.name)
    const clients = new Set<string>()
    const perPeriod = (iopsOf: number): number =>
      profiledTokens({ globalIops: iopsOf, localIops: iopsOf }, n.period_ms * 1e6)
    const most = perPeriod(n.global_iops)
    const local = perPeriod(n.local_iops)
    let sum = 0
    n.clients.forEach((c, j) => {
      if (clients.has(c.name)) issue(['haechi', i, 'clients', j, 'name'], 'another client has this name')
      clients.add(c.name)
      if (c.outside) return
      if (c.reservation > local) {
        const over = c.reservation - local
        issue(
          ['haechi', i, 'clients', j, 'reservation'],
          `${over} above the capacity of one client in a period (${local})`,
        )
      }
      if (c.start_s === 0) sum += c.reservation
      if (c.start_s === 0 && sum > most) {
        issue(
          ['haechi', i, 'clients', j, 'reservation'],
          `the reservations up to here are ${sum - most} above the capacity (${most})`,
        )
      }
    })
    n.capacity.forEach((c, j) => {
      const before = n.capacity[j - 1]
      if (before && c.at_s < before.at_s) issue(['haechi', i, 'capacity', j, 'at_s'], 'earlier than the previous entry')
    })
    n.changes.forEach((c, j) => {
      if (!clients.has(c.client)) issue(['haechi', i, 'changes', j, 'client'], 'no client has this name')
    })
  })
}

export type DataNodeScenario = z.infer<typeof node>
export type HaechiClientScenario = DataNodeScenario['clients'][number]
