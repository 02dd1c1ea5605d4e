/**
 * Workloads of `sluice ccpfs bench`, after the benchmarks of the SeqDLM paper: which process writes which bytes of which file.
 *
 * Source: SeqDLM II-B (N-N, N-1 segmented, N-1 strided: IOR), V-D (tile: Tile-IO), V-E (checkpoint: VPIC-IO). Deviations: sizes are
 * those of the command line; a tile is a tile of text-sized lines, not of 20,480 pixels; a checkpoint has 8 variables behind a header
 * of 2,048 bytes, each in one part per process.
 */
import type { Extent } from '#core/seqdlm/ranges.ts'

export const WORKLOADS = ['n-n', 'n-1-segmented', 'n-1-strided', 'tile', 'checkpoint'] as const
export type WorkloadName = (typeof WORKLOADS)[number]

export interface WorkloadSize {
  readonly clients: number
  /** Bytes of one write; of one line of a tile. */
  readonly writeBytes: number
  /** Writes of each process; lines of a tile. */
  readonly writes: number
}

/** One operation: extents that ascend and are disjoint; several are written atomically. */
export type Operation = readonly Extent[]

const VARIABLES = 8
const HEADER_BYTES = 2048

/** Files of a workload are shared by all processes, except those of N-N. */
export const fileOf = (workload: WorkloadName, writer: number): string =>
  workload === 'n-n' ? `own-${writer}.dat` : 'shared.dat'

const one = (start: number, bytes: number): Operation => [{ start, end: start + bytes }]

/** Columns of the tiles: the largest divisor of the number of processes up to its root. */
export function tileColumns(clients: number): number {
  let columns = Math.floor(Math.sqrt(clients))
  while (clients % columns !== 0) columns--
  return columns
}

/** Bytes and lines by which neighboring tiles overlap: an eighth. */
export const tileOverlap = ({
  writeBytes,
  writes,
}: WorkloadSize): { readonly bytes: number; readonly lines: number } => ({
  bytes: Math.floor(writeBytes / 8),
  lines: Math.floor(writes / 8),
})

function tile(writer: number, size: WorkloadSize): Operation {
  const { clients, writeBytes, writes } = size
  const columns = tileColumns(clients)
  const overlap = tileOverlap(size)
  const column = writer % columns
  const row = Math.floor(writer / columns)
  const lineBytes = columns * (writeBytes - overlap.bytes) + overlap.bytes
  return Array.from({ length: writes }, (_, line) => {
    const start = (row * (writes - overlap.lines) + line) * lineBytes + column * (writeBytes - overlap.bytes)
    return { start, end: start + writeBytes }
  })
}

/** Operations of one process, in order. */
export function operationsOf(workload: WorkloadName, writer: number, size: WorkloadSize): Operation[] {
  const { clients, writeBytes, writes } = size
  switch (workload) {
    case 'n-n':
      return Array.from({ length: writes }, (_, i) => one(i * writeBytes, writeBytes))
    case 'n-1-segmented':
      return Array.from({ length: writes }, (_, i) => one((writer * writes + i) * writeBytes, writeBytes))
    case 'n-1-strided':
      return Array.from({ length: writes }, (_, i) => one((i * clients + writer) * writeBytes, writeBytes))
    case 'tile':
      return [tile(writer, size)]
    case 'checkpoint': {
      const each = Math.ceil(writes / VARIABLES)
      return Array.from({ length: writes }, (_, i) => {
        const variable = Math.floor(i / each)
        const part = variable * clients * each + writer * each + (i % each)
        return one(HEADER_BYTES + part * writeBytes, writeBytes)
      })
    }
  }
}
