/** Every known job with what the table shows of it at one sample; shared by the table, its filter and its totals. */
import type { JobColumn } from '#core/api/frames.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { byCodeUnit } from '#core/base/order.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { jobColumn, shareColumn, shareName } from '../../cluster/recent.ts'
import { ruleFinder, RuleMatcher, writtenLines } from '../../cluster/rule-matcher.ts'
import type { FilterRow } from '../job-filter.ts'
import { isPresent, orNull, orZero, rateSamples, throttledSamples } from './position.ts'

export interface JobRow extends FilterRow {
  readonly colour: number
  readonly ioBytes: number | null
  readonly ruleRate: number | null
}

const C = {
  rpcs: jobColumn('rpcs'),
  readBps: jobColumn('readBps'),
  writeBps: jobColumn('writeBps'),
  throttled: jobColumn('throttled'),
  record: jobColumn('record'),
  mdops: jobColumn('mdops'),
}

/** Rules of every server at a sample, parsed. */
export function rulesAt(monitor: ClusterMonitor, sample: number): Map<string, RuleLine[]> {
  return new Map(
    monitor.servers.map((host) => {
      const kept = monitor.recent.rulesAt(host, sample)
      return [host, writtenLines(parseNrsTbfRule(kept?.text ?? '').rules, kept?.policy ?? '')]
    }),
  )
}

/** The rule that each job falls under: its name and its rate summed over the servers that have it. */
export function ruleLookup(
  rules: ReadonlyMap<string, readonly RuleLine[]>,
): (jobId: string) => { name: string; rate: number } | undefined {
  const matcher = new RuleMatcher()
  const servers = [...rules.values()].map((list) => ruleFinder(list, matcher))
  return (jobId) => {
    let name: string | undefined
    let rate = 0
    for (const find of servers) {
      const r = find(jobId)
      if (!r) continue
      name ??= r.name
      rate += r.rate
    }
    return name === undefined ? undefined : { name, rate }
  }
}

/** @param target  whose record is shown; empty = the sum over all. */
export function jobRows(monitor: ClusterMonitor, sample: number, atMs: number, target = ''): JobRow[] {
  const { jobs } = monitor.recent.raw
  const { shares } = monitor.recent
  const recordOf = (id: string): number =>
    target === ''
      ? jobs.value(id, C.record, sample)
      : shares.value(shareName(id, target), shareColumn('record'), sample)
  const ruleOf = ruleLookup(rulesAt(monitor, sample))
  const isNow = isPresent(monitor, sample)
  // Rules of long ago may have left memory while rates are still there; then nothing is said of them.
  const isKnown = monitor.servers.some((host) => monitor.recent.rulesAt(host, sample) !== undefined)
  const rows: JobRow[] = []
  for (const job of monitor.jobs.all) {
    if (job.firstSeenMs > atMs) continue
    const mean = (column: number, n: number): number => jobs.mean(job.jobId, column, sample, n)
    const rpcs = orZero(mean(C.rpcs, rateSamples(monitor)))
    const readBps = orZero(mean(C.readBps, rateSamples(monitor)))
    const writeBps = orZero(mean(C.writeBps, rateSamples(monitor)))
    const ops = [...(isNow ? job.lastSecond.ops : [])].sort((a, b) => b[1] - a[1])
    const rule = ruleOf(job.jobId)
    rows.push({
      jobId: job.jobId,
      user: job.user,
      account: job.account,
      nodes: job.nodes ?? null,
      colour: job.colour,
      topOp: ops[0]?.[0] ?? (rpcs === 0 ? '' : writeBps >= readBps ? 'write' : 'read'),
      targets: [...job.targets],
      rpcs,
      readBps,
      writeBps,
      mdops: orZero(mean(C.mdops, rateSamples(monitor))),
      ioBytes: rpcs > 0 ? (readBps + writeBps) / rpcs : null,
      throttled: orZero(mean(C.throttled, throttledSamples(monitor))),
      record: orNull(recordOf(job.jobId)),
      rule: rule?.name ?? (isKnown ? 'default' : ''),
      ruleRate: rule?.rate ?? null,
      ageMs: atMs - job.firstSeenMs,
    })
  }
  return rows
}

/** Order of the table; jobs without a value come last in either direction, and ties are settled by job id. */
export function sortRows(rows: JobRow[], by: JobColumn, descending: boolean): JobRow[] {
  const sign = descending ? -1 : 1
  return rows.sort((a, b) => {
    const x = a[by]
    const y = b[by]
    if (x === y) return byCodeUnit(a.jobId, b.jobId)
    if (x === null) return 1
    if (y === null) return -1
    return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : byCodeUnit(String(x), String(y)))
  })
}
