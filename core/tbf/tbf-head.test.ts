import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Simulation } from '../sim/simulation.ts'
import { DeadlineHeap, type HeapItem } from './deadline-heap.ts'
import { parseRuleCommand } from './rule-command.ts'
import { TbfHead } from './tbf-head.ts'

interface Request {
  readonly jobId: string
  readonly nid: string
  readonly number: number
}

const S = 1e9
let issued = 0
const request = (jobId: string): Request => ({ jobId, nid: '0@lo', number: issued++ })

function rule(head: TbfHead<Request>, ...commands: readonly string[]): void {
  for (const text of commands) {
    const parsed = parseRuleCommand(text)
    if (!parsed.ok) throw new Error(`${text}: ${parsed.error}`)
    expect(head.command(parsed.value), text).toEqual({ ok: true, value: undefined })
  }
}

/** Everything that may go at one instant. */
function drain(head: TbfHead<Request>, now: number): string[] {
  const out: string[] = []
  for (let r = head.dequeue(now); r; r = head.dequeue(now)) out.push(r.jobId)
  return out
}

const refs = (head: TbfHead<Request>): Record<string, number> =>
  Object.fromEntries(head.rules.map((r) => [r.name, r.ref]))

/** Jobs with so many threads each, issuing one RPC after the other; counts what is served of each in every second. */
class ClosedLoop {
  readonly sim = new Simulation()
  readonly head = new TbfHead<Request>(['jobid'])
  readonly #served = new Map<string, number[]>()
  #timer = -1

  constructor(threads: Readonly<Record<string, number>>) {
    for (const [job, n] of Object.entries(threads)) {
      this.#served.set(job, [])
      for (let i = 0; i < n; i++) this.sim.at(0, () => this.#issue(job))
    }
  }

  at(seconds: number, ...commands: readonly string[]): this {
    this.sim.at(Math.round(seconds * S), () => rule(this.head, ...commands))
    return this
  }

  /** Served per second of [from, to). */
  perSecond(job: string, from: number, to: number): number[] {
    this.sim.runUntil(to * S - 1)
    const times = this.#served.get(job) ?? []
    return Array.from({ length: to - from }, (_, i) => times.filter((t) => Math.floor(t / S) === from + i).length)
  }

  #issue(job: string): void {
    this.head.enqueue(this.sim.now, request(job))
    this.#dispatch()
  }

  #dispatch(): void {
    for (let r = this.head.dequeue(this.sim.now); r; r = this.head.dequeue(this.sim.now)) {
      const { jobId } = r
      this.#served.get(jobId)?.push(this.sim.now)
      this.sim.after(1e6, () => this.#issue(jobId))
    }
    const at = this.head.wakeAt
    if (at === Infinity || at === this.#timer) return
    this.#timer = at
    this.sim.at(Math.max(at, this.sim.now), () => {
      if (this.#timer !== at) return
      this.#timer = -1
      this.#dispatch()
    })
  }
}

describe('DeadlineHeap', () => {
  it('gives items by deadline, then check time, then age, however they are moved and taken out', () => {
    interface Item extends HeapItem {
      checkTime: number
    }
    const step = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), deadline: fc.nat(5), checkTime: fc.nat(3) }),
      fc.record({ kind: fc.constant('move' as const), which: fc.nat(), deadline: fc.nat(5), checkTime: fc.nat(3) }),
      fc.record({ kind: fc.constant('remove' as const), which: fc.nat() }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const heap = new DeadlineHeap<Item>()
        const items: Item[] = []
        let id = 0
        for (const s of steps) {
          if (s.kind === 'add') {
            const item = { deadline: s.deadline, checkTime: s.checkTime, id: id++, position: -1 }
            items.push(item)
            heap.insert(item)
          } else if (items.length > 0) {
            const item = items[s.which % items.length]!
            if (s.kind === 'remove') {
              heap.remove(item)
              items.splice(items.indexOf(item), 1)
              expect(item.position).toBe(-1)
            } else {
              item.deadline = s.deadline
              item.checkTime = s.checkTime
              heap.resift(item)
            }
          }
          const first = [...items].sort(
            (a, b) => a.deadline - b.deadline || a.checkTime - b.checkTime || a.id - b.id,
          )[0]
          expect(heap.root).toBe(first)
          expect(heap.size).toBe(items.length)
        }
      }),
    )
  })
})

describe('TbfHead', () => {
  it('has a bucket per class, not per rule: three jobs of one rule have its rate each', () => {
    const loop = new ClosedLoop({ g1: 4, g2: 4, g3: 4 })
    rule(loop.head, 'start r jobid={g*} rate=10')
    const inEightSeconds = ['g1', 'g2', 'g3'].map((job) => loop.perSecond(job, 0, 8).reduce((a, b) => a + b))
    // Measured on servers: 84, 81, 81. Who comes second waits behind the first and loses its burst of 3.
    inEightSeconds.forEach((n, i) => expect(Math.abs(n - [84, 81, 81][i]!)).toBeLessThanOrEqual(2))
    expect(inEightSeconds.map((n) => n - inEightSeconds[0]!)).toEqual([0, -3, -3])
    expect(refs(loop.head)).toEqual({ r: 3, default: 0 })
  })

  it('shares one bucket among the jobs of a node under tbf nid', () => {
    const head = new TbfHead<Request>(['nid'])
    rule(head, 'start r nid={0@lo} rate=10')
    for (const job of ['a', 'b', 'c', 'd', 'e']) head.enqueue(0, request(job))
    expect(drain(head, 0)).toEqual(['a', 'b', 'c'])
    expect(drain(head, 1e8)).toEqual(['d'])
  })

  it('serves a new class with 3 at once and then evenly, whatever else is unlimited', () => {
    const loop = new ClosedLoop({ slow: 8, fast: 8, free: 2 })
    rule(loop.head, 'start s jobid={slow} rate=5', 'start f jobid={fast} rate=50')
    expect(loop.perSecond('slow', 0, 3)).toEqual([7, 5, 5])
    for (const n of loop.perSecond('fast', 1, 3)) expect(n).toBeGreaterThanOrEqual(49)
    for (const n of loop.perSecond('free', 1, 3)) expect(n).toBeGreaterThan(1500)
  })

  it('takes the class with the earliest deadline first', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start s jobid={s} rate=5', 'start f jobid={f} rate=50')
    // Both arrive now; the deadline of f is 20 ms away, that of s 200 ms.
    for (let i = 0; i < 4; i++) head.enqueue(0, request('s'))
    for (let i = 0; i < 4; i++) head.enqueue(0, request('f'))
    expect(drain(head, 0)).toEqual(['f', 'f', 'f'])
  })

  it('lets a class with tokens wait behind an empty one whose deadline is earlier', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start x jobid={x} rate=2', 'start y jobid={y} rate=1')
    for (let i = 0; i < 9; i++) head.enqueue(0, request('x'))
    expect(drain(head, 0)).toEqual(['x', 'x', 'x'])
    expect(head.wakeAt).toBe(0.5 * S)
    head.enqueue(0.1 * S, request('y'))
    expect(drain(head, 0.1 * S)).toEqual([])
    expect(head.wakeAt).toBe(0.5 * S)
    expect(drain(head, 0.5 * S)).toEqual(['x'])
    // Now the deadline of y, 1.1 s, is before that of x, 1.5 s.
    expect(drain(head, 1 * S)).toEqual(['x', 'y'])
  })

  it('wakes for a class with an earlier deadline than the one it is throttled on', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start x jobid={x} rate=1')
    for (let i = 0; i < 5; i++) head.enqueue(0, request('x'))
    drain(head, 0)
    head.enqueue(0.1 * S, request('other'))
    expect(head.wakeAt).toBeLessThanOrEqual(0.1 * S + 100_000)
    expect(drain(head, head.wakeAt + 0.1 * S)).toEqual(['other'])
  })

  it('matches the newest rule first, wherever default stands', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start wide jobid={dd.*} rate=5', 'start narrow jobid={dd.1} rate=7', 'change default rank=narrow')
    expect(head.rules.map((r) => r.name)).toEqual(['default', 'narrow', 'wide'])
    for (const job of ['dd.1', 'dd.2', 'zz']) head.enqueue(0, request(job))
    expect(refs(head)).toEqual({ default: 1, narrow: 1, wide: 1 })
  })

  it('looks for another rule only after a start: changing a rank or stopping another rule does nothing', () => {
    const loop = new ClosedLoop({ 'ga.0': 4 })
      .at(3.05, 'change a rank=b')
      .at(7.05, 'start dummy jobid={zz} rate=1')
      .at(11.05, 'change b rank=dummy')
      .at(14.05, 'stop dummy')
      .at(17.05, 'start dummy2 jobid={zz} rate=1')
    rule(loop.head, 'start a jobid={ga.*} rate=20', 'start b jobid={ga.0} rate=5')
    const served = loop.perSecond('ga.0', 0, 20)
    // Measured on servers: 7 5 5 | 5 5 5 5 | 19 20 20 20 | 20 20 20 | 20 20 20 | 9 5 5.
    expect(served.slice(0, 7)).toEqual([7, 5, 5, 5, 5, 5, 5])
    expect(Math.abs(served[7]! - 19)).toBeLessThanOrEqual(1)
    expect(served.slice(8, 17)).toEqual(Array<number>(9).fill(20))
    expect(Math.abs(served[17]! - 9)).toBeLessThanOrEqual(1)
    expect(served.slice(18)).toEqual([5, 5])
  })

  it('refills a class by every change of its rate, an unchanged one too', () => {
    const run = (...commands: readonly string[]): number[] => {
      const loop = new ClosedLoop({ j: 8 }).at(4, ...commands)
      rule(loop.head, 'start r jobid={j} rate=5')
      return loop.perSecond('j', 4, 6)
    }
    const [asIs] = run()
    expect(asIs).toBe(5)
    expect(run('change r rate=5')).toEqual([5 + 3, 5])
    expect(run('change r rate=20')[1]).toBe(20)
    // Rank alone, and realtime beside it, change no rate.
    expect(run('change r rank=default')).toEqual([5, 5])
  })

  it('gives a hammered rule three more RPCs for each change', () => {
    const loop = new ClosedLoop({ j: 8 })
    rule(loop.head, 'start r jobid={j} rate=5')
    for (let i = 0; i < 20; i++) loop.at(4.02 + i / 10, 'change r rate=5')
    // Measured on servers: 33 in 2.5 s instead of 12.
    const [a, b] = loop.perSecond('j', 4, 6) as [number, number]
    expect(a + b).toBeGreaterThanOrEqual(25)
  })

  it('releases a class to default at its next arrival after its rule was stopped, not before', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start r jobid={j} rate=1')
    for (let i = 0; i < 6; i++) head.enqueue(0, request('j'))
    expect(drain(head, 0)).toHaveLength(3)
    rule(head, 'stop r')
    expect(refs(head)).toEqual({ default: 0 })
    expect(drain(head, 0.9 * S)).toEqual([])
    expect(drain(head, 1 * S)).toHaveLength(1)
    head.enqueue(1.1 * S, request('j'))
    expect(refs(head)).toEqual({ default: 1 })
    // 10,000/s from here: three at once and one each 100 us.
    expect(drain(head, 1.1 * S)).toHaveLength(3)
  })

  it('lets a rule that is started again under the same name take its classes anew', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start r jobid={j} rate=1')
    for (let i = 0; i < 9; i++) head.enqueue(0, request('j'))
    drain(head, 0)
    rule(head, 'stop r', 'start r jobid={j} rate=1')
    expect(refs(head)).toEqual({ r: 0, default: 0 })
    head.enqueue(0.1 * S, request('j'))
    expect(refs(head)).toEqual({ r: 1, default: 0 })
    expect(drain(head, 0.1 * S)).toHaveLength(3)
  })

  it('keeps counting idle classes in ref, each once', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start r jobid={g*} rate=10')
    for (let round = 0; round < 3; round++) {
      for (const job of ['g1', 'g2', 'g3', 'g4', 'x']) head.enqueue(round * S, request(job))
      expect(drain(head, round * S)).toHaveLength(5)
      expect(refs(head)).toEqual({ r: 4, default: 1 })
    }
    rule(head, 'start s jobid={g1} rate=10')
    expect(refs(head)).toEqual({ s: 0, r: 4, default: 1 })
    head.enqueue(9 * S, request('g1'))
    expect(refs(head)).toEqual({ s: 1, r: 3, default: 1 })
  })

  it('forgets the oldest idle classes beyond 8192, down to three quarters', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start r jobid={*} rate=1')
    const use = (job: string, now: number): number => {
      for (let i = 0; i < 4; i++) head.enqueue(now, request(job))
      const n = drain(head, now).length
      // What has no token yet is forced out, so that the class is idle again.
      while (head.dequeue(now, true));
      return n
    }
    for (let i = 0; i < 8192; i++) expect(use(`j${i}`, 0)).toBe(3)
    expect(refs(head).r).toBe(8192)
    expect(use('j0', 1000)).toBe(0)
    expect(use('one more', 2000)).toBe(3)
    expect(refs(head).r).toBe(6144)
    // j0 was used last but one and keeps its empty bucket; j1 was forgotten and starts full.
    expect(use('j0', 3000)).toBe(0)
    expect(use('j1', 3000)).toBe(3)
  })

  it('releases one RPC a call when forced, tokens or not', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start r jobid={j} rate=1')
    for (let i = 0; i < 50; i++) head.enqueue(0, request('j'))
    drain(head, 0)
    for (let left = 46; left >= 0; left--) {
      expect(head.dequeue(0, true)).toBeDefined()
      expect(head.queued).toBe(left)
    }
    expect(head.dequeue(0, true)).toBeUndefined()
    expect(head.wakeAt).toBe(Infinity)
  })

  it('gives every RPC back exactly once, those of a class in order, under any commands', () => {
    const job = fc.constantFrom('a', 'b', 'c', 'd')
    const step = fc.oneof(
      { weight: 6, arbitrary: job.map((j) => ({ kind: 'enqueue' as const, j })) },
      { weight: 4, arbitrary: fc.nat(3e8).map((wait) => ({ kind: 'wait' as const, wait })) },
      {
        weight: 2,
        arbitrary: fc
          .constantFrom(
            'start r1 jobid={a b} rate=5',
            'start r2 jobid={b} rate=50 realtime=1',
            'start r3 jobid={*} rate=3',
            'change r1 rate=9',
            'change r2 rank=r1',
            'change default rate=2',
            'stop r1',
            'stop r2',
            'stop r3',
          )
          .map((text) => ({ kind: 'command' as const, text })),
      },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const head = new TbfHead<Request>(['jobid'])
        const sent: Request[] = []
        const back: Request[] = []
        let now = 0
        const take = (force = false): void => {
          for (let r = head.dequeue(now, force); r; r = head.dequeue(now, force)) back.push(r)
        }
        for (const s of steps) {
          if (s.kind === 'enqueue') {
            const r = request(s.j)
            sent.push(r)
            head.enqueue(now, r)
          } else if (s.kind === 'wait') now += s.wait
          else {
            const parsed = parseRuleCommand(s.text)
            if (parsed.ok) head.command(parsed.value)
          }
          take()
          expect(head.queued).toBe(sent.length - back.length)
          expect(head.wakeAt > now).toBe(true)
        }
        take(true)
        expect(head.queued).toBe(0)
        expect([...back].sort((a, b) => a.number - b.number)).toEqual(sent)
        for (const j of ['a', 'b', 'c', 'd']) {
          expect(back.filter((r) => r.jobId === j)).toEqual(sent.filter((r) => r.jobId === j))
        }
        const classes = new Set(sent.map((r) => r.jobId)).size
        const attached = head.rules.reduce((n, r) => n + r.ref, 0)
        expect(attached).toBeLessThanOrEqual(classes)
      }),
      { numRuns: 300 },
    )
  })

  it('never serves more than burst and rate allow, at any time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.array(fc.nat(2e8), { maxLength: 80 }), (rate, waits) => {
        const head = new TbfHead<Request>(['jobid'])
        rule(head, `start r jobid={j} rate=${rate}`)
        const times: number[] = []
        let now = 0
        for (const wait of waits) {
          now += wait
          head.enqueue(now, request('j'))
          head.enqueue(now, request('j'))
          for (let r = head.dequeue(now); r; r = head.dequeue(now)) times.push(now)
        }
        times.forEach((from, i) => {
          const bound = (at: number): number => 3 + ((at - from) * rate) / S
          times.slice(i).forEach((at, k) => expect(k + 1).toBeLessThanOrEqual(bound(at) + 1e-9))
        })
      }),
      { numRuns: 200 },
    )
  })
})
