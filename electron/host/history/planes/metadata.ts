/**
 * Metadata QoS at a past instant, from rows: jobs of a scope over the window, and the channels of the stages. Rows have neither
 * policies nor settings of the controller, and of metadata servers no rules: there the tree lists their jobs.
 */
import type { MetadataFrame, PadllPlane } from '#core/api/padll.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { PROMINENT, type JobColors } from '#core/series/job-colors.ts'
import type { HistoryReader, PlaneSeries } from '../../../history/reader.ts'
import { emptyChannels, emptyJobs, emptyMetadata, emptyTree } from '../../views/metadata/empty.ts'
import { channelTest, type ChannelRow } from '../../views/metadata/filter.ts'
import type { MetadataQuery } from '../../views/metadata/metadata.ts'
import { about, chosenScope, operationsOf, scopesOf } from '../../views/metadata/scope.ts'
import { localKey, stageKey } from '../../views/metadata/tree.ts'
import { ageNotice, notRecorded, type PastHead } from './head.ts'
import { planeChart, rowsAt, type PlaneChart, type RowAt } from './rows.ts'

type Values = (number | null)[]
type Tree = MetadataFrame['tree']

const TOP = 7
const ROWS_MAX = 600
const CHANNELS_MAX = 200
const SPARK_MS = 300_000

const NOT_IN_ROWS: Readonly<Record<PadllPlane, string>> = {
  stages: 'rows have no policies and no settings of the controller',
  mds: 'rows have no rules, no policies and no settings of the controller',
}

const sumOf = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((v) => v !== null)
  return known.length === 0 ? null : known.reduce((n, v) => n + v, 0)
}
const meanOf = (values: Values): number | null => {
  const sum = sumOf(values)
  return sum === null ? null : sum / values.filter((v) => v !== null).length
}
/** Adds up lists entry by entry; null where all are. */
const added = (lists: readonly Values[], length: number): Values =>
  Array.from({ length }, (_, k) => sumOf(lists.map((list) => list[k] ?? null)))

/** Channel of a stage. Its series is named `CHANNEL.OBJECT SCOPE`, at `LOCAL STAGE`; only the last part of each may have spaces. */
interface Channel {
  readonly row: RowAt
  readonly channel: string
  readonly scope: string
  readonly local: string
  readonly stage: string
  readonly key: string
}

export function channelNames({ name, place }: Pick<PlaneSeries, 'name' | 'place'>): Omit<Channel, 'row' | 'key'> {
  const [channel = '', ...scope] = name.split(' ')
  const [local = '', ...stage] = place.split(' ')
  return { channel, scope: scope.join(' '), local, stage: stage.join(' ') }
}

const channelOf = (row: RowAt): Channel => {
  const names = channelNames(row)
  return { row, ...names, key: `${names.channel} ${names.scope}` }
}

const rowOf = ({ row, channel, scope, local, stage }: Channel): ChannelRow => ({
  job: row.jobId,
  name: `${row.jobId} · ${stage}`,
  server: local,
  channel,
  scopes: [scope],
  operations: operationsOf(scope),
  limit: row.value('limit_per_s'),
  measured: row.value('served_per_s'),
  asked: row.value('asked_per_s'),
  queued: row.value('queued'),
  waited: row.value('waited_share'),
  isWaiting: (row.value('queued') ?? 0) > 0 || (row.value('waited_share') ?? 0) > 0,
  isSilent: false,
})

const jobRow = (row: RowAt): ChannelRow => ({
  job: row.jobId,
  name: row.jobId,
  server: '',
  channel: '',
  scopes: [row.name],
  operations: operationsOf(row.name),
  limit: row.value('allocated_per_s'),
  measured: row.value('served_per_s'),
  asked: row.value('asked_per_s'),
  queued: row.value('queued'),
  waited: null,
  isWaiting: (row.value('queued') ?? 0) > 0,
  isSilent: false,
})

/** Rows of a plane and scope at an instant. */
interface Rows {
  readonly jobs: readonly RowAt[]
  readonly channels: readonly Channel[]
}

const COLUMNS = [
  'served_per_s',
  'asked_per_s',
  'allocated_per_s',
  'limit_per_s',
  'waited_s_per_s',
  'false_allocation_per_s',
] as const

function jobsOf(
  jobs: readonly RowAt[],
  chart: PlaneChart,
  windowMs: number,
  named: ReadonlySet<string> | undefined,
  jobColors: JobColors,
): MetadataFrame['jobs'] {
  const out = emptyJobs()
  const now = new Map(jobs.map((row) => [row.jobId, row]))
  const measure = (job: string): number => {
    const row = now.get(job)
    return row?.value('asked_per_s') ?? row?.value('served_per_s') ?? -1
  }
  const all = [...new Set([...now.keys(), ...chart.groups])].sort(
    (a, b) =>
      measure(b) - measure(a) ||
      (meanOf(chart.of(b, 'served_per_s')) ?? 0) - (meanOf(chart.of(a, 'served_per_s')) ?? 0),
  )
  const top = (named ? all.filter((job) => named.has(job)) : all).slice(0, TOP)
  const rest = all.filter((job) => !top.includes(job))
  jobColors.colors(top.slice(0, PROMINENT))
  const add = (jobId: string, of: readonly string[]): void => {
    const rows = of.flatMap((job) => now.get(job) ?? [])
    const at = (column: string): number | null => sumOf(rows.map((row) => row.value(column)))
    const series = (column: (typeof COLUMNS)[number]): Values =>
      added(
        of.map((job) => chart.of(job, column)),
        chart.t.length,
      )
    out.jobId.push(jobId)
    out.colour.push(jobId === '' ? 0 : jobColors.of(jobId))
    out.stages.push(at('stages') ?? 0)
    out.demandPolicy.push(null)
    out.limitPolicy.push(null)
    out.asked.push(at('asked_per_s'))
    out.allocated.push(at('allocated_per_s'))
    out.measured.push(at('served_per_s'))
    out.queued.push(at('queued') ?? 0)
    out.throttledS.push(((meanOf(series('waited_s_per_s')) ?? 0) * windowMs) / 1000)
    out.askedSeries.push(series('asked_per_s'))
    out.measuredSeries.push(series('served_per_s'))
    out.allocatedSeries.push(jobId === '' ? chart.t.map(() => null) : series('allocated_per_s'))
  }
  for (const job of top) add(job, [job])
  if (rest.length > 0) add('', rest)
  return out
}

function treeOf(
  { jobs, channels }: Rows,
  scope: string,
  limit: number | null,
  test: ((row: ChannelRow) => boolean) | undefined,
  jobColors: JobColors,
): Tree {
  const tree = emptyTree()
  const add = (
    kind: Tree['kind'][number],
    key: string,
    name: string,
    jobId: string,
    [measured, bound, queued]: readonly (number | null)[],
  ): void => {
    tree.key.push(key)
    tree.kind.push(kind)
    tree.depth.push({ global: 0, local: 1, stage: 2 }[kind])
    tree.name.push(name)
    tree.jobId.push(jobId)
    tree.colour.push(jobId === '' ? 0 : jobColors.of(jobId))
    tree.measured.push(measured ?? null)
    tree.limit.push(bound ?? null)
    tree.level.push((queued ?? 0) > 0 ? 'watch' : measured === 0 ? 'idle' : 'ok')
    tree.why.push((queued ?? 0) > 0 ? `at its limit, ${queued} waiting` : '')
    tree.more.push(0)
  }
  const at = (rows: readonly RowAt[], column: string): number | null => sumOf(rows.map((row) => row.value(column)))
  add('global', 'global', 'Global controller', '', [at(jobs, 'served_per_s'), limit, null])
  if (channels.length === 0) {
    const shown = test ? jobs.filter((row) => test(jobRow(row))) : jobs
    for (const row of shown.slice(0, ROWS_MAX)) {
      add('stage', `job:${row.jobId}`, row.jobId, row.jobId, [
        row.value('served_per_s'),
        row.value('allocated_per_s'),
        row.value('queued'),
      ])
    }
    return tree
  }
  const locals = [...Map.groupBy(about(channels, scope), (c) => c.local)].sort(([a], [b]) => byCodeUnit(a, b))
  for (const [local, ofLocal] of locals) {
    const values = (list: readonly Channel[]): (number | null)[] => {
      const rows = list.map((c) => c.row)
      return [at(rows, 'served_per_s'), at(rows, 'limit_per_s'), at(rows, 'queued')]
    }
    const stages = [...Map.groupBy(ofLocal, (c) => c.stage)].filter(
      ([, list]) => !test || list.some((c) => test(rowOf(c))),
    )
    if (stages.length === 0) continue
    add('local', localKey({ id: local }), local, '', values(ofLocal))
    for (const [stage, list] of stages) {
      if (tree.key.length >= ROWS_MAX) return tree
      const jobId = list[0]?.row.jobId ?? ''
      add('stage', stageKey({ id: local }, { key: stage }), `${jobId} · ${stage}`, jobId, values(list))
    }
  }
  return tree
}

/** Mean weighted by served operations; null if nothing was served. */
function weighted(list: readonly RowAt[], column: string): number | null {
  const served = (row: RowAt): number => row.value('served_per_s') ?? 0
  const sum = list.reduce((n, row) => n + served(row), 0)
  return sum === 0 ? null : list.reduce((n, row) => n + (row.value(column) ?? 0) * served(row), 0) / sum
}

function isSelected({ row, local, stage }: Channel, selected: string): boolean {
  if (selected.startsWith('job:')) return row.jobId === selected.slice(4)
  return localKey({ id: local }) === selected || stageKey({ id: local }, { key: stage }) === selected
}

function channelsOf(
  reader: HistoryReader,
  channels: readonly Channel[],
  atMs: number,
  { selected, windowMs }: MetadataQuery,
  test: ((row: ChannelRow) => boolean) | undefined,
): MetadataFrame['channels'] {
  const chosen = channels.filter((c) => isSelected(c, selected))
  const out = emptyChannels(chosen.length === 0 ? '' : selected.slice(selected.indexOf(':') + 1))
  const shown = (chosen.length === 0 ? channels : chosen).filter((c) => !test || test(rowOf(c)))
  const wanted = new Set(shown.map((c) => c.row.key))
  const window = { atMs, windowMs: Math.max(windowMs, SPARK_MS) }
  const chart = planeChart(reader, 'metadata_channels', window, ['served_per_s'], (series) => {
    const names = channelNames(series)
    return wanted.has(series.key) ? [`${names.channel} ${names.scope}`] : []
  })
  const groups = [...Map.groupBy(shown, (c) => c.key)].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
  for (const [key, list] of groups.slice(0, CHANNELS_MAX)) {
    const rows = list.map((c) => c.row)
    const [first] = list
    const sum = (column: string): number | null => sumOf(rows.map((row) => row.value(column)))
    out.key.push(key)
    out.channel.push(first?.channel ?? '')
    out.scope.push(first?.scope ?? '')
    out.operations.push(operationsOf(first?.scope ?? ''))
    out.asked.push(sum('asked_per_s'))
    out.limit.push(sum('limit_per_s'))
    out.measured.push(sum('served_per_s'))
    out.waited.push(weighted(rows, 'waited_share'))
    out.waitMs.push(weighted(rows, 'wait_mean_ms'))
    out.queued.push(sum('queued'))
    out.refillMs.push(null)
    out.spark.push(chart.of(key, 'served_per_s'))
  }
  return out
}

/** Rows of all scopes of a plane at an instant; undefined if there are none. */
function rowsOf(
  reader: HistoryReader,
  atMs: number | null,
  stepMs: number,
  plane: PadllPlane,
): (Rows & { readonly atMs: number }) | undefined {
  const jobs = rowsAt(reader, 'metadata_jobs', atMs, stepMs)
  if (!jobs) return undefined
  const channels = plane === 'stages' ? (rowsAt(reader, 'metadata_channels', atMs, stepMs)?.rows ?? []) : []
  return {
    atMs: jobs.atMs,
    jobs: jobs.rows.filter((row) => row.place === plane),
    channels: channels.filter((row) => !row.isOthers).map(channelOf),
  }
}

/** Measured rates at an instant by the keys of the live view, for a comparison. */
export function metadataValuesAt(
  reader: HistoryReader,
  at: { readonly atMs: number; readonly stepMs: number },
  plane: PadllPlane,
  scope: string,
  selected: string,
):
  | {
      readonly atMs: number
      readonly tree: (key: string) => number | null
      readonly job: (jobId: string) => number | null
      readonly channel: (key: string) => { readonly limit: number | null; readonly measured: number | null }
    }
  | undefined {
  const rows = rowsOf(reader, at.atMs, at.stepMs, plane)
  if (!rows) return undefined
  const jobs = rows.jobs.filter((row) => row.name === scope)
  const served = (list: readonly RowAt[]): number | null => sumOf(list.map((row) => row.value('served_per_s')))
  const inScope = about(rows.channels, scope)
  const chosen = rows.channels.filter((c) => isSelected(c, selected))
  const ofChannel = Map.groupBy(chosen.length === 0 ? rows.channels : chosen, (c) => c.key)
  return {
    atMs: rows.atMs,
    tree: (key) => {
      if (key === 'global') return served(jobs)
      if (key.startsWith('job:')) return served(jobs.filter((row) => row.jobId === key.slice(4)))
      return served(inScope.filter((c) => isSelected(c, key)).map((c) => c.row))
    },
    job: (jobId) => served(jobs.filter((row) => row.jobId === jobId)),
    channel: (key) => {
      const list = ofChannel.get(key)?.map((c) => c.row) ?? []
      return { limit: sumOf(list.map((row) => row.value('limit_per_s'))), measured: served(list) }
    },
  }
}

export function pastMetadata(
  reader: HistoryReader,
  head: PastHead,
  query: MetadataQuery,
  jobColors: JobColors,
): MetadataFrame {
  const { seq, sample, atMs, stepMs } = head
  const { windowMs } = query
  const seen = { planes: new Set<string>(), scopes: new Map<string, Set<string>>() }
  const keyOf = (plane: string, scope: string, job: string): string => `${plane} ${scope}\u0000${job}`
  const chart =
    atMs === null
      ? undefined
      : planeChart(reader, 'metadata_jobs', { atMs, windowMs }, COLUMNS, (s) => {
          if (s.isOthers) return []
          seen.planes.add(s.place)
          seen.scopes.set(s.place, (seen.scopes.get(s.place) ?? new Set()).add(s.name))
          return [keyOf(s.place, s.name, s.jobId), keyOf(s.place, s.name, '')]
        })
  const planes = (['stages', 'mds'] as const).filter((p) => seen.planes.has(p))
  const plane = planes.find((p) => p === query.plane) ?? planes[0] ?? null
  const frameHead = { seq, sample, atMs, windowMs, planes, plane }
  if (atMs === null || !chart || plane === null) {
    return emptyMetadata(frameHead, query.scope, [notRecorded('Metadata operations')])
  }
  const rows = rowsOf(reader, atMs, stepMs, plane)
  const scopes = scopesOf([...(seen.scopes.get(plane) ?? [])].sort())
  const scope = chosenScope(scopes, query.scope)
  const { test, filterResult } = channelTest(query.filter)
  const jobs = (rows?.jobs ?? []).filter((row) => row.name === scope)
  const channels = rows?.channels ?? []
  const matches = test && {
    channels: channels.filter((c) => test(rowOf(c))),
    jobs: jobs.filter((row) => test(jobRow(row))),
  }
  const named = matches && new Set([...matches.channels.map((c) => c.row.jobId), ...matches.jobs.map((r) => r.jobId)])
  const prefix = keyOf(plane, scope, '')
  const ofScope: PlaneChart = {
    t: chart.t,
    groups: chart.groups.flatMap((g) => (g.startsWith(prefix) && g !== prefix ? [g.slice(prefix.length)] : [])),
    of: (job, column) => chart.of(prefix + job, column),
  }
  const limit = jobs.find((row) => row.value('limit_per_s') !== null)?.value('limit_per_s') ?? null
  const jobsPart = jobsOf(jobs, ofScope, windowMs, named, jobColors)
  const stagesOf = (list: readonly Channel[]): number => new Set(list.map((c) => `${c.local} ${c.stage}`)).size
  const empty = emptyMetadata(frameHead, scope)
  return {
    ...empty,
    ...filterResult,
    ...(matches && {
      filtered: {
        filter: query.filter ?? '',
        passing: channels.length > 0 ? stagesOf(matches.channels) : matches.jobs.length,
        of: channels.length > 0 ? stagesOf(channels) : jobs.length,
      },
    }),
    scopes,
    controller: {
      ...empty.controller,
      algorithm: null,
      epoch: Math.max(0, ...jobs.map((row) => row.value('epoch') ?? 0)),
      seenMs: rows?.atMs ?? null,
    },
    limit,
    jobs: jobsPart,
    // After the jobs, which get their colors.
    tree: treeOf({ jobs, channels }, scope, limit, test, jobColors),
    t: chart.t,
    asked: ofScope.of('', 'asked_per_s'),
    falseAllocation: ofScope.of('', 'false_allocation_per_s'),
    limits: ofScope.of('', 'limit_per_s'),
    channels: channelsOf(reader, channels, atMs, query, test),
    notices: [
      rows
        ? ageNotice('Metadata operations', atMs - rows.atMs, NOT_IN_ROWS[plane], stepMs)
        : notRecorded('Metadata operations'),
    ],
  }
}
