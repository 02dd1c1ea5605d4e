/** One cluster's past as it is read here: what was read of it once serves every picture that is made of it. */
import type { HistoryReader } from '../history/reader.ts'
import { BlockCache } from './block-cache.ts'
import { Grid } from './grid-slots.ts'
import { JobBook } from './job-book.ts'
import type { Axis } from './sample-table.ts'
import { SlidingSums } from './sliding-sums.ts'
import { keptTiers, type KeptTier } from './tiers.ts'
import { Totals } from './totals.ts'

export class Past {
  readonly reader: HistoryReader
  readonly cache: BlockCache
  readonly book: JobBook
  readonly totals: Totals
  #tiers: readonly KeptTier[] | undefined
  readonly #sums = new Map<string, SlidingSums>()
  readonly #grids = new WeakMap<KeptTier, Grid>()

  constructor(reader: HistoryReader, inkOf?: (jobId: string) => number) {
    this.reader = reader
    this.cache = new BlockCache(reader)
    this.book = new JobBook(reader, inkOf)
    this.totals = new Totals(reader)
  }

  /** What is kept, as of the first look or of the last `look`. */
  get tiers(): readonly KeptTier[] {
    return (this.#tiers ??= keptTiers(this.reader))
  }

  /** Looks again what is kept: a store that is being written grows. */
  look(): void {
    this.#tiers = undefined
  }

  /** @param axis  of the samples, where the tier is that of raw ones. */
  grid(tier: KeptTier, axis?: Axis): Grid {
    const known = this.#grids.get(tier)
    if (known && (tier.id !== 'raw' || known.axis === axis)) return known
    const grid = new Grid(tier, axis)
    this.#grids.set(tier, grid)
    return grid
  }

  sums(grid: Grid): SlidingSums {
    // Raw samples are numbered from the first one that is kept.
    const name = grid.tier.id === 'raw' ? `raw ${grid.tier.fromMs} ${grid.tier.stepMs}` : grid.tier.id
    let sums = this.#sums.get(name)
    if (!sums) this.#sums.set(name, (sums = new SlidingSums(this.cache, this.book, grid)))
    return sums
  }
}
