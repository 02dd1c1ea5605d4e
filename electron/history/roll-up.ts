/**
 * The coarser tiers, made of the finer ones an interval at a time. An interval is made when the finer tier has gone past it; what was
 * made and how far is written together, so that a process may end at any moment: the next one goes on where it stood, and an interval
 * that is made again replaces itself.
 */
import type { Database, Statement } from 'better-sqlite3'
import { BlockMeans } from './block-means.ts'
import type { BlockTable } from './block-table.ts'
import { KINDS, unpack, type Kind, type Packed } from './block.ts'
import { floorTo, RAW, SECOND, stepOf } from './tiers.ts'

/** Instants of the finer tier that one piece of work reads. */
const INSTANTS_AT_ONCE = 60

type Row = Packed & { readonly at_ms: number }

export class RollUp {
  readonly #blocks: BlockTable
  readonly #between: Statement<number[]>
  readonly #sums: Statement<number[]>
  readonly #from: Statement<number[]>
  readonly #rolled: Statement<number[]>
  readonly #setRolled: Statement<number[]>

  constructor(db: Database, blocks: BlockTable) {
    this.#blocks = blocks
    this.#between = db.prepare(
      'SELECT at_ms, n, lead, rest FROM block WHERE cluster = ? AND kind = ? AND tier = ? AND at_ms >= ? AND at_ms < ? ORDER BY at_ms',
    )
    this.#sums = db.prepare(
      "SELECT at_ms, 1 AS n, data AS lead, x'' AS rest FROM instant WHERE cluster = ? AND tier = ? AND at_ms >= ? AND at_ms < ? ORDER BY at_ms",
    )
    this.#from = db
      .prepare('SELECT at_ms FROM instant WHERE cluster = ? AND tier = ? AND at_ms >= ? ORDER BY at_ms LIMIT 1')
      .pluck()
    this.#rolled = db.prepare('SELECT to_ms FROM rolled WHERE cluster = ? AND tier = ?').pluck()
    this.#setRolled = db.prepare('INSERT OR REPLACE INTO rolled VALUES (?, ?, ?)')
  }

  /** Up to where a tier is made of the finer one; undefined: nothing of it is. */
  rolledTo(cluster: number, tier: number): number | undefined {
    return this.#rolled.get(cluster, tier) as number | undefined
  }

  /** What was sampled from an instant on is to be made once more: the clock was set back. */
  reopen(cluster: number, fromMs: number): void {
    for (const tier of [2, 3]) {
      const to = this.rolledTo(cluster, tier)
      const from = floorTo(fromMs, stepOf(tier))
      if (to !== undefined && to > from) this.#setRolled.run(cluster, tier, from)
    }
  }

  /**
   * Makes the next intervals of a tier, as many as one piece of work allows; in the transaction of the caller.
   *
   * @param until  the newest sample of who writes now: after a clock that was set back it is not the newest that is kept, and what
   *               lies beyond it is made again when it gets there. undefined: nobody writes.
   * @param hasEnded  no sample of the present interval will follow: it is made as it stands.
   * @returns         whether there may be more to do.
   */
  advance(cluster: number, tier: number, until: number | undefined, hasEnded: boolean): boolean {
    const [step, finer] = [stepOf(tier), tier - 1]
    const newest = this.#blocks.last(cluster, finer)
    if (newest === undefined) return false
    const rolled = this.rolledTo(cluster, tier)
    const first = this.#from.get(cluster, finer, rolled ?? 0) as number | undefined
    if (first === undefined) return false
    const from = floorTo(first, step)
    const end = hasEnded ? floorTo(newest, step) + step : floorTo(this.#doneTo(cluster, finer, until), step)
    const most = Math.max(1, Math.floor((INSTANTS_AT_ONCE * Math.max(stepOf(finer), 100)) / step))
    const to = Math.min(end, from + most * step)
    if (to <= from) return false
    for (const kind of [0, 1, 2] as const) this.#make(cluster, kind, tier, from, to)
    if (tier !== SECOND) this.#setRolled.run(cluster, tier, to)
    return to < end
  }

  /** Makes means of seconds that a killed process left as raw samples only. */
  repair(cluster: number): void {
    const made = this.#blocks.last(cluster, SECOND)
    const newest = this.#blocks.last(cluster, RAW)
    if (newest === undefined) return
    const first = this.#from.get(cluster, RAW, made === undefined ? 0 : made + 1000) as number | undefined
    if (first === undefined) return
    for (const kind of [0, 1, 2] as const) this.#make(cluster, kind, SECOND, floorTo(first, 1000), newest + 1)
  }

  /** Before this instant nothing of a tier will come any more. */
  #doneTo(cluster: number, tier: number, until: number | undefined): number {
    if (tier !== SECOND) return this.rolledTo(cluster, tier) ?? -Infinity
    // A second is written with the first sample after it.
    const newest = this.#blocks.last(cluster, RAW) ?? this.#blocks.last(cluster, SECOND) ?? -Infinity
    return floorTo(Math.min(newest, until ?? Infinity), 1000)
  }

  #make(cluster: number, kind: Kind, tier: number, fromMs: number, toMs: number): void {
    const step = stepOf(tier)
    const means = new BlockMeans(kind)
    let at = fromMs
    const put = (): void => {
      const ended = means.end()
      if (ended) this.#blocks.put({ cluster, kind, tier, atMs: at, ...ended })
    }
    const rows =
      kind === KINDS.cluster
        ? this.#sums.all(cluster, tier - 1, fromMs, toMs)
        : this.#between.all(cluster, kind, tier - 1, fromMs, toMs)
    for (const row of rows as Row[]) {
      const interval = floorTo(row.at_ms, step)
      if (interval !== at) put()
      at = interval
      const block = unpack(kind, row.at_ms, row)
      if (block) means.add(block)
    }
    put()
  }
}
