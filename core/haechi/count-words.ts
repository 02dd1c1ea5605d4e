/**
 * Words of two counts as `sluice eval` packs them: [epoch:8][residual:28][N:28], and the layout 32/32 of the paper's "remaining and
 * completed". Counts saturate. A node's own reports carry one more count: `report-word.ts`.
 */
import type { Word } from './report-word.ts'

const MAX_28 = 2 ** 28 - 1
const MAX_32 = 2 ** 32 - 1

const saturate = (value: number, most: number): number => (value < 0 ? 0 : value > most ? most : value)

export function packCounts(epoch: number, residual: number, completed: number): Word {
  const r = saturate(residual, MAX_28)
  const n = saturate(completed, MAX_28)
  return { hi: (((epoch & 255) << 24) | (r >>> 4)) >>> 0, lo: (((r & 15) << 28) | n) >>> 0 }
}

export function unpackCounts({ hi, lo }: Word): { epoch: number; residual: number; completed: number } {
  return { epoch: hi >>> 24, residual: ((hi & 0xffffff) << 4) | (lo >>> 28), completed: lo & MAX_28 }
}

export const packPair = (residual: number, completed: number): Word => ({
  hi: saturate(residual, MAX_32),
  lo: saturate(completed, MAX_32),
})

export const unpackPair = ({ hi, lo }: Word): { residual: number; completed: number } => ({
  residual: hi,
  completed: lo,
})
