import { describe, expect, it } from 'vitest'
import type { Mark } from '#core/api/history.ts'
import { EventLog } from '../cluster/state/event-log.ts'
import { mainEvents } from './main-events.ts'

const event = (atMs: number, kind: Mark['kind'] = 'alarm'): Mark => ({
  atMs,
  kind,
  level: 'watch',
  subject: kind,
  text: `${kind} ${atMs}`,
  where: '',
})
const times = (marks: readonly Mark[]): number[] => marks.map(({ atMs }) => atMs)

describe('events where there are more than are shown', () => {
  it('keep those of operators, and are otherwise the newest', () => {
    const all = [event(9), event(8), event(7), event(6), event(2, 'change'), event(1, 'note')]
    expect(times(mainEvents(all, 4))).toEqual([9, 8, 2, 1])
    expect(times(mainEvents(all, 6))).toEqual([9, 8, 7, 6, 2, 1])
  })

  it('are not only those of operators', () => {
    const all = [event(9), ...[8, 7, 6, 5, 4].map((at) => event(at, 'change')), event(3)]
    expect(times(mainEvents(all, 4))).toEqual([9, 8, 7, 6])
  })
})

describe('the event log', () => {
  it('returns a commit of rules although many alerts followed', () => {
    const log = new EventLog()
    log.add(event(1, 'change'))
    for (let i = 2; i < 400; i++) log.add(event(i))
    expect(times(log.between(-Infinity, Infinity, 60)).at(-1)).toBe(1)
    expect(log.between(-Infinity, Infinity, 60)).toHaveLength(60)
  })

  it('keeps a commit of rules although its memory is full of alerts', () => {
    const log = new EventLog()
    log.add(event(1, 'change'))
    for (let i = 2; i < 9_000; i++) log.add(event(i))
    const all = log.between(-Infinity, Infinity, 10_000)
    expect(all.length).toBeLessThanOrEqual(2_000)
    expect(times(all).at(-1)).toBe(1)
    expect(times(all)).toEqual(times(all).toSorted((a, b) => b - a))
  })
})
