/** The jobs table: the slice on screen, its totals and facets, and the two charts above it. */
import type { JobColumn, JobsFrame } from '#core/api/frames.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { jobColumn, TOTAL, totalColumn } from '../../cluster/recent.ts'
import { parseJobFilter } from '../job-filter.ts'
import { jobRows, sortRows, type JobRow } from './job-rows.ts'
import { debtsAt, pairColumns } from './pairs.ts'
import { stand } from './position.ts'
import { stackFrame } from './stack.ts'

const SPARK_POINTS = 40
const FACETS = 6
/** Bars of the ledger chart. */
const BARS = 30

export interface JobsQuery {
  readonly at: number | null
  readonly windowMs: number
  /** Target whose records are shown; empty = all, summed. */
  readonly target: string
  readonly sort: JobColumn
  readonly descending: boolean
  readonly filter: string
  readonly offset: number
  readonly limit: number
}

function facet(rows: readonly JobRow[], of: (r: JobRow) => string): { value: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const r of rows) if (of(r) !== '') counts.set(of(r), (counts.get(of(r)) ?? 0) + 1)
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, FACETS)
}

/** Tokens that changed hands, summed over equal intervals of the window. */
function ledger(monitor: ClusterMonitor, sample: number, windowMs: number): JobsFrame['ledger'] {
  const { tier, to } = monitor.recent.tierFor(sample, windowMs)
  const samplesASecond = 1e9 / monitor.source.periodNs
  const { totals } = tier
  const { from, step } = totals.window(to, windowMs, BARS)
  // Values of the coarse tier are means per sample of the fine one.
  const weight = tier === monitor.recent.raw ? 1 : samplesASecond
  const perSample = (m: 'lent' | 'borrowed'): number[] =>
    totals.downsample(TOTAL, totalColumn(m), from, to, step).map((v, i, all) => {
      const n = i === all.length - 1 ? ((to - from) % step) + 1 : step
      return Math.round((v ?? 0) * n * weight)
    })
  const intervalMs = (step * 1000 * weight) / samplesASecond
  return { t: totals.times(from, to, step), lent: perSample('lent'), borrowed: perSample('borrowed'), intervalMs }
}

export function jobsFrame(monitor: ClusterMonitor, query: JobsQuery, seq: number): JobsFrame {
  const { sample, atMs } = stand(monitor, query.at)
  const stack = stackFrame(monitor, sample, query.windowMs, ['rpcs'], ['rpcs'])
  const known = sample === 0 ? [] : jobRows(monitor, sample, atMs ?? 0, query.target)
  const filter = parseJobFilter(query.filter)
  const shown = sortRows(filter.ok ? known.filter(filter.value) : known, query.sort, query.descending)
  const offset = Math.min(query.offset, Math.max(0, shown.length - 1))
  const rows = shown.slice(offset, offset + query.limit)
  const { tier, to } = monitor.recent.tierFor(sample, query.windowMs)
  const { from, step } = sample === 0 ? { from: 1, step: 1 } : tier.jobs.window(to, query.windowMs, SPARK_POINTS)
  const sum = (of: (r: JobRow) => number): number => shown.reduce((n, r) => n + of(r), 0)
  const debts = sample === 0 ? [] : debtsAt(monitor, sample, query.target)
  const busy = shown.filter((r) => r.rpcs > 0)
  return {
    seq,
    sample,
    atMs,
    windowMs: query.windowMs,
    targets: monitor.targets.map((t) => t.target),
    target: query.target,
    known: known.length,
    shown: shown.length,
    offset,
    ...(filter.ok ? {} : { filterError: filter.error }),
    rows: {
      jobId: rows.map((r) => r.jobId),
      user: rows.map((r) => r.user),
      account: rows.map((r) => r.account),
      nodes: rows.map((r) => r.nodes),
      colour: rows.map((r) => r.colour),
      rpcs: rows.map((r) => r.rpcs),
      readBps: rows.map((r) => r.readBps),
      writeBps: rows.map((r) => r.writeBps),
      mdops: rows.map((r) => r.mdops),
      ioBytes: rows.map((r) => r.ioBytes),
      topOp: rows.map((r) => r.topOp),
      throttled: rows.map((r) => r.throttled),
      rule: rows.map((r) => r.rule),
      ruleRate: rows.map((r) => r.ruleRate),
      record: rows.map((r) => r.record),
      spark: rows.map((r) => tier.jobs.downsample(r.jobId, jobColumn('rpcs'), from, to, step)),
    },
    pairs: debts ? pairColumns(debts, new Set(rows.map((r) => r.jobId))) : null,
    totals: {
      nodes: sum((r) => r.nodes ?? 0),
      rpcs: sum((r) => r.rpcs),
      readBps: sum((r) => r.readBps),
      writeBps: sum((r) => r.writeBps),
      mdops: sum((r) => r.mdops),
      throttled: busy.length === 0 ? 0 : busy.reduce((n, r) => n + r.throttled, 0) / busy.length,
      rules: new Set(shown.filter((r) => r.rule !== 'default').map((r) => r.rule)).size,
      record: known.reduce((n, r) => n + (r.record ?? 0), 0),
    },
    facets: {
      account: facet(known, (r) => r.account),
      rule: facet(known, (r) => (r.rule === 'default' ? 'none' : 'bound')),
      is: (['borrowing', 'lending', 'throttled', 'idle', 'unmapped'] as const).flatMap((value) => {
        const test = parseJobFilter(`is:${value}`)
        const count = test.ok ? known.filter(test.value).length : 0
        return count > 0 ? [{ value, count }] : []
      }),
    },
    stack,
    ledger: sample === 0 ? { t: [], lent: [], borrowed: [], intervalMs: 0 } : ledger(monitor, sample, query.windowMs),
  }
}
