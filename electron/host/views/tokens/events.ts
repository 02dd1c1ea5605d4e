/** What the monitor of a data node told, newest first, in words. */
import type { TokensFrame } from '#core/api/tokens.ts'
import type { DataNodeRun } from '#core/emulator/data-node.ts'
import type { MonitorEvent } from '#core/haechi/monitor-events.ts'
import type { Place } from './place.ts'

type Event = TokensFrame['events'][number]

const MOST = 60
const ALERTS = {
  'local-capacity-risk': 'cannot finish its reservation at what one client can do',
  overcommitted: 'reservations are over the capacity as estimated',
  'bad-report': 'a report was not believed',
  'over-reservation': 'uses less than it reserved, period after period',
  'silent-client': 'does not report any more',
} as const

function wordsOf(e: MonitorEvent): Omit<Event, 'atMs' | 'client'> {
  switch (e.kind) {
    case 'period':
      return { kind: 'period', level: 'idle', text: `epoch ${e.epoch} begins, ${e.pool} tokens in the pool` }
    case 'start-report':
      return { kind: 'report', level: 'idle', text: 'the pool was drawn from: clients are asked to report' }
    case 'conversion': {
      const raced = e.races === 0 ? '' : `, ${e.races} ${e.races === 1 ? 'fetch' : 'fetches'} came between`
      return {
        kind: 'conversion',
        level: 'idle',
        text: `pool ${e.from} to ${e.to}, ${e.residual} left to clients${raced}`,
      }
    }
    case 'estimate':
      return {
        kind: 'estimate',
        level: 'idle',
        text: `${e.used} used: estimate ${e.action === 'off' ? 'off' : e.action}, ${e.omega}`,
      }
    case 'alert':
      return { kind: 'alert', level: 'watch', text: `${ALERTS[e.alert]}${e.what === '' ? '' : `: ${e.what}`}` }
    case 'admitted':
      return { kind: 'client', level: 'idle', text: 'admitted' }
    case 'left':
      return { kind: 'client', level: 'idle', text: 'left' }
  }
}

const clientOf = (run: DataNodeRun, e: MonitorEvent): string =>
  'client' in e && e.client >= 0 ? (run.clients[e.client]?.name ?? '') : ''

/** Events up to the cursor. Conversions come every check: the newest alone is told. */
export function eventsOf({ run, atNs }: Place, toMs: (ns: number) => number): Event[] {
  const told: Event[] = []
  let hasConversion = false
  const items = run.node.events.items
  for (let i = items.length - 1; i >= 0 && told.length < MOST; i--) {
    const e = items[i]
    if (!e || e.at > atNs) continue
    if (e.kind === 'conversion') {
      if (hasConversion) continue
      hasConversion = true
    }
    told.push({ atMs: toMs(e.at), client: clientOf(run, e), ...wordsOf(e) })
  }
  for (const m of run.marks) {
    if (m.atNs > atNs) continue
    told.push({
      atMs: toMs(m.atNs),
      kind: m.kind,
      level: m.kind === 'refused' ? 'watch' : 'idle',
      client: m.client,
      text: m.text,
    })
  }
  return told.sort((a, b) => b.atMs - a.atMs).slice(0, MOST)
}
