/** Rows of the rules view: one per rule, over all CPTs and shown servers. */
import type { RulesFrame } from '#core/api/frames.ts'
import type { ServiceName } from '#core/api/rule-edits.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { splitConditions } from '#core/tbf/conditions.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import { jobColumn, type JobMeasure } from '../../../cluster/state/recent.ts'
import type { ClusterView } from '../../../cluster/cluster-view.ts'
import { placeOf } from '../../../base/service.ts'
import { SlotWatch } from '../../../cluster/slots.ts'
import type { LeaseState } from '../../../enforce/lease.ts'
import type { RuleService } from '../../rules/rule-service.ts'
import { isPresent, orNull, rateSamples } from '../../position.ts'

const SPARK_POINTS = 40
const SPARK_MS = 20_000

/** Rule merged over the shown servers. */
export interface MergedRule {
  readonly name: string
  readonly conditions: string
  readonly lines: { host: string; line: RuleLine }[]
}

/** Identity of a rule across servers and instants. */
export const ruleKey = ({ name, conditions }: Pick<RuleLine, 'name' | 'conditions'>): string =>
  isControllerRule(name) ? `ours ${conditions}` : `${name} ${conditions}`

/**
 * Rules of the servers in match order, the first server's first. Sluice's rules are equal if their conditions are:
 * their names differ between servers. Other rules must have the same name, too.
 */
export function mergeRules(
  servers: readonly { host: string; rules: readonly RuleLine[] }[],
  queue: 'reg' | 'hp',
): MergedRule[] {
  const rows = new Map<string, MergedRule>()
  for (const { host, rules } of servers) {
    for (const line of rules) {
      if (line.queue !== queue) continue
      const key = ruleKey(line)
      const row: MergedRule = rows.get(key) ?? { name: line.name, conditions: line.conditions, lines: [] }
      rows.set(key, row)
      row.lines.push({ host, line })
    }
  }
  const all = [...rows.values()]
  // `default` is last in every server's list; merging must not move it up.
  return [...all.filter((r) => r.name !== 'default'), ...all.filter((r) => r.name === 'default')]
}

/** Position in the whole list of a rule that a window searches by name. */
export function soughtIn(rules: readonly MergedRule[], name = ''): Pick<RulesFrame, 'sought'> {
  if (name === '') return {}
  const at = rules.findIndex((rule) => rule.name === name)
  return { sought: { name, at: at < 0 ? null : at } }
}

/** The only job that a rule names; undefined if it names none, several, or more than a job. */
export function onlyJob(expressions: readonly { field: string; items: readonly string[] }[]): string | undefined {
  const [first, ...more] = expressions
  const id = first?.field === 'jobid' && first.items.length === 1 && more.length === 0 ? first.items[0] : undefined
  return id?.includes('*') ? undefined : id
}

/** Staged change of a row. */
export interface StagedMark {
  readonly kind: 'add' | 'mod' | 'del'
  /** Rate after the change; null if it is unchanged or the rule is removed. */
  readonly rate: number | null
  /** Classes that would match, for a rule that does not exist yet. */
  readonly would: number | null
}

export interface RowPlace {
  readonly sample: number
  readonly service: ServiceName
  /** Servers shown. */
  readonly hosts: readonly string[]
  readonly mark: StagedMark | undefined
}

/** Effect of a rule on the one job it names, over the last second. */
export function bound(
  viewed: ClusterView,
  jobId: string | undefined,
  { sample, service }: Pick<RowPlace, 'sample' | 'service'>,
  ceiling: number,
): Pick<RulesFrame['rows'][number], 'ceilingBps' | 'used' | 'spark'> {
  if (jobId === undefined || sample === 0 || ceiling === 0) return { ceilingBps: null, used: null, spark: [] }
  const mean = (m: JobMeasure): number => viewed.recent.raw.jobs.mean(jobId, jobColumn(m), sample, rateSamples(viewed))
  const measure = service === 'ost_io' ? 'rpcs' : 'mdops'
  const served = mean(measure)
  // On OSTs the allowed rate is kept with the sample, where each server may have its own rate.
  const allowed = service === 'ost_io' ? mean('allowed') : ceiling
  const { tier, to } = viewed.recent.tierFor(sample, SPARK_MS)
  const { from, step } = tier.jobs.window(to, SPARK_MS, SPARK_POINTS)
  const bps = service === 'ost_io' && served > 0 ? (ceiling * (mean('readBps') + mean('writeBps'))) / served : NaN
  return {
    ceilingBps: orNull(bps),
    used: allowed > 0 ? orNull(served / allowed) : null,
    spark: tier.jobs.downsample(jobId, jobColumn(measure), from, to, step),
  }
}

/**
 * RPCs queued at the service on the servers of a rule whose job runs at its limit: the only place where its wait is
 * visible, since job_stats times do not include it.
 */
function waiting(
  monitor: ClusterMonitor,
  jobId: string | undefined,
  { sample, service }: RowPlace,
  hosts: readonly string[],
): Pick<RulesFrame['rows'][number], 'queued'> {
  if (jobId === undefined || !isPresent(monitor, sample) || !SlotWatch.waits(monitor.recent, jobId)) return {}
  const policies = hosts.flatMap((h) => monitor.serviceReading(h, service)?.policies ?? [])
  return { queued: policies.reduce((n, p) => n + p.queued, 0) }
}

const hostsOf = (rule: MergedRule, name: string): string[] => [
  ...new Set(rule.lines.filter((l) => l.line.name === name).map((l) => l.host)),
]

/** Servers that lack the rule; those where its rate differs from the majority are listed with it. */
export function missingOn(rule: MergedRule, hosts: readonly string[]): string[] {
  const rates = rule.lines.map((l) => l.line.rate).sort((a, b) => a - b)
  const usual = rates[Math.floor(rates.length / 2)]
  return hosts.flatMap((h) => {
    const here = rule.lines.filter((l) => l.host === h)
    if (here.length === 0) return [h]
    const other = here.find((l) => l.line.rate !== usual)
    return other ? [`${h}: rate ${other.line.rate}`] : []
  })
}

/** Row of a merged rule at a sample. */
export function ruleRow(ruleService: RuleService, rule: MergedRule, place: RowPlace): RulesFrame['rows'][number] {
  const { monitor } = ruleService
  const { sample, service, hosts: shown, mark } = place
  const expressions = (splitConditions(rule.conditions) ?? []).map((e) => ({ ...e, items: [...e.items] }))
  const jobId = onlyJob(expressions)
  const rates = rule.lines.map((l) => l.line.rate)
  // Every CPT gives a class the full rate, so its maximum is the sum over CPTs and servers.
  const ceiling = rates.reduce((sum, r) => sum + r, 0)
  const hosts = [...new Set(rule.lines.map((l) => l.host))]
  const isOur = isControllerRule(rule.name)
  const isNow = isPresent(monitor, sample)
  const leaseOf = (h: string): LeaseState | undefined =>
    (service === 'ost_io' ? monitor.loop.lease(h) : monitor.metadata.lease(h))?.state
  const lease = isOur && isNow ? hosts.map(leaseOf).find((s) => s !== undefined) : undefined
  const atMs = monitor.recent.raw.totals.atMs(sample)
  const operator = rule.lines
    .map(({ host, line: { queue, name } }) => ruleService.rules.find({ service, host, queue, name }))
    // A past view contains nothing committed later.
    .find((r) => r !== undefined && (isNow || r.createdMs <= atMs))
  const timer = isNow ? operator?.timer : undefined
  const names = new Set(rule.lines.map((l) => l.line.name))
  const idle = [...names].map((n) =>
    monitor.idleRules.since(
      hostsOf(rule, n).map((h) => placeOf(h, service)),
      n,
    ),
  )
  const isNew = rule.lines.length === 0
  return {
    name: rule.name,
    conditions: rule.conditions,
    expressions,
    rateMin: isNew ? (mark?.rate ?? 0) : Math.min(...rates),
    rateMax: isNew ? (mark?.rate ?? 0) : Math.max(...rates),
    ceiling,
    ...bound(monitor, jobId, place, ceiling),
    ...waiting(monitor, jobId, place, hosts),
    ref: rule.lines.reduce((n, l) => n + l.line.ref, 0),
    refZeroMs: !isNow || isNew || idle.some((i) => i === undefined) ? null : Math.max(...(idle as number[])),
    owner: rule.name === 'default' ? 'lustre' : isOur ? 'sluice' : operator || isNew ? 'operator' : 'other',
    ...(jobId === undefined ? {} : { jobId }),
    expiresMs: timer ? timer.expiresMs : lease ? monitor.source.toUnixMs(lease.expiresNs) : null,
    createdMs: timer ? (operator?.createdMs ?? null) : lease ? monitor.source.toUnixMs(lease.createdNs) : null,
    servers: hosts.length,
    serversTotal: shown.length,
    missing: isOur || isNew ? [] : missingOn(rule, shown),
    staged: mark?.kind ?? '',
    rateStaged: mark?.rate ?? null,
    would: mark?.would ?? null,
    reason: operator?.reason ?? '',
  }
}
