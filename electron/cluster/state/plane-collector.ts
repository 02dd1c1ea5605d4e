/** Collectors of plane rows: each turns what a source knows about one plane into rows of its tables. */
import type { PlaneRow, PlaneTableId } from '#core/series/plane-tables.ts'
import type { KeptConvoy } from '../../history/reader.ts'

/** Part of the history that keeps rows and convoys. */
export interface PlaneWriter {
  /** Rows of one period; one call per table and period. */
  recordPlane(table: PlaneTableId, atMs: number, rows: readonly PlaneRow[]): void
  /** True for one of the longest convoys of its day. */
  wantsConvoy(fromMs: number, lengthMs: number): boolean
  keepConvoy(convoy: Omit<KeptConvoy, 'id'>, frame: unknown): void
}

export interface PlaneCollector {
  /** Records the periods that ended by a sample; called once per sample, in order. */
  look(atNs: number, atMs: number): void
}
