import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { profile } from '../lustre/profile.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import { Simulation } from '../sim/simulation.ts'
import { Nodemaps } from '../tbf/nodemaps.ts'
import { OST_IO_POLICIES } from '../tbf/policy-command.ts'
import { loadedModule } from '../tbf/tbf-module.ts'
import { EmulatedService } from './ptlrpc-service.ts'
import { atMin, ServiceEstimate } from './service-estimate.ts'

interface Request {
  readonly jobId: string
  readonly nid: string
  readonly opcode: string
}

const SERVICE_NS = 1e6
const MS = 1e6

class Bench {
  readonly sim = new Simulation()
  readonly service: EmulatedService<Request>
  /** Maximum number of RPCs in service at once. */
  peak = 0

  constructor(options: { cpts?: number; threads?: number; latencyNs?: number; serviceNs?: number } = {}) {
    const { cpts = 1, threads = 4, latencyNs = 0, serviceNs = SERVICE_NS } = options
    const module = loadedModule(latencyNs)
    const server = { profile: profile('dev'), module, nodemaps: new Nodemaps(), cpts, seed: 1, counters: true }
    this.service = new EmulatedService<Request>(this.sim, server, {
      path: ['ost', 'OSS', 'ost_io'],
      threads,
      hp: true,
      policies: OST_IO_POLICIES,
      serve: (rpc, end) => {
        this.peak = Math.max(this.peak, this.service.active)
        this.sim.after(serviceNs, end, rpc)
      },
    })
  }

  tbf(...rules: readonly string[]): this {
    this.service.nrs.writePolicies('tbf jobid')
    for (const r of rules) expect(this.service.nrs.writeRule(r)).toEqual({ ok: true, value: undefined })
    return this
  }

  send(jobId: string, done: () => void, queue: Queue = 'reg', cpt = 0): void {
    this.service.receive({ jobId, nid: '0@lo', opcode: 'ost_write' }, cpt, queue, done)
  }

  /** Keeps one RPC in flight at all times; the result counts replies. */
  loop(jobId: string, queue: Queue = 'reg', cpt = 0): { served: number } {
    const count = { served: 0 }
    const next = (): void => {
      count.served++
      this.send(jobId, next, queue, cpt)
    }
    this.send(jobId, next, queue, cpt)
    return count
  }
}

describe('EmulatedService', () => {
  it('has its threads spread over CPTs, at least one on each, and no more RPCs in service than that', () => {
    for (const [cpts, threads, all] of [
      [1, 4, 4],
      [2, 5, 5],
      [4, 2, 4],
    ] as const) {
      const b = new Bench({ cpts, threads })
      expect(b.service.threads).toBe(all)
      for (let i = 0; i < 40; i++) b.loop('j', 'reg', i % cpts)
      b.sim.runUntil(100 * MS)
      expect(b.peak).toBe(all)
      expect(b.service.active).toBe(all)
    }
  })

  it('holds up neither another CPT nor another queue when one is throttled', () => {
    const b = new Bench({ cpts: 2 }).tbf('reg start r jobid={j} rate=1')
    const loops = [b.loop('j'), b.loop('j', 'reg', 1), b.loop('j', 'hp')]
    b.sim.runUntil(1000 * MS - 1)
    expect(loops[0]!.served).toBe(3)
    expect(loops[1]!.served).toBe(3)
    expect(loops[2]!.served).toBeGreaterThan(900)
  })

  it('takes ten high-priority RPCs for a regular one while both wait, and a regular one never starves', () => {
    const b = new Bench({ threads: 1 })
    const hp = Array.from({ length: 8 }, () => b.loop('urgent', 'hp'))
    const reg = Array.from({ length: 8 }, () => b.loop('plain'))
    b.sim.runUntil(1100 * MS)
    const sum = (list: readonly { served: number }[]): number => list.reduce((n, l) => n + l.served, 0)
    expect(Math.abs(sum(hp) / sum(reg) - 10)).toBeLessThan(0.3)
    for (const l of reg) expect(l.served).toBeGreaterThan(5)
  })

  it('starves no RPC: tokens for those before it in its class, and threads for those before it in all', () => {
    const jobs = ['a', 'b', 'c', 'd'] as const
    const arrival = fc.record({
      wait: fc.oneof(fc.constant(0), fc.nat(100 * MS)),
      job: fc.constantFrom(...jobs),
      queue: fc.constantFrom('reg' as const, 'hp' as const),
      cpt: fc.nat(1),
      n: fc.integer({ min: 1, max: 12 }),
    })
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 4, maxLength: 4 }),
        fc.array(arrival, { maxLength: 25 }),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(0, 50_000, 400_000),
        (rates, arrivals, threads, latencyNs) => {
          const b = new Bench({ cpts: 2, threads, latencyNs, serviceNs: 3e6 })
          b.tbf(...rates.map((rate, i) => `start r${i} jobid={${jobs[i]!}} rate=${rate}`))
          const waiting = new Map<string, number>()
          let at = 0
          let pending = 0
          const total = arrivals.reduce((n, x) => n + x.n, 0)
          for (const { wait, job, queue, cpt, n } of arrivals) {
            at += wait
            const sent = at
            const key = `${job} ${queue} ${cpt}`
            b.sim.at(at, () => {
              for (let i = 0; i < n; i++) {
                const before = waiting.get(key) ?? 0
                waiting.set(key, before + 1)
                pending++
                b.send(
                  job,
                  () => {
                    pending--
                    waiting.set(key, waiting.get(key)! - 1)
                    const token = Math.ceil(1e9 / rates[jobs.indexOf(job)]!) + jobs.length * (latencyNs + 1)
                    expect(b.sim.now - sent).toBeLessThanOrEqual((before + 1) * token + (total + 1) * 3e6)
                  },
                  queue,
                  cpt,
                )
              }
            })
          }
          b.sim.runUntil(1e12)
          expect(pending).toBe(0)
          expect(b.service.nrs.queued).toBe(0)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('wakes once for an instant, however often it is asked to', () => {
    const b = new Bench().tbf('start r jobid={slow} rate=1')
    for (let i = 0; i < 8; i++) b.loop('slow')
    b.loop('free')
    b.sim.runUntil(100 * MS)
    const before = b.sim.executed
    b.sim.runUntil(900 * MS)
    // 800 RPCs of the unthrottled job: for each its service and a timer that fires at once, and none more for the throttled
    // job.
    expect(b.sim.executed - before).toBeLessThan(2.2 * 800)
  })

  it('counts as servers do: waits from arrival to thread, nothing of them in the depth, time or number by operation', () => {
    const b = new Bench({ threads: 2 }).tbf('start r jobid={j} rate=10')
    for (let i = 0; i < 5; i++) b.send('j', () => undefined)
    b.sim.runUntil(1000 * MS)
    const c = b.service.stats.counters
    expect([...c.keys()]).toEqual([
      'req_waittime',
      'req_qdepth',
      'req_active',
      'req_timeout',
      'reqbuf_avail',
      'ost_write',
    ])
    // Two threads: the third of the burst waits for one, 1 ms; the fourth and fifth for tokens.
    expect(c.get('req_waittime')).toMatchObject({
      samples: 5,
      min: 0,
      max: 200_000 + 1000,
      sum: 1000 + 101_000 + 201_000,
    })
    expect(c.get('req_qdepth')).toMatchObject({ samples: 5, sum: 0 })
    expect(c.get('req_active')).toMatchObject({ samples: 5, min: 1, max: 2 })
    // No RPC had been served when the first two began.
    expect(c.get('req_timeout')).toMatchObject({ min: 5, max: 10, sum: 10 + 10 + 5 + 5 + 5 })
    expect(c.get('reqbuf_avail')).toMatchObject({ samples: 10, min: 63, max: 64 })
    expect(c.get('ost_write')).toMatchObject({ samples: 5, min: 1000, max: 1000, sum: 5000, sumsq: '5000000' })
    b.service.stats.clear(b.sim.now)
    b.send('j', () => undefined)
    b.sim.runUntil(2000 * MS)
    expect(b.service.stats.counters.get('ost_write')).toMatchObject({ samples: 1, sum: 1000 })
    expect(b.service.stats.startNs).toBe(1000 * MS)
  })
})

describe('ServiceEstimate', () => {
  const S = 1e9

  it('is 10 s before the first RPC, then the longest of four parts of ten minutes, not below its least', () => {
    const e = new ServiceEstimate(5)
    expect([e.current, e.worst, e.parts]).toEqual([10, 0, [0, 0, 0, 0]])
    e.add(1 * S, 300_000)
    expect([e.current, e.worst, e.worstNs, e.parts]).toEqual([5, 5, 1 * S, [1, 0, 0, 0]])
    e.add(100 * S, 31.9 * S)
    expect([e.current, e.worst, e.worstNs, e.parts]).toEqual([31, 31, 100 * S, [31, 0, 0, 0]])
    e.add(200 * S, 2 * S)
    e.add(201 * S, 1 * S)
    expect([e.current, e.parts]).toEqual([31, [2, 31, 0, 0]])
    e.add(700 * S, 7 * S)
    expect([e.current, e.worst, e.parts]).toEqual([7, 31, [7, 0, 0, 2]])
    e.add(9000 * S, 1)
    expect([e.current, e.parts]).toEqual([5, [1, 0, 0, 0]])
  })

  it('may be one second on old releases', () => {
    const e = new ServiceEstimate(atMin(profile('2.15')))
    e.add(0, 1)
    expect(e.current).toBe(1)
    expect([atMin(profile('2.12')), atMin(profile('2.16')), atMin(profile('dev'))]).toEqual([0, 5, 5])
  })
})
