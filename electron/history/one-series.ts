/** Samples of one job or target over a span: for reports, tests and text export. */
import type { TierId } from '#core/api/history.ts'
import { JOB_COLUMNS, type Block, type HistoryReader } from './reader.ts'

export interface JobRow {
  readonly atMs: number
  readonly rpcs: number | null
  readonly record: number | null
}

export interface TargetRow {
  readonly atMs: number
  readonly rpcs: number | null
  readonly serviceMs: number | null
  readonly queued: number | null
}

const RPCS = JOB_COLUMNS.indexOf('rpcs')
const RECORD = JOB_COLUMNS.indexOf('record')
const REST = JOB_COLUMNS.indexOf('recordRest')

/** null for a gap. */
export const gappy = (v: number | undefined): number | null => (v === undefined || Number.isNaN(v) ? null : v)

/** Position of a key in a block; -1 if absent. */
export function positionOf(keys: Uint32Array, key: number): number {
  let low = 0
  let high = keys.length - 1
  while (low <= high) {
    const mid = (low + high) >> 1
    const at = keys[mid] as number
    if (at === key) return mid
    if (at < key) low = mid + 1
    else high = mid - 1
  }
  return -1
}

/** Exact record of a job; null for a gap. */
export const recordAt = (block: Block, i: number): number | null => {
  const lead = block.columns[RECORD]?.[i]
  return gappy(lead === undefined ? undefined : lead + (block.columns[REST]?.[i] ?? 0))
}

export function jobRows(reader: HistoryReader, jobId: string, tier: TierId, fromMs: number, toMs: number): JobRow[] {
  const key = reader.jobByName(jobId)?.key
  const out: JobRow[] = []
  if (key === undefined) return out
  for (const b of reader.jobsBetween(tier, fromMs, toMs)) {
    const i = positionOf(b.keys, key)
    if (i >= 0) out.push({ atMs: b.atMs, rpcs: gappy(b.columns[RPCS]?.[i]), record: recordAt(b, i) })
  }
  return out
}

export function targetRows(
  reader: HistoryReader,
  name: string,
  tier: TierId,
  fromMs: number,
  toMs: number,
): TargetRow[] {
  const key = reader.allTargets().find((t) => t.target === name)?.key
  const out: TargetRow[] = []
  if (key === undefined) return out
  for (const b of reader.targetsBetween(tier, fromMs, toMs)) {
    const i = positionOf(b.keys, key)
    if (i < 0) continue
    const [rpcs, serviceMs, queued] = b.columns.map((c) => gappy(c[i]))
    out.push({ atMs: b.atMs, rpcs: rpcs ?? null, serviceMs: serviceMs ?? null, queued: queued ?? null })
  }
  return out
}
