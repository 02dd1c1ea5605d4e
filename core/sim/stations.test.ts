import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Disk } from './disk.ts'
import { FifoServer } from './fifo-server.ts'
import { Link } from './link.ts'
import { Simulation } from './simulation.ts'

describe('FifoServer', () => {
  it('serves a hand-computed schedule with two servers', () => {
    const sim = new Simulation()
    const station = new FifoServer(sim, 2)
    const ends: [string, number][] = []
    const submit = (name: string, serviceNs: number): void =>
      station.submit(serviceNs, () => ends.push([name, sim.now]))
    // a 0-10, b 0-4, c waits for b: 4-9, d (at 5) waits for c: 9-10, e (at 20) 20-21.
    submit('a', 10)
    submit('b', 4)
    submit('c', 5)
    sim.at(5, () => {
      submit('d', 1)
      expect([station.busy, station.queued, station.completed]).toEqual([2, 1, 1])
    })
    sim.at(20, () => submit('e', 1))
    sim.runUntil(40)
    expect(ends).toEqual([
      ['b', 4],
      ['c', 9],
      ['a', 10],
      ['d', 10],
      ['e', 21],
    ])
    // Busy for 10 + 4 + 5 + 1 + 1 of 2 x 40 ns.
    expect(station.occupancy.meanAt(40) / 2).toBeCloseTo(21 / 80, 12)
    expect(station.occupancy.max).toBe(2)
  })

  it('serves everyone once, in order of arrival, never with more servers than it has', () => {
    const customers = fc.array(fc.record({ at: fc.nat(200), serviceNs: fc.nat(30) }), { maxLength: 120 })
    fc.assert(
      fc.property(customers, fc.integer({ min: 1, max: 5 }), (list, servers) => {
        const sim = new Simulation()
        const station = new FifoServer(sim, servers)
        const ended: number[] = []
        const inOrder = list.map((c, i) => ({ ...c, i })).sort((a, b) => a.at - b.at || a.i - b.i)
        for (const c of inOrder) {
          sim.at(c.at, () => {
            station.submit(c.serviceNs, () => (ended[c.i] = sim.now))
            expect(station.busy).toBeLessThanOrEqual(servers)
            expect(station.queued === 0 || station.busy === servers).toBe(true)
          })
        }
        sim.runUntil(1e6)
        // Reference: every customer takes the first server to become free.
        const free = Array.from({ length: servers }, () => 0)
        let work = 0
        for (const c of inOrder) {
          const k = free.indexOf(Math.min(...free))
          free[k] = Math.max(free[k]!, c.at) + c.serviceNs
          expect(ended[c.i]).toBe(free[k])
          work += c.serviceNs
        }
        expect([station.completed, station.queued, station.busy]).toEqual([list.length, 0, 0])
        expect(station.occupancy.areaAt(1e6)).toBe(work)
      }),
    )
  })

  it('keeps the order of a long queue', () => {
    const sim = new Simulation()
    const station = new FifoServer(sim)
    const order: number[] = []
    for (let i = 0; i < 1000; i++) station.submit(1, () => order.push(i))
    expect(station.queued).toBe(999)
    sim.runUntil(1000)
    expect(order).toEqual(Array.from({ length: 1000 }, (_, i) => i))
  })

  it('refuses a station without servers', () => {
    for (const servers of [0, -1, 1.5, NaN])
      expect(() => new FifoServer(new Simulation(), servers)).toThrow('one server')
  })
})

describe('Link', () => {
  it('serializes at the bandwidth, one message after the other, and delays by the latency', () => {
    const sim = new Simulation()
    const link = new Link(sim, { bandwidthBps: 1e9, latencyNs: 50 })
    const arrived: number[] = []
    link.send(100, () => arrived.push(sim.now))
    link.send(200, () => arrived.push(sim.now))
    sim.at(1000, () => link.send(1, () => arrived.push(sim.now)))
    sim.runUntil(5000)
    expect(arrived).toEqual([150, 350, 1051])
    expect(link.sentNs).toBe(301)
  })
})

describe('Disk', () => {
  it('charges a fixed cost and the bytes at its share of the bandwidth', () => {
    const sim = new Simulation()
    const disk = new Disk(sim, { bandwidthBps: 1e9, perOpNs: 1000, channels: 2 })
    const ended: number[] = []
    // Two at once at half the bandwidth each: 1000 + 2 x 500 ns.
    for (let i = 0; i < 3; i++) disk.transfer(500, () => ended.push(sim.now))
    sim.runUntil(1e5)
    expect(ended).toEqual([2000, 2000, 4000])
    expect(disk.station.completed).toBe(3)
  })

  it('reaches its bandwidth when all channels are busy', () => {
    const sim = new Simulation()
    const disk = new Disk(sim, { bandwidthBps: 2e9, perOpNs: 0, channels: 4 })
    let bytes = 0
    for (let i = 0; i < 4000; i++) disk.transfer(1_000_000, () => (bytes += 1_000_000))
    sim.runUntil(1e9)
    expect(bytes / 2e9).toBeGreaterThan(0.99)
    expect(bytes / 2e9).toBeLessThanOrEqual(1)
  })
})
