/** Levels of the lock plane: ping-pong, lock wait, eviction risk and silent lock servers, from the lock manager's trace or Lustre's counters. */
import { amount, formatDuration, named } from '#core/alerts/format.ts'
import type { LevelFigures, Levels } from '#core/alerts/figures.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { resourceName } from '../../cluster/locks/condition-text.ts'
import { ldlmColumn, type LdlmSeries } from '../../cluster/locks/ldlm-series.ts'
import type { LockWatch } from '../../cluster/locks/watch.ts'

/** Range of the lock waits, ns. */
const WAIT_SPAN_NS = 5 * NS_PER_S
/** Interval between two evaluations that go through the trace, ns. */
const TRACE_EVERY_NS = NS_PER_S
/** Time over which Lustre's lock timeouts are counted, ms; older answers than `FRESH_MS` are a gap. */
const TIMEOUTS_MS = 60_000
const FRESH_MS = 15_000

export class LockLevels {
  /** Newest evaluation of the trace. */
  #traced: { readonly atNs: number; readonly levels: Levels } = { atNs: -Infinity, levels: {} }

  take(monitor: ClusterMonitor, atMs: number): Levels {
    const { locks } = monitor
    const counted = lustreEvictions(monitor.ldlm.series, atMs)
    if (!locks) return monitor.ldlm.hasServers ? { eviction: counted } : {}
    const atNs = monitor.source.nowNs()
    // A ping-pong is seen again in every sample of the second that it is measured over.
    const samples = Math.max(1, Math.round(NS_PER_S / monitor.intervalNs))
    return {
      ...this.#ofTrace(locks, atNs),
      'ping-pong': pingPongs(locks, monitor.sample, samples),
      eviction: [...evictions(locks, monitor.sample), ...counted],
    }
  }

  #ofTrace(locks: LockWatch, atNs: number): Levels {
    const sinceNs = atNs - this.#traced.atNs
    if (sinceNs < 0 || sinceNs >= TRACE_EVERY_NS) {
      const levels: Levels = { 'lock-wait': lockWaits(locks, atNs), 'lock-server': silentServers(locks, atNs) }
      this.#traced = { atNs, levels }
    }
    return this.#traced.levels
  }
}

function lockWaits({ world }: LockWatch, atNs: number): LevelFigures[] {
  return world.trace.waits(atNs, WAIT_SPAN_NS).map(({ resource, requests, p95Ns }) => {
    const where = resourceName(world, resource)
    const text = (): string =>
      `Lock requests on ${named(where)} wait ${amount(p95Ns / NS_PER_MS)} ms (95th percentile of ${amount(requests)} in 5 s)`
    return { subject: `resource ${resource}`, where, value: p95Ns / NS_PER_MS, text }
  })
}

function pingPongs(locks: LockWatch, sample: number, samples: number): LevelFigures[] {
  return locks.conditions(sample, samples).flatMap(({ condition: c }) => {
    if (c.kind !== 'ping-pong') return []
    const where = resourceName(locks.world, c.resource)
    const text = (): string => `Ping-pong on ${named(where)}, ${amount(Math.round(c.perSecond))} owner changes/s`
    return [{ subject: `resource ${c.resource}`, where, value: c.perSecond, text }]
  })
}

function evictions(locks: LockWatch, sample: number): LevelFigures[] {
  return locks.conditions(sample, 1).flatMap(({ condition: c }) => {
    if (c.kind !== 'eviction') return []
    const where = resourceName(locks.world, c.resource)
    const client = locks.world.client(c.client).name
    const timeout = formatDuration(c.timeoutNs / NS_PER_MS)
    const age = formatDuration(c.ageNs / NS_PER_MS)
    return [
      {
        subject: `client ${c.client}`,
        where,
        value: (100 * c.ageNs) / c.timeoutNs,
        text: () =>
          `${named(client)} has not released a revoked lock on ${named(where)} for ${age}; eviction after ${timeout}`,
      },
    ]
  })
}

/** Locks that timed out at a target: its clients were evicted already, which is 100 % of the timeout. */
export function lustreEvictions(series: LdlmSeries, atMs: number): LevelFigures[] {
  const row = series.rowAt(atMs)
  const before = series.rowAt(atMs - TIMEOUTS_MS)
  const isFresh = row > 0 && atMs - series.table.atMs(row) <= FRESH_MS
  return [...series.known].map(({ key, target, firstRow }) => {
    const at = (r: number): number => series.value(series.table, key, ldlmColumn('timeouts'), r)
    const timedOut = isFresh ? at(row) - at(Math.max(before, firstRow)) : NaN
    return {
      subject: key,
      where: target,
      value: Number.isNaN(timedOut) ? NaN : timedOut > 0 ? 100 : 0,
      text: () => `${amount(timedOut)} locks on ${named(target)} timed out in a minute: their clients are evicted`,
    }
  })
}

function silentServers({ world }: LockWatch, atNs: number): LevelFigures[] {
  return world.trace.unprocessed().map(({ resource, sentNs }) => {
    const server = world.describe(resource)?.server ?? ''
    const waitNs = Math.max(0, atNs - sentNs)
    const text = (): string =>
      `The lock service on ${named(server)} has processed nothing for ${formatDuration(waitNs / NS_PER_MS)} while requests wait`
    return { subject: server, where: server, value: waitNs / NS_PER_S, text }
  })
}
