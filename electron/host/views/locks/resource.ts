/** One resource of the locks view: the shown range, its lock lives and messages, its queue. */
import type { LocksFrame, LanesRange } from '#core/api/locks.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { ResourceId } from '#core/seqdlm/messages.ts'
import type { LockWorld, ResourceCounts, TraceReader } from '#core/seqdlm/trace/trace.ts'
import { earlyOf, queueOver, resourceFrame } from '../../../cluster/locks/resource-frame.ts'
import { chosenResource, fittingRange, longestQueueEnd } from './default-range.ts'

const LIVES_MAX = 400
const MESSAGES_MAX = 600
/** Longest look-back of a found range, and of storms. */
export const SIGHT_NS = 15 * NS_PER_S
const QUEUE_BINS = 300

/** Clock of the source: ns since its start, and Unix ms. */
export interface Clock {
  readonly toMs: (ns: number) => number
  readonly toNs: (ms: number) => number
}

export interface ResourceQuery {
  readonly selected: string
  readonly moment: LanesRange | null
  /** null: as the longest queue requires. */
  readonly spanMs: number | null
}

export function resourceAt(
  world: LockWorld,
  atNs: number,
  lastSecond: readonly ResourceCounts[],
  clock: Clock,
  query: ResourceQuery,
): LocksFrame['resource'] {
  const resource = chosenResource(world, atNs, query.selected)
  if (resource === undefined) return null
  const range = rangeAt(world.trace, resource, atNs, clock, query)
  return resourceFrame(world, resource, { ...range, livesMax: LIVES_MAX, messagesMax: MESSAGES_MAX }, clock.toMs, {
    isFound: query.moment === null,
    queue: queueAt(world, resource, atNs, clock),
    early: earlyOf(lastSecond.find((c) => c.resource === resource)),
  })
}

function rangeAt(
  trace: TraceReader,
  resource: ResourceId,
  atNs: number,
  clock: Clock,
  { moment, spanMs }: ResourceQuery,
): { readonly endNs: number; readonly spanNs: number } {
  const spanNs = Math.round((moment?.spanMs ?? spanMs ?? 0) * NS_PER_MS)
  // A requested range moves back with the cursor: nothing later than the cursor is shown.
  if (moment) return { endNs: Math.max(0, Math.min(atNs, clock.toNs(moment.endMs))), spanNs }
  return spanMs === null
    ? fittingRange(trace, resource, atNs)
    : { endNs: longestQueueEnd(trace, resource, atNs, spanNs), spanNs }
}

/** Queue from which a range is selected; a gap before the source began and beyond its memory. */
function queueAt(
  world: LockWorld,
  resource: number,
  atNs: number,
  clock: Clock,
): NonNullable<LocksFrame['resource']>['queue'] {
  const width = SIGHT_NS / QUEUE_BINS
  const bins = Math.min(QUEUE_BINS, Math.max(1, Math.floor(atNs / width)))
  return queueOver(world, resource, [Math.max(0, atNs - bins * width), atNs], bins, clock.toMs)
}
