/** One job in full: its record and how it moved, what it does, where, and under which rules. */
import type { JobFrame } from '#core/api/frames.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { binBytes } from '#core/lustre/size-histogram.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { jobColumn, SHARE_COLUMNS, shareName } from '../../cluster/recent.ts'
import { jobRows, ruleLookup, rulesAt } from './job-rows.ts'
import { isPresent, orNull, orZero, RATE_SAMPLES, stand } from './position.ts'

const POINTS = 150
const LEDGER = 40
const TOKENS = SHARE_COLUMNS.indexOf('tokens')
const RECORD = SHARE_COLUMNS.indexOf('record')

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
      if (entry) return t.text.slice(...entry.span)
    }
  }
  return ''
}

/** Share of all tokens allocated in the last second, and the share that nodes alone would give among the jobs with tokens. */
function shares(
  monitor: ClusterMonitor,
  jobId: string,
  sample: number,
): { share: number | null; entitled: number | null } {
  const tokens = new Map<string, number>()
  for (const j of monitor.jobs.all) {
    const sum = monitor.targets.reduce(
      (n, t) => n + orZero(monitor.recent.shares.mean(shareName(j.jobId, t.target), TOKENS, sample, RATE_SAMPLES)),
      0,
    )
    if (sum > 0) tokens.set(j.jobId, sum)
  }
  const mine = tokens.get(jobId)
  if (mine === undefined) return { share: null, entitled: null }
  const nodesOf = (id: string): number => monitor.jobs.find(id)?.nodes ?? 1
  const total = [...tokens.values()].reduce((s, n) => s + n, 0)
  const nodes = [...tokens.keys()].reduce((s, id) => s + nodesOf(id), 0)
  return { share: mine / total, entitled: nodesOf(jobId) / nodes }
}

export function jobFrame(
  monitor: ClusterMonitor,
  query: { at: number | null; windowMs: number; jobId: string },
  seq: number,
): JobFrame {
  const { sample, atMs } = stand(monitor, query.at)
  const { jobId } = query
  const job = monitor.jobs.find(jobId)
  const row = sample === 0 ? undefined : jobRows(monitor, sample, atMs ?? 0).find((r) => r.jobId === jobId)
  const { tier, to } = monitor.recent.tierFor(Math.max(1, sample), query.windowMs)
  const { from, step } = sample === 0 ? { from: 1, step: 1 } : tier.jobs.window(to, query.windowMs, POINTS)
  const series = (m: 'record' | 'rpcs' | 'allowed'): (number | null)[] =>
    sample === 0 ? [] : tier.jobs.downsample(jobId, jobColumn(m), from, to, step)
  const table = monitor.recent.shares
  const on = monitor.targets
    .filter((t) => job?.targets.has(t.target))
    .map((t) => {
      const name = shareName(jobId, t.target)
      return {
        ...t,
        rpcs: orZero(table.mean(name, 0, sample, RATE_SAMPLES)),
        tokens: orNull(table.mean(name, TOKENS, sample, RATE_SAMPLES)),
        record: orNull(table.value(name, RECORD, sample)),
      }
    })
  const isNow = isPresent(monitor, sample)
  const second = isNow ? job?.lastSecond : undefined
  const ops = [...(second?.ops ?? [])].sort((a, b) => b[1] - a[1])
  const opsTotal = ops.reduce((s, [, n]) => s + n, 0)
  const rules = rulesAt(monitor, sample)
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
    record: row?.record ?? null,
    ...shares(monitor, jobId, sample),
    ioBytes: row?.ioBytes ?? null,
    serviceMs: second && second.dataRpcs > 0 ? second.serviceUsecs / second.dataRpcs / 1000 : null,
    rpcs: row?.rpcs ?? 0,
    series: {
      t: sample === 0 ? [] : tier.jobs.times(from, to, step),
      record: series('record'),
      rpcs: series('rpcs'),
      allowed: series('allowed').map((v) => (v === 0 ? null : v)),
    },
    ledger: (job?.ledger ?? [])
      .filter((e) => e.tokens !== 0 && (atMs === null || e.atMs <= atMs))
      .slice(-LEDGER)
      .reverse(),
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
