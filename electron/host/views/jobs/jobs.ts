/** Jobs table: the visible slice, its totals and facets, and the two charts above it. */
import type { JobColumn, JobGroupBy, JobsFrame } from '#core/api/frames.ts'
import { PROMINENT } from '#core/series/job-colors.ts'
import {
  jobColumn,
  type JobMeasure,
  shareColumn,
  shareName,
  TOTAL,
  totalColumn,
} from '../../../cluster/state/recent.ts'
import type { ClusterView } from '../../../cluster/cluster-view.ts'
import { parseJobFilter, type FilterRow } from '../../job-filter.ts'
import { againstOf, columnAt, overlayOf, type Against, type FindAgainst } from '../against.ts'
import { groupKeys, groupsOf } from './job-groups.ts'
import { JobTable } from './job-rows.ts'
import { debtsAt, pairColumns } from '../pairs.ts'
import { liveOf, orNull, orZero, rateSamples, resolvePosition, throttledSamples } from '../../position.ts'
import { stackFrame } from '../stack.ts'

/**
 * Rows of the table: the known tagged jobs, and the others that pass the filter. Tagged jobs come before all others and
 * remain while a filter hides them; both parts are in the requested order.
 */
function pinsOf(table: JobTable, tagged: readonly string[], passing: Uint32Array) {
  if (tagged.length === 0) return { pins: new Uint32Array(), rest: passing, shown: passing }
  const wanted = new Set(tagged)
  const pins = Uint32Array.from(table.jobs.flatMap((job, i) => (wanted.has(job.jobId) ? [i] : [])))
  const first = new Set(pins)
  const rest = passing.filter((i) => !first.has(i))
  const shown = new Uint32Array(pins.length + rest.length)
  shown.set(pins)
  shown.set(rest, pins.length)
  return { pins, rest, shown }
}

/** Visible slice of the table. */
function sliceOf(
  table: JobTable,
  { pins, rest }: { readonly pins: Uint32Array; readonly rest: Uint32Array },
  { sort, descending, offset, limit }: { sort: JobColumn; descending: boolean; offset: number; limit: number },
): number[] {
  const rank = (rows: Uint32Array, from: number, to: number): number[] =>
    to <= from ? [] : [...table.ranked(rows, sort, descending, from, to)]
  const from = offset
  const to = offset + limit
  const n = pins.length
  return [...rank(pins, Math.min(from, n), Math.min(to, n)), ...rank(rest, Math.max(0, from - n), Math.max(0, to - n))]
}

const SPARK_POINTS = 40
const FACETS = 6
/** Bars of the ledger chart. */
const BARS = 30

export interface JobsQuery {
  readonly at: number | null
  readonly windowMs: number
  readonly againstMs?: number | null
  /** Target of the records; empty = all, summed. */
  readonly target: string
  readonly sort: JobColumn
  readonly descending: boolean
  readonly filter: string
  /** Tagged jobs, shown first. */
  readonly pinned?: readonly string[]
  readonly groupBy?: JobGroupBy | null
  readonly offset: number
  readonly limit: number
}

function facet(counts: Iterable<readonly [value: string, count: number]>): { value: string; count: number }[] {
  return Array.from(counts)
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, FACETS)
}

/** Jobs by state, as in the filter's `is:`, counted from the columns: a frame goes through all jobs. */
function states(table: JobTable): JobsFrame['facets']['is'] {
  let borrowing = 0
  let lending = 0
  let slowed = 0
  let idle = 0
  const { record, throttled, rpcs, mdops, length } = table
  for (let i = 0; i < length; i++) {
    const v = record[i] as number
    if (v < 0) borrowing++
    else if (v > 0) lending++
    if ((throttled[i] as number) > 0) slowed++
    if (rpcs[i] === 0 && mdops[i] === 0) idle++
  }
  const count = { borrowing, lending, throttled: slowed, idle, unmapped: table.facts.unmapped }
  return Object.entries(count).flatMap(([value, n]) => (n === 0 ? [] : [{ value, count: n }]))
}

/** True if a rule of that name limits its job: `default` does not. */
const isBinding = (rule: string): boolean => rule !== 'default' && rule !== ''

function ruleFacet(table: JobTable): JobsFrame['facets']['rule'] {
  const { ruleAt, ruleNames } = table
  const jobs = new Uint32Array(ruleNames.length + 1)
  for (let i = 0; i < ruleAt.length; i++) {
    const at = (ruleAt[i] as number) + 1
    jobs[at] = (jobs[at] as number) + 1
  }
  const count = { bound: 0, none: 0 }
  jobs.forEach((n, at) => {
    const rule = at === 0 ? table.noRule : (ruleNames[at - 1] as string)
    if (rule !== '') count[rule === 'default' ? 'none' : 'bound'] += n
  })
  return facet(Object.entries(count).filter(([, n]) => n > 0))
}

function facets(table: JobTable): JobsFrame['facets'] {
  return {
    account: facet(table.facts.accounts),
    rule: ruleFacet(table),
    is: states(table),
  }
}

function totals(table: JobTable, shown: Uint32Array): JobsFrame['totals'] {
  const { rpcs: column, readBps: reads, writeBps: writes, mdops: metadata, throttled: slowed, ruleAt } = table
  const { nodes: size } = table.facts
  const isUsed = new Uint8Array(table.ruleNames.length)
  let nodes = 0
  let rpcs = 0
  let readBps = 0
  let writeBps = 0
  let mdops = 0
  let throttled = 0
  let record = 0
  let busy = 0
  let measured = 0
  let metadataMeasured = 0
  let isPartial = false
  for (let k = 0; k < shown.length; k++) {
    const i = shown[k] as number
    const served = column[i] as number
    nodes += (size[i] as number) || 0
    if ((ruleAt[i] as number) >= 0) isUsed[ruleAt[i] as number] = 1
    if (!Number.isNaN(metadata[i])) {
      metadataMeasured++
      mdops += metadata[i] as number
    }
    if (Number.isNaN(served)) {
      isPartial = true
      continue
    }
    measured++
    isPartial ||= table.partial[i] === 1
    rpcs += served
    readBps += reads[i] as number
    writeBps += writes[i] as number
    if (served === 0 || Number.isNaN(slowed[i])) continue
    busy++
    throttled += slowed[i] as number
  }
  for (let i = 0; i < table.length; i++) record += orZero(table.record[i] as number)
  const rules = table.ruleNames.filter((name, at) => isUsed[at] === 1 && isBinding(name)).length
  const ofMeasured = (sum: number): number | null => (measured === 0 && shown.length > 0 ? null : sum)
  return {
    nodes,
    rpcs: ofMeasured(rpcs),
    readBps: ofMeasured(readBps),
    writeBps: ofMeasured(writeBps),
    mdops: metadataMeasured === 0 && shown.length > 0 ? null : mdops,
    throttled: ofMeasured(busy === 0 ? 0 : throttled / busy),
    ...(isPartial && measured > 0 ? { partial: true } : {}),
    rules,
    record,
  }
}

/** Tokens lent and returned, summed over equal intervals of the window. */
function ledger(viewed: ClusterView, sample: number, windowMs: number): JobsFrame['ledger'] {
  const none = { t: [], lent: [], borrowed: [], intervalMs: 0 }
  // Transfers are not kept with the samples of the past.
  if (sample === 0 || !liveOf(viewed)) return none
  const { tier, to, stepMs } = viewed.recent.tierFor(sample, windowMs)
  const samplesASecond = 1e9 / viewed.source.periodNs
  const { totals } = tier
  const { from, step } = totals.window(to, windowMs, BARS)
  // Values of a coarse tier are means per fine sample.
  const weight = stepMs === undefined ? 1 : (samplesASecond * stepMs) / 1000
  const perSample = (m: 'lent' | 'borrowed'): number[] =>
    totals.downsample(TOTAL, totalColumn(m), from, to, step).map((v, i, all) => {
      const n = i === all.length - 1 ? ((to - from) % step) + 1 : step
      return Math.round((v ?? 0) * n * weight)
    })
  const intervalMs = (step * 1000 * weight) / samplesASecond
  return { t: totals.times(from, to, step), lent: perSample('lent'), borrowed: perSample('borrowed'), intervalMs }
}

/** Indices of the jobs that pass a filter; undefined passes all. */
function passing(table: JobTable, test: ((row: FilterRow) => boolean) | undefined): Uint32Array {
  const shown = new Uint32Array(table.length)
  if (!test) return shown.map((_, i) => i)
  let n = 0
  const row = table.cursor()
  for (row.at = 0; row.at < table.length; row.at++) if (test(row)) shown[n++] = row.at
  return shown.subarray(0, n)
}

const namesOf = (table: JobTable, rows: Uint32Array): string[] =>
  Array.from(rows, (i) => table.jobs[i]?.jobId ?? '').filter((jobId) => jobId !== '')

/** Rows as of A. */
function rowsAt(a: Against, ids: readonly string[], target: string): JobsFrame['rows']['against'] {
  const second = rateSamples(a.viewed)
  const { shares } = a.viewed.recent
  const column = (m: JobMeasure, n: number): (number | null)[] => columnAt(a, ids, jobColumn(m), n)
  return {
    rpcs: column('rpcs', second),
    readBps: column('readBps', second),
    writeBps: column('writeBps', second),
    mdops: column('mdops', second),
    throttled: column('throttled', throttledSamples(a.viewed)),
    record:
      target === ''
        ? column('record', 1)
        : ids.map((id) => orNull(shares.value(shareName(id, target), shareColumn('record'), a.sample))),
  }
}

export function jobsFrame(viewed: ClusterView, query: JobsQuery, seq: number, find?: FindAgainst): JobsFrame {
  const { sample, atMs } = resolvePosition(viewed, query.at)
  const { a, head } = againstOf(query.againstMs, find)
  const table = sample === 0 ? undefined : new JobTable(viewed, sample, atMs ?? 0, query.target)
  const filter = parseJobFilter(query.filter)
  const isAll = !filter.ok || query.filter.trim() === ''
  const passed = table ? passing(table, isAll ? undefined : filter.value) : new Uint32Array()
  const split = table ? pinsOf(table, query.pinned ?? [], passed) : NO_ROWS
  const { shown } = split
  const totalsNow = table ? totals(table, shown) : NO_TOTALS
  const offset = Math.min(query.offset, Math.max(0, shown.length - 1))
  const groups = table && query.groupBy ? groupsOf(viewed, { table, shown, sample }, query.groupBy) : null
  const stackBy = query.groupBy === 'node' ? null : (query.groupBy ?? null)
  const stack = stackFrame(viewed, sample, query.windowMs, ['rpcs'], ['rpcs'], {
    names: isAll || !table ? undefined : namesOf(table, passed),
    groups: stackBy === null ? undefined : groupKeys(viewed, stackBy),
  })
  const rows = table ? sliceOf(table, split, { ...query, offset }).map((i) => table.row(i)) : []
  const ids = rows.map((r) => r.jobId)
  const { jobColors } = viewed.jobs
  if (offset === 0) jobColors.colors(ids.slice(0, PROMINENT))
  const { tier, to } = viewed.recent.tierFor(sample, query.windowMs)
  const { from, step } = sample === 0 ? { from: 1, step: 1 } : tier.jobs.window(to, query.windowMs, SPARK_POINTS)
  const live = liveOf(viewed)
  const debts = sample === 0 ? [] : live && debtsAt(live, sample, query.target)
  return {
    seq,
    sample,
    atMs,
    windowMs: query.windowMs,
    ...head,
    targets: viewed.targets.map((t) => t.target),
    target: query.target,
    known: table?.length ?? 0,
    shown: shown.length,
    offset,
    pinned: split.pins.length,
    groups,
    ...(filter.ok ? {} : { filterError: filter.error }),
    rows: {
      jobId: ids,
      user: rows.map((r) => r.user),
      account: rows.map((r) => r.account),
      nodes: rows.map((r) => r.nodes),
      colour: ids.map((id) => jobColors.of(id)),
      rpcs: rows.map((r) => r.rpcs),
      readBps: rows.map((r) => r.readBps),
      writeBps: rows.map((r) => r.writeBps),
      mdops: rows.map((r) => r.mdops),
      ...(rows.some((r) => r.partial) ? { partial: rows.map((r) => r.partial) } : {}),
      ioBytes: rows.map((r) => r.ioBytes),
      topOp: rows.map((r) => r.topOp),
      throttled: rows.map((r) => r.throttled),
      rule: rows.map((r) => r.rule),
      ruleRate: rows.map((r) => r.ruleRate),
      record: rows.map((r) => r.record),
      spark: ids.map((id) => tier.jobs.downsample(id, jobColumn('rpcs'), from, to, step)),
      ...(a ? { against: rowsAt(a, ids, query.target) } : {}),
    },
    pairs: debts ? pairColumns(debts, new Set(ids)) : null,
    totals: totalsNow,
    facets: table ? facets(table) : { account: [], rule: [], is: [] },
    stack,
    ...(stackBy === null ? {} : { stackBy }),
    ...(a && isAll ? { overlay: overlayOf(a, atMs, query.windowMs, ['rpcs']) } : {}),
    ledger: ledger(viewed, sample, query.windowMs),
  }
}

const NO_ROWS = { pins: new Uint32Array(), rest: new Uint32Array(), shown: new Uint32Array() }
const NO_TOTALS: JobsFrame['totals'] = {
  nodes: 0,
  rpcs: 0,
  readBps: 0,
  writeBps: 0,
  mdops: 0,
  throttled: 0,
  rules: 0,
  record: 0,
}
