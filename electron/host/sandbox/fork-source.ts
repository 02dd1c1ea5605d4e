/** Fork of the active source: the minute up to an instant, from the samples in memory. */
import { fail, type Result } from '#core/base/result.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { ForkInput } from '#core/api/sandbox.ts'
import type { ForkInputs, ForkJob, ForkTarget } from '#core/sandbox/fork-inputs.ts'
import type { Job } from '../../cluster/state/job-registry.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { jobColumn, TARGET_COLUMNS, type JobMeasure } from '../../cluster/state/recent.ts'
import { BINS, gapsOf, heldPart } from './fork-bins.ts'
import { controlOf, mdtsOf, metadataCounters, planesAt, rulesAt, serversOf } from './fork-facts.ts'

/** Length of the range before a fork's instant, ms. */
export const LOOK_BACK_MS = 60_000
/** Number of jobs beyond which bins are longer: the table of all jobs is held in memory. */
const MANY_JOBS = 3_000
const FEW_BINS = 60

const targetColumn = (m: (typeof TARGET_COLUMNS)[number]): number => TARGET_COLUMNS.indexOf(m)

const EMPTY = {
  code: 'FORK_EMPTY',
  what: 'There is nothing to fork',
  unaffected: 'The cluster is not changed.',
} as const

/**
 * Fork inputs from the samples in memory, of the minute up to an instant.
 *
 * Failures: FORK_EMPTY: no sample yet, or nothing measured in that minute.
 */
export function inputsFromMemory(
  monitor: ClusterMonitor,
  { atMs, workload }: Pick<ForkInput, 'atMs' | 'workload'>,
): Result<ForkInputs> {
  const { raw } = monitor.recent
  if (raw.totals.newest === 0) {
    return fail({
      ...EMPTY,
      why: 'no sample was taken yet',
      next: 'Wait for the first samples, or open a built-in scenario.',
    })
  }
  const newestMs = raw.totals.atMs(raw.totals.newest)
  const endMs = Math.min(atMs ?? newestMs, newestMs)
  // Raw samples while they reach back far enough, else one-second means.
  const isRaw = raw.totals.oldest === 1 || raw.totals.atMs(raw.totals.oldest) <= endMs - LOOK_BACK_MS
  const tier = isRaw || monitor.recent.seconds.totals.newest === 0 ? raw : monitor.recent.seconds
  const stepMs = tier === raw ? monitor.intervalNs / NS_PER_MS : 1000
  const to = lastBefore(tier.totals, endMs)
  const fromMs = endMs - LOOK_BACK_MS
  const wanted = Math.max(1, Math.round(LOOK_BACK_MS / stepMs))
  const from = Math.max(tier.totals.oldest, to - wanted + 1)
  const most = monitor.jobs.size > MANY_JOBS ? FEW_BINS : BINS
  const step = Math.max(1, Math.ceil((to - from + 1) / most))
  const binS = (step * stepMs) / 1000
  const column = (table: typeof tier.jobs, name: string, c: number): number[] =>
    table.downsample(name, c, from, to, step).map((v) => v ?? NaN)
  const targets = monitor.targets
    .filter((t) => monitor.servers.includes(t.node))
    .map(({ target, node }): ForkTarget => ({
      name: target,
      server: node,
      rpcs: column(tier.targets, target, targetColumn('rpcs')),
      serviceMs: column(tier.targets, target, targetColumn('serviceMs')),
      queued: column(tier.targets, target, targetColumn('queued')),
    }))
  const count = Math.floor((to - from) / step) + 1
  const isKnown = Array.from({ length: Math.max(0, count) }, (_, i) =>
    targets.some((t) => !Number.isNaN(t.rpcs[i] ?? NaN)),
  )
  if (!isKnown.includes(true)) {
    return fail({
      ...EMPTY,
      why: 'nothing was measured in the minute before',
      next: 'Wait until a server answers, or move the cursor.',
    })
  }
  const keep = (values: readonly number[]): number[] => values.filter((_, i) => isKnown[i])
  const counters = metadataCounters(monitor)
  const measure = (j: Job, m: JobMeasure): number[] => keep(column(tier.jobs, j.jobId, jobColumn(m)))
  const jobs = [...monitor.jobs.all].map((j): ForkJob => {
    const rpcs = measure(j, 'rpcs')
    return {
      jobId: j.jobId,
      user: j.user,
      account: j.account,
      nodes: j.nodes ?? null,
      hosts: j.hosts,
      rpcs,
      readBps: measure(j, 'readBps'),
      writeBps: measure(j, 'writeBps'),
      mdops: measure(j, 'mdops'),
      throttled: heldPart(rpcs, measure(j, 'throttled')),
      targets: [...j.targets],
      ops: counters.get(j.jobId) ?? j.lastSecond.ops,
    }
  })
  const sample = raw.totals.sampleAt(endMs)
  const gaps = gapsOf(isKnown, binS)
  const shortS = Math.max(0, (tier.totals.atMs(from) - fromMs) / 1000)
  return {
    ok: true,
    value: {
      ...sourceFacts(monitor, sample),
      ...planesAt(monitor, endMs),
      atMs: endMs,
      binS,
      binAtS: isKnown.flatMap((known, i) => (known ? [i * binS] : [])),
      spanS: isKnown.length * binS,
      gaps,
      isReplay: false,
      workload,
      jobs,
      targets: targets.map((t) => ({ ...t, rpcs: keep(t.rpcs), serviceMs: keep(t.serviceMs), queued: keep(t.queued) })),
      mdts: mdtsOf(monitor),
      unknown: shortS > stepMs / 1000 + 1 ? [`Only ${Math.round(isKnown.length * binS)} s were observed so far.`] : [],
    },
  }
}

/** True if the samples in memory cover the minute before an instant, or begin with the first sample. */
export function reachesBack({ recent }: ClusterMonitor, atMs: number): boolean {
  const oldestOf = ({ totals }: typeof recent.raw): number => totals.atMs(totals.oldest)
  const raw = oldestOf(recent.raw)
  if (recent.raw.totals.oldest === 1) return atMs >= raw
  const oldest = recent.seconds.totals.newest > 0 ? Math.min(raw, oldestOf(recent.seconds)) : raw
  return atMs - LOOK_BACK_MS >= oldest
}

/** Facts shared by all forks of a source. */
function sourceFacts(
  monitor: ClusterMonitor,
  sample: number,
): Pick<ForkInputs, 'cluster' | 'kind' | 'servers' | 'rules' | 'controllerRules' | 'control'> {
  const { source } = monitor
  return {
    cluster: source.cluster,
    kind: source.kind,
    servers: serversOf(monitor, sample),
    ...rulesAt(monitor, sample),
    control: controlOf(monitor),
  }
}

/** Newest sample at or before an instant. */
function lastBefore(
  table: { sampleAt(atMs: number): number; atMs(sample: number): number; oldest: number },
  atMs: number,
): number {
  const at = table.sampleAt(atMs)
  return table.atMs(at) > atMs ? Math.max(table.oldest, at - 1) : at
}
