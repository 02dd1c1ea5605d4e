/** Part of a kept convoy: the lives and messages of a shorter range, as known at its end. */
import type { LanesRange, LocksFrame } from '#core/api/locks.ts'

type Resource = NonNullable<LocksFrame['resource']>
type Gappy = (number | null)[]

/** Picks the entries of every column of a table. */
function picked<T extends Readonly<Record<string, readonly unknown[]>>>(table: T, kept: readonly number[]): T {
  return Object.fromEntries(
    Object.entries(table).map(([name, column]) => [name, kept.map((i) => column[i])]),
  ) as unknown as T
}

/**
 * @param range  requested range; null: all of the convoy. It is moved into the convoy where it is outside.
 */
export function narrowed(resource: Resource, range: LanesRange | null): Resource {
  const { moment } = resource
  const startMs = moment.endMs - moment.spanMs
  if (range === null) return resource
  const spanMs = Math.min(range.spanMs, moment.spanMs)
  const endMs = Math.min(moment.endMs, Math.max(startMs + spanMs, range.endMs))
  const fromMs = endMs - spanMs - startMs
  const toMs = fromMs + spanMs
  const { lives, messages } = resource
  const of = (column: readonly unknown[]): number[] => column.map((_, i) => i)
  const livesKept = of(lives.id).filter(
    (i) => (lives.asked[i] ?? 0) <= toMs && Math.max(lives.released[i] ?? Infinity, lives.dataAt[i] ?? 0) >= fromMs,
  )
  const messagesKept = of(messages.sent).filter(
    (i) => (messages.sent[i] ?? 0) <= toMs && (messages.arrived[i] ?? Infinity) >= fromMs,
  )
  // Steps after the end of the range are not known at it.
  const shifted = (column: Gappy): Gappy => column.map((v) => (v === null || v > toMs ? null : v - fromMs))
  const some = picked(lives, livesKept)
  const sent = picked(messages, messagesKept)
  return {
    ...resource,
    moment: { endMs, spanMs },
    lives: {
      ...some,
      asked: some.asked.map((v) => v - fromMs),
      granted: shifted(some.granted),
      canceling: shifted(some.canceling),
      released: shifted(some.released),
      dataAt: shifted(some.dataAt),
      downgradedAt: shifted(some.downgradedAt),
    },
    messages: { ...sent, sent: sent.sent.map((v) => v - fromMs), arrived: shifted(sent.arrived) },
  }
}
