/**
 * Comparison with instant A in frames of locks, metadata and tokens, live and past. A is read from rows: memory has the locks of
 * the last seconds only.
 */
import type { LocksFrame } from '#core/api/locks.ts'
import type { MetadataFrame } from '#core/api/padll.ts'
import type { TokensFrame } from '#core/api/tokens.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import { lockValuesAt } from './locks.ts'
import { metadataValuesAt } from './metadata.ts'
import { tokenValuesAt } from './tokens.ts'

/** Rows in which A is searched. */
export interface RowsBefore {
  /** undefined: nothing is kept yet. */
  readonly reader: HistoryReader | undefined
  /** Period of the source, ms. */
  readonly stepMs: number
}
interface Query {
  readonly againstMs?: number | null
}

const headOf = (a: { readonly atMs: number } | undefined) => ({ against: a ? { atMs: a.atMs } : null })
const isOff = (ms: number | null | undefined): ms is null | undefined => ms === null || ms === undefined

export function comparedLocks(frame: LocksFrame, { againstMs }: Query, { reader, stepMs }: RowsBefore): LocksFrame {
  if (isOff(againstMs)) return frame
  const a = reader && lockValuesAt(reader, againstMs, stepMs)
  if (!a) return { ...frame, ...headOf(a) }
  const rows = frame.rows.name.map(a.of)
  const against = {
    waiting: rows.map((r) => r?.waiting ?? null),
    conflicts: rows.map((r) => r?.conflicts ?? null),
  }
  return { ...frame, ...headOf(a), rows: { ...frame.rows, against } }
}

export function comparedMetadata(
  frame: MetadataFrame,
  { againstMs, selected }: Query & { readonly selected: string },
  { reader, stepMs }: RowsBefore,
): MetadataFrame {
  if (isOff(againstMs)) return frame
  const a =
    reader && frame.plane && metadataValuesAt(reader, { atMs: againstMs, stepMs }, frame.plane, frame.scope, selected)
  if (!a) return { ...frame, ...headOf(undefined) }
  const channels = frame.channels.key.map(a.channel)
  return {
    ...frame,
    ...headOf(a),
    tree: { ...frame.tree, against: frame.tree.key.map(a.tree) },
    jobs: { ...frame.jobs, against: frame.jobs.jobId.map((jobId) => (jobId === '' ? null : a.job(jobId))) },
    channels: {
      ...frame.channels,
      against: { limit: channels.map((c) => c.limit), measured: channels.map((c) => c.measured) },
    },
  }
}

export function comparedTokens(frame: TokensFrame, { againstMs }: Query, { reader, stepMs }: RowsBefore): TokensFrame {
  if (isOff(againstMs)) return frame
  const a = reader && tokenValuesAt(reader, { atMs: againstMs, stepMs }, frame.node)
  if (!a) return { ...frame, ...headOf(a) }
  return { ...frame, ...headOf(a), clients: { ...frame.clients, against: frame.clients.name.map(a.iops) } }
}
