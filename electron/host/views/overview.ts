/** The overview: is the file system well, and if not, who moved. */
import type { Level, OverviewFrame, Tile, TileId } from '#core/api/frames.ts'
import { STORM_SAMPLES, type LockWatch } from '../../cluster/lock-watch.ts'
import { resourceName } from '../../cluster/lock-words.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { jobColumn, shareName, TOTAL, totalColumn, type TotalMeasure } from '../../cluster/recent.ts'
import { isPresent, orNull, orZero, rateSamples, stand } from './position.ts'
import { stackFrame } from './stack.ts'

const SPARK_POINTS = 60
const MOVERS = 9
const EVENTS = 60

const TILES: Readonly<Record<Exclude<TileId, 'locks'>, TotalMeasure>> = {
  read: 'readBps',
  write: 'writeBps',
  rpc: 'rpcs',
  service: 'serviceMs',
  queued: 'queued',
  budget: 'used',
  rules: 'rules',
  lent: 'onLoan',
}

/** A tile is amber when it stands well above its own past; the budget only when it is overrun. */
function tileLevel(id: TileId, value: number | null, before: number | null): Level {
  if (value === null) return 'idle'
  if (id === 'budget') return value > 1.05 ? 'watch' : 'ok'
  if (id === 'queued') return before !== null && value > 64 && value > 3 * before ? 'watch' : 'ok'
  if (id === 'service') return before !== null && value > 20 && value > 2 * before ? 'watch' : 'ok'
  return 'ok'
}

function tiles(monitor: ClusterMonitor, sample: number, windowMs: number): Tile[] {
  const { totals } = monitor.recent.raw
  const past = monitor.recent.tierFor(sample, 2 * windowMs)
  const n = Math.max(
    1,
    Math.round(windowMs / (past.tier === monitor.recent.seconds ? 1000 : monitor.source.periodNs / 1e6)),
  )
  const { tier, to } = monitor.recent.tierFor(sample, windowMs)
  const { from, step } = tier.totals.window(to, windowMs, SPARK_POINTS)
  const locks = monitor.locks ? [locksTile(monitor, monitor.locks, sample, windowMs)] : []
  const measured = (Object.keys(TILES) as (keyof typeof TILES)[]).map((id): Tile => {
    const column = totalColumn(TILES[id])
    // Rules are counted, not measured: a mean of them would be a rule and a half.
    const isCount = id === 'rules'
    const at = (table: typeof totals): number | null =>
      orNull(isCount ? table.value(TOTAL, column, sample) : table.mean(TOTAL, column, sample, rateSamples(monitor)))
    const whole = at(totals)
    const value = whole ?? at(monitor.recent.partials)
    const earlier = past.to - n
    const mean = earlier >= past.tier.totals.oldest ? orNull(past.tier.totals.mean(TOTAL, column, earlier, n)) : null
    const before = isCount && mean !== null ? Math.round(mean) : mean
    return {
      id,
      value,
      before,
      spark: tier.totals.downsample(TOTAL, column, from, to, step),
      level: tileLevel(id, value, before),
      ...(whole === null && value !== null ? { partial: true } : {}),
    }
  })
  return [...measured, ...locks]
}

/** Requests that wait for a lock; amber while there is a storm, which the note names. */
function locksTile(monitor: ClusterMonitor, locks: LockWatch, sample: number, windowMs: number): Tile {
  const { world, series } = locks
  const worst = locks.storms(sample, STORM_SAMPLES)[0]
  return {
    id: 'locks',
    value: series.mean('waiting', sample, rateSamples(monitor)),
    before: series.meanBefore('waiting', sample, windowMs),
    spark: series.window(sample, windowMs, SPARK_POINTS).waiting,
    level: worst ? 'watch' : 'ok',
    ...(worst ? { note: resourceName(world, worst.alarm.resource) } : {}),
  }
}

function targets(monitor: ClusterMonitor, sample: number): OverviewFrame['targets'] {
  const { targets: table } = monitor.recent.raw
  const mean = (name: string, column: number): number => table.mean(name, column, sample, rateSamples(monitor))
  const rates = monitor.targets.map((t) => mean(t.target, 0))
  const average = rates.reduce((s, v) => s + orZero(v), 0) / Math.max(1, rates.length)
  return {
    name: monitor.targets.map((t) => t.target),
    node: monitor.targets.map((t) => t.node),
    rpcs: rates.map(orNull),
    serviceMs: monitor.targets.map((t) => orNull(mean(t.target, 1))),
    queued: monitor.targets.map((t) => orNull(mean(t.target, 2))),
    utilisation: monitor.targets.map((t) => orNull(mean(t.target, 3))),
    imbalance: rates.map((r) => (average > 0 ? orNull(r / average) : null)),
  }
}

/** Jobs by how much their rate changed: the last sixth of the window against the rest of it. */
function movers(monitor: ClusterMonitor, sample: number, windowMs: number): OverviewFrame['movers'] {
  const { tier, to } = monitor.recent.tierFor(sample, windowMs)
  const { from, step } = tier.jobs.window(to, windowMs, SPARK_POINTS)
  const column = jobColumn('rpcs')
  const n = to - from + 1
  const recentN = Math.max(1, Math.round(n / 6))
  const { shares } = monitor.recent
  const shareFrom = shares.sampleAt(shares.atMs(sample) - windowMs)
  const ranked = [...monitor.jobs.all]
    .map((job) => {
      const now = orZero(tier.jobs.mean(job.jobId, column, to, recentN))
      const before = n > recentN ? orZero(tier.jobs.mean(job.jobId, column, to - recentN, n - recentN)) : now
      return { job, now, delta: now - before }
    })
    .filter((m) => m.now > 0 || m.delta !== 0)
    .sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta) || (a.job.jobId < b.job.jobId ? -1 : 1))
    .slice(0, MOVERS)
  return {
    jobId: ranked.map((m) => m.job.jobId),
    user: ranked.map((m) => m.job.user),
    account: ranked.map((m) => m.job.account),
    nodes: ranked.map((m) => m.job.nodes ?? null),
    colour: ranked.map((m) => m.job.colour),
    rpcs: ranked.map((m) => m.now),
    delta: ranked.map((m) => m.delta),
    spark: ranked.map((m) => tier.jobs.downsample(m.job.jobId, column, from, to, step)),
    targets: ranked.map((m) =>
      monitor.targets.flatMap((t, i) =>
        orZero(shares.mean(shareName(m.job.jobId, t.target), 0, sample, sample - shareFrom + 1)) > 0 ? [i] : [],
      ),
    ),
  }
}

export function overviewFrame(
  monitor: ClusterMonitor,
  query: { at: number | null; windowMs: number },
  seq: number,
): OverviewFrame {
  const { sample, atMs } = stand(monitor, query.at)
  const { windowMs } = query
  const nowMs = monitor.nowMs()
  // The chart gives jobs their inks, so it comes before the lists that show them.
  const stack = stackFrame(monitor, sample, windowMs, ['readBps', 'writeBps'], ['readBps', 'writeBps'])
  return {
    seq,
    sample,
    atMs,
    windowMs,
    tiles: sample === 0 ? [] : tiles(monitor, sample, windowMs),
    targets: targets(monitor, sample),
    stack,
    movers: movers(monitor, sample, windowMs),
    events: monitor.events.between(-Infinity, atMs ?? nowMs, EVENTS),
    timers: monitor.servers.flatMap((host) => {
      if (!isPresent(monitor, sample)) return []
      const lease = monitor.loop.lease(host)?.state
      if (!lease) return []
      return [
        {
          name: `controller lease on ${host}`,
          detail: `stops ${lease.rules} rules unless renewed`,
          unit: lease.unit,
          createdMs: monitor.source.toUnixMs(lease.createdNs),
          expiresMs: monitor.source.toUnixMs(lease.expiresNs),
        },
      ]
    }),
  }
}
