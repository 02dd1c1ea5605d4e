import { describe, expect, it } from 'vitest'
import { timeText, plotTime, plotX, roundStep, timeTicks, waitText } from './axis.ts'
import { graphOf } from './graph.ts'
import { barAt } from './lane-draw.ts'
import { barBox, layLanes } from './lane-layout.ts'
import { livesOf, rangeText, type Life } from './lock-lifetimes.ts'
import { messageAt, messagesOf, stayMs } from './replay.ts'
import {
  clientsOf,
  livesOf as columnsOf,
  messagesOf as messageColumns,
  resourceOf,
  SCHEDULE,
  SPAN_MS,
} from '#tests/kits/renderer/views/locks-host.ts'
import { resourceStateAt } from './resource-state.ts'

const clients = clientsOf(8)
const lives = livesOf({ lives: columnsOf(SCHEDULE), clients })
const plot = { width: 716, left: 46, spanMs: SPAN_MS }

describe('the time axis', () => {
  it('goes there and back, and keeps what is outside at its ends', () => {
    for (const t of [0, 31.4, 60]) expect(plotTime(plot, plotX(plot, t))).toBeCloseTo(t)
    expect(plotTime(plot, 0)).toBe(0)
    expect(plotTime(plot, 9999)).toBe(60)
  })
  it('has round ticks with the unit once', () => {
    expect(timeTicks(60).map((t) => t.text)).toEqual(['0 ms', '10', '20', '30', '40', '50', '60'])
    expect(timeTicks(1000).map((t) => t.text)).toEqual(['0 s', '0.2', '0.4', '0.6', '0.8', '1.0'])
    expect(timeTicks(0.5)[0]?.text).toBe('0 \u00B5s')
    expect(roundStep(17, 4)).toBe(5)
  })
  it('formats times and waits with the digits that they need', () => {
    expect([timeText(31.42, 60), timeText(3.142, 5), timeText(314.2, 1000)]).toEqual(['31.4 ms', '3.14 ms', '314 ms'])
    expect([waitText(0.038), waitText(6.94), waitText(180.2)]).toEqual(['38 \u00B5s', '6.9 ms', '180 ms'])
    expect([rangeText(0, 65_535), rangeText(4096, null)]).toEqual(['0 .. 65\u202F535', '4\u202F096 .. EOF'])
  })
})

describe('lanes', () => {
  const layout = layLanes(lives, clients, SPAN_MS, 320)
  it('are one a client in order of number, each bar in the lane of its client', () => {
    expect(layout.lanes.map((l) => l.name)).toEqual(clients.map((c) => c.name))
    for (const bar of layout.bars) expect(layout.lanes[bar.lane]?.client).toBe(bar.life.client)
  })
  it('put locks of one client that live at once into rows of their own', () => {
    for (const a of layout.bars)
      for (const b of layout.bars) {
        if (a === b || a.lane !== b.lane || a.row !== b.row) continue
        expect((a.life.ended ?? Infinity) <= b.life.requested || (b.life.ended ?? Infinity) <= a.life.requested).toBe(
          true,
        )
      }
  })
  it('leave out locks without events, and list them', () => {
    const idle: Life = { ...(lives[0] as Life), id: 7, requested: -900, granted: -899, canceling: null, ended: null }
    const with7 = layLanes([...lives, idle], clients, SPAN_MS, 320)
    expect(with7.bars.some((b) => b.life.id === 7)).toBe(false)
    expect(with7.lanes[0]?.cached.map((l) => l.id)).toEqual([7])
  })
  it('find the bar under a point', () => {
    const bar = layout.bars.find((b) => b.life.sn === 4130)
    const lane = layout.lanes[bar?.lane ?? -1]
    if (!bar || !lane) throw new Error('no bar')
    const picture = { plot, layout, scrollTop: 0, height: 320, pointed: null }
    const box = barBox(lane, bar.row)
    expect(barAt(picture, plotX(plot, 25), box.y + box.height / 2)?.life.sn).toBe(4130)
    expect(barAt(picture, plotX(plot, 1), box.y + box.height / 2)).toBeNull()
  })
  it('of 64 clients with many locks each are laid in bounded height', () => {
    const many = Array.from({ length: 64 }, (_, c) =>
      lives.map((l, i) => ({ ...l, id: c * 100 + i, client: c + 1 })),
    ).flat()
    const all = layLanes(many, clientsOf(64), SPAN_MS, 320)
    expect(all.lanes).toHaveLength(64)
    expect(all.lanes.every((l) => l.rows <= 8)).toBe(true)
  })
})

describe('the graph', () => {
  it('joins waiters to what they wait for, the oldest in amber and drawn last', () => {
    const graph = graphOf(resourceStateAt(lives, 33))
    expect(graph.holders.map((h) => h.isHot)).toEqual([true])
    expect(graph.edges.at(-1)).toMatchObject({ isHot: true, isDashed: false })
    expect(graph.edges.filter((e) => e.isDashed)).toHaveLength(3)
  })
  it('of many shows five a side, those in the way of the oldest first, and counts the rest', () => {
    const holder = (id: number): Life => ({
      ...(lives[0] as Life),
      id,
      requested: 0,
      granted: id / 100,
      canceling: null,
      ended: null,
    })
    const held = Array.from({ length: 40 }, (_, i) => holder(i + 1))
    const waiter = (id: number): Life => ({
      ...holder(id),
      requested: 2,
      granted: null,
      behind: [{ id: 37, until: 'release' }],
    })
    const graph = graphOf(resourceStateAt([...held, ...Array.from({ length: 9 }, (_, i) => waiter(100 + i))], 5))
    expect(graph.holders.filter((h) => h.isHot).map((h) => h.held.life.id)).toEqual([37])
    expect([graph.holders.length, graph.moreHolders, graph.waiters.length, graph.moreWaiters]).toEqual([4, 36, 5, 4])
  })
})

describe('messages', () => {
  const messages = messagesOf(messageColumns(SCHEDULE), clients, lives)
  it('know their client, its lane and the life they are about', () => {
    const grant = messages.find((m) => m.kind === 'lock-grant' && m.life?.sn === 4130)
    expect(grant).toMatchObject({ client: 'c06', lane: 5, isUp: false })
  })
  it('are found by an instant: the last one sent', () => {
    expect(messageAt(messages, -1)).toBe(-1)
    expect(messageAt(messages, messages[4]?.sent ?? 0)).toBeGreaterThanOrEqual(4)
    expect(messageAt(messages, SPAN_MS)).toBe(messages.length - 1)
  })
  it('last as long as they took, slowed down; idle times are cut; in equal steps all last the same', () => {
    const at = (sent: number) => ({ ...messages[0]!, sent })
    const three = [at(0), at(0.5), at(40)]
    expect(stayMs(three, 0, 1000)).toBe(500)
    expect(stayMs(three, 1, 1000)).toBe(1600)
    expect(stayMs(three, 0, 100)).toBe(50)
    expect(stayMs(three, 0, 'step')).toBe(stayMs(three, 1, 'step'))
  })
  it('of an unknown client have no lane', () => {
    const { messages: columns } = resourceOf()
    expect(messagesOf({ ...columns, client: columns.client.map(() => 99) }, clients, lives)[0]).toMatchObject({
      client: '?',
      lane: -1,
    })
  })
})
