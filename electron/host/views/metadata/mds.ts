/**
 * Metadata frame of a cluster without stages: the console is the global controller, metadata servers are the local
 * ones, and their TBF rules take the place of stages. Servers do not report waits by job, so none are shown: a job
 * whose rules run at their rate counts as waiting.
 */
import type { MetadataFrame } from '#core/api/padll.ts'
import { splitConditions } from '#core/tbf/conditions.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import {
  metadataColumn,
  metadataSeries,
  type MetadataRule,
  type MetadataServer,
  type MetadataState,
} from '../../../cluster/metadata/state.ts'
import { falseAllocations, runsAtLimit } from '#core/padll/status.ts'
import { emptyChannels, emptyJobs, emptyMetadata, emptyTree, metadataForgotten, type MetadataHead } from './empty.ts'
import { rulesFound, type RulesFound } from './filter.ts'
import { chosenScope } from './scope.ts'
import { toNotice } from '../status.ts'

const TOP = 7
const POINTS = 300
const SPARK_POINTS = 60
const SPARK_MS = 300_000
const RULES_MAX = 64
const ROWS_MAX = 600
const CHANNELS_MAX = 200
const MARKS_MAX = 200

type Values = (number | null)[]
type Level = MetadataFrame['tree']['level'][number]

const sumOf = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((v) => v !== null)
  return known.length === 0 ? null : known.reduce((n, v) => n + v, 0)
}
const serverKey = (s: Pick<MetadataServer, 'host'>): string => `local:${s.host}`
const ruleKey = (r: Pick<MetadataRule, 'key'>): string => `stage:${r.key}`
/** A rule lists its scopes: one that serves several of them is shown in each. */
const isOf = (r: MetadataRule, scope: string): boolean => r.scopes.some((s) => s === scope)

/** A measured rate exceeds a limit from this factor on: rates fluctuate around a rule's rate. */
const ABOVE = 1.05
const isAbove = (measured: number | null, limit: number | null): boolean =>
  measured !== null && limit !== null && measured > ABOVE * limit

/** State of a row that sums others. */
function sumHealth(measured: number | null, limit: number | null, state: MetadataState): readonly [Level, string] {
  if (measured === null) return ['ok', 'not measured']
  if (!isAbove(measured, limit)) return ['ok', '']
  const isHeld = state.servers.some((s) => s.rules.some((r) => r.inForce))
  return ['watch', isHeld ? 'above its limit' : 'above its limit: no rule']
}

function ruleHealth(r: MetadataRule, s: MetadataServer): readonly [Level, string] {
  if (!r.inForce) return ['unknown', 'not in force']
  if (s.state === 'silent') return ['unknown', 'its server is silent: in force until its timer ends']
  if (isAbove(r.measured, r.limit)) return ['watch', 'above its limit']
  if (r.atLimit) return ['watch', 'at its limit']
  if (r.measured === null) return ['unknown', 'not measured']
  return [r.measured === 0 ? 'idle' : 'ok', '']
}

function treeOf(
  monitor: ClusterMonitor,
  state: MetadataState,
  scope: string,
  limit: number | null,
  found: RulesFound | undefined,
): MetadataFrame['tree'] {
  const tree = emptyTree()
  const add = (
    kind: 'global' | 'local' | 'stage',
    [key, name, jobId]: readonly [string, string, string],
    [measured, bound]: readonly [number | null, number | null],
    [level, why]: readonly [Level, string],
    more = 0,
  ): void => {
    tree.key.push(key)
    tree.kind.push(kind)
    tree.depth.push(kind === 'global' ? 0 : kind === 'local' ? 1 : 2)
    tree.name.push(name)
    tree.jobId.push(jobId)
    tree.colour.push(monitor.jobs.jobColors.of(jobId))
    tree.measured.push(measured)
    tree.limit.push(bound)
    tree.level.push(level)
    tree.why.push(why)
    tree.more.push(more)
  }
  // Only operations of the limit are compared with it: without a policy in the scope, all operations.
  const jobs = state.jobs.filter((j) => j.scope === scope)
  const all = sumOf(jobs.length > 0 ? jobs.map((j) => j.measured) : state.servers.map((s) => s.measured))
  add('global', ['global', 'Sluice', ''], [all, limit], sumHealth(all, limit, state))
  for (const s of state.servers) {
    if (tree.key.length >= ROWS_MAX) break
    const rules = s.rules.filter((r) => isOf(r, scope))
    const passing = found ? rules.filter((r) => found.rules.has(r)) : rules
    if (found && passing.length === 0) continue
    const shown = passing.slice(0, Math.min(RULES_MAX, ROWS_MAX - tree.key.length - 1))
    const bound = rules.length === 0 ? null : rules.reduce((n, r) => n + r.limit, 0)
    const measured = rules.length > 0 ? sumOf(rules.map((r) => r.measured)) : s.measured
    const health = s.state === 'silent' ? (['bad', s.why] as const) : sumHealth(measured, bound, state)
    add('local', [serverKey(s), s.host, ''], [measured, bound], health, passing.length - shown.length)
    for (const r of shown) add('stage', [ruleKey(r), r.name, r.job], [r.measured, r.limit], ruleHealth(r, s))
  }
  return tree
}

/** Series of the window, one value per span. */
interface Past {
  readonly t: number[]
  readonly of: (job: string, m: 'measured' | 'allocated' | 'limit') => Values
}

function pastOf(monitor: ClusterMonitor, sample: number, scope: string, windowMs: number, points = POINTS): Past {
  const { table } = monitor.metadata.series
  const to = Math.min(sample, table.newest)
  if (to < 1 || to < table.oldest) return { t: [], of: () => [] }
  const { from, step } = table.window(to, windowMs, points)
  return {
    t: table.times(from, to, step),
    of: (job, m) => table.downsample(metadataSeries(job, scope), metadataColumn(m), from, to, step),
  }
}

/** Rates allocated to jobs and not used while another one runs at its limit. */
function falseAllocation(past: Past, jobs: readonly string[]): Values {
  const series = jobs.map((job) => ({ allocated: past.of(job, 'allocated'), measured: past.of(job, 'measured') }))
  return past.t.map((_, k) => {
    const there = series.flatMap(({ allocated, measured }) => {
      const a = allocated[k] ?? null
      const m = measured[k] ?? null
      return a === null || m === null ? [] : [{ allocated: a, measured: m, waits: runsAtLimit(m, a) }]
    })
    return there.length === 0 ? null : falseAllocations(there).reduce((n, v) => n + v, 0)
  })
}

/** @param named  jobs that may be listed, if a filter hides others: those are part of the sum of all others. */
function jobsOf(
  monitor: ClusterMonitor,
  state: MetadataState,
  scope: string,
  past: Past,
  named: ReadonlySet<string> | undefined,
): MetadataFrame['jobs'] {
  const out = emptyJobs()
  const all = state.jobs
    .filter((j) => j.scope === scope)
    .sort((a, b) => (b.measured ?? 0) - (a.measured ?? 0) || (a.job < b.job ? -1 : 1))
  const top = (named ? all.filter((j) => named.has(j.job)) : all).slice(0, TOP)
  const rest = all.filter((j) => !top.includes(j))
  const { jobColors } = monitor.jobs
  jobColors.colors(top.map((j) => j.job))
  const none: Values = past.t.map(() => null)
  const add = (jobId: string, jobs: typeof all, measured: Values, allocated: Values): void => {
    out.jobId.push(jobId)
    out.colour.push(jobColors.of(jobId))
    out.stages.push(jobs.reduce((n, j) => n + j.rules, 0))
    out.demandPolicy.push(sumOf(jobs.map((j) => j.demand)))
    out.limitPolicy.push(sumOf(jobs.map((j) => j.limit)))
    out.asked.push(null)
    out.allocated.push(sumOf(jobs.map((j) => j.allocated)))
    out.measured.push(sumOf(jobs.map((j) => j.measured)))
    out.queued.push(0)
    out.throttledS.push(0)
    out.askedSeries.push(none)
    out.measuredSeries.push(measured)
    out.allocatedSeries.push(allocated)
  }
  for (const j of top) add(j.job, [j], past.of(j.job, 'measured'), past.of(j.job, 'allocated'))
  if (rest.length > 0) {
    // The stack shows the sum of all jobs, including those that a filter hides.
    const added = (m: 'measured' | 'allocated'): Values => {
      const series = rest.map((j) => past.of(j.job, m))
      return past.t.map((_, k) => sumOf(series.map((s) => s[k] ?? null)))
    }
    add('', rest, named ? added('measured') : none, named ? added('allocated') : none)
  }
  return out
}

function channelsOf(
  monitor: ClusterMonitor,
  state: MetadataState,
  scope: string,
  { selected, found }: { readonly selected: string; readonly found: RulesFound | undefined },
  sample: number,
): MetadataFrame['channels'] {
  const all = state.servers.flatMap((s) => s.rules)
  const job = selected.startsWith('job:') ? selected.slice(4) : undefined
  const chosen = all.filter((r) =>
    job === undefined ? ruleKey(r) === selected || serverKey(r) === selected : r.job === job,
  )
  const isChosen = chosen.length > 0
  const out = emptyChannels(isChosen ? (job ?? selected.slice(selected.indexOf(':') + 1)) : '')
  const shown = (isChosen ? chosen : all.filter((x) => isOf(x, scope))).filter((r) => found?.rules.has(r) ?? true)
  const past = pastOf(monitor, sample, scope, SPARK_MS, SPARK_POINTS)
  for (const r of shown.slice(0, CHANNELS_MAX)) {
    out.key.push(r.key)
    out.channel.push(r.name)
    out.scope.push(r.scopes.join(', '))
    out.operations.push(r.operations)
    out.asked.push(null)
    out.limit.push(r.limit)
    out.measured.push(r.measured)
    out.waited.push(null)
    out.waitMs.push(null)
    out.queued.push(null)
    out.refillMs.push(null)
    // Counters are per job, not per rule: the line is the job's, in the shown scope.
    out.spark.push(isOf(r, scope) ? past.of(r.job, 'measured') : [])
  }
  return out
}

const compiledOf = (state: MetadataState): MetadataFrame['compiled'] =>
  state.servers.flatMap((s) =>
    s.rules.map((r) => ({
      service: `${r.host} ${r.service}`,
      name: r.name,
      expressions: (splitConditions(r.conditions) ?? []).map((e) => ({ ...e, items: [...e.items] })),
      rate: r.rate,
      job: r.job,
      scope: r.scopes.join(', '),
    })),
  )

function leaseText(state: MetadataState): string {
  const ends = state.servers.flatMap((s) => s.leaseUntilMs ?? [])
  if (ends.length === 0) return 'no rules of the console are in force'
  const remainingS = Math.max(0, Math.round((Math.min(...ends) - state.atMs) / 1000))
  return `a timer on each server removes the rules in ${remainingS} s unless the console renews it`
}

export function mdsFrame(
  monitor: ClusterMonitor,
  head: MetadataHead,
  query: { readonly scope: string; readonly selected: string; readonly filter?: string | undefined },
): MetadataFrame {
  const { sample, atMs, windowMs } = head
  const state = sample === 0 ? undefined : monitor.metadata.stateAt(sample)
  if (!state || atMs === null) {
    const keptMs = monitor.metadata.series.forgottenAt(sample)
    return emptyMetadata(head, query.scope, keptMs === undefined ? [] : [metadataForgotten(keptMs)])
  }
  const { settings } = state
  const scopes = [...state.scopes]
  const scope = chosenScope(scopes, query.scope)
  const limit = settings.limits.find((l) => l.scope === scope)?.rate ?? null
  const past = pastOf(monitor, sample, scope, windowMs)
  const { found, filterResult } = rulesFound(state, scope, query.filter)
  const jobs = jobsOf(monitor, state, scope, past, found?.jobs)
  const inScope = state.jobs.filter((j) => j.scope === scope).map((j) => j.job)
  return {
    ...emptyMetadata(head, scope),
    ...filterResult,
    scopes,
    controller: {
      name: 'Sluice',
      host: '',
      epoch: 0,
      algorithm: settings.algorithm,
      epsilon: settings.epsilon,
      split: 'equal',
      intervalMs: settings.intervalMs,
      collectRounds: 1,
      cycleMs: state.cycleMs,
      lease: leaseText(state),
      seenMs: state.atMs,
    },
    limit,
    // After the jobs, which get their colors.
    tree: treeOf(monitor, state, scope, limit, found),
    jobs,
    t: past.t,
    asked: past.t.map(() => null),
    falseAllocation: falseAllocation(past, inScope),
    limits: past.of('', 'limit'),
    marks: state.events
      .filter((e) => e.atMs > atMs - windowMs && e.atMs <= atMs)
      .slice(-MARKS_MAX)
      .map(({ atMs: at, kind, text }) => ({ atMs: at, kind, text, level: kind === 'lost' ? 'bad' : 'idle' })),
    channels: channelsOf(monitor, state, scope, { selected: query.selected, found }, sample),
    policies: {
      text: settings.policies,
      steps: [...state.steps],
      nextInS: state.nextInS,
      startedMs: settings.startedMs,
    },
    unexpressed: [...state.unexpressed],
    compiled: compiledOf(state),
    notices: state.failures.map(toNotice),
  }
}
