/** Instants of a history file that README.html shows, and the mapping of read samples to them. */
import type { TierId } from '#core/api/history.ts'
import { INSTANTS_MOST } from '#core/snapshot/replay-data.ts'
import { thin, type Downsampled } from '#core/snapshot/replay-downsample.ts'
import { cadenceOf, missingFrom } from '../../history/parts.ts'
import type { HistoryReader } from '../../history/reader.ts'

/** Most instants of the tier that is read: the finest with at most four per shown one. */
export const READ_MOST = 4 * INSTANTS_MOST

/** Instants to read, and their mapping to shown ones. */
export interface Reading {
  readonly reader: HistoryReader
  readonly tier: TierId
  readonly fromMs: number
  /** Last instant that belongs to it. */
  readonly lastMs: number
  readonly thinned: Downsampled
  /** Shown instant of a read one; undefined: none. */
  indexOf(atMs: number): number | undefined
}

/** @returns the reading, and the interval between two shown instants. */
export function readingOf(reader: HistoryReader, fromMs: number, lastMs: number): { of: Reading; stepMs: number } {
  const tier = reader.tierFor(fromMs, lastMs, READ_MOST)
  const instants = reader.instants(tier, fromMs, lastMs)
  const cadence = cadenceOf(instants, 1)
  const thinned = thin(instants, INSTANTS_MOST, cadence, missingFrom(cadence))
  const places = new Map<number, number>()
  instants.forEach((at, i) => places.set(at, thinned.of[i] as number))
  const of = { reader, tier, fromMs, lastMs, thinned, indexOf: (at: number) => places.get(at) }
  return { of, stepMs: cadence * thinned.meanOf }
}
