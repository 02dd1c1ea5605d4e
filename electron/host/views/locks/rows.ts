/** Resource table of the locks view: sorted, filtered, one slice of it; and texts of levels. */
import type { Level } from '#core/api/frames.ts'
import type { LocksFrame, LocksSort } from '#core/api/locks.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { ResourceId } from '#core/seqdlm/messages.ts'
import { type LockMode, isLockMode, LOCK_MODES } from '#core/seqdlm/modes.ts'
import type { LockWorld, ResourceCounts, TracedCondition } from '#core/seqdlm/trace/trace.ts'
import type { Result } from '#core/base/result.ts'
import type { SeenCondition } from '../../../cluster/locks/watch.ts'
import { bounded, resourceName, seenConditionText } from '../../../cluster/locks/condition-text.ts'
import { comparison, entry, glob, parseFilter, type FilterError, type RowTest } from '../../job-filter.ts'
import { SIGHT_NS } from './resource.ts'

/** Fields of a resource that filter terms can use. */
export interface LockRow {
  readonly name: string
  readonly server: string
  readonly waiting: number
  readonly conflicts: number
  readonly revocations: number
  readonly cancelMs: number | null
  readonly held: number
  /** Kinds of its conditions. */
  readonly conditions: readonly string[]
  /** Modes held or waited for; evaluated only if a term uses them. */
  readonly modes: () => ReadonlySet<LockMode>
}

const TEXT: Readonly<Record<string, (r: LockRow) => string>> = { res: (r) => r.name, server: (r) => r.server }
const NUMBER: Readonly<Record<string, (r: LockRow) => number | null>> = {
  waiting: (r) => r.waiting,
  conf: (r) => r.conflicts,
  rev: (r) => r.revocations,
  cancel: (r) => r.cancelMs,
  held: (r) => r.held,
}
const STATE: Readonly<Record<string, RowTest<LockRow>>> = {
  convoy: (r) => r.conditions.includes('convoy'),
  'ping-pong': (r) => r.conditions.includes('ping-pong'),
  eviction: (r) => r.conditions.includes('eviction'),
  waiting: (r) => r.waiting > 0,
  idle: (r) => r.held === 0 && r.waiting === 0,
}

function term(word: string): RowTest<LockRow> | string {
  const number = /^([a-z]+)(>=|<=|>|<|=)(.*)$/.exec(word)
  if (number) {
    const [, name = '', op = '', value = ''] = number
    const of = entry(NUMBER, name)
    if (!of) return `${name} is not numeric; numeric fields are ${Object.keys(NUMBER).join(', ')}`
    const passes = comparison(op, value)
    return typeof passes === 'string' ? passes : (r) => passes(of(r))
  }
  const field = /^([a-z]+):(.*)$/.exec(word)
  if (!field) {
    const has = glob(word)
    return (r) => has(r.name)
  }
  const [, name = '', value = ''] = field
  if (value === '') return `${name}: needs a value`
  if (name === 'is') return entry(STATE, value) ?? `is: must be one of ${Object.keys(STATE).join(', ')}`
  if (name === 'mode') {
    const mode = value.toUpperCase()
    return isLockMode(mode) ? (r) => r.modes().has(mode) : `mode: must be one of ${LOCK_MODES.join(', ')}`
  }
  const of = entry(TEXT, name)
  if (!of) return `${name}: is not a field; fields are ${[...Object.keys(TEXT), 'mode', 'is'].join(', ')}`
  const has = glob(value)
  return (r) => has(of(r))
}

/**
 * Parses a filter of the resource table, `res:ckpt server:oss mode:NBW waiting>2 conf>10 is:convoy -res:log`; an empty
 * one matches everything.
 */
export const parseLockFilter = (text: string): Result<RowTest<LockRow>, FilterError> => parseFilter(text, term)

/** Rates cover the last second; the time to cancel covers more, since a second may contain none. */
export const RATE_NS = NS_PER_S
const CANCEL_NS = 10 * NS_PER_S
/** Most lock lives examined for the modes of a resource. */
const MODES_OF = 64

type Rows = Pick<LocksFrame, 'known' | 'shown' | 'offset' | 'rows'> & Partial<Pick<LocksFrame, 'filterError'>>
type Counts = ResourceCounts & { readonly longest: number; readonly cancelMs: number | null }

export interface RowsQuery {
  readonly sort: LocksSort
  readonly filter: string
  readonly offset: number
  readonly limit: number
}

export const emptyRows = (): Rows => ({
  known: 0,
  shown: 0,
  offset: 0,
  rows: {
    key: [],
    name: [],
    server: [],
    waiting: [],
    conflicts: [],
    revocations: [],
    cancelMs: [],
    held: [],
    level: [],
    why: [],
    alarm: [],
  },
})

/** A client at risk of eviction is worse than a storm: it loses its written data. */
export const conditionLevel = (a: TracedCondition): Level => (a.kind === 'eviction' ? 'bad' : 'watch')

const worstOf = (conditions: readonly SeenCondition[]): SeenCondition | undefined =>
  conditions.find((s) => s.condition.kind === 'eviction') ?? conditions[0]

function levelOf(
  world: LockWorld,
  atNs: number,
  c: Counts,
  conditions: readonly SeenCondition[],
): { level: Level; why: string } {
  const worst = worstOf(conditions)
  if (worst) {
    const { text, note } = seenConditionText(world, worst, atNs)
    return { level: conditionLevel(worst.condition), why: `${text}, ${note}` }
  }
  if (c.longest > 0) return { level: 'ok', why: `at most ${c.longest} waited at once, no convoy` }
  if (c.held === 0 && c.asked === 0) return { level: 'idle', why: 'no lock held or requested' }
  return { level: 'ok', why: 'no waiters' }
}

const gapLast = (a: number | null, b: number | null): number => (a === b ? 0 : a === null ? 1 : b === null ? -1 : b - a)

/** Total order: ties in the column are ordered by contention, as in the trace. */
function sorted(counts: Counts[], sort: LocksSort, world: LockWorld): Counts[] {
  switch (sort) {
    case 'waiting':
      return counts.sort((a, b) => b.longest - a.longest)
    case 'conflicts':
      return counts.sort((a, b) => b.conflicts - a.conflicts)
    case 'revocations':
      return counts.sort((a, b) => b.revocations - a.revocations)
    case 'cancel':
      return counts.sort((a, b) => gapLast(a.cancelMs, b.cancelMs))
    case 'name': {
      const names = new Map(counts.map((c) => [c.resource, resourceName(world, c.resource)]))
      const nameOf = (c: Counts): string => names.get(c.resource) ?? ''
      return counts.sort((a, b) => byCodeUnit(nameOf(a), nameOf(b)) || a.resource - b.resource)
    }
  }
}

function countsAt(world: LockWorld, atNs: number, lastSecond: readonly ResourceCounts[]): Counts[] {
  const cancels = new Map(world.trace.resources(atNs, Math.min(CANCEL_NS, atNs)).map((c) => [c.resource, c.cancelNs]))
  const longest = world.trace.longest(atNs, Math.min(SIGHT_NS, atNs))
  return lastSecond.map((c) => {
    const ns = cancels.get(c.resource)
    const cancelMs = ns === undefined ? null : ns / NS_PER_MS
    return { ...c, longest: longest.get(c.resource) ?? 0, cancelMs }
  })
}

/** Modes held or waited for at an instant; of very many locks only the newest are examined. */
function modesAt(world: LockWorld, resource: ResourceId, atNs: number): ReadonlySet<LockMode> {
  const { lives } = world.trace.lives(resource, atNs, atNs, MODES_OF)
  return new Set(lives.filter((l) => l.endedNs === undefined).map((l) => l.mode))
}

/**
 * @param lastSecond  counts of all resources over `RATE_NS`, or since the beginning.
 * @param storms      conditions of the look-back window.
 */
export function rowsAt(
  world: LockWorld,
  atNs: number,
  lastSecond: readonly ResourceCounts[],
  storms: readonly SeenCondition[],
  query: RowsQuery,
): Rows {
  const counts = countsAt(world, atNs, lastSecond)
  const seconds = Math.min(RATE_NS, atNs) / NS_PER_S
  const conditions = Map.groupBy(storms, (s) => s.condition.resource)
  const filter = parseLockFilter(query.filter)
  const toRow = (c: Counts): LockRow => ({
    name: resourceName(world, c.resource),
    server: world.describe(c.resource)?.server ?? '',
    waiting: c.longest,
    held: c.held,
    cancelMs: c.cancelMs,
    conflicts: c.conflicts / seconds,
    revocations: c.revocations / seconds,
    conditions: (conditions.get(c.resource) ?? []).map((s) => s.condition.kind),
    modes: () => modesAt(world, c.resource, atNs),
  })
  const passing = query.filter.trim() !== '' && filter.ok ? counts.filter((c) => filter.value(toRow(c))) : counts
  const page = sorted(passing, query.sort, world).slice(query.offset, query.offset + query.limit)
  const rows = page.map(toRow)
  const levels = page.map((c) => levelOf(world, atNs, c, conditions.get(c.resource) ?? []))
  return {
    ...(filter.ok ? {} : { filterError: filter.error }),
    known: counts.length,
    shown: passing.length,
    offset: query.offset,
    rows: {
      key: page.map((c) => String(c.resource)),
      name: rows.map((r) => r.name),
      server: rows.map((r) => bounded(r.server)),
      waiting: rows.map((r) => r.waiting),
      conflicts: rows.map((r) => r.conflicts),
      revocations: rows.map((r) => r.revocations),
      cancelMs: rows.map((r) => r.cancelMs),
      held: rows.map((r) => r.held),
      level: levels.map((l) => l.level),
      why: levels.map((l) => l.why),
      alarm: page.map((c) => worstOf(conditions.get(c.resource) ?? [])?.condition.kind ?? null),
    },
  }
}
