/** Overview: state of the file system, and jobs whose rates changed. */
import type { Level, OverviewFrame, Tile, TileId } from '#core/api/frames.ts'
import { STORM_SAMPLES, type LockWatch } from '../../cluster/locks/watch.ts'
import { resourceName } from '../../cluster/locks/condition-text.ts'
import { plural } from '#core/base/figure-text.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { PROMINENT } from '#core/series/job-colors.ts'
import { jobColumn, shareName, TOTAL, totalColumn, type TotalMeasure } from '../../cluster/state/recent.ts'
import type { ClusterView } from '../../cluster/cluster-view.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { OperatorRules } from '../rules/operator-rules.ts'
import { againstOf, overlayOf, type Against, type FindAgainst } from './against.ts'
import { isPresent, liveOf, orNull, orZero, rateSamples, resolvePosition } from '../position.ts'
import { largest } from './rank.ts'
import { stackFrame } from './stack.ts'

const SPARK_POINTS = 60
const MOVERS = 9
const EVENTS = 100

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

/** A tile is amber if it is well above its own past; the budget only if it is exceeded. */
function tileLevel(id: TileId, value: number | null, before: number | null): Level {
  if (value === null) return 'idle'
  if (id === 'budget') return value > 1.05 ? 'watch' : 'ok'
  if (id === 'queued') return before !== null && value > 64 && value > 3 * before ? 'watch' : 'ok'
  if (id === 'service') return before !== null && value > 20 && value > 2 * before ? 'watch' : 'ok'
  return 'ok'
}

type MeasuredTile = Exclude<TileId, 'locks'>
const MEASURED = Object.keys(TILES) as MeasuredTile[]

/** Value of a tile at a sample: of the whole, or else of its measured part. */
function tileValue(
  viewed: ClusterView,
  id: MeasuredTile,
  sample: number,
): { value: number | null; isPartial: boolean } {
  const { raw, partials } = viewed.recent
  const column = totalColumn(TILES[id])
  // Rules are counted, not measured: a mean would give fractions of a rule.
  const at = (table: typeof partials): number | null =>
    orNull(id === 'rules' ? table.value(TOTAL, column, sample) : table.mean(TOTAL, column, sample, rateSamples(viewed)))
  const whole = at(raw.totals)
  const value = whole ?? at(partials)
  return { value, isPartial: whole === null && value !== null }
}

function tiles(viewed: ClusterView, sample: number, windowMs: number, a: Against | undefined): Tile[] {
  const past = viewed.recent.tierFor(sample, 2 * windowMs)
  const n = Math.max(1, Math.round(windowMs / (past.stepMs ?? viewed.source.periodNs / 1e6)))
  const { tier, to } = viewed.recent.tierFor(sample, windowMs)
  const { from, step } = tier.totals.window(to, windowMs, SPARK_POINTS)
  const live = liveOf(viewed)
  const locks = live?.locks ? [locksTile(viewed, live.locks, sample, windowMs)] : []
  const measured = MEASURED.map((id): Tile => {
    const column = totalColumn(TILES[id])
    const { value, isPartial } = tileValue(viewed, id, sample)
    const earlier = past.to - n
    const mean = earlier >= past.tier.totals.oldest ? orNull(past.tier.totals.mean(TOTAL, column, earlier, n)) : null
    const before = id === 'rules' && mean !== null ? Math.round(mean) : mean
    return {
      id,
      value,
      before,
      spark: tier.totals.downsample(TOTAL, column, from, to, step),
      level: tileLevel(id, value, before),
      ...(isPartial ? { partial: true } : {}),
      ...(a ? { against: tileValue(a.viewed, id, a.sample).value } : {}),
    }
  })
  return [...measured, ...locks]
}

/** Requests waiting for a lock; amber during a storm, which the note names. */
function locksTile(viewed: ClusterView, locks: LockWatch, sample: number, windowMs: number): Tile {
  const { world, series } = locks
  const worst = locks.storms(sample, STORM_SAMPLES)[0]
  return {
    id: 'locks',
    value: series.mean('waiting', sample, rateSamples(viewed)),
    before: series.meanBefore('waiting', sample, windowMs),
    spark: series.window(sample, windowMs, SPARK_POINTS).waiting,
    level: worst ? 'watch' : 'ok',
    ...(worst ? { note: resourceName(world, worst.condition.resource) } : {}),
  }
}

function targets(viewed: ClusterView, sample: number, a: Against | undefined): OverviewFrame['targets'] {
  const mean = (of: ClusterView, name: string, column: number, at: number): number =>
    of.recent.raw.targets.mean(name, column, at, rateSamples(of))
  const column = (c: number): (number | null)[] => viewed.targets.map((t) => orNull(mean(viewed, t.target, c, sample)))
  const before = (c: number): (number | null)[] =>
    viewed.targets.map((t) => (a ? orNull(mean(a.viewed, t.target, c, a.sample)) : null))
  const rpcs = column(0)
  const measured = rpcs.filter((v) => v !== null)
  const average = measured.reduce((s, v) => s + v, 0) / Math.max(1, measured.length)
  return {
    name: viewed.targets.map((t) => t.target),
    node: viewed.targets.map((t) => t.node),
    rpcs,
    serviceMs: column(1),
    queued: column(2),
    utilisation: column(3),
    imbalance: rpcs.map((r) => (average > 0 && r !== null ? r / average : null)),
    ...(a ? { against: { rpcs: before(0), serviceMs: before(1), queued: before(2) } } : {}),
  }
}

/** Mean rates of jobs over the end of a window (its last sixth), and over the time before. */
function changes(viewed: ClusterView, sample: number, windowMs: number, names: readonly string[]) {
  const { tier, to } = viewed.recent.tierFor(sample, windowMs)
  const { from } = tier.jobs.window(to, windowMs, SPARK_POINTS)
  const n = to - from + 1
  const recentN = Math.max(1, Math.round(n / 6))
  const column = jobColumn('rpcs')
  const now = tier.jobs.means(names, column, to, recentN)
  const before = n > recentN ? tier.jobs.means(names, column, to - recentN, n - recentN) : now
  return { now, before, beforeMs: tier.jobs.atMs(to - recentN) }
}

/** Jobs by rate change: the last sixth of the window compared with the rest of it, or with that of A. */
function movers(
  viewed: ClusterView,
  sample: number,
  windowMs: number,
  a: Against | undefined,
): OverviewFrame['movers'] {
  const { tier, to } = viewed.recent.tierFor(sample, windowMs)
  const { from, step } = tier.jobs.window(to, windowMs, SPARK_POINTS)
  const here =
    viewed.jobs.known?.(viewed.recent.raw.totals.atMs(sample)).names ?? Array.from(viewed.jobs.all, (j) => j.jobId)
  // Jobs that ended since A count as changed, too.
  const then = a ? (a.viewed.jobs.known?.(a.atMs).names ?? []) : []
  const names = then.length === 0 ? here : [...new Set([...here, ...then])]
  const { now, before, beforeMs } = changes(viewed, sample, windowMs, names)
  const base = a ? changes(a.viewed, a.sample, windowMs, names).now : before
  const baseMs = a ? a.atMs : beforeMs
  const present = new Set(here)
  const delta = new Float64Array(names.length)
  const change = new Float64Array(names.length)
  for (let i = 0; i < names.length; i++) {
    // A job that no longer exists has rate 0; one that was not measured has an unknown rate.
    const name = names[i] as string
    const wasThere = (viewed.jobs.find(name)?.firstSeenMs ?? Infinity) <= baseMs
    const isGap = (Number.isNaN(now[i]) && present.has(name)) || (Number.isNaN(base[i]) && wasThere)
    const rate = orZero(now[i] as number)
    const d = (delta[i] = rate - orZero(base[i] as number))
    change[i] = !isGap && (rate > 0 || d !== 0) ? Math.abs(d) : NaN
  }
  const { top } = largest(change, MOVERS, (x, y) => byCodeUnit(names[x]!, names[y]!))
  const { shares } = viewed.recent
  const shareFrom = shares.sampleAt(shares.atMs(sample) - windowMs)
  const ids = top.map((i) => names[i] as string)
  const jobs = ids.map((id) => viewed.jobs.find(id) ?? a?.viewed.jobs.find(id))
  const { jobColors } = viewed.jobs
  jobColors.colors(ids.slice(0, PROMINENT))
  return {
    jobId: ids,
    user: jobs.map((j) => j?.user ?? ''),
    account: jobs.map((j) => j?.account ?? ''),
    nodes: jobs.map((j) => j?.nodes ?? null),
    colour: ids.map((id) => jobColors.of(id)),
    rpcs: top.map((i) => orZero(now[i] as number)),
    delta: top.map((i) => delta[i] as number),
    spark: ids.map((id) => tier.jobs.downsample(id, jobColumn('rpcs'), from, to, step)),
    targets: ids.map((id) =>
      viewed.targets.flatMap((t, i) =>
        orZero(shares.mean(shareName(id, t.target), 0, sample, sample - shareFrom + 1)) > 0 ? [i] : [],
      ),
    ),
  }
}

type TimerRow = OverviewFrame['timers'][number]

/** Most rules listed; the Rules view has all. */
const TIMED_RULES = 50

/** Rules committed by operators with an expiry: one row for a rule that ends on all its servers at the same time. */
function ruleTimers(rules: OperatorRules, nowMs: number): TimerRow[] {
  const rows = new Map<string, { row: TimerRow; hosts: Set<string>; units: Set<string>; isBound: boolean }>()
  for (const { place, rule, timer } of rules.expiring(nowMs)) {
    const key = [place.service, place.name, timer.expiresMs].join('\u0000')
    const known = rows.get(key)
    if (known) {
      known.hosts.add(place.host)
      known.units.add(timer.unit)
      continue
    }
    if (rows.size >= TIMED_RULES) break
    const { createdMs, reason } = rule
    rows.set(key, {
      row: { name: place.name, detail: reason, unit: '', createdMs, expiresMs: timer.expiresMs },
      hosts: new Set([place.host]),
      units: new Set([timer.unit]),
      isBound: timer.stop !== undefined,
    })
  }
  return [...rows.values()].map(({ row, hosts, units, isBound }) => {
    const where = hosts.size === 1 ? `rule on ${[...hosts].join('')}` : `rule on ${hosts.size} servers`
    const [unit = ''] = units
    return {
      ...row,
      detail: row.detail === '' ? where : `${where}: ${row.detail}`,
      unit: isBound ? 'of this console' : units.size === 1 ? unit : `${unit} and ${units.size - 1} more`,
    }
  })
}

/** Leases of controllers. */
function leaseTimers(live: ClusterMonitor): TimerRow[] {
  return live.allServers.flatMap((host) =>
    [live.loop.lease(host)?.state, live.metadata.lease(host)?.state].flatMap((lease) =>
      lease
        ? [
            {
              name: `controller lease on ${host}`,
              detail: `stops ${plural(lease.rules, 'rule')} unless renewed`,
              unit: lease.unit,
              createdMs: live.source.toUnixMs(lease.createdNs),
              expiresMs: live.source.toUnixMs(lease.expiresNs),
            },
          ]
        : [],
    ),
  )
}

/** Timers, known only for the present: those of operators' rules, soonest first, then leases of controllers. */
function timers(viewed: ClusterView, sample: number, rules: OperatorRules | undefined): OverviewFrame['timers'] {
  const live = liveOf(viewed)
  if (!live || !isPresent(viewed, sample)) return []
  return [...(rules ? ruleTimers(rules, live.nowMs()) : []), ...leaseTimers(live)]
}

export function overviewFrame(
  viewed: ClusterView,
  query: { at: number | null; windowMs: number; againstMs?: number | null },
  seq: number,
  find?: FindAgainst,
  rules?: OperatorRules,
): OverviewFrame {
  const { sample, atMs } = resolvePosition(viewed, query.at)
  const { windowMs } = query
  const { a, head } = againstOf(query.againstMs, find)
  // The jobs of the chart get their colors before those that changed.
  const stack = stackFrame(viewed, sample, windowMs, ['readBps', 'writeBps'], ['readBps', 'writeBps'])
  return {
    seq,
    sample,
    atMs,
    windowMs,
    ...head,
    tiles: sample === 0 ? [] : tiles(viewed, sample, windowMs, a),
    targets: targets(viewed, sample, a),
    stack,
    ...(a ? { overlay: overlayOf(a, atMs, windowMs, ['readBps', 'writeBps']) } : {}),
    movers: movers(viewed, sample, windowMs, a),
    events: viewed.events.between(-Infinity, atMs ?? viewed.nowMs(), EVENTS),
    timers: timers(viewed, sample, rules),
  }
}
