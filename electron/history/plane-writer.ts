/**
 * Writer of the tables of planes: chooses the series with a row of their own, sums the others, and packs the rows of a second as a
 * block. A plane has no raw samples: its finest tier is that of a second.
 */
import type { Database, Statement } from 'better-sqlite3'
import {
  isOthers,
  OTHERS,
  OTHERS_KEY,
  othersValue,
  planeRank,
  planeTable,
  type PlaneName,
  type PlaneRow,
  type PlaneTable,
  type PlaneTableId,
} from '#core/series/plane-tables.ts'
import { BlockMeans } from './block-means.ts'
import { pack, type Columns, type PlaneKind } from './block.ts'
import type { StoredBlock } from './block-table.ts'
import type { FreeKeys } from './series-names.ts'
import { floorTo, SECOND, stepOf } from './tiers.ts'

/** Part of the last period's rank that counts in this one: a series keeps its row for some periods after it became less active. */
const INERTIA = 0.9
/** Most names held in memory; beyond it they are looked up in the file again. */
const NAMES_MAX = 100_000
const NAME_LENGTH = 256
const DAY_MS = 86_400_000

const nameKey = ({ name, place, jobId }: PlaneName): string => `${place.length} ${name.length} ${place}${name}${jobId}`
const short = (text: string): string => text.slice(0, NAME_LENGTH)

/** Row of the series without one of their own, column by column by the rule of the table. */
export function othersRow(table: PlaneTable, rows: readonly PlaneRow[]): PlaneRow {
  const values = table.columns.map((column, c) =>
    othersValue(
      column,
      rows.map((row) => row.values[c] as number),
    ),
  )
  return { name: OTHERS.name, place: OTHERS.place, jobId: OTHERS.jobId, values }
}

/** Series of one table: ranks, and the rows of the second that is being written. */
class PlaneState {
  readonly table: PlaneTable
  #ranks = new Map<string, number>()
  /** Periods that ended in the second, as columns. */
  #periods: Columns[] = []
  #secondMs = -Infinity

  constructor(table: PlaneTable) {
    this.table = table
  }

  /** Rows to write of a period: the highest ranked, and one of all others. Series whose ranked values are all zero have none. */
  select(rows: readonly PlaneRow[]): readonly PlaneRow[] {
    const { most } = this.table
    const rankOf = (row: PlaneRow): number => planeRank(this.table, (c) => row.values[c] as number)
    const active = rows.filter((row) => rankOf(row) > 0)
    const before = this.#ranks
    this.#ranks = new Map()
    if (active.length <= most && before.size === 0) return active
    const ranked = active.map((row) => {
      const key = nameKey(row)
      const rank = (1 - INERTIA) * rankOf(row) + INERTIA * (before.get(key) ?? 0)
      this.#ranks.set(key, rank)
      return { row, rank }
    })
    if (active.length <= most) return active
    ranked.sort((a, b) => b.rank - a.rank)
    const own = ranked.slice(0, most).map((r) => r.row)
    return [
      ...own,
      othersRow(
        this.table,
        ranked.slice(most).map((r) => r.row),
      ),
    ]
  }

  /** Adds a period to the block of its second, and returns that block. */
  blockOf(atMs: number, period: Columns): { readonly atMs: number; readonly block: ReturnType<typeof pack> } {
    const second = floorTo(atMs, stepOf(SECOND))
    if (second !== this.#secondMs) this.#periods = []
    this.#secondMs = second
    this.#periods.push(period)
    const kind = this.table.kind as PlaneKind
    if (this.#periods.length === 1) return { atMs: second, block: pack(kind, period) }
    const means = new BlockMeans(kind)
    for (const { n, keys, columns } of this.#periods) {
      means.add({ keys: keys.subarray(0, n), columns: columns.map((c) => c.subarray(0, n)) })
    }
    return { atMs: second, block: means.end() ?? pack(kind, period) }
  }
}

export class PlaneWriter {
  readonly #cluster: number
  readonly #free: FreeKeys
  readonly #defer: (write: () => void) => void
  readonly #out: (block: StoredBlock) => void
  readonly #states = new Map<PlaneTableId, PlaneState>()
  readonly #names = new Map<string, { readonly key: number; lastMs: number }>()
  readonly #find: Statement<(string | number)[]>
  readonly #insert: Statement<(string | number)[]>
  readonly #seen: Statement<number[]>

  /**
   * @param defer  queues writes of names for the next batch.
   * @param out    takes the block of a second; a later one of the same second replaces it.
   */
  constructor(
    db: Database,
    cluster: number,
    free: FreeKeys,
    defer: (write: () => void) => void,
    out: (block: StoredBlock) => void,
  ) {
    this.#cluster = cluster
    this.#free = free
    this.#defer = defer
    this.#out = out
    const by = 'cluster = ? AND kind = ? AND place = ? AND name = ? AND job_id = ?'
    this.#find = db.prepare(`SELECT id, last_ms FROM plane_series WHERE ${by}`)
    this.#insert = db.prepare('INSERT OR IGNORE INTO plane_series VALUES (?, ?, ?, ?, ?, ?, ?)')
    this.#seen = db.prepare('UPDATE plane_series SET last_ms = ? WHERE id = ?')
  }

  /** Adds the rows of one period, by the time of its end. A period without any active series is not written. */
  add(id: PlaneTableId, atMs: number, rows: readonly PlaneRow[]): void {
    let state = this.#states.get(id)
    if (!state) this.#states.set(id, (state = new PlaneState(planeTable(id))))
    const selected = state.select(rows)
    const { table } = state
    const kind = table.kind as PlaneKind
    const n = selected.length
    const keys = new Uint32Array(n)
    const columns = table.columns.map(() => new Float32Array(n))
    selected.forEach((row, i) => {
      keys[i] = this.#keyOf(kind, row, atMs)
      for (let c = 0; c < columns.length; c++) (columns[c] as Float32Array)[i] = row.values[c] ?? NaN
    })
    const { atMs: second, block } = state.blockOf(Math.round(atMs), { n, keys, columns })
    this.#out({ cluster: this.#cluster, kind, tier: SECOND, atMs: second, ...block })
  }

  /** Drops cached names if there are very many; call it when all of them are in the file. */
  trim(): void {
    if (this.#names.size > NAMES_MAX) this.#names.clear()
  }

  #keyOf(kind: PlaneKind, of: PlaneName, atMs: number): number {
    if (isOthers(of)) return OTHERS_KEY
    const name = { name: short(of.name), place: short(of.place), jobId: short(of.jobId) }
    const at = `${kind} ${nameKey(name)}`
    let known = this.#names.get(at)
    if (!known) {
      const { place, name: text, jobId } = name
      const row = this.#find.get(this.#cluster, kind, place, text, jobId) as { id: number; last_ms: number } | undefined
      if (row) known = { key: row.id, lastMs: row.last_ms }
      else {
        const key = this.#free.plane++
        const lastMs = Math.ceil(atMs / DAY_MS) * DAY_MS
        known = { key, lastMs }
        this.#defer(() => this.#insert.run(key, this.#cluster, kind, place, text, jobId, lastMs))
      }
      this.#names.set(at, known)
    }
    if (atMs > known.lastMs) {
      const { key } = known
      const day = (known.lastMs = Math.ceil(atMs / DAY_MS) * DAY_MS)
      this.#defer(() => this.#seen.run(day, key))
    }
    return known.key
  }
}
