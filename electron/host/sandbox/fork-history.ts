/** Fork of a kept range: binned rates of jobs and targets, and the rules at its beginning. */
import { fail, ok, type Result } from '#core/base/result.ts'
import type { Span } from '#core/api/history.ts'
import type { ForkInputs, ForkJob, ForkRule, ForkServer, ForkTarget } from '#core/sandbox/fork-inputs.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { SERVICES } from '../../base/service.ts'
import { JOB_COLUMNS, TARGET_COLUMNS, type Block, type HistoryReader, type HistoryRule } from '../../history/reader.ts'
import type { ServiceName } from '#core/api/rule-edits.ts'
import { controlOf, groupRules, mdtsOf, metadataCounters, planesAt, ruleLines, serversOf } from './fork-facts.ts'
import { BINS, COVERAGE_MIN, gapsOf, heldPart } from './fork-bins.ts'
import { planeRowsOf } from './fork-plane-rows.ts'

/** Facts besides the file, about the source as it is now. */
export interface ForkAround extends Pick<
  ForkInputs,
  'cluster' | 'kind' | 'control' | 'scenario' | 'elapsedS' | 'padll' | 'dataNodes' | 'servers' | 'mdts'
> {
  /** Interval of raw samples, ms. */
  readonly intervalMs: number
  readonly job?: ((jobId: string) => Pick<ForkJob, 'hosts' | 'targets' | 'ops'> | undefined) | undefined
  /** Text about facts that do not come from the range. */
  readonly notice: string
}

/**
 * Facts that the console has about the active source.
 *
 * @param atMs  instant of the planes besides Lustre.
 */
export function aroundOf(monitor: ClusterMonitor, atMs: number): ForkAround {
  const counters = metadataCounters(monitor)
  const { source } = monitor
  return {
    cluster: source.cluster,
    kind: source.kind,
    ...planesAt(monitor, atMs),
    control: controlOf(monitor),
    servers: serversOf(monitor, monitor.sample),
    mdts: mdtsOf(monitor),
    intervalMs: monitor.intervalNs / 1e6,
    job: (jobId) => {
      const known = monitor.jobs.find(jobId)
      return (
        known && {
          hosts: known.hosts,
          targets: [...known.targets],
          ops: counters.get(jobId) ?? new Map<string, number>(),
        }
      )
    },
    notice: 'Controller, settings and CPTs are the current ones, not those of the range.',
  }
}

/** Most samples read for a fork. */
const POINTS_MAX = 2_400
const STEP_MS = { '1s': 1_000, '10s': 10_000, '1min': 60_000 } as const

const UNAFFECTED = 'The cluster and its history are not changed.'

/** Sums of one series over bins: measured values, and number of gaps. */
class BinnedSeries {
  readonly #sums: Float64Array[]
  readonly #gaps: Float32Array

  constructor(columns: number, bins: number) {
    this.#sums = Array.from({ length: columns }, () => new Float64Array(bins))
    this.#gaps = new Float32Array(bins)
  }

  add(bin: number, columns: readonly Float32Array[], at: number): void {
    if (Number.isNaN(columns[0]?.[at] ?? NaN)) {
      this.#gaps[bin] = (this.#gaps[bin] as number) + 1
      return
    }
    this.#sums.forEach((s, c) => {
      const v = columns[c]?.[at] ?? NaN
      if (!Number.isNaN(v)) s[bin] = (s[bin] as number) + v
    })
  }

  /** Means: a missing sample is 0, a gap is not counted. */
  mean(column: number, samples: ArrayLike<number>): number[] {
    const sums = this.#sums[column] as Float64Array
    return Array.from(sums, (v, i) => {
      const n = (samples[i] as number) - (this.#gaps[i] as number)
      return n > 0 ? v / n : NaN
    })
  }
}

/** Means per column of a target's measured values: a missing sample is a gap, never 0. */
class BinnedTarget {
  readonly #sums: Float64Array[]
  readonly #counts: Float64Array[]

  constructor(columns: number, bins: number) {
    this.#sums = Array.from({ length: columns }, () => new Float64Array(bins))
    this.#counts = Array.from({ length: columns }, () => new Float64Array(bins))
  }

  add(bin: number, columns: readonly Float32Array[], at: number): void {
    this.#sums.forEach((s, c) => {
      const v = columns[c]?.[at] ?? NaN
      const n = this.#counts[c] as Float64Array
      if (Number.isNaN(v)) return
      s[bin] = (s[bin] as number) + v
      n[bin] = (n[bin] as number) + 1
    })
  }

  mean(column: number): number[] {
    const counts = this.#counts[column] as Float64Array
    return Array.from(this.#sums[column] as Float64Array, (v, i) => (counts[i] === 0 ? NaN : v / (counts[i] as number)))
  }
}

/**
 * Fork inputs of a range.
 *
 * @param isReplay  true to replay the range, false to continue after it.
 *
 * Failures: FORK_EMPTY: nothing is kept of it; FORK_HOLES: less than half of its samples exist.
 */
export function inputsFromHistory(
  around: ForkAround,
  reader: HistoryReader,
  span: Span,
  { workload, isReplay }: Pick<ForkInputs, 'workload' | 'isReplay'>,
): Result<ForkInputs> {
  const tier = reader.tierFor(span.fromMs, span.toMs, POINTS_MAX)
  const stepMs = tier === 'raw' ? around.intervalMs : STEP_MS[tier]
  const spanMs = span.toMs - span.fromMs
  const binMs = stepMs * Math.max(1, Math.ceil(spanMs / BINS / stepMs))
  const bins = Math.max(1, Math.ceil(spanMs / binMs))
  const binOf = (atMs: number): number => Math.min(bins - 1, Math.floor((atMs - span.fromMs) / binMs))
  const targets = new Map<number, BinnedTarget>()
  const samples = new Float64Array(bins)
  const each = (block: Block, take: (key: number, at: number) => void): void => block.keys.forEach(take)
  for (const block of reader.targetsBetween(tier, span.fromMs, span.toMs - 1)) {
    const bin = binOf(block.atMs)
    let isMeasured = false
    each(block, (key, at) => {
      const t = targets.get(key) ?? new BinnedTarget(TARGET_COLUMNS.length, bins)
      targets.set(key, t)
      t.add(bin, block.columns, at)
      if (!Number.isNaN(block.columns[0]?.[at] ?? NaN)) isMeasured = true
    })
    if (isMeasured) samples[bin] = (samples[bin] as number) + 1
  }
  const isKnown = Array.from(samples, (n) => n > 0)
  const known = isKnown.filter(Boolean).length
  if (known === 0) {
    return fail({
      code: 'FORK_EMPTY',
      what: 'There is nothing to fork',
      unaffected: UNAFFECTED,
      why: 'no data in this range',
      next: 'Choose a range with samples: see the day chart in History.',
    })
  }
  if (known < COVERAGE_MIN * bins) {
    return fail({
      code: 'FORK_HOLES',
      what: 'The range has too many gaps to fork',
      unaffected: UNAFFECTED,
      why: `${Math.round((100 * known) / bins)} % of it was measured; half is needed`,
      next: 'Choose a shorter range without the gap.',
    })
  }
  const jobs = new Map<number, BinnedSeries>()
  for (const block of reader.jobsBetween(tier, span.fromMs, span.toMs - 1)) {
    const bin = binOf(block.atMs)
    if (!isKnown[bin]) continue
    each(block, (key, at) => {
      const j = jobs.get(key) ?? new BinnedSeries(JOB_COLUMNS.length, bins)
      jobs.set(key, j)
      j.add(bin, block.columns, at)
    })
  }
  const keep = (values: readonly number[]): number[] => values.filter((_, i) => isKnown[i])
  const allTargets = [...targets].flatMap(([key, t]): ForkTarget[] => {
    const stored = reader.target(key)
    const column = (c: (typeof TARGET_COLUMNS)[number]): number[] => keep(t.mean(TARGET_COLUMNS.indexOf(c)))
    return stored
      ? [
          {
            name: stored.target,
            server: stored.node,
            rpcs: column('rpcs'),
            serviceMs: column('serviceMs'),
            queued: column('queued'),
          },
        ]
      : []
  })
  const allJobs = [...jobs].flatMap(([key, series]): ForkJob[] => {
    const stored = reader.job(key)
    if (!stored) return []
    const column = (c: (typeof JOB_COLUMNS)[number]): number[] => keep(series.mean(JOB_COLUMNS.indexOf(c), samples))
    const live = around.job?.(stored.jobId)
    const rpcs = column('rpcs')
    return [
      {
        jobId: stored.jobId,
        user: stored.user,
        account: stored.account,
        nodes: stored.nodes,
        hosts: live?.hosts ?? [],
        rpcs,
        readBps: column('readBps'),
        writeBps: column('writeBps'),
        mdops: column('mdops'),
        throttled: heldPart(rpcs, column('throttled')),
        targets: live?.targets ?? [],
        ops: live?.ops ?? new Map<string, number>(),
      },
    ]
  })
  return ok({
    cluster: reader.cluster === '' ? around.cluster : reader.cluster,
    kind: around.kind,
    atMs: span.toMs,
    binS: binMs / 1000,
    binAtS: isKnown.flatMap((is, i) => (is ? [(i * binMs) / 1000] : [])),
    spanS: spanMs / 1000,
    gaps: gapsOf(isKnown, binMs / 1000),
    isReplay,
    workload,
    jobs: allJobs,
    targets: allTargets,
    mdts: around.mdts,
    servers: serversFrom(around.servers, allTargets),
    ...rulesOf(reader.rulesAt(span.fromMs), new Set(allTargets.map((t) => t.server))),
    control: around.control,
    scenario: around.scenario,
    elapsedS: around.elapsedS,
    padll: around.padll,
    dataNodes: around.dataNodes,
    rows: around.scenario ? undefined : planeRowsOf(reader, span),
    unknown: [around.notice],
  })
}

/** Present servers; for one that is gone, only its name. */
function serversFrom(now: readonly ForkServer[], targets: readonly ForkTarget[]): ForkServer[] {
  const known = new Set(now.map((s) => s.name))
  const gone = [...new Set(targets.map((t) => t.server))].filter((name) => !known.has(name))
  const policy = now.find((s) => s.kind === 'oss')?.policy ?? 'fifo'
  return [
    ...now,
    ...gone.map((name): ForkServer => ({ name, kind: 'oss', version: undefined, cpts: undefined, policy })),
  ]
}

/** Rules in force at an instant, by place (`placeOf`); older files use the bare name of an MDS for its main service. */
function rulesOf(
  stored: readonly HistoryRule[],
  oss: ReadonlySet<string>,
): Pick<ForkInputs, 'rules' | 'controllerRules'> {
  const rules: ForkRule[] = []
  let controllerRules = 0
  const places = Map.groupBy(stored, (r) => r.server)
  for (const service of Object.keys(SERVICES) as ServiceName[]) {
    const lists = new Map<string, readonly string[]>()
    for (const [place, list] of places) {
      const [host = '', named] = place.split('/')
      if ((named ?? (oss.has(host) ? 'ost_io' : 'mdt')) !== service) continue
      const written = ruleLines([...list].sort((a, b) => a.position - b.position))
      controllerRules += written.controllerRules
      if (written.lines.length > 0) lists.set(host, written.lines)
    }
    rules.push(...groupRules(service, lists))
  }
  return { rules, controllerRules }
}
