/** Stored history of one cluster, with caches shared by all its views. */
import { fixedJobColors } from '#core/series/job-colors.ts'
import type { HistoryReader } from '../history/reader.ts'
import { BlockCache } from './block-cache.ts'
import { Grid } from './grid-slots.ts'
import { RecordedJobRegistry } from './job-registry.ts'
import type { Axis } from './sample-table.ts'
import { SlidingSums } from './sliding-sums.ts'
import { recordedTiers, type RecordedTier } from './tiers.ts'
import { Totals } from './totals.ts'

export class Past {
  readonly reader: HistoryReader
  readonly cache: BlockCache
  readonly registry: RecordedJobRegistry
  readonly totals: Totals
  #tiers: readonly RecordedTier[] | undefined
  readonly #sums = new Map<string, SlidingSums>()
  readonly #grids = new WeakMap<RecordedTier, Grid>()

  /** @param jobColors  colors of the cluster's jobs; by default those of this recording alone. */
  constructor(reader: HistoryReader, jobColors = fixedJobColors()) {
    this.reader = reader
    this.cache = new BlockCache(reader)
    this.registry = new RecordedJobRegistry(reader, jobColors)
    this.totals = new Totals(reader)
  }

  /** Stored tiers, as of the first or the last `refresh`. */
  get tiers(): readonly RecordedTier[] {
    return (this.#tiers ??= recordedTiers(this.reader))
  }

  /** Refreshes the tiers: a store that is being written grows. */
  refresh(): void {
    this.#tiers = undefined
  }

  /** @param axis  axis of the samples, if the tier is the raw one. */
  grid(tier: RecordedTier, axis?: Axis): Grid {
    const known = this.#grids.get(tier)
    if (known && (tier.id !== 'raw' || known.axis === axis)) return known
    const grid = new Grid(tier, axis)
    this.#grids.set(tier, grid)
    return grid
  }

  sums(grid: Grid): SlidingSums {
    // Raw samples are numbered from the first stored one.
    const name = grid.tier.id === 'raw' ? `raw ${grid.tier.fromMs} ${grid.tier.stepMs}` : grid.tier.id
    let sums = this.#sums.get(name)
    if (!sums) this.#sums.set(name, (sums = new SlidingSums(this.cache, this.registry, grid)))
    return sums
  }
}
