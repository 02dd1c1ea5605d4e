/**
 * Rows of Haechi's data nodes: one per client and one per node for each completed period, each period once, however often the
 * node is read. Periods of less than a second are rolled up to a second.
 */
import { byCodeUnit } from '#core/base/order.ts'
import type { DataNode, DataNodeRun } from '#core/haechi/data-node.ts'
import type { PeriodRecord } from '#core/haechi/sim/node-views.ts'
import { planeRow, planeTable, type PlaneRow, type PlaneTableId } from '#core/series/plane-tables.ts'
import type { PlaneCollector, PlaneWriter } from '../state/plane-collector.ts'
import { idleShareOf, missedIn } from './position.ts'

/** Second of a source's clock, s. */
type Second = number

/** Rows of one second: those of each series, one per period. */
class Pending {
  readonly #seconds = new Map<Second, Map<string, PlaneRow[]>>()
  readonly #table: PlaneTableId

  constructor(table: PlaneTableId) {
    this.#table = table
  }

  add(second: Second, row: PlaneRow): void {
    let series = this.#seconds.get(second)
    if (!series) this.#seconds.set(second, (series = new Map<string, PlaneRow[]>()))
    const key = `${row.name.length} ${row.name}${row.place}`
    const rows = series.get(key)
    if (rows) rows.push(row)
    else series.set(key, [row])
  }

  /** Records the seconds before `end`, in their order. */
  flush(writer: PlaneWriter, end: Second): void {
    for (const second of [...this.#seconds.keys()].sort((a, b) => a - b)) {
      if (second >= end) break
      const rows = [...(this.#seconds.get(second)?.values() ?? [])].map((periods) => rolledUp(this.#table, periods))
      this.#seconds.delete(second)
      // The order does not depend on the pace of reading.
      rows.sort((a, b) => byCodeUnit(a.place, b.place) || byCodeUnit(a.name, b.name))
      writer.recordPlane(this.#table, second * 1000, rows)
    }
  }
}

/** One row for consecutive periods of a series, oldest first. */
function rolledUp(table: PlaneTableId, rows: readonly PlaneRow[]): PlaneRow {
  const last = rows.at(-1) as PlaneRow
  if (rows.length === 1) return last
  const values = planeTable(table).columns.map(({ rollUp }, i) => {
    const known = rows.map((r) => r.values[i] as number).filter((v) => !Number.isNaN(v))
    if (known.length === 0 || rollUp === 'last') return last.values[i] as number
    if (rollUp === 'max') return Math.max(...known)
    if (rollUp === 'min') return Math.min(...known)
    return known.reduce((a, b) => a + b) / known.length
  })
  return { ...last, values }
}

export class TokenCollector implements PlaneCollector {
  readonly #nodes: readonly DataNode[]
  readonly #toUnixMs: (ns: number) => number
  readonly #writer: PlaneWriter
  /** Number of periods recorded by run. */
  readonly #recorded = new WeakMap<DataNodeRun, number>()
  readonly #clients = new Pending('token_clients')
  readonly #pools = new Pending('token_nodes')

  constructor(nodes: readonly DataNode[], toUnixMs: (ns: number) => number, writer: PlaneWriter) {
    this.#nodes = nodes
    this.#toUnixMs = toUnixMs
    this.#writer = writer
  }

  look(): void {
    let end = Infinity
    for (const node of this.#nodes) {
      const { runs } = node
      for (const run of runs) {
        const { items, next } = run.node.periods.since(this.#recorded.get(run) ?? 0)
        this.#recorded.set(run, next)
        for (const period of items) this.#add(node.name, run, period)
      }
      const open = runs.at(-1)
      if (open) end = Math.min(end, this.#second(open, open.node.periods.items.at(-1)?.endNs ?? 0))
    }
    this.#clients.flush(this.#writer, end)
    this.#pools.flush(this.#writer, end)
  }

  #second(run: DataNodeRun, ns: number): Second {
    // Times of a run are integers, Unix ms are not: a border that is rounded down belongs to the next second.
    return Math.floor(this.#toUnixMs(run.fromNs + ns) / 1000 + 1e-6)
  }

  #add(place: string, run: DataNodeRun, period: PeriodRecord): void {
    const second = this.#second(run, period.startNs)
    const missed = new Set(missedIn(run, period))
    period.tokens.forEach((tokens, index) => {
      const scenario = run.clients[index]
      const used = period.completed[index] ?? 0
      const { reservation, limit, yielded } = tokens
      const view = run.node.client(index)
      // The place of a client that has left may have been taken by another of its name.
      if (!scenario || (view?.state === 'left' && used === 0 && tokens.usedReserved + tokens.usedPool === 0)) return
      const hasTokens = run.node.engine(index) !== null
      const row = planeRow(
        'token_clients',
        { name: scenario.name, place, jobId: scenario.job },
        {
          used,
          reservation,
          limit: limit ?? NaN,
          used_reserved: tokens.usedReserved,
          // Without tokens all of it is unreserved.
          used_pool: hasTokens ? tokens.usedPool : used,
          yielded,
          missed: missed.has(index) ? 1 : 0,
          starved: tokens.isStarved ? 1 : 0,
        },
      )
      this.#clients.add(second, row)
    })
    const { monitor } = period
    const values: Record<string, number> = {
      used: period.total,
      idle_share: idleShareOf(run, period.startNs, period.endNs) ?? NaN,
      missed: missed.size,
      epoch: monitor?.epoch ?? period.index + 1,
    }
    if (monitor) {
      values['estimate'] = monitor.omega
      values['reserved'] = monitor.reserved
      values['pool_start'] = monitor.initialPool
      values['pool_lowest'] = Math.min(...monitor.poolChecks.filter((v) => !Number.isNaN(v)))
      values['reported'] = monitor.residual
      values['converted_target'] = monitor.target
      monitor.poolChecks.forEach((pool, i) => (values[`pool_check_${i + 1}`] = pool))
    }
    this.#pools.add(second, planeRow('token_nodes', { name: place, place: '', jobId: '' }, values))
  }
}
