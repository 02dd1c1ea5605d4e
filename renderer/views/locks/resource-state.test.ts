import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { livesOf, modeAt, phaseAt, type Life } from './lock-lifetimes.ts'
import { clientsOf, livesOf as columnsOf, SCHEDULE, SPAN_MS } from '#tests/kits/renderer/views/locks-host.ts'
import {
  countsOf,
  explain,
  factsOf,
  heldAt,
  nextStep,
  peakOf,
  queueSteps,
  resourceStateAt,
  stepsOf,
} from './resource-state.ts'

const lives = livesOf({ lives: columnsOf(SCHEDULE), clients: clientsOf(8) })
const life = (patch: Partial<Life>): Life => ({ ...(lives[0] as Life), behind: [], ...patch })
const names = (list: readonly { life: Life }[]): string[] => list.map((x) => x.life.name)

describe('a life at an instant', () => {
  const one = life({
    requested: 1,
    granted: 3,
    canceling: 5,
    ended: 9,
    requestedMode: 'BW',
    mode: 'PW',
    downgradedAt: 6,
    downgradedTo: 'NBW',
  })
  it('waits from its request on, and each step counts from its very instant', () => {
    expect([0.9, 1, 2.9, 3, 5, 8.9, 9].map((t) => phaseAt(one, t))).toEqual([
      'future',
      'waiting',
      'waiting',
      'granted',
      'canceling',
      'canceling',
      'gone',
    ])
  })
  it('counts under the mode it asks for, then the one it got, then the one it was downgraded to', () => {
    expect([2, 4, 7].map((t) => modeAt(one, t))).toEqual(['BW', 'PW', 'NBW'])
  })
  it('a time rounded to Unix ms still counts as at its step', () => {
    expect(phaseAt(one, 3 - 0.0004)).toBe('granted')
  })
})

describe('the state at a time', () => {
  it('at the peak: readers wait for the flush of a writer, writers behind them in order of asking', () => {
    const { holders, waiters } = resourceStateAt(lives, 33)
    expect(names(holders)).toEqual(['c03'])
    expect(holders[0]).toMatchObject({ isCanceling: true, blocks: 2 })
    expect(names(waiters)).toEqual(['c08', 'c07', 'c05', 'c01', 'c04'])
    expect(waiters[0]).toMatchObject({ forWaiters: [], forHolders: [holders[0]?.life.id] })
    // A later writer may pass CANCELING NBW locks, but not the readers before it.
    expect(waiters[2]?.forHolders).toEqual([])
    expect(waiters[2]?.forWaiters).toEqual([waiters[0]?.life.id, waiters[1]?.life.id])
  })

  it('a writer no longer waits for a lock that is CANCELING, a reader does', () => {
    const holder = life({ id: 1, client: 1, requested: 0, granted: 0, canceling: 5, ended: 9, mode: 'NBW' })
    const waits = { requested: 2, granted: null, canceling: null, ended: null }
    const writer = life({ id: 2, client: 2, ...waits, behind: [{ id: 1, until: 'canceling' }] })
    const reader = life({ id: 3, client: 3, ...waits, behind: [{ id: 1, until: 'release' }] })
    const blocked = (t: number): number[][] =>
      resourceStateAt([holder, writer, reader], t).waiters.map((w) => [...w.forHolders])
    expect(blocked(4)).toEqual([[1], [1]])
    expect(blocked(6)).toEqual([[], [1]])
    expect(blocked(9)).toEqual([[], []])
  })

  it('a PW that is CANCELING is waited for until its downgrade: only an NBW is passed', () => {
    const down = { downgradedAt: 7, downgradedTo: 'NBW' } as const
    const holder = life({ id: 1, client: 1, requested: 0, granted: 0, canceling: 5, ended: 9, mode: 'PW', ...down })
    const waits = { requested: 2, granted: null, canceling: null, ended: null }
    const writer = life({ id: 2, client: 2, ...waits, behind: [{ id: 1, until: 'canceling' }] })
    const at = (t: number) => resourceStateAt([holder, writer], t)
    expect([4, 6, 7].map((t) => at(t).waiters[0]?.forHolders)).toEqual([[1], [1], []])
    expect(factsOf(at(6), 6).waitsFor).toBe('1 canceling lock')
    expect(explain(at(6)).text).toContain('until its downgrade')
  })

  it('locks that were not sent block no request', () => {
    const waiter = life({ granted: null, canceling: null, ended: null, behind: [{ id: 999, until: 'release' }] })
    expect(resourceStateAt([waiter], 5).waiters[0]).toMatchObject({ forHolders: [], forWaiters: [] })
  })

  it('every unreleased lock holds, every request without a grant waits, and none is both', () => {
    fc.assert(
      fc.property(fc.double({ min: -5, max: 65, noNaN: true }), (t) => {
        const { holders, waiters } = resourceStateAt(lives, t)
        const both = [...holders, ...waiters].map((x) => x.life.id)
        expect(new Set(both).size).toBe(both.length)
        for (const id of both)
          expect(['waiting', 'granted', 'canceling']).toContain(
            phaseAt(
              lives.find((l) => l.id === id)!,
              t,
            ),
          )
        const standing = new Set(both)
        for (const w of waiters)
          for (const id of [...w.forHolders, ...w.forWaiters]) expect(standing.has(id)).toBe(true)
        expect(holders.every((h) => h.blocks === waiters.filter((w) => w.forHolders.includes(h.life.id)).length)).toBe(
          true,
        )
      }),
    )
  })
})

describe('facts', () => {
  it('give the longest wait and its reason, the smallest SN that may still arrive, and the dirty bytes', () => {
    const facts = factsOf(resourceStateAt(lives, 33), 33)
    expect(facts.longest).toMatchObject({ name: 'c08', mode: 'PR' })
    expect(facts.longest?.ms).toBeCloseTo(8.5)
    expect(facts.waitsFor).toBe('1 canceling lock')
    expect(facts.minSn).toBe(4131)
    expect(facts).toMatchObject({ dirtyBytes: 24 * 2 ** 20, flushing: 1 })
  })
  it('of a resource at rest are nothing', () => {
    expect(factsOf({ holders: [], waiters: [] }, 3)).toEqual({
      longest: null,
      waitsFor: 'nothing',
      minSn: null,
      dirtyBytes: 0,
      flushing: 0,
    })
  })
  it('data that have arrived are no longer dirty', () => {
    const held = life({ granted: 0, canceling: 1, dataAt: 4, ended: 6, bytes: 100, dirtyBytes: 0 })
    const dirty = (t: number): number => factsOf(resourceStateAt([held], t), t).dirtyBytes
    expect([2, 4, 5].map(dirty)).toEqual([100, 0, 0])
  })
  it('count events inside the range only', () => {
    const before = life({ requested: -9, granted: -8, isEarlyGrant: true })
    expect(countsOf([...lives, before], SPAN_MS)).toEqual({
      grants: 18,
      early: 14,
      revocations: 6,
      upgrades: 0,
      downgrades: 1,
    })
  })
})

describe('the sentence', () => {
  const waiting = (mode: Life['requestedMode'], holder: Partial<Life>): string => {
    const held = life({
      id: 1,
      client: 1,
      requested: 0,
      granted: 0,
      canceling: null,
      ended: null,
      mode: 'NBW',
      ...holder,
    })
    const one = life({
      id: 2,
      client: 2,
      requested: 1,
      granted: null,
      ended: null,
      requestedMode: mode,
      behind: [{ id: 1, until: 'release' }],
    })
    return explain(resourceStateAt([held, one], 4)).text
  }
  it('tells readers, writers and PW apart by what they wait for', () => {
    expect(waiting('PR', { canceling: 2 })).toContain('waits for every flush')
    expect(waiting('PW', { canceling: 2 })).toContain('every release')
    expect(waiting('NBW', {})).toContain('until the conflicting lock is CANCELING')
    expect(waiting('NBW', { mode: 'PR' })).toContain('every reader')
    expect(waiting('NBW', { mode: 'PW', canceling: 2 })).toContain('downgrade or release')
  })
  it('reports no contention', () => {
    expect(explain(resourceStateAt([life({ granted: 0, canceling: null, ended: null })], 5)).text).toContain(
      'No contention',
    )
    expect(explain(resourceStateAt([], 5)).text).toContain('No locks held')
  })
})

describe('steps', () => {
  const steps = stepsOf(lives, SPAN_MS)
  it('go from event to event and stop at the ends', () => {
    expect(steps.every((t) => t >= 0 && t <= SPAN_MS)).toBe(true)
    expect(nextStep(steps, 0, 1, SPAN_MS)).toBe(steps[0])
    expect(nextStep(steps, steps[3] as number, -1, SPAN_MS)).toBe(steps[2])
    expect(nextStep(steps, SPAN_MS, 1, SPAN_MS)).toBe(SPAN_MS)
    expect(nextStep(steps, 0, -1, SPAN_MS)).toBe(0)
  })
  it('a queue as steps is at every instant the number of waiters', () => {
    const queue = queueSteps(lives, SPAN_MS)
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: SPAN_MS, noNaN: true }), (t) => {
        // At a step itself, both values are right within half a microsecond.
        fc.pre(steps.every((at) => Math.abs(at - t) > 0.001))
        const step = queue.findLast(({ at }) => at <= t)
        expect(step?.waiting).toBe(resourceStateAt(lives, t).waiters.length)
      }),
    )
    const peak = peakOf(queue, SPAN_MS)
    expect(resourceStateAt(lives, peak).waiters).toHaveLength(Math.max(...queue.map((s) => s.waiting)))
  })
  it('without waiters the cursor starts in the middle', () => {
    expect(peakOf(queueSteps([], 60), 60)).toBe(30)
  })
})

it('counts the locks held at ascending times like the state at each time', () => {
  const at = queueSteps(lives, SPAN_MS).map((step) => step.at)
  expect(at.length).toBeGreaterThan(3)
  expect(heldAt(lives, at)).toEqual(at.map((t) => resourceStateAt(lives, t).holders.length))
})
