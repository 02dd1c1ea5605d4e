/** Plane rows and convoys kept in memory instead of in a history. */
import { planeColumn, type PlaneRow, type PlaneTableId } from '#core/series/plane-tables.ts'
import type { PlaneWriter } from '#electron/cluster/state/plane-collector.ts'
import type { KeptConvoy } from '#electron/history/reader.ts'

export class KeptRows implements PlaneWriter {
  readonly periods: { readonly table: PlaneTableId; readonly atMs: number; readonly rows: readonly PlaneRow[] }[] = []
  readonly convoys: { readonly convoy: Omit<KeptConvoy, 'id'>; readonly frame: unknown }[] = []
  readonly #most: number

  /** @param most  convoys that are wanted. */
  constructor(most = Infinity) {
    this.#most = most
  }

  recordPlane(table: PlaneTableId, atMs: number, rows: readonly PlaneRow[]): void {
    this.periods.push({ table, atMs, rows })
  }

  wantsConvoy(): boolean {
    return this.convoys.length < this.#most
  }

  keepConvoy(convoy: Omit<KeptConvoy, 'id'>, frame: unknown): void {
    this.convoys.push({ convoy, frame })
  }

  /** Times of a table's periods, Unix ms. */
  times(table: PlaneTableId): number[] {
    return this.periods.filter((p) => p.table === table).map((p) => p.atMs)
  }

  rows(table: PlaneTableId, isOf: (row: PlaneRow) => boolean = () => true): PlaneRow[] {
    return this.periods.filter((p) => p.table === table).flatMap((p) => p.rows.filter(isOf))
  }

  /** Sum of a column over all periods; gaps count as zero. */
  sum(table: PlaneTableId, column: string, isOf?: (row: PlaneRow) => boolean): number {
    const at = planeColumn(table, column)
    return this.rows(table, isOf).reduce((n, r) => n + (r.values[at] || 0), 0)
  }
}

/** Values of a row by column; gaps are left out. */
export function valuesOf(table: PlaneTableId, columns: readonly string[], row: PlaneRow | undefined): number[] {
  return columns.map((name) => row?.values[planeColumn(table, name)] ?? NaN)
}
