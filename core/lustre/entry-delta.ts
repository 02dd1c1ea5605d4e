/**
 * Identity of a job_stats entry between two readings, and its changes since.
 *
 * A server creates an entry with all counters at zero, never resets one, and gives it a start time in nanoseconds (2.15 and later). So
 * another start time, or a counter that decreased, means another entry: it was cleared, or it aged out and its job returned; then its
 * whole content is new. Fewer counters than before mean truncated text or a lost line: missing counters are assumed unchanged. Times of
 * the server's clock are never subtracted, because it may be set.
 */
import { amountSince, counterDelta, wasReset, mayContinue, type CounterDelta } from './counter-delta.ts'
import type { Counter } from './counter-line.ts'
import type { JobEntry } from './job-entry.ts'

export type Seen = Pick<JobEntry, 'startTime' | 'counters' | 'listed'>

/** True if `now` is a later reading of the same entry as `before`. */
export function continues(now: Seen, before: Seen): boolean {
  const isKnown = now.startTime !== undefined && before.startTime !== undefined
  if (isKnown && now.startTime !== before.startTime) return false
  const isCut = now.listed < before.listed
  for (const [name, old] of before.counters) {
    const c = now.counters.get(name)
    if (!c && isCut) continue
    if (!c || !mayContinue(c, old)) return false
    if (!isKnown && wasReset(c, old)) return false
  }
  return true
}

/** Returns the base for the next comparison: `now`, completed by the counters of `before` that it lacks. */
export function merged(now: Seen, before: Seen): Seen {
  if (now.listed >= before.listed) return now
  const startTime = now.startTime ?? before.startTime
  return { startTime, counters: new Map([...before.counters, ...now.counters]), listed: before.listed }
}

/**
 * Yields the counters of an entry that changed, with their previous values.
 *
 * @param before  the previous reading of the same entry; undefined if there is none, or if it was of another entry.
 */
export function* moved(now: Seen, before: Seen | undefined): Generator<[string, Counter, Counter | undefined]> {
  // If the previous reading was truncated, a missing counter's old value is unknown: its change is counted from this
  // reading on.
  const wasCut = before !== undefined && before.listed < now.listed
  for (const [name, c] of now.counters) {
    const base = before?.counters.get(name)
    if (base === undefined && wasCut) continue
    if (c !== base && amountSince(c, base, 'samples') > 0) yield [name, c, base]
  }
}

/** Returns the change of each counter of an entry since the previous reading; unchanged ones are omitted. */
export function entryDelta(now: Seen, last: Seen | undefined): Map<string, CounterDelta> {
  const before = last && continues(now, last) ? last : undefined
  const deltas = new Map<string, CounterDelta>()
  for (const [name, c, base] of moved(now, before)) deltas.set(name, counterDelta(c, base))
  return deltas
}
