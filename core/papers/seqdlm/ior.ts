/** V-C: IOR. A striped file written strided or segmented, then flushed, at a fraction of its size. */
import type { DlmPolicy } from '../../seqdlm/policy.ts'
import { Cluster } from '../../seqdlm/model/cluster.ts'
import type { Costs } from '../../seqdlm/model/costs.ts'
import { independent, segmented, strided, type WriteRun } from './writers.ts'

export const MIB = 1024 * 1024
/** Bytes written by each client in the paper. */
export const FULL_BYTES = 2048 * MIB

export interface Ior {
  readonly policy: DlmPolicy
  readonly pattern: 'strided' | 'segmented' | 'own files'
  readonly clients: number
  readonly stripes: number
  /** Write size. */
  readonly bytes: number
  /** Factor by which the file and the dirty thresholds are smaller than in the paper. */
  readonly scale: number
  readonly costs?: Costs
}

/** Dirty thresholds of a node, scaled like the file. */
export const scaledLimits = (scale: number): { minDirtyBytes: number; maxDirtyBytes: number } => ({
  minDirtyBytes: (256 * MIB) / scale,
  maxDirtyBytes: (4096 * MIB) / scale,
})

/** One server per stripe. Times are of the smaller file. */
export function runIor(ior: Ior, seed: number): WriteRun {
  const { policy, pattern, clients, stripes, bytes, scale, costs } = ior
  const writes = Math.floor(FULL_BYTES / scale / bytes)
  const cluster = new Cluster({
    policy,
    clients,
    servers: stripes,
    seed,
    pages: 'cold',
    limits: scaledLimits(scale),
    ...(costs === undefined ? {} : { costs }),
  })
  return independent(cluster, {
    writes,
    bytes,
    file: { base: 0, stripes, stripeSize: MIB },
    ...(pattern === 'own files'
      ? { fileOf: (writer: number) => ({ base: writer * stripes, stripes, stripeSize: MIB }) }
      : {}),
    offsetOf: pattern === 'strided' ? strided(clients, bytes) : segmented(pattern === 'segmented' ? writes : 0, bytes),
  })
}
