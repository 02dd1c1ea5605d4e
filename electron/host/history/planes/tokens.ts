/**
 * Tokens at a past instant, from rows of completed periods. Rows have the pool at its checks, and neither settings of the data node
 * nor requests in flight, residual tokens and latencies of its clients.
 */
import type { TokensFrame } from '#core/api/tokens.ts'
import { POOL_CHECKS } from '#core/series/plane-tables.ts'
import type { JobColors } from '#core/series/job-colors.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import { noDataNode } from '../../views/tokens/empty.ts'
import { withClientFilter } from '../../views/tokens/filter.ts'
import type { TokensQuery } from '../../views/tokens/tokens.ts'
import { ageNotice, notRecorded, type PastHead } from './head.ts'
import { planeChart, rowsAt, secondsBefore, type PlaneChart, type RowAt } from './rows.ts'

/** Look-back of the minute, of missed periods in a row, and of sparklines. */
const MINUTE_MS = 60_000
/** Periods on the ruler. */
const EPOCHS = 7
const NOT_IN_ROWS = 'rows have no settings of the data node, no requests in flight and no latencies'

type Clients = TokensFrame['clients']

const CHECKS = Array.from({ length: POOL_CHECKS }, (_, i) => `pool_check_${i + 1}`)
const POOL_COLUMNS = ['estimate', 'used', 'reserved', 'pool_lowest', 'reported', 'converted_target', 'epoch'] as const

/** Period of a data node with the rows of its clients. */
interface Period {
  readonly atMs: number
  readonly epoch: number
  readonly missed: readonly string[]
  readonly used: ReadonlyMap<string, number>
}

/** Last minute of one data node, period by period. */
function periodsOf(reader: HistoryReader, node: string, atMs: number): Period[] {
  const epochs = new Map<number, number>()
  for (const { atMs: at, rows } of secondsBefore(reader, 'token_nodes', atMs, MINUTE_MS)) {
    const epoch = rows.find((row) => row.name === node)?.value('epoch')
    if (epoch !== null && epoch !== undefined) epochs.set(at, Math.round(epoch))
  }
  const clients = new Map<number, readonly RowAt[]>()
  for (const { atMs: at, rows } of secondsBefore(reader, 'token_clients', atMs, MINUTE_MS)) {
    clients.set(
      at,
      rows.filter((row) => row.place === node),
    )
  }
  return [...epochs].map(([at, epoch]) => {
    const rows = clients.get(at) ?? []
    return {
      atMs: at,
      epoch,
      missed: rows.filter((row) => (row.value('missed') ?? 0) > 0).map((row) => row.name),
      used: new Map(rows.map((row) => [row.name, row.value('used') ?? 0])),
    }
  })
}

/** Length of a period, by the number of periods between two rows. */
function periodMsOf(periods: readonly Period[]): number {
  const first = periods[0]
  const last = periods.at(-1)
  if (!first || !last || last.epoch <= first.epoch) return 1000
  return Math.max(1, Math.round((last.atMs - first.atMs) / (last.epoch - first.epoch)))
}

function clientsOf(
  rows: readonly RowAt[],
  periods: readonly Period[],
  periodMs: number,
  jobColors: JobColors,
): Clients {
  const out = noDataNode('period').clients
  const perSecond = (tokens: number): number => (tokens * 1000) / periodMs
  for (const row of rows) {
    const at = (column: string): number => row.value(column) ?? 0
    const limit = row.value('limit')
    const reversed = periods.toReversed()
    const met = reversed.findIndex((p) => !p.missed.includes(row.name))
    const missed = met < 0 ? reversed.length : met
    const isThrottled = limit !== null && at('used') >= limit
    const why =
      missed > 0
        ? `missed its reservation ${missed} ${missed === 1 ? 'period' : 'periods in a row'}`
        : isThrottled
          ? 'at its limit'
          : at('starved') > 0
            ? 'waits for pool tokens'
            : ''
    out.key.push(row.name)
    out.name.push(row.name)
    out.jobId.push(row.jobId)
    out.colour.push(row.jobId === '' ? 0 : jobColors.of(row.jobId))
    out.state.push('active')
    out.reservation.push(at('reservation'))
    out.limit.push(limit)
    out.left.push(null)
    out.held.push(null)
    out.usedReserved.push(at('used_reserved'))
    out.usedPool.push(at('used_pool'))
    out.yielded.push(at('yielded'))
    out.queued.push(null)
    out.inFlight.push(null)
    out.isThrottled.push(isThrottled)
    out.isStarved.push(at('starved') > 0)
    out.missed.push(missed)
    out.iops.push(perSecond(at('used')))
    out.spark.push(periods.map((p) => perSecond(p.used.get(row.name) ?? 0)))
    out.p99Us.push(null)
    out.level.push(missed > 0 ? 'watch' : 'ok')
    out.why.push(why)
  }
  return out
}

/** Pool over the period, by its checks, or over the last minute, by periods. */
function seriesOf(
  row: RowAt | undefined,
  minute: PlaneChart,
  span: TokensQuery['span'],
  periodMs: number,
): TokensFrame['series'] {
  if (span === 'minute') {
    const first = minute.t[0] ?? 0
    const none = minute.t.map(() => null)
    return {
      span,
      t: minute.t.map((t) => t - first),
      pool: minute.of('node', 'pool_lowest'),
      reported: minute.of('node', 'reported'),
      target: minute.of('node', 'converted_target'),
      unconverted: none,
    }
  }
  const none = CHECKS.map(() => null)
  return {
    span,
    t: CHECKS.map((_, i) => ((i + 1) * periodMs) / POOL_CHECKS),
    pool: CHECKS.map((check) => row?.value(check) ?? null),
    reported: none,
    target: none,
    unconverted: none,
  }
}

/** Used I/O per second of the clients of a data node at an instant, for a comparison. */
export function tokenValuesAt(
  reader: HistoryReader,
  at: { readonly atMs: number; readonly stepMs: number },
  node: string,
): { readonly atMs: number; readonly iops: (client: string) => number | null } | undefined {
  const rows = rowsAt(reader, 'token_clients', at.atMs, at.stepMs)
  if (!rows) return undefined
  const periodMs = periodMsOf(periodsOf(reader, node, rows.atMs))
  const used = new Map(rows.rows.flatMap((row) => (row.place === node ? [[row.name, row.value('used')] as const] : [])))
  return {
    atMs: rows.atMs,
    iops: (client) => {
      const tokens = used.get(client) ?? null
      return tokens === null ? null : (tokens * 1000) / periodMs
    },
  }
}

export function pastTokens(
  reader: HistoryReader,
  head: PastHead,
  query: TokensQuery,
  jobColors: JobColors,
): TokensFrame {
  const { seq, sample, atMs, stepMs } = head
  const windowMs = query.windowMs
  const names = new Set<string>()
  const over = (lengthMs: number, node?: string): PlaneChart =>
    planeChart(reader, 'token_nodes', { atMs: atMs ?? 0, windowMs: lengthMs }, POOL_COLUMNS, (s) => {
      if (s.isOthers) return []
      names.add(s.name)
      return node === undefined || s.name === node ? ['node'] : []
    })
  if (atMs !== null) over(windowMs)
  const nodes = [...names].sort()
  const node = nodes.includes(query.node) ? query.node : (nodes[0] ?? '')
  const frameHead = { seq, sample, atMs, windowMs, nodes, node }
  const empty = { ...frameHead, ...noDataNode(query.span), variant: null, preset: null, checkMs: null, batch: null }
  if (atMs === null || node === '') return { ...empty, notices: [notRecorded('Tokens')] }
  const found = rowsAt(reader, 'token_nodes', atMs, stepMs)
  const row = found?.rows.find((r) => r.name === node)
  if (!found || !row) return { ...empty, notices: [notRecorded('Tokens')] }
  const clientRows = rowsAt(reader, 'token_clients', found.atMs, stepMs)?.rows.filter((r) => r.place === node) ?? []
  const periods = periodsOf(reader, node, found.atMs)
  const periodMs = periodMsOf(periods)
  const chart = over(Math.max(windowMs, MINUTE_MS), node)
  const isPeriod = chart.of('node', 'epoch').map((v) => v !== null)
  const of = (column: string): (number | null)[] => chart.of('node', column).filter((_, i) => isPeriod[i])
  const epochs = of('epoch')
  const value = (column: string): number | null => row.value(column)
  const whole = (column: string): number => Math.round(value(column) ?? 0)
  const clients = clientsOf(clientRows, periods, periodMs, jobColors)
  const worst = Math.max(0, ...clients.missed)
  const frame: TokensFrame = {
    ...empty,
    isKept: true,
    periodMs,
    epoch: whole('epoch'),
    elapsedMs: periodMs,
    phase: 'end',
    pool: {
      now: value(CHECKS.at(-1) ?? ''),
      start: value('pool_start'),
      lowest: value('pool_lowest'),
      lowestAtMs: null,
      emptyFetches: null,
      reported: value('reported'),
      target: value('converted_target'),
    },
    series: seriesOf(row, over(MINUTE_MS, node), query.span, periodMs),
    epochs: periods.slice(-EPOCHS).map(({ epoch, atMs: startMs, missed }) => ({
      epoch,
      startMs,
      missed: [...missed],
      isWhole: true,
    })),
    capacity: {
      epoch: epochs.map((v) => Math.max(0, Math.round(v ?? 0))),
      estimate: of('estimate'),
      used: of('used'),
      reserved: of('reserved'),
      profile: 0,
      least: null,
      action: '',
      marks: [],
    },
    clients,
    foot: {
      cpuEvents: null,
      dataCpuEvents: null,
      dataIos: null,
      idleShare: value('idle_share'),
      worst:
        worst === 0
          ? null
          : { client: clients.name[clients.missed.indexOf(worst)] ?? '', periods: worst, alertAfter: null },
      reserved: value('reserved') ?? 0,
      admissible: value('estimate') ?? 0,
      fluidFinish: null,
    },
    notices: [ageNotice('Tokens', atMs - found.atMs, NOT_IN_ROWS, stepMs)],
  }
  // Rows contain all clients, so they can be filtered like the present ones.
  return withClientFilter(frame, query.filter)
}
