/**
 * Convoys between two samples: a healthy lock manager dissolves one within milliseconds, and a sample every 100 ms
 * would miss them all.
 */
import { NS_PER_MS } from '#core/base/units.ts'
import type { ResourceId } from '#core/seqdlm/messages.ts'
import type { TraceAlarm, TraceReader } from '#core/seqdlm/trace/trace.ts'

/** A shorter queue is no convoy. */
const QUEUE_LEAST = 4
/** Number of resources with most conflicts that are checked. */
const RIVALS = 4
const FINER = 50
/** Resolution of the search for a peak, ns. */
const FINEST = NS_PER_MS / 1_000

export interface SeenAlarm {
  readonly alarm: TraceAlarm
  /** Time of the alarm on the source's clock. */
  readonly atNs: number
}

/** Worst convoys of [fromNs, toNs], each at the time when most requests waited. */
export function convoysBetween(trace: TraceReader, fromNs: number, toNs: number): SeenAlarm[] {
  if (!(toNs > fromNs)) return []
  return trace
    .resources(toNs, toNs - fromNs)
    .filter((c) => c.conflicts >= QUEUE_LEAST)
    .sort((a, b) => b.conflicts - a.conflicts || a.resource - b.resource)
    .slice(0, RIVALS)
    .map(({ resource }) => ({ resource, waiting: Math.max(...trace.queue(resource, fromNs, toNs, 1)) }))
    .filter((r) => r.waiting >= QUEUE_LEAST)
    .flatMap(({ resource }) => convoyAt(trace, resource, peakWithin(trace, resource, fromNs, toNs)))
}

/** Range of at most `FINEST` in which the queue was longest. */
function peakWithin(trace: TraceReader, resource: ResourceId, fromNs: number, toNs: number): [number, number] {
  let from = fromNs
  let width = toNs - fromNs
  while (width > FINEST) {
    const queue = trace.queue(resource, from, from + width, FINER)
    width /= FINER
    from += width * Math.max(0, queue.indexOf(Math.max(...queue)))
  }
  return [Math.floor(from), Math.ceil(from + width)]
}

function convoyAt(trace: TraceReader, resource: ResourceId, [fromNs, toNs]: [number, number]): SeenAlarm[] {
  // The queue may change even within so short a range.
  const seen = [fromNs, toNs].flatMap((atNs) =>
    trace
      .alarms(atNs)
      .filter((a) => a.kind === 'convoy' && a.resource === resource)
      .map((alarm) => ({ alarm, atNs })),
  )
  return seen.slice(-1)
}
