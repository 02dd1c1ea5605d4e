/**
 * Bytes per RPC of a job, from the sizes in job_stats.
 *
 * Source: spec/lustre 4.2: bins are powers of two named by their upper bound, so a histogram gives bounds, and exact sums give the mean.
 * Sizes above one RPC, 4 MiB, were sent as several (measured part 2, 1) and cost as many tokens.
 */
import { binBytes } from '../lustre/size-histogram.ts'

/** Bytes of the largest RPC. */
export const RPC_BYTES_MAX = 4 * 1024 * 1024

/** Mean bytes of one RPC; both bounds are equal if the mean is known. */
export interface RpcSize {
  readonly lower: number
  readonly upper: number
}

const rpcsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / RPC_BYTES_MAX))

/** Returns the mean size from exact sums; undefined without bytes or samples. */
export function sizeOfMean(bytes: number, samples: number): RpcSize | undefined {
  if (!(samples > 0 && bytes > 0)) return undefined
  const mean = bytes / samples
  const perRpc = mean / rpcsOf(mean)
  return { lower: perRpc, upper: perRpc }
}

/** Bounds of one histogram bin: bytes per RPC, and number of RPCs. */
interface Bin {
  readonly least: number
  readonly most: number
  readonly rpcsLeast: number
  readonly rpcsMost: number
}

/**
 * Extreme mean of RPC sizes over bins whose numbers of RPCs are known only within bounds, bytes.
 *
 * @param sign  1: smallest mean, where bins below it have most RPCs and bins above it fewest; -1: largest mean.
 */
function extremeMean(bins: readonly Bin[], bytes: (b: Bin) => number, sign: 1 | -1): number {
  let mean = bytes(bins[0] as Bin)
  for (let round = 0; round < bins.length + 2; round++) {
    let sum = 0
    let rpcs = 0
    for (const b of bins) {
      const weight = sign * (bytes(b) - mean) < 0 ? b.rpcsMost : b.rpcsLeast
      sum += weight * bytes(b)
      rpcs += weight
    }
    const next = sum / rpcs
    if (Math.abs(next - mean) < 1e-9 * mean) break
    mean = next
  }
  return mean
}

/**
 * Returns bounds of the mean RPC size of a histogram.
 *
 * @param hist  samples per bin; bin b holds sizes of more than 2^(b-1) and at most 2^b bytes.
 * @returns     bounds of the mean; undefined without a sample.
 */
export function sizeOfHistogram(hist: ReadonlyMap<number, number>): RpcSize | undefined {
  const bins: Bin[] = []
  for (const [bin, n] of hist) {
    if (!(n > 0)) continue
    const top = binBytes(bin)
    const bottom = bin === 0 ? 0 : top / 2 + 1
    const isOne = top <= RPC_BYTES_MAX
    bins.push({
      least: isOne ? bottom : bottom / rpcsOf(bottom),
      most: Math.min(top, RPC_BYTES_MAX),
      rpcsLeast: n * rpcsOf(bottom),
      rpcsMost: n * rpcsOf(top),
    })
  }
  if (bins.length === 0) return undefined
  return { lower: extremeMean(bins, (b) => b.least, 1), upper: extremeMean(bins, (b) => b.most, -1) }
}
