/**
 * Finds convoys between two samples in the trace: a healthy lock manager dissolves a convoy within milliseconds, so
 * samples every 100 ms miss them.
 */
import { NS_PER_MS } from '#core/base/units.ts'
import type { ResourceId } from '#core/seqdlm/messages.ts'
import type { TracedCondition, TraceReader } from '#core/seqdlm/trace/trace.ts'

/** Most resources checked: those with most conflicts. */
const RESOURCES_MAX = 4
/** Parts that a range is divided into in each step of the search. */
const PARTS = 50
/** Resolution of the search for a peak, ns. */
const FINEST = NS_PER_MS / 1_000

export interface SeenCondition {
  readonly condition: TracedCondition
  /** Time of the condition on the source's clock. */
  readonly atNs: number
}

/** Worst convoys of [fromNs, toNs], each at the time when most requests waited. */
export function convoysBetween(trace: TraceReader, fromNs: number, toNs: number): SeenCondition[] {
  if (!(toNs > fromNs)) return []
  return trace
    .resources(toNs, toNs - fromNs)
    .filter((c) => c.conflicts >= trace.convoyWaiting)
    .sort((a, b) => b.conflicts - a.conflicts || a.resource - b.resource)
    .slice(0, RESOURCES_MAX)
    .map(({ resource }) => ({ resource, waiting: Math.max(...trace.queue(resource, fromNs, toNs, 1)) }))
    .filter((r) => r.waiting >= trace.convoyWaiting)
    .flatMap(({ resource }) => convoyAt(trace, resource, peakWithin(trace, resource, fromNs, toNs)))
}

/** Range of at most `FINEST` in which the queue was longest. */
function peakWithin(trace: TraceReader, resource: ResourceId, fromNs: number, toNs: number): [number, number] {
  let from = fromNs
  let width = toNs - fromNs
  while (width > FINEST) {
    const queue = trace.queue(resource, from, from + width, PARTS)
    width /= PARTS
    from += width * Math.max(0, queue.indexOf(Math.max(...queue)))
  }
  return [Math.floor(from), Math.ceil(from + width)]
}

function convoyAt(trace: TraceReader, resource: ResourceId, [fromNs, toNs]: [number, number]): SeenCondition[] {
  // The queue may change even within so short a range.
  const seen = [fromNs, toNs].flatMap((atNs) =>
    trace
      .conditions(atNs)
      .filter((a) => a.kind === 'convoy' && a.resource === resource)
      .map((condition) => ({ condition, atNs })),
  )
  return seen.slice(-1)
}
