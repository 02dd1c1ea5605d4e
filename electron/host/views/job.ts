/** One job in full: its record and how it moved, what it does, where, and under which rules. */
import type { JobFrame } from '#core/api/frames.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { binBytes } from '#core/lustre/size-histogram.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { jobColumn, type JobMeasure, type SHARE_COLUMNS, shareColumn, shareName } from '../../cluster/recent.ts'
import { jobRows, ruleLookup, rulesAt } from './job-rows.ts'
import { debtsAt, ledgerOf, pairsOf } from './pairs.ts'
import { isPresent, orNull, orZero, rateSamples, stand } from './position.ts'

const POINTS = 150
const LEDGER = 40
const TOKENS = shareColumn('tokens')
const RECORD = shareColumn('record')

/** RPCs by size since the job's entries began, over all targets. */
function sizes(monitor: ClusterMonitor, jobId: string): JobFrame['sizes'] {
  const bins = new Map<number, number>()
  for (const host of monitor.servers) {
    for (const t of monitor.reading(host)?.targets ?? []) {
      const entry = t.entries.find((e) => e.jobId === jobId)
      for (const c of entry?.counters.values() ?? []) {
        for (const [bin, n] of c.hist ?? []) bins.set(bin, (bins.get(bin) ?? 0) + n)
      }
    }
  }
  const all = [...bins.values()].reduce((s, n) => s + n, 0)
  return [...bins].sort(([a], [b]) => a - b).map(([bin, n]) => ({ bytes: binBytes(bin), share: n / all }))
}

/** The server's own text for the job, on the target where it has most RPCs. */
function rawEntry(monitor: ClusterMonitor, jobId: string, target: string | undefined): string {
  for (const host of monitor.servers) {
    for (const t of monitor.reading(host)?.targets ?? []) {
      const entry = t.target === target ? t.entries.find((e) => e.jobId === jobId) : undefined
      if (entry) return t.rawOf(entry)
    }
  }
  return ''
}

/**
 * Share of the tokens allocated in the last second on the targets where the job has any, and the share of them that nodes
 * alone would give it among the jobs with tokens there.
 */
function shares(
  monitor: ClusterMonitor,
  jobId: string,
  sample: number,
  target: string,
): { share: number | null; entitled: number | null } {
  const { shares: table } = monitor.recent
  const nodesOf = (id: string): number => monitor.jobs.find(id)?.nodes ?? 1
  let [mine, entitled, total] = [0, 0, 0]
  for (const name of target === '' ? monitor.targets.map((t) => t.target) : [target]) {
    let [tokens, nodes] = [0, 0]
    for (const job of monitor.jobs.all) {
      if (!job.targets.has(name)) continue
      const has = orZero(table.mean(shareName(job.jobId, name), TOKENS, sample, rateSamples(monitor)))
      if (has === 0) continue
      tokens += has
      nodes += nodesOf(job.jobId)
    }
    const has = orZero(table.mean(shareName(jobId, name), TOKENS, sample, rateSamples(monitor)))
    total += tokens
    if (has === 0) continue
    mine += has
    entitled += (tokens * nodesOf(jobId)) / nodes
  }
  return mine === 0 ? { share: null, entitled: null } : { share: mine / total, entitled: entitled / total }
}

/** What the job did over the window, on one target or in all. */
function seriesOf(
  monitor: ClusterMonitor,
  { jobId, target, windowMs }: { jobId: string; target: string; windowMs: number },
  sample: number,
): JobFrame['series'] {
  if (sample === 0) return { t: [], record: [], rpcs: [], allowed: [], demand: [], allocated: [] }
  const seconds = monitor.source.periodNs / NS_PER_S
  if (target !== '') {
    // One job on one target is kept as sampled only, for some minutes.
    const { shares: table } = monitor.recent
    const { from, to, step } = table.window(sample, windowMs, POINTS)
    const name = shareName(jobId, target)
    const of = (m: (typeof SHARE_COLUMNS)[number]) => table.downsample(name, shareColumn(m), from, to, step)
    const t = table.times(from, to, step)
    const allocated = of('tokens').map((v) => v && v / seconds)
    return { t, record: of('record'), rpcs: of('rpcs'), allowed: t.map(() => null), demand: of('demand'), allocated }
  }
  const { tier, to } = monitor.recent.tierFor(sample, windowMs)
  const { from, step } = tier.jobs.window(to, windowMs, POINTS)
  const of = (m: JobMeasure) => tier.jobs.downsample(jobId, jobColumn(m), from, to, step)
  const allowed = of('allowed').map((v) => (v === 0 ? null : v))
  const t = tier.jobs.times(from, to, step)
  return { t, record: of('record'), rpcs: of('rpcs'), allowed, demand: of('demand'), allocated: of('granted') }
}

export function jobFrame(
  monitor: ClusterMonitor,
  query: { at: number | null; windowMs: number; target: string; jobId: string },
  seq: number,
): JobFrame {
  const { sample, atMs } = stand(monitor, query.at)
  const { jobId, target, windowMs } = query
  const job = monitor.jobs.find(jobId)
  const row = sample === 0 ? undefined : jobRows(monitor, sample, atMs ?? 0, target).find((r) => r.jobId === jobId)
  const table = monitor.recent.shares
  const on = monitor.targets
    .filter((t) => job?.targets.has(t.target))
    .map((t) => {
      const name = shareName(jobId, t.target)
      return {
        ...t,
        rpcs: orZero(table.mean(name, 0, sample, rateSamples(monitor))),
        tokens: orNull(table.mean(name, TOKENS, sample, rateSamples(monitor))),
        record: orNull(table.value(name, RECORD, sample)),
      }
    })
  const debts = debtsAt(monitor, sample, target)
  const isNow = isPresent(monitor, sample)
  const second = isNow ? job?.lastSecond : undefined
  const ops = [...(second?.ops ?? [])].sort((a, b) => b[1] - a[1])
  const opsTotal = ops.reduce((s, [, n]) => s + n, 0)
  const rules = rulesAt(monitor, sample)
  const unmapped = monitor.unmapped(jobId)
  return {
    seq,
    sample,
    atMs,
    jobId,
    known: row !== undefined,
    user: job?.user ?? '',
    account: job?.account ?? '',
    nodes: job?.nodes ?? null,
    colour: job?.colour ?? 0,
    firstSeenMs: job?.firstSeenMs ?? null,
    ...(unmapped && job?.nodes === undefined ? { unmapped: `${unmapped.kind}: ${unmapped.why}` } : {}),
    target,
    record: row?.record ?? null,
    ...shares(monitor, jobId, sample, target),
    ioBytes: row?.ioBytes ?? null,
    serviceMs: second && second.dataRpcs > 0 ? second.serviceUsecs / second.dataRpcs / 1000 : null,
    rpcs: row?.rpcs ?? 0,
    series: seriesOf(monitor, query, sample),
    pairs: debts ? pairsOf(debts, jobId) : null,
    ledger: sample === 0 ? [] : ledgerOf(monitor, { jobId, target, sample, windowMs }, LEDGER),
    ops: ops.map(([op, n]) => ({
      op,
      perSec: n / Math.max(1, monitor.source.periodNs / NS_PER_S),
      share: n / opsTotal,
    })),
    sizes: isNow ? sizes(monitor, jobId) : [],
    targets: {
      name: on.map((t) => t.target),
      node: on.map((t) => t.node),
      rpcs: on.map((t) => t.rpcs),
      tokens: on.map((t) => t.tokens),
      record: on.map((t) => t.record),
    },
    rules: monitor.servers.flatMap((host) => {
      const list = rules.get(host) ?? []
      const name = ruleLookup(new Map([[host, list]]))(jobId)?.name
      const rule = list.find((r) => r.name === name && r.queue === 'reg' && r.cpt === 0)
      if (!rule) return []
      return [{ node: host, name: rule.name, conditions: rule.conditions, rate: rule.rate, ref: rule.ref }]
    }),
    raw: isNow ? rawEntry(monitor, jobId, on.toSorted((a, b) => b.rpcs - a.rpcs)[0]?.target) : '',
  }
}
