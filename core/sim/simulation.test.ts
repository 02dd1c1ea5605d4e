import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomStream } from '../base/random.ts'
import { EventQueue } from './event-queue.ts'
import { Simulation } from './simulation.ts'

describe('EventQueue', () => {
  it('pops by instant, and of one instant in the order of scheduling', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 300 }), (instants) => {
        const queue = new EventQueue()
        const popped: number[] = []
        instants.forEach((at, i) => queue.push(at, () => popped.push(i)))
        while (queue.size > 0) queue.pop()()
        const expected = instants.map((at, i) => ({ at, i })).sort((a, b) => a.at - b.at || a.i - b.i)
        expect(popped).toEqual(expected.map(({ i }) => i))
      }),
    )
  })

  it('keeps the order when pushes and pops are mixed', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(9)), { maxLength: 300 }), (steps) => {
        const queue = new EventQueue()
        const waiting: { at: number; i: number }[] = []
        const popped: number[] = []
        const expected: number[] = []
        steps.forEach((at, i) => {
          if (at !== null) {
            queue.push(at, () => popped.push(i))
            waiting.push({ at, i })
          } else if (queue.size > 0) {
            waiting.sort((a, b) => a.at - b.at || a.i - b.i)
            expect(queue.nextAt).toBe(waiting[0]!.at)
            expected.push(waiting.shift()!.i)
            queue.pop()()
          }
        })
        expect(popped).toEqual(expected)
        expect(queue.size).toBe(waiting.length)
      }),
    )
  })

  it('is a sorted array whichever way it grows, shrinks and uses its slots again', () => {
    const burst = fc.record({ pushes: fc.nat(900), pops: fc.nat(900), spread: fc.integer({ min: 1, max: 500 }) })
    fc.assert(
      fc.property(fc.array(burst, { minLength: 2, maxLength: 8 }), fc.nat(), (bursts, seed) => {
        const random = randomStream(seed, 'bursts')
        const queue = new EventQueue()
        let waiting: { at: number; i: number }[] = []
        let popped: number[] = []
        let scheduled = 0
        for (const { pushes, pops, spread } of bursts) {
          for (let k = 0; k < pushes; k++) {
            const event = { at: random.below(spread), i: scheduled++ }
            waiting.push(event)
            queue.push(event.at, () => popped.push(event.i))
          }
          waiting.sort((a, b) => a.at - b.at || a.i - b.i)
          popped = []
          for (let k = 0; k < pops && queue.size > 0; k++) queue.pop()()
          expect(popped).toEqual(waiting.slice(0, pops).map(({ i }) => i))
          waiting = waiting.slice(pops)
          expect([queue.size, queue.nextAt]).toEqual([waiting.length, waiting[0]?.at ?? Infinity])
        }
      }),
      { numRuns: 60 },
    )
  })

  it('grows past its first allocation without losing an event', () => {
    const queue = new EventQueue()
    const popped: number[] = []
    for (let i = 0; i < 5000; i++) queue.push((i * 7919) % 5000, () => popped.push((i * 7919) % 5000))
    while (queue.size > 0) queue.pop()()
    expect(popped).toEqual(Array.from({ length: 5000 }, (_, i) => i))
    expect(queue.nextAt).toBe(Infinity)
    expect(() => queue.pop()).toThrow('queue that has one')
  })
})

describe('Simulation', () => {
  it('executes events up to and including the time, then stops at it', () => {
    const sim = new Simulation()
    const seen: number[] = []
    for (const at of [30, 10, 20, 21]) sim.at(at, () => seen.push(sim.now))
    expect(sim.runUntil(20)).toBe(true)
    expect(seen).toEqual([10, 20])
    expect([sim.now, sim.nextAt, sim.executed]).toEqual([20, 21, 2])
    sim.runUntil(1000)
    expect(seen).toEqual([10, 20, 21, 30])
    expect([sim.now, sim.nextAt, sim.executed]).toEqual([1000, Infinity, 4])
  })

  it('stops at its budget at the last event, and continues as if uninterrupted', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 60 }), fc.integer({ min: 1, max: 7 }), (instants, budget) => {
        const run = (most: number): { seen: number[]; calls: number } => {
          const sim = new Simulation()
          const seen: number[] = []
          instants.forEach((at, i) => sim.at(at, () => seen.push(i)))
          let calls = 1
          while (!sim.runUntil(50, most)) {
            expect(seen).toHaveLength(calls * most)
            expect(sim.now).toBe(instants[seen.at(-1)!])
            calls++
          }
          expect(sim.now).toBe(50)
          return { seen, calls }
        }
        expect(run(budget).seen).toEqual(run(Infinity).seen)
        expect(run(budget).calls).toBe(Math.max(1, Math.ceil(instants.length / budget)))
      }),
    )
  })

  it('runs events scheduled by events, even at the same time, after those scheduled before', () => {
    const sim = new Simulation()
    const seen: string[] = []
    sim.at(5, () => {
      seen.push('a')
      sim.after(0, () => seen.push('c'))
      sim.after(2, () => seen.push('d'))
    })
    sim.at(5, () => seen.push('b'))
    sim.runUntil(7)
    expect(seen).toEqual(['a', 'b', 'c', 'd'])
  })

  it('refuses instants in the past and fractions of a nanosecond', () => {
    const sim = new Simulation()
    sim.runUntil(100)
    for (const at of [99, -1, 100.5, NaN, Infinity, 2 ** 53]) expect(() => sim.at(at, () => {})).toThrow('never in the')
    expect(() => sim.after(-1, () => {})).toThrow('never in the past')
    expect(sim.nextAt).toBe(Infinity)
  })

  it('rounds fractional delays up, so that no event fires early', () => {
    const sim = new Simulation()
    sim.after(1.01, () => {})
    expect(sim.nextAt).toBe(2)
  })

  it('stops at whole nanoseconds and never goes back, for any end time', () => {
    const sim = new Simulation()
    sim.runUntil(10.7)
    expect(sim.now).toBe(10)
    sim.runUntil(3)
    expect(sim.now).toBe(10)
    sim.at(40, () => {})
    expect(sim.runUntil(Infinity)).toBe(true)
    expect(sim.now).toBe(40)
    expect(() => sim.after(1, () => {})).not.toThrow()
  })
})
