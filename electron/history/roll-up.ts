/**
 * Derives the coarser tiers from the finer ones, interval by interval. An interval is made when the finer tier has passed it; the
 * result and the progress are written together, so that a process may end at any time: the next one resumes there, and an interval
 * that is made again replaces itself.
 */
import type { Database, Statement } from 'better-sqlite3'
import { BlockMeans } from './block-means.ts'
import { ended, type Steps } from '#core/base/steps.ts'
import type { BlockTable, StoredBlock } from './block-table.ts'
import { ALL_KINDS, KINDS, unpack, type Kind, type Packed } from './block.ts'
import { floorTo, RAW, SECOND, stepOf } from './tiers.ts'

/** Most instants of the finer tier that are written together as means. */
const INSTANTS_AT_ONCE = 60
/** Samples of series read per piece of work, a few milliseconds of it: four instants of ten thousand jobs. */
const SAMPLES_AT_ONCE = 40_000

/** Means of several intervals in progress; they are written together when all are complete. */
interface Making {
  readonly steps: Steps<StoredBlock[]>
  readonly to: number
  readonly end: number
}

type Row = Packed & { readonly at_ms: number }

export class RollUp {
  readonly #blocks: BlockTable
  readonly #between: Statement<number[]>
  readonly #sums: Statement<number[]>
  readonly #from: Statement<number[]>
  readonly #rolled: Statement<number[]>
  readonly #setRolled: Statement<number[]>
  readonly #making = new Map<string, Making>()

  constructor(db: Database, blocks: BlockTable) {
    this.#blocks = blocks
    this.#between = db.prepare(
      'SELECT at_ms, n, lead, rest FROM block WHERE cluster = ? AND kind = ? AND tier = ? AND at_ms >= ? AND at_ms < ? ORDER BY at_ms LIMIT ?',
    )
    this.#sums = db.prepare(
      "SELECT at_ms, 1 AS n, data AS lead, x'' AS rest FROM instant WHERE cluster = ? AND tier = ? AND at_ms >= ? AND at_ms < ? ORDER BY at_ms LIMIT ?",
    )
    this.#from = db
      .prepare('SELECT at_ms FROM instant WHERE cluster = ? AND tier = ? AND at_ms >= ? ORDER BY at_ms LIMIT 1')
      .pluck()
    this.#rolled = db.prepare('SELECT to_ms FROM rolled WHERE cluster = ? AND tier = ?').pluck()
    this.#setRolled = db.prepare('INSERT OR REPLACE INTO rolled VALUES (?, ?, ?)')
  }

  /** End of the intervals already made of a tier; undefined if there are none. */
  rolledTo(cluster: number, tier: number): number | undefined {
    return this.#rolled.get(cluster, tier) as number | undefined
  }

  /** Marks samples from an instant on to be rolled up again, after the clock was set back. */
  reopen(cluster: number, fromMs: number): void {
    this.#making.clear()
    for (const tier of [2, 3]) {
      const to = this.rolledTo(cluster, tier)
      const from = floorTo(fromMs, stepOf(tier))
      if (to !== undefined && to > from) this.#setRolled.run(cluster, tier, from)
    }
  }

  /**
   * Advances the roll-up of a tier by one piece, in the caller's transaction. Data read between two pieces is kept in memory, and
   * is read again by the next process if this one ends.
   *
   * @param until  newest sample of the current writer: after a clock was set back it is not the newest that is stored, and later
   *               intervals are made again when the clock reaches them. undefined: there is no writer.
   * @param hasEnded  set if no more samples of the current interval will follow: it is made as it is.
   * @returns         true if there may be more to do.
   */
  advance(cluster: number, tier: number, until: number | undefined, hasEnded: boolean): boolean {
    const name = `${cluster} ${tier}`
    const making = this.#making.get(name) ?? this.#begin(cluster, tier, until, hasEnded)
    if (!making) return false
    // A failure in the middle, on a disk that does not answer, restarts the interval.
    this.#making.delete(name)
    const step = making.steps.next()
    if (step.done !== true) {
      this.#making.set(name, making)
      return true
    }
    for (const block of step.value) this.#blocks.put(block)
    if (tier !== SECOND) this.#setRolled.run(cluster, tier, making.to)
    return making.to < making.end
  }

  #begin(cluster: number, tier: number, until: number | undefined, hasEnded: boolean): Making | undefined {
    const step = stepOf(tier)
    const finer = tier - 1
    const newest = this.#blocks.last(cluster, finer)
    if (newest === undefined) return undefined
    const rolled = this.rolledTo(cluster, tier)
    const first = this.#from.get(cluster, finer, rolled ?? 0) as number | undefined
    if (first === undefined) return undefined
    const from = floorTo(first, step)
    const end = hasEnded ? floorTo(newest, step) + step : floorTo(this.#doneTo(cluster, finer, until), step)
    const most = Math.max(1, Math.floor((INSTANTS_AT_ONCE * Math.max(stepOf(finer), 100)) / step))
    const to = Math.min(end, from + most * step)
    return to <= from ? undefined : { steps: this.#make(cluster, tier, from, to), to, end }
  }

  /** Makes means of seconds for which a killed process left only raw samples. */
  repair(cluster: number): void {
    const made = this.#blocks.last(cluster, SECOND)
    const newest = this.#blocks.last(cluster, RAW)
    if (newest === undefined) return
    const first = this.#from.get(cluster, RAW, made === undefined ? 0 : made + 1000) as number | undefined
    if (first === undefined) return
    for (const block of ended(this.#make(cluster, SECOND, floorTo(first, 1000), newest + 1))) this.#blocks.put(block)
  }

  /** Instant before which a tier is final. */
  #doneTo(cluster: number, tier: number, until: number | undefined): number {
    if (tier !== SECOND) return this.rolledTo(cluster, tier) ?? -Infinity
    // A second is written with the first sample after it.
    const newest = this.#blocks.last(cluster, RAW) ?? this.#blocks.last(cluster, SECOND) ?? -Infinity
    return floorTo(Math.min(newest, until ?? Infinity), 1000)
  }

  *#make(cluster: number, tier: number, fromMs: number, toMs: number): Steps<StoredBlock[]> {
    const step = stepOf(tier)
    const made: StoredBlock[] = []
    let read = 0
    for (const kind of ALL_KINDS) {
      const means = new BlockMeans(kind)
      let at = fromMs
      const put = (): void => {
        const mean = means.end()
        if (mean) made.push({ cluster, kind, tier, atMs: at, ...mean })
      }
      // The size of each read adapts to that of the last one.
      let next = fromMs
      let most = 1
      for (let rows = this.#rows(cluster, kind, tier - 1, next, toMs, most); rows.length > 0;) {
        for (const row of rows) {
          const interval = floorTo(row.at_ms, step)
          if (interval !== at) put()
          at = interval
          const block = unpack(kind, row.at_ms, row)
          if (block) means.add(block)
          next = row.at_ms + 1
          read += row.n
          most = Math.max(1, Math.min(INSTANTS_AT_ONCE, Math.floor(SAMPLES_AT_ONCE / Math.max(1, row.n))))
        }
        if (read >= SAMPLES_AT_ONCE) {
          read = 0
          yield
        }
        rows = this.#rows(cluster, kind, tier - 1, next, toMs, most)
      }
      put()
    }
    return made
  }

  #rows(cluster: number, kind: Kind, tier: number, fromMs: number, toMs: number, most: number): readonly Row[] {
    const rows =
      kind === KINDS.cluster
        ? this.#sums.all(cluster, tier, fromMs, toMs, most)
        : this.#between.all(cluster, kind, tier, fromMs, toMs, most)
    return rows as Row[]
  }
}
