/** Locks frame of a lock manager that traces every step: everything at or before the instant of the shown sample. */
import type { LocksFrame, LockCondition } from '#core/api/locks.ts'
import type { Notice } from '#core/api/parts.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { TraceReader, LockWorld } from '#core/seqdlm/trace/trace.ts'
import type { ClusterSource } from '../../../base/connection.ts'
import { STORM_SAMPLES, type LockWatch, type SeenCondition } from '../../../cluster/locks/watch.ts'
import { bounded, formatLockTime, percent, seenConditionText } from '../../../cluster/locks/condition-text.ts'
import { emptyLocks, type LocksHead } from './empty.ts'
import { resourceAt, type Clock, type ResourceQuery } from './resource.ts'
import { emptyRows, RATE_NS, rowsAt, type RowsQuery, conditionLevel } from './rows.ts'

/** Most conditions of one kind in the list. */
const NAMED_MAX = 4

/**
 * Conditions of the Locks view; a kind without any has an idle row, so that the list does not jump.
 *
 * @param storms  storms and eviction risks.
 * @param seen    these, and the oldest callback.
 */
function conditionsOf(
  world: LockWorld,
  atNs: number,
  storms: readonly SeenCondition[],
  seen: readonly SeenCondition[],
): LockCondition[] {
  const of = (kind: LockCondition['kind']): LockCondition[] => {
    const named = storms
      .filter((s) => s.condition.kind === kind)
      .slice(0, NAMED_MAX)
      .map((s) => ({
        kind,
        level: conditionLevel(s.condition),
        resource: String(s.condition.resource),
        ...seenConditionText(world, s, atNs),
      }))
    return named.length > 0 ? named : [inactiveCondition(kind, seen)]
  }
  return [...of('convoy'), ...of('ping-pong'), ...of('eviction')]
}

function inactiveCondition(kind: LockCondition['kind'], seen: readonly SeenCondition[]): LockCondition {
  const base = { kind, level: 'idle' as const, resource: '', note: '' }
  if (kind === 'convoy') return { ...base, text: 'Convoy: none' }
  if (kind === 'ping-pong') return { ...base, text: 'Ping-pong: none' }
  const oldest = seen.map((s) => s.condition).find((a) => a.kind === 'eviction')
  if (oldest?.kind !== 'eviction') return { ...base, text: 'Eviction risk: none, no callback is open' }
  const share = percent(oldest.ageNs / oldest.timeoutNs)
  return {
    ...base,
    text: `Eviction risk: none, oldest callback ${share}`,
    note: `of ${formatLockTime(oldest.timeoutNs)}`,
  }
}

const SERIES_POINTS = 300

type SourceClock = Pick<ClusterSource, 'nowNs' | 'toUnixMs'>

/** Whole ns: a Unix time in ms has a fraction of a microsecond at best. */
function clockOf(source: SourceClock): Clock {
  const originMs = source.toUnixMs(0)
  return { toMs: (ns) => source.toUnixMs(ns), toNs: (ms) => Math.round((ms - originMs) * NS_PER_MS) }
}

function forgotten(source: SourceClock, { countedSince }: TraceReader): Notice {
  return {
    code: 'LOCKS_FORGOTTEN',
    what: 'The resources of this sample are no longer in memory',
    why: `lock traces are kept for the last ${Math.floor((source.nowNs() - countedSince) / NS_PER_S)} s`,
    unaffected: 'Locks held, rates and conditions are those of the sample.',
  }
}

/** Samples averaged for a displayed rate: one second at 10 Hz. */
const SHOWN_SAMPLES = 10

export function seqdlmFrame(
  source: SourceClock,
  locks: LockWatch,
  head: LocksHead,
  query: RowsQuery & ResourceQuery,
): LocksFrame {
  const { world, series } = locks
  const { sample, atMs } = head
  const empty = { ...emptyLocks(head), manager: bounded(world.manager) }
  if (atMs === null) return empty
  const clock = clockOf(source)
  // The newest sample shows the state that was read last.
  const atNs = Math.max(0, Math.min(clock.toNs(atMs), world.reading?.seenNs ?? Infinity))
  const notices = world.reading?.notices(atNs) ?? []
  const rateNs = Math.min(RATE_NS, atNs)
  const storms = locks.storms(sample, STORM_SAMPLES)
  const measured = {
    held: series.value('held', sample),
    grants: series.mean('grants', sample, SHOWN_SAMPLES),
    cancels: series.mean('cancels', sample, SHOWN_SAMPLES),
    series: series.window(sample, head.windowMs, SERIES_POINTS),
    alarms: conditionsOf(world, atNs, storms, locks.conditions(sample, 1)),
  }
  if (atNs < world.trace.countedSince)
    return { ...empty, ...measured, notices: [...notices, forgotten(source, world.trace)] }
  const lastSecond = world.trace.resources(atNs, rateNs)
  return {
    ...empty,
    ...measured,
    notices: [...empty.notices, ...notices],
    modes: world.trace.modes(atNs, rateNs).map(({ mode, held, waiting, grants }) => ({
      mode,
      held,
      waiting,
      grants: rateNs === 0 ? 0 : (grants * NS_PER_S) / rateNs,
    })),
    ...emptyRows(),
    ...rowsAt(world, atNs, lastSecond, storms, query),
    resource: resourceAt(world, atNs, lastSecond, clock, query),
  }
}
