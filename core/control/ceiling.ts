/**
 * Effective ceiling of a rate on a cluster, as sentence and figures.
 *
 * Source: spec/lustre 2.5: a rate applies per class, on each CPT that its RPCs reach, on each queue, on each server. A client sits on one
 * CPT, so a class of one NID has one; a job's RPCs come from many clients and reach all of them (measured B6).
 */
import type { Field } from '../tbf/request-key.ts'
import type { RpcSize } from './rpc-size.ts'
import { byteRate, size, type Figure, type Sentence } from './sentence.ts'

export interface CeilingOptions {
  /** RPC/s per class. */
  readonly rate: number
  /** CPTs of one server. */
  readonly cpts: number
  readonly servers: number
  /** Queues that the rule is on: 1 or 2. */
  readonly queues: number
  /** Expected classes on one CPT, one queue, one server. @default 1 */
  readonly classes?: number | undefined
  /** Fields of the TBF type. */
  readonly fields: readonly Field[]
  /** Bytes of one RPC, if known for the job. */
  readonly rpcSize?: RpcSize | undefined
  /** Mean RPC/s served. */
  readonly now?: number | undefined
  /** Kind of server. @default OSS */
  readonly server?: 'OSS' | 'MDS' | undefined
}

export interface Ceiling {
  /** Most RPC/s that one class reaches, over CPTs, queues and servers. */
  readonly perClass: number
  /** The same for all classes. */
  readonly total: number
  /** Most bytes/s; equal bounds if the size of an RPC is known. */
  readonly bytesPerSec: { readonly lower: number; readonly upper: number } | undefined
  readonly sentence: Sentence
}

/** CPTs reached by the RPCs of one class. */
export const cptsReached = (fields: readonly Field[], cpts: number): number => (fields.includes('nid') ? 1 : cpts)

function bytesPart(total: number, { lower, upper }: RpcSize): (string | Figure)[] {
  if (lower === upper) return [', about ', byteRate(total * upper), " at this job's ", size(upper)]
  const least = byteRate(total * lower)
  const most = byteRate(total * upper)
  const from: (string | Figure)[] = least.unit === most.unit ? [{ ...least, unit: '' }] : [least]
  const between = [', ', ...from, ' to ', most, " at this job's "]
  const small = size(lower)
  const large = size(upper)
  return [...between, ...(small.unit === large.unit ? [{ ...small, unit: '' }] : [small]), ' to ', large]
}

/**
 * The effective ceiling of a rule, for example `400 RPC/s × 4 CPT × 12 OSS = up to 19 200 RPC/s, about 5.0 GB/s at this job's
 * 256 KiB. Mean rate 61 904 RPC/s.`
 */
export function ceiling(options: CeilingOptions): Ceiling {
  const { rate, servers, queues, classes = 1, fields, rpcSize, now, server = 'OSS' } = options
  const cpts = cptsReached(fields, options.cpts)
  const perClass = rate * cpts * queues * servers
  const total = perClass * classes
  const factors = [
    { value: classes, unit: 'classes' },
    { value: cpts, unit: 'CPT' },
    { value: queues, unit: 'queues' },
    { value: servers, unit: server },
  ].filter((f) => f.value !== 1)
  const sentence: (string | Figure)[] = []
  if (factors.length > 0) {
    sentence.push({ value: rate, unit: 'RPC/s' })
    for (const f of factors) sentence.push(' × ', f)
    sentence.push(' = up to ')
  } else sentence.push('Up to ')
  sentence.push({ value: total, unit: 'RPC/s' })
  if (rpcSize) sentence.push(...bytesPart(total, rpcSize))
  sentence.push('.')
  if (now !== undefined) sentence.push(' Mean rate ', { value: Math.round(now), unit: 'RPC/s' }, '.')
  const bytesPerSec = rpcSize && { lower: total * rpcSize.lower, upper: total * rpcSize.upper }
  return { perClass, total, bytesPerSec, sentence }
}
