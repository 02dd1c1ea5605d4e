/** Metadata QoS: control hierarchy, jobs and channels of one plane and scope. */
import type { MetadataFrame, PadllPlane } from '#core/api/padll.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import { emptyMetadata } from './empty.ts'
import { mdsFrame } from './mds.ts'
import { stagesFrame } from './stages.ts'
import { resolvePosition } from '../../position.ts'

export interface MetadataQuery {
  readonly at: number | null
  readonly windowMs: number
  /** Instant A of a comparison. */
  readonly againstMs?: number | null
  /** null: the first that the source has. */
  readonly plane: PadllPlane | null
  readonly scope: string
  readonly selected: string
  readonly filter?: string | undefined
}

/** Planes of a source: stages first, which show more. */
export const planesOf = (monitor: ClusterMonitor): PadllPlane[] => [
  ...(monitor.padll ? (['stages'] as const) : []),
  ...(monitor.metadata.hasServers ? (['mds'] as const) : []),
]

export function metadataFrame(monitor: ClusterMonitor, query: MetadataQuery, seq: number): MetadataFrame {
  const { sample, atMs } = resolvePosition(monitor, query.at)
  const planes = planesOf(monitor)
  const plane = planes.find((p) => p === query.plane) ?? planes[0] ?? null
  const head = { seq, sample, atMs, windowMs: query.windowMs, planes, plane }
  if (plane === 'stages' && monitor.padll) return stagesFrame(monitor, monitor.padll, head, query)
  if (plane === 'mds') return mdsFrame(monitor, head, query)
  return emptyMetadata(head, query.scope)
}
