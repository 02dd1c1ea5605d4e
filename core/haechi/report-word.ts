/**
 * The 64-bit words of the protocol's memory, as two 32-bit halves so that no hot path needs a BigInt.
 *
 * A report is [epoch:8][residual:28][N:28], saturating, so that a late report of the previous period is recognised (A9). Its second word
 * is [epoch:8][beat:24][yielded:32]: the engine's own count of yielded tokens (spec/haechi 7) and a report counter, which distinguishes
 * an idle client from a silent one. `packPair` is the layout 32/32 of the paper's "remaining and completed".
 */
export interface Word {
  readonly hi: number
  readonly lo: number
}

const MAX_28 = 2 ** 28 - 1
const MAX_32 = 2 ** 32 - 1

const saturate = (value: number, most: number): number => (value < 0 ? 0 : value > most ? most : value)

export function packReport(epoch: number, residual: number, completed: number): Word {
  const r = saturate(residual, MAX_28)
  const n = saturate(completed, MAX_28)
  return { hi: (((epoch & 255) << 24) | (r >>> 4)) >>> 0, lo: (((r & 15) << 28) | n) >>> 0 }
}

export function unpackReport({ hi, lo }: Word): { epoch: number; residual: number; completed: number } {
  return { epoch: hi >>> 24, residual: ((hi & 0xffffff) << 4) | (lo >>> 28), completed: lo & MAX_28 }
}

export function packYield(epoch: number, beat: number, yielded: number): Word {
  return { hi: (((epoch & 255) << 24) | (beat & 0xffffff)) >>> 0, lo: saturate(yielded, MAX_32) }
}

export function unpackYield({ hi, lo }: Word): { epoch: number; beat: number; yielded: number } {
  return { epoch: hi >>> 24, beat: hi & 0xffffff, yielded: lo }
}

export const packPair = (residual: number, completed: number): Word => ({
  hi: saturate(residual, MAX_32),
  lo: saturate(completed, MAX_32),
})

export const unpackPair = ({ hi, lo }: Word): { residual: number; completed: number } => ({
  residual: hi,
  completed: lo,
})

/** Returns the epoch nearest to `current` with these low 8 bits. */
export function epochNear(low: number, current: number): number {
  const ahead = (low - current) & 255
  return current + (ahead < 128 ? ahead : ahead - 256)
}
