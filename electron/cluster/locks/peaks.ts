/**
 * Convoys between two samples: a lock manager that works well dissolves one within milliseconds, and a look every 100 ms would
 * see none of them.
 */
import { NS_PER_MS } from '#core/base/units.ts'
import type { ResourceId } from '#core/seqdlm/messages.ts'
import type { TraceAlarm, TraceReader } from '#core/seqdlm/trace/trace.ts'

/** A queue shorter than this is no convoy, wherever it is looked at. */
const QUEUE_LEAST = 4
/** Resources with most conflicts that are looked at. */
const RIVALS = 4
const FINER = 50
/** The peak is looked for down to this, ns. */
const FINEST = NS_PER_MS / 1_000

export interface SeenAlarm {
  readonly alarm: TraceAlarm
  /** The source's instant at which it stood so. */
  readonly atNs: number
}

/** The worst convoys of [fromNs, toNs], each as it stood when most waited. */
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

/** The stretch, at most `FINEST` long, in which the queue was longest. */
function peakWithin(trace: TraceReader, resource: ResourceId, fromNs: number, toNs: number): [number, number] {
  let [from, width] = [fromNs, toNs - fromNs]
  while (width > FINEST) {
    const queue = trace.queue(resource, from, from + width, FINER)
    width /= FINER
    from += width * Math.max(0, queue.indexOf(Math.max(...queue)))
  }
  return [Math.floor(from), Math.ceil(from + width)]
}

function convoyAt(trace: TraceReader, resource: ResourceId, [fromNs, toNs]: [number, number]): SeenAlarm[] {
  // The queue may have grown or shrunk within so short a time, too.
  const seen = [fromNs, toNs].flatMap((atNs) =>
    trace
      .alarms(atNs)
      .filter((a) => a.kind === 'convoy' && a.resource === resource)
      .map((alarm) => ({ alarm, atNs })),
  )
  return seen.slice(-1)
}
