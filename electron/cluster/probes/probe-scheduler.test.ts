import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import type { ClusterSource, NodeConnection, NodeRole } from '../../base/connection.ts'
import { ProbeScheduler } from './probe-scheduler.ts'
import { POINT_MS } from './cost-store.ts'
import { parseShellCpu } from './shell-cpu.ts'

const node = (role: NodeRole): NodeConnection => ({
  host: role,
  roles: [role],
  exec: () => Promise.reject(new Error('nothing is sent')),
})
const source = {
  kind: 'LIVE',
  cluster: 'c',
  maxRate: 1,
  periodNs: NS_PER_S,
  nodes: [node('oss'), node('scheduler')],
  nowNs: () => 0,
  toUnixMs: (ns: number) => ns / 1e6,
} as const satisfies ClusterSource

/** Advances by points of five seconds in which each probe costs so many bytes per reading at its own interval. */
function pass(board: ProbeScheduler, points: number, bytes: number, from = { ms: 0 }): void {
  for (let i = 0; i < points; i++) {
    board.advance(from.ms, from.ms)
    const runs = POINT_MS / 1000 / board.everyS('job_stats')
    board.costs.add('job_stats', bytes * runs, 3 * runs)
    board.costs.add('rules', 200 * 5, 1)
    from.ms += POINT_MS
  }
  board.advance(from.ms, from.ms)
}

describe('the budget of probes', () => {
  it('slows down the most expensive probe, with a note, and speeds it up when there is room', () => {
    const board = new ProbeScheduler(source)
    const clock = { ms: 0 }
    pass(board, 40, 350_000, clock)
    const of = (id: string) => board.list.find((p) => p.id === id)
    expect(of('job_stats')?.everyS).toBe(4)
    expect(of('job_stats')?.note).toMatch(
      /^throttled: all probes together used \d+ KB\/s, over the budget of 100 KB\/s$/,
    )
    expect(of('rules')).toMatchObject({ everyS: 1, note: '' })
    const total = board.list.reduce((n, p) => n + p.bytesPerSec, 0)
    expect(total).toBeLessThanOrEqual(board.budgetBytesPerSec)
    pass(board, 40, 5000, clock)
    expect(of('job_stats')).toMatchObject({ everyS: 1, note: '' })
  })

  it('makes nothing slower than a minute, and nothing that is enforced', () => {
    const board = new ProbeScheduler(source)
    pass(board, 200, 1e9)
    expect(board.everyS('job_stats')).toBe(60)
    const held = new ProbeScheduler(source, { isHeld: (id) => id === 'job_stats' })
    pass(held, 40, 1e9)
    expect(held.everyS('job_stats')).toBe(1)
  })

  it('keeps an hour, and a stretch without readings is a gap', () => {
    const board = new ProbeScheduler(source)
    pass(board, 1000, 1000)
    expect(board.series.t).toHaveLength(720)
    board.advance(1000 * POINT_MS + POINT_MS, 0)
    board.advance(1000 * POINT_MS + 2 * POINT_MS, 0)
    expect(board.series.bytesPerSec.at(-1)).toBeNull()
    expect(board.series.bytesPerSec.at(-3)).toBeCloseTo(1200)
  })
})

describe('when a probe is due', () => {
  it('follows its interval on each server, late ticks included', () => {
    const board = new ProbeScheduler(source)
    const due = [0, 1, 2.1, 3, 4.7, 5.2, 6, 9.9].filter((s) => board.takeDue('ldlm', 'a', s * NS_PER_S))
    expect(due).toEqual([0, 4.7, 9.9])
    expect(board.takeDue('ldlm', 'b', 9.9 * NS_PER_S)).toBe(true)
    board.set('ldlm', false)
    expect(board.takeDue('ldlm', 'c', 0)).toBe(false)
  })

  it('can be hurried, but not to be asked without end', () => {
    const board = new ProbeScheduler(source)
    const requests: number[] = []
    for (let s = 0; s < 30; s++) {
      if (board.takeDue('batch', 'a', s * NS_PER_S)) requests.push(s)
      board.hurry('batch', 'a', s * NS_PER_S, 5)
    }
    expect(requests).toEqual([0, 5, 10, 15, 20, 25])
  })
})

describe('parseShellCpu', () => {
  it('reads what the kernel prints, a name of any kind included', () => {
    const text = `4711 (s) (h) S 1 4711 4711 0 -1 4194304 900 80000 0 0 2 3 40 5 20 0 1 0 1 2 3 4\n`
    expect(parseShellCpu(text)).toEqual({ pid: 4711, ms: 500 })
    for (const other of ['', 'sh: cannot open', '1 (sh) S 1', `x${text}`]) expect(parseShellCpu(other)).toBeUndefined()
  })
})
