/**
 * How many bytes one RPC of a job carries, from the sizes that job_stats counted.
 *
 * Source: spec/lustre 4.2: bins are powers of two named by their upper bound, so a histogram gives bounds, and exact sums give
 * the mean. What is larger than one RPC, 4 MiB, travelled as several (measured part 2, 1) and costs as many tokens.
 */
import { binBytes } from '../lustre/size-histogram.ts'

/** Bytes of the largest RPC. */
export const RPC_BYTES_MAX = 4 * 1024 * 1024

/** Mean bytes of one RPC; both bounds are equal where the mean is known. */
export interface RpcSize {
  readonly lower: number
  readonly upper: number
}

const rpcsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / RPC_BYTES_MAX))

/** From exact sums. */
export function sizeOfMean(bytes: number, samples: number): RpcSize | undefined {
  if (!(samples > 0 && bytes > 0)) return undefined
  const mean = bytes / samples
  const perRpc = mean / rpcsOf(mean)
  return { lower: perRpc, upper: perRpc }
}

interface Bin {
  readonly least: number
  readonly most: number
  readonly rpcsLeast: number
  readonly rpcsMost: number
}

/** The least mean over bins whose weights lie between bounds: bins below the mean weigh most, bins above it least. */
function leastMean(bins: readonly Bin[], bytes: (b: Bin) => number, sign: 1 | -1): number {
  let mean = bytes(bins[0] as Bin)
  for (let round = 0; round < bins.length + 2; round++) {
    let [sum, rpcs] = [0, 0]
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
 * From a histogram.
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
  return { lower: leastMean(bins, (b) => b.least, 1), upper: leastMean(bins, (b) => b.most, -1) }
}
