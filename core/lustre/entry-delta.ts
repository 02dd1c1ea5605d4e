/**
 * Whether an entry of job_stats is the one that was read before, and what it did since.
 *
 * A server makes an entry with all counters at zero, never sets one back, and gives it a start time to the nanosecond
 * (2.15 and later). So another start time, or a counter that shrank, means another entry: somebody cleared it, or it aged out
 * and its job came back; then all it shows is new. Fewer counters than before mean a text cut off or a line lost: what is
 * missing stood still, as far as is known. Times of the server's clock are never subtracted: it may be set.
 */
import { amountSince, counterDelta, isAnother, mayContinue, type CounterDelta } from './counter-delta.ts'
import type { Counter } from './counter-line.ts'
import type { JobEntry } from './job-entry.ts'

export type Seen = Pick<JobEntry, 'startTime' | 'counters' | 'listed'>

/** Whether `now` goes on where `before` stood. */
export function continues(now: Seen, before: Seen): boolean {
  const isKnown = now.startTime !== undefined && before.startTime !== undefined
  if (isKnown && now.startTime !== before.startTime) return false
  const isCut = now.listed < before.listed
  for (const [name, old] of before.counters) {
    const c = now.counters.get(name)
    if (!c && isCut) continue
    if (!c || !mayContinue(c, old)) return false
    if (!isKnown && isAnother(c, old)) return false
  }
  return true
}

/** What the next reading is compared with: `now`, and what it lacks of `before`. */
export function merged(now: Seen, before: Seen): Seen {
  if (now.listed >= before.listed) return now
  const startTime = now.startTime ?? before.startTime
  return { startTime, counters: new Map([...before.counters, ...now.counters]), listed: before.listed }
}

/**
 * The counters of an entry that moved, with what they stood at before.
 *
 * @param before  the entry as it was, which `now` continues; undefined for another one.
 */
export function* moved(now: Seen, before: Seen | undefined): Generator<[string, Counter, Counter | undefined]> {
  // Where the reading before was cut off, what a counter stood at then is not known: it begins now.
  const wasCut = before !== undefined && before.listed < now.listed
  for (const [name, c] of now.counters) {
    const base = before?.counters.get(name)
    if (base === undefined && wasCut) continue
    if (c !== base && amountSince(c, base, 'samples') > 0) yield [name, c, base]
  }
}

/** What each counter of an entry did since the reading before; only those that moved. */
export function entryDelta(now: Seen, last: Seen | undefined): Map<string, CounterDelta> {
  const before = last && continues(now, last) ? last : undefined
  const deltas = new Map<string, CounterDelta>()
  for (const [name, c, base] of moved(now, before)) deltas.set(name, counterDelta(c, base))
  return deltas
}
