/** Events of the node for the inspector: newest first, by kind. */
import type { Level } from '#core/api/parts.ts'
import type { TokensFrame } from '#core/api/tokens.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatClock } from '../../format/units.ts'

export interface EventRow {
  readonly id: string
  readonly at: string
  readonly kind: string
  readonly level: Level
  readonly client: string
  readonly text: string
}
/** Most rows that are rendered. */
export const EVENTS_MOST = 200

const eventOf = (event: TokensFrame['events'][number], i: number): EventRow => ({
  id: `${event.atMs} ${i}`,
  at: formatClock(event.atMs, true, 3),
  kind: plainText(event.kind),
  level: event.level,
  client: plainText(event.client),
  text: plainText(event.text),
})

/** @param kind  kind to list; empty for all. */
export function eventRows(events: TokensFrame['events'], kind: string): { rows: readonly EventRow[]; more: number } {
  const wanted = events
    .map((event, i) => ({ event, i }))
    .filter(({ event }) => kind === '' || plainText(event.kind) === kind)
    .sort((a, b) => b.event.atMs - a.event.atMs || b.i - a.i)
  return {
    rows: wanted.slice(0, EVENTS_MOST).map(({ event, i }) => eventOf(event, i)),
    more: Math.max(0, wanted.length - EVENTS_MOST),
  }
}

/** Kinds that occur, by name, each with its count. */
export function eventKinds(events: TokensFrame['events']): { kind: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { kind } of events) counts.set(plainText(kind), (counts.get(plainText(kind)) ?? 0) + 1)
  return [...counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1))
}

/** Number of events of level watch or bad. */
export const loudEvents = (events: TokensFrame['events']): number =>
  events.filter(({ level }) => level === 'bad' || level === 'watch').length
