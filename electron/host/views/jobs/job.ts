/** One job in full: its record and history, operations, targets, and rules. */
import type { JobFrame } from '#core/api/frames.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { binBytes } from '#core/lustre/size-histogram.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import {
  jobColumn,
  type JobMeasure,
  type SHARE_COLUMNS,
  shareColumn,
  shareName,
} from '../../../cluster/state/recent.ts'
import type { ClusterView } from '../../../cluster/cluster-view.ts'
import { againstOf, onAxis, type Against, type FindAgainst } from '../against.ts'
import { JobTable } from './job-rows.ts'
import { ruleLookup, rulesAt } from '../rule-lookup.ts'
import { debtsAt, ledgerOf, pairsOf } from '../pairs.ts'
import { isPresent, liveOf, orNull, orZero, rateSamples, resolvePosition } from '../../position.ts'

const POINTS = 150
const LEDGER = 40
const TOKENS = shareColumn('tokens')
const RECORD = shareColumn('record')

/** RPCs by size since the job's entries began, over all targets. */
function sizes(monitor: ClusterMonitor, jobId: string): JobFrame['sizes'] {
  const bins = new Map<number, number>()
  for (const host of monitor.servers) {
    for (const t of monitor.reading(host, 'ost_io')?.targets ?? []) {
      const entry = t.entries.find((e) => e.jobId === jobId)
      for (const c of entry?.counters.values() ?? []) {
        for (const [bin, n] of c.hist ?? []) bins.set(bin, (bins.get(bin) ?? 0) + n)
      }
    }
  }
  const all = [...bins.values()].reduce((s, n) => s + n, 0)
  return [...bins].sort(([a], [b]) => a - b).map(([bin, n]) => ({ bytes: binBytes(bin), share: n / all }))
}

/** Raw job_stats entry of the job, on the target where it has most RPCs. */
function rawEntry(monitor: ClusterMonitor, jobId: string, target: string | undefined): string {
  for (const host of monitor.servers) {
    for (const t of monitor.reading(host, 'ost_io')?.targets ?? []) {
      const entry = t.target === target ? t.entries.find((e) => e.jobId === jobId) : undefined
      if (entry) return t.rawOf(entry)
    }
  }
  return ''
}

/** Samples that shares are means of. Over a window only for a running source: a past one would read all of its blocks. */
function shareSamples(viewed: ClusterView, sample: number, over: 'second' | 'window', windowMs: number): number {
  const { shares: table } = viewed.recent
  if (over === 'second' || sample === 0 || !liveOf(viewed)) return rateSamples(viewed)
  return sample - Math.max(table.oldest, table.sampleAt(table.atMs(sample) - windowMs)) + 1
}

/**
 * Share of the tokens allocated in the last `n` samples on the targets where the job has any, and the share that nodes
 * alone would give it among the jobs with tokens there.
 */
function shares(
  viewed: ClusterView,
  jobId: string,
  sample: number,
  target: string,
  n: number,
): { share: number | null; entitled: number | null } {
  const { shares: table } = viewed.recent
  const nodesOf = (id: string): number => viewed.jobs.find(id)?.nodes ?? 1
  let ownRpcs = 0
  let entitled = 0
  let total = 0
  for (const name of target === '' ? viewed.targets.map((t) => t.target) : [target]) {
    let tokens = 0
    let nodes = 0
    for (const job of viewed.jobs.all) {
      if (!job.targets.has(name)) continue
      const has = orZero(table.mean(shareName(job.jobId, name), TOKENS, sample, n))
      if (has === 0) continue
      tokens += has
      nodes += nodesOf(job.jobId)
    }
    const has = orZero(table.mean(shareName(jobId, name), TOKENS, sample, n))
    total += tokens
    if (has === 0) continue
    ownRpcs += has
    entitled += (tokens * nodesOf(jobId)) / nodes
  }
  return ownRpcs === 0 ? { share: null, entitled: null } : { share: ownRpcs / total, entitled: entitled / total }
}

/** RPC/s of one job on one target; null if the target was not measured, and for the past, where this is not kept. */
function rateOn(viewed: ClusterView, target: string, share: string, sample: number): number | null {
  if (!liveOf(viewed)) return null
  const { raw, shares: table } = viewed.recent
  const n = rateSamples(viewed)
  if (Number.isNaN(raw.targets.mean(target, 0, sample, n))) return null
  // A measured target without the job served none of its RPCs.
  return orZero(table.mean(share, 0, sample, n))
}

/** Activity of the job over the window, on one target or in all. */
function seriesOf(
  viewed: ClusterView,
  { jobId, target, windowMs }: { jobId: string; target: string; windowMs: number },
  sample: number,
): JobFrame['series'] {
  if (sample === 0) return { t: [], record: [], rpcs: [], allowed: [], demand: [], allocated: [] }
  const seconds = viewed.source.periodNs / NS_PER_S
  if (target !== '') {
    // Per-target samples of a job are kept for some minutes only.
    const { shares: table } = viewed.recent
    const { from, to, step } = table.window(sample, windowMs, POINTS)
    const name = shareName(jobId, target)
    const of = (m: (typeof SHARE_COLUMNS)[number]) => table.downsample(name, shareColumn(m), from, to, step)
    const t = table.times(from, to, step)
    const allocated = of('tokens').map((v) => v && v / seconds)
    return { t, record: of('record'), rpcs: of('rpcs'), allowed: t.map(() => null), demand: of('demand'), allocated }
  }
  const { tier, to } = viewed.recent.tierFor(sample, windowMs)
  const { from, step } = tier.jobs.window(to, windowMs, POINTS)
  const of = (m: JobMeasure) => tier.jobs.downsample(jobId, jobColumn(m), from, to, step)
  const allowed = of('allowed').map((v) => (v === 0 ? null : v))
  const t = tier.jobs.times(from, to, step)
  return { t, record: of('record'), rpcs: of('rpcs'), allowed, demand: of('demand'), allocated: of('granted') }
}

/** RPC/s of the job over A's window, on the axis of B's. */
function seriesAt(a: Against, atMs: number, query: { jobId: string; windowMs: number }, axis: number[]) {
  const past = seriesOf(a.viewed, { ...query, target: '' }, a.sample)
  return onAxis(
    past.t.map((t) => t - a.atMs + atMs),
    past.rpcs,
    axis,
  )
}

export function jobFrame(
  viewed: ClusterView,
  query: {
    at: number | null
    windowMs: number
    againstMs?: number | null
    target: string
    jobId: string
    sharesOver?: 'second' | 'window'
  },
  seq: number,
  find?: FindAgainst,
): JobFrame {
  const { sample, atMs } = resolvePosition(viewed, query.at)
  const { jobId, target, windowMs } = query
  const { a, head } = againstOf(query.againstMs, find)
  const live = liveOf(viewed)
  const job = viewed.jobs.find(jobId)
  if (job) viewed.jobs.jobColors.colors([jobId])
  const only = sample === 0 ? undefined : new JobTable(viewed, sample, atMs ?? 0, target, jobId)
  const row = only?.length === 1 ? only.row(0) : undefined
  const table = viewed.recent.shares
  const on = viewed.targets
    .filter((t) => job?.targets.has(t.target))
    .map((t) => {
      const name = shareName(jobId, t.target)
      return {
        ...t,
        rpcs: rateOn(viewed, t.target, name, sample),
        tokens: orNull(table.mean(name, TOKENS, sample, rateSamples(viewed))),
        record: orNull(table.value(name, RECORD, sample)),
      }
    })
  const debts = live && debtsAt(live, sample, target)
  const isNow = isPresent(viewed, sample)
  const second = isNow ? live?.jobs.find(jobId)?.lastSecond : undefined
  const ops = [...(second?.ops ?? [])].sort((x, y) => y[1] - x[1])
  const opsTotal = ops.reduce((s, [, n]) => s + n, 0)
  const rules = rulesAt(viewed, sample)
  const unmapped = live?.unmapped(jobId)
  const series = seriesOf(viewed, query, sample)
  return {
    seq,
    sample,
    atMs,
    ...head,
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
    ...shares(viewed, jobId, sample, target, shareSamples(viewed, sample, query.sharesOver ?? 'second', windowMs)),
    ioBytes: row?.ioBytes ?? null,
    serviceMs: second && second.dataRpcs > 0 ? second.serviceUsecs / second.dataRpcs / 1000 : null,
    rpcs: row ? row.rpcs : 0,
    ...(row?.partial === true ? { partial: true } : {}),
    series: a && atMs !== null ? { ...series, rpcsAgainst: seriesAt(a, atMs, { jobId, windowMs }, series.t) } : series,
    pairs: debts ? pairsOf(debts, jobId) : null,
    ledger: sample === 0 || !live ? [] : ledgerOf(live, { jobId, target, sample, windowMs }, LEDGER),
    ops: ops.map(([op, n]) => ({
      op,
      perSec: n / Math.max(1, viewed.source.periodNs / NS_PER_S),
      share: n / opsTotal,
    })),
    sizes: isNow && live ? sizes(live, jobId) : [],
    targets: {
      name: on.map((t) => t.target),
      node: on.map((t) => t.node),
      rpcs: on.map((t) => t.rpcs),
      tokens: on.map((t) => t.tokens),
      record: on.map((t) => t.record),
    },
    rules: viewed.servers.flatMap((host) => {
      const list = rules.get(host) ?? []
      const name = ruleLookup(new Map([[host, list]])).of(jobId)?.name
      const rule = list.find((r) => r.name === name && r.queue === 'reg' && r.cpt === 0)
      if (!rule) return []
      return [{ node: host, name: rule.name, conditions: rule.conditions, rate: rule.rate, ref: rule.ref }]
    }),
    raw: isNow && live ? rawEntry(live, jobId, on.toSorted((x, y) => (y.rpcs ?? 0) - (x.rpcs ?? 0))[0]?.target) : '',
  }
}
