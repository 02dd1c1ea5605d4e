/**
 * Locks at a past instant, from rows: of a tracing lock manager counters, resources, one resource over the window, and its kept
 * convoy lock by lock; of Lustre's the counters of its namespaces.
 * Rows have no modes of a resource, no time to cancel, and of the conditions only convoys.
 */
import { locksFrame, type LockCondition, type LocksFrame } from '#core/api/locks.ts'
import type { Notice } from '#core/api/parts.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { percent } from '../../../cluster/locks/condition-text.ts'
import type { HistoryReader, KeptConvoy } from '../../../history/reader.ts'
import { emptyLocks } from '../../views/locks/empty.ts'
import type { LocksQuery } from '../../views/locks/locks.ts'
import { parseLockFilter, type LockRow } from '../../views/locks/rows.ts'
import { narrowed } from './convoy-range.ts'
import { ageNotice, notRecorded, type PastHead } from './head.ts'
import { pastLdlm } from './ldlm.ts'
import { overRows, planeChart, rowsAt, secondsBefore, type PlaneChart, type RowAt, type RowsAt } from './rows.ts'

const DAY_MS = 86_400_000
/** Look-back of the longest queue, as in the live view. */
const QUEUE_MS = 15_000
const CONVOYS_MAX = 40
/** Distance from which a kept convoy belongs to an instant: the look-back of the longest queue. */
const NEAR_MS = QUEUE_MS
const MODES = ['PR', 'NBW', 'BW', 'PW'] as const
const NO_MODES: ReadonlySet<never> = new Set()

type Resource = NonNullable<LocksFrame['resource']>
type Row = LockRow & { readonly key: string; readonly convoyShare: number; readonly isOthers: boolean }

/** Key of a resource in frames of the past: its name, which the live view finds too. */
const keyOf = ({ name }: { readonly name: string }): string => name

/** Kept convoys of the UTC day of an instant, newest first. */
export function convoysOf(reader: HistoryReader | undefined, atMs: number | null): LocksFrame['convoys'] {
  if (!reader || atMs === null) return []
  const day = Math.floor(atMs / DAY_MS) * DAY_MS
  return reader
    .convoys(day, day + DAY_MS, CONVOYS_MAX)
    .map((c) => ({ ...c }))
    .reverse()
}

/** Longest queue of each resource over the last 15 s; of a coarser period, in it. */
function queuesAt(reader: HistoryReader, { atMs, rows }: RowsAt): ReadonlyMap<number, number> {
  const longest = new Map<number, number>()
  const add = (row: RowAt): void =>
    void longest.set(row.key, Math.max(longest.get(row.key) ?? 0, row.value('waiters') ?? 0))
  for (const second of secondsBefore(reader, 'lock_resources', atMs, QUEUE_MS)) second.rows.forEach(add)
  rows.forEach(add)
  return longest
}

function toRow(row: RowAt, waiting: number): Row {
  const convoyShare = row.value('convoy_share') ?? 0
  return {
    key: keyOf(row),
    isOthers: row.isOthers,
    name: row.name,
    server: row.place,
    waiting,
    conflicts: row.value('conflicts_per_s') ?? 0,
    revocations: row.value('revocations_per_s') ?? 0,
    cancelMs: null,
    held: row.value('holders') ?? 0,
    convoyShare,
    conditions: convoyShare > 0 ? ['convoy'] : [],
    modes: () => NO_MODES,
  }
}

const COMPARE: Readonly<Record<LocksQuery['sort'], (a: Row, b: Row) => number>> = {
  waiting: (a, b) => b.waiting - a.waiting,
  conflicts: (a, b) => b.conflicts - a.conflicts,
  revocations: (a, b) => b.revocations - a.revocations,
  // Not recorded: the next measure of contention.
  cancel: (a, b) => b.waiting - a.waiting,
  name: () => 0,
}
const contention = (a: Row, b: Row): number =>
  b.waiting - a.waiting || b.conflicts - a.conflicts || byCodeUnit(a.name, b.name)

const convoyText = (row: Row): string => `Convoy on ${row.name}, at most ${row.waiting} waited`
const whyOf = (row: Row): string => {
  if (row.convoyShare > 0) return `${convoyText(row)}, ${percent(row.convoyShare)} of the period`
  return row.waiting > 0 ? `at most ${row.waiting} waited at once, no convoy` : 'no waiters'
}

/** Table of resources: sorted, filtered, one slice of it. */
function tableOf(rows: readonly Row[], query: LocksQuery): Partial<LocksFrame> {
  const filter = parseLockFilter(query.filter)
  const compare = COMPARE[query.sort]
  const passing = (query.filter.trim() !== '' && filter.ok ? rows.filter(filter.value) : [...rows]).sort(
    (a, b) =>
      Number(a.isOthers) - Number(b.isOthers) ||
      (query.sort === 'name' ? byCodeUnit(a.name, b.name) : compare(a, b) || contention(a, b)),
  )
  const page = passing.slice(query.offset, query.offset + query.limit)
  return {
    ...(filter.ok ? {} : { filterError: filter.error }),
    known: rows.length,
    shown: passing.length,
    offset: query.offset,
    rows: {
      key: page.map((r) => r.key),
      name: page.map((r) => r.name),
      server: page.map((r) => r.server),
      waiting: page.map((r) => r.waiting),
      conflicts: page.map((r) => r.conflicts),
      revocations: page.map((r) => r.revocations),
      cancelMs: page.map(() => null),
      held: page.map((r) => r.held),
      level: page.map((r) => (r.convoyShare > 0 ? 'watch' : 'ok')),
      why: page.map(whyOf),
      alarm: page.map((r) => (r.convoyShare > 0 ? 'convoy' : null)),
    },
  }
}

/** Most conditions in the list. */
const NAMED_MAX = 4

function conditionsOf(rows: readonly Row[]): LockCondition[] {
  const convoys = rows
    .filter((r) => r.convoyShare > 0 && !r.isOthers)
    .sort(contention)
    .slice(0, NAMED_MAX)
    .map((r): LockCondition => ({
      kind: 'convoy',
      level: 'watch',
      resource: r.key,
      text: convoyText(r),
      note: `${percent(r.convoyShare)} of the period`,
    }))
  const none: LockCondition = { kind: 'convoy', level: 'idle', resource: '', text: 'Convoy: none', note: '' }
  const unknown = { level: 'unknown', resource: '', note: '' } as const
  return [
    ...(convoys.length > 0 ? convoys : [none]),
    { ...unknown, kind: 'ping-pong', text: 'Ping-pong: not recorded' },
    { ...unknown, kind: 'eviction', text: 'Eviction risk: not recorded' },
  ]
}

/** Counters of the selected resource over the window. */
function pastOf(reader: HistoryReader, name: string, server: string, atMs: number, windowMs: number): Resource['past'] {
  const columns = ['waiters', 'conflicts_per_s', 'revocations_per_s', 'wait_mean_ms', 'wait_p95_ms'] as const
  const isOf = (s: { readonly name: string; readonly place: string }): boolean =>
    s.name === name && (server === '' || s.place === server)
  const chart = planeChart(reader, 'lock_resources', { atMs, windowMs }, columns, (s) => (isOf(s) ? [name] : []))
  const [waiting, conflicts, revocations, waitMean, waitP95] = columns.map((c) => chart.of(name, c))
  return {
    t: chart.t,
    waiting: waiting ?? [],
    conflicts: conflicts ?? [],
    revocations: revocations ?? [],
    waitMean: waitMean ?? [],
    waitP95: waitP95 ?? [],
  }
}

const convoyShape = locksFrame.shape.resource.unwrap()

/** Kept convoys near an instant, the one with the longest queue first. */
export const nearConvoys = (
  reader: HistoryReader,
  { atMs, stepMs }: PastHead & { readonly atMs: number },
): readonly KeptConvoy[] =>
  reader
    .convoys(atMs - Math.max(NEAR_MS, stepMs), atMs + Math.max(1000, stepMs), CONVOYS_MAX)
    .toSorted((a, b) => b.waiting - a.waiting || b.toMs - a.toMs)

/** Resource over the window; with the lives and messages of its kept convoy near the instant. */
function resourceAt(
  reader: HistoryReader,
  head: PastHead & { readonly atMs: number },
  rows: readonly Row[],
  query: LocksQuery,
): { readonly resource: Resource | null; readonly notice?: Notice } {
  const near = nearConvoys(reader, head)
  const isKnown =
    rows.some((r) => r.key === query.selected) ||
    near.some((c) => c.resource === query.selected) ||
    hasRows(pastOf(reader, query.selected, '', head.atMs, query.windowMs))
  const wanted = isKnown ? query.selected : ''
  const convoy = near.find((c) => wanted === '' || c.resource === wanted)
  const busiest = rows.filter((r) => !r.isOthers).toSorted(contention)[0]
  const name = convoy?.resource ?? (wanted !== '' ? wanted : busiest?.name)
  if (name === undefined) return { resource: null }
  const server = convoy?.server ?? rows.find((r) => r.name === name)?.server ?? ''
  const past = pastOf(reader, name, server, head.atMs, query.windowMs)
  const base: Resource = {
    ...noLanes(name, server),
    moment: { endMs: head.atMs, spanMs: 1000 },
    queue: { t: past?.t ?? [], waiting: past?.waiting ?? [] },
    past,
  }
  if (!convoy) return { resource: base }
  const read = convoyShape.safeParse(reader.convoyFrame(convoy.id))
  if (!read.success) {
    const what = 'The kept convoy cannot be read'
    return { resource: base, notice: { code: 'CONVOY_UNREADABLE', what, why: 'its messages are damaged' } }
  }
  const kept = { ...read.data, key: name, name }
  return { resource: { ...narrowed(kept, query.moment), isFound: query.moment === null, isKept: true } }
}

const hasRows = (past: Resource['past']): boolean => past?.waiting.some((v) => v !== null) === true

const noLanes = (name: string, server: string) => ({
  key: name,
  name,
  server,
  about: '',
  clients: [],
  isFound: true,
  isKept: false,
  lives: {
    id: [],
    client: [],
    asked: [],
    granted: [],
    canceling: [],
    released: [],
    dataAt: [],
    mode: [],
    askedMode: [],
    sn: [],
    minSn: [],
    start: [],
    requiredEnd: [],
    end: [],
    isEarlyGrant: [],
    isEarlyRevocation: [],
    dirtyBytes: [],
    bytes: [],
    downgradedAt: [],
    downgradedTo: [],
    absorbed: [],
    behind: [],
    behindUntil: [],
    rule: [],
    ending: [],
  },
  moreLives: 0,
  messages: { sent: [], arrived: [], client: [], isUp: [], kind: [], life: [], text: [] },
  moreMessages: 0,
  early: null,
})

/** Resources by name with their values at an instant, for a comparison. */
export function lockValuesAt(
  reader: HistoryReader,
  atMs: number,
  stepMs: number,
): { readonly atMs: number; readonly of: (name: string) => Row | undefined } | undefined {
  const found = rowsAt(reader, 'lock_resources', atMs, stepMs)
  if (!found) return undefined
  const queues = queuesAt(reader, found)
  const rows = new Map(found.rows.map((row) => [row.name, toRow(row, queues.get(row.key) ?? 0)]))
  return { atMs: found.atMs, of: (name) => rows.get(name) }
}

const SERVER_COLUMNS = ['holders', 'grants_per_s', 'cancels_per_s', 'waiters'] as const

const serversOver = (reader: HistoryReader, atMs: number, windowMs: number): PlaneChart =>
  planeChart(reader, 'lock_servers', { atMs, windowMs }, SERVER_COLUMNS, () => ['all'])

export function pastLocks(reader: HistoryReader, head: PastHead, query: LocksQuery): LocksFrame {
  const { seq, sample, atMs, stepMs } = head
  const frameHead = { seq, sample, atMs, windowMs: query.windowMs }
  const convoys = convoysOf(reader, atMs)
  const servers = rowsAt(reader, 'lock_servers', atMs, stepMs)
  const resources = rowsAt(reader, 'lock_resources', atMs, stepMs)
  const chart = atMs === null ? undefined : serversOver(reader, atMs, query.windowMs)
  const ldlm = atMs === null ? undefined : pastLdlm(reader, { atMs, stepMs }, query)
  const planes: LocksFrame['planes'] = [
    ...(servers || chart?.groups.length ? (['seqdlm'] as const) : []),
    ...(ldlm ? (['ldlm'] as const) : []),
  ]
  const plane = planes.find((p) => p === query.plane) ?? planes[0] ?? null
  const base = { ...emptyLocks({ ...frameHead, planes, plane }), convoys }
  if (plane === 'ldlm') return { ...base, ...ldlm }
  if (atMs === null || !chart || plane === null) return { ...base, notices: [notRecorded('Locks')] }
  const queues = resources ? queuesAt(reader, resources) : new Map<number, number>()
  const rows = (resources?.rows ?? []).map((row) => toRow(row, queues.get(row.key) ?? 0))
  const { resource, notice } = resourceAt(reader, { ...head, atMs }, rows, query)
  const of = (column: string): number | null => overRows('lock_servers', column, servers?.rows ?? [])
  const age = servers ? ageNotice('Locks', atMs - servers.atMs, NOT_IN_ROWS, stepMs) : notRecorded('Locks')
  return {
    ...base,
    held: of('holders'),
    grants: of('grants_per_s'),
    cancels: of('cancels_per_s'),
    manager: servers?.rows.find((r) => !r.isOthers)?.place ?? '',
    modes: servers
      ? MODES.map((mode) => ({ mode, held: of(`held_${mode.toLowerCase()}`), grants: null, waiting: null }))
      : [],
    series: {
      t: chart.t,
      held: chart.of('all', 'holders'),
      grants: chart.of('all', 'grants_per_s'),
      cancels: chart.of('all', 'cancels_per_s'),
      waiting: chart.of('all', 'waiters'),
    },
    ...tableOf(rows, query),
    alarms: servers ? conditionsOf(rows) : [],
    resource,
    notices: [...(notice ? [notice] : []), age],
  }
}

const NOT_IN_ROWS =
  'rows have no modes of a resource, no time to cancel and of the conditions only convoys; single locks are kept for the 20 longest convoys of a day'
