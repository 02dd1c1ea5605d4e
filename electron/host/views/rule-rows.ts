/** The rows of the rules view: one for each rule, over all CPTs and the servers shown. */
import type { RulesFrame } from '#core/api/frames.ts'
import { isOurs } from '#core/control/desired-rule.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { splitConditions } from '#core/tbf/conditions.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { jobColumn } from '../../cluster/recent.ts'
import { isPresent, orNull, RATE_SAMPLES } from './position.ts'

const SPARK_POINTS = 40
const SPARK_MS = 20_000

/** One rule as it stands on the servers shown. */
export interface MergedRule {
  readonly name: string
  readonly conditions: string
  readonly lines: { host: string; line: RuleLine }[]
}

/**
 * The rules of the servers in match order, the first server's first. Rules of ours are the same when their conditions are:
 * their names differ from server to server. Any other rule is the same when its name is, too.
 */
export function mergeRules(
  servers: readonly { host: string; rules: readonly RuleLine[] }[],
  queue: 'reg' | 'hp',
): MergedRule[] {
  const rows = new Map<string, MergedRule>()
  for (const { host, rules } of servers) {
    for (const line of rules) {
      if (line.queue !== queue) continue
      const key = isOurs(line.name) ? `ours ${line.conditions}` : `${line.name} ${line.conditions}`
      const row: MergedRule = rows.get(key) ?? { name: line.name, conditions: line.conditions, lines: [] }
      rows.set(key, row)
      row.lines.push({ host, line })
    }
  }
  const all = [...rows.values()]
  // `default` is last in every server's list; merging must not move it up.
  return [...all.filter((r) => r.name !== 'default'), ...all.filter((r) => r.name === 'default')]
}

/** The only job that a rule names; undefined when it names none, several, or more than a job. */
function onlyJob(expressions: readonly { field: string; items: readonly string[] }[]): string | undefined {
  const [first, ...more] = expressions
  const id = first?.field === 'jobid' && first.items.length === 1 && more.length === 0 ? first.items[0] : undefined
  return id?.includes('*') ? undefined : id
}

/** What a rule means for the one job it names, over the last second. */
function bound(
  monitor: ClusterMonitor,
  jobId: string | undefined,
  sample: number,
  ceiling: number,
): Pick<RulesFrame['rows'][number], 'ceilingBps' | 'used' | 'spark'> {
  if (jobId === undefined || sample === 0) return { ceilingBps: null, used: null, spark: [] }
  const { jobs } = monitor.recent.raw
  const mean = (m: 'rpcs' | 'readBps' | 'writeBps' | 'allowed'): number =>
    jobs.mean(jobId, jobColumn(m), sample, RATE_SAMPLES)
  const served = mean('rpcs')
  const allowed = mean('allowed')
  const { from, step } = jobs.window(sample, SPARK_MS, SPARK_POINTS)
  return {
    ceilingBps: served > 0 ? orNull((ceiling * (mean('readBps') + mean('writeBps'))) / served) : null,
    used: allowed > 0 ? orNull(served / allowed) : null,
    spark: jobs.downsample(jobId, jobColumn('rpcs'), from, sample, step),
  }
}

/** A merged rule as the view shows it at a sample. */
export function ruleRow(
  monitor: ClusterMonitor,
  rule: MergedRule,
  sample: number,
  serversTotal: number,
): RulesFrame['rows'][number] {
  const expressions = (splitConditions(rule.conditions) ?? []).map((e) => ({ ...e, items: [...e.items] }))
  const jobId = onlyJob(expressions)
  const rates = rule.lines.map((l) => l.line.rate)
  // Every CPT gives a class the full rate, so what it can reach is the sum over CPTs and servers.
  const ceiling = rates.reduce((sum, r) => sum + r, 0)
  const hosts = [...new Set(rule.lines.map((l) => l.host))]
  const isOur = isOurs(rule.name)
  const isNow = isPresent(monitor, sample)
  const lease = isOur && isNow ? hosts.map((h) => monitor.loop.lease(h)?.state).find((s) => s !== undefined) : undefined
  const names = new Set(rule.lines.map((l) => l.line.name))
  const idle = [...names].map((n) => monitor.idleRules.since(hostsOf(rule, n), n))
  return {
    name: rule.name,
    conditions: rule.conditions,
    expressions,
    rateMin: Math.min(...rates),
    rateMax: Math.max(...rates),
    ceiling,
    ...bound(monitor, jobId, sample, ceiling),
    ref: rule.lines.reduce((n, l) => n + l.line.ref, 0),
    refZeroMs: !isNow || idle.some((i) => i === undefined) ? null : Math.max(...(idle as number[])),
    owner: rule.name === 'default' ? 'lustre' : isOur ? 'sluice' : 'other',
    ...(jobId === undefined ? {} : { jobId }),
    expiresMs: lease ? monitor.source.toUnixMs(lease.expiresNs) : null,
    createdMs: lease ? monitor.source.toUnixMs(lease.createdNs) : null,
    servers: hosts.length,
    serversTotal,
  }
}

const hostsOf = (rule: MergedRule, name: string): string[] => [
  ...new Set(rule.lines.filter((l) => l.line.name === name).map((l) => l.host)),
]
