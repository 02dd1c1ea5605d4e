import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
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
    if (!parsed.ok) throw new Error(`${text}: ${parsed.error.why}`)
    expect(head.command(parsed.value), text).toEqual({ ok: true, value: undefined })
  }
}

/** All RPCs that can be released at one time. */
function drain(head: TbfHead<Request>, now: number): string[] {
  const out: string[] = []
  for (let r = head.dequeue(now); r; r = head.dequeue(now)) out.push(r.jobId)
  return out
}

const refs = (head: TbfHead<Request>): Record<string, number> =>
  Object.fromEntries(head.rules.map((r) => [r.name, r.ref]))

describe('TbfHead', () => {
  it('shares one bucket among the jobs of a node under tbf nid', () => {
    const head = new TbfHead<Request>(['nid'])
    rule(head, 'start r nid={0@lo} rate=10')
    for (const job of ['a', 'b', 'c', 'd', 'e']) head.enqueue(0, request(job))
    expect(drain(head, 0)).toEqual(['a', 'b', 'c'])
    expect(drain(head, 1e8)).toEqual(['d'])
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

  describe('while it is throttled', () => {
    const throttled = (timerLatencyNs = 0): TbfHead<Request> => {
      const head = new TbfHead<Request>(['jobid'], { rate: 10_000, depth: 3, timerLatencyNs })
      rule(head, 'start x jobid={x} rate=1', 'start y jobid={y} rate=5', 'start z jobid={z} rate=1')
      for (let i = 0; i < 5; i++) head.enqueue(0, request('x'))
      expect(drain(head, 0)).toEqual(['x', 'x', 'x'])
      expect(head.wakeAt).toBe(1 * S + timerLatencyNs)
      return head
    }

    it('moves its timer to the deadline of a class that comes, if that is earlier, and releases it then', () => {
      const head = throttled()
      for (let i = 0; i < 5; i++) head.enqueue(0.1 * S, request('y'))
      expect(drain(head, 0.1 * S)).toEqual([])
      expect(head.wakeAt).toBe(0.3 * S)
      expect(drain(head, 0.3 * S)).toEqual(['y', 'y', 'y'])
      expect(head.wakeAt).toBe(0.5 * S)
      // An unlimited class arrives 0.1 ms later.
      head.enqueue(0.4 * S, request('other'))
      expect(head.wakeAt).toBe(0.4 * S + 100_000)
      expect(drain(head, 0.4 * S + 100_000)).toEqual(['other'])
    })

    it('leaves it alone for a class whose deadline is later', () => {
      const head = throttled()
      head.enqueue(0.1 * S, request('z'))
      expect(head.wakeAt).toBe(1 * S)
      // It was full all the time, and is released as soon as it is the root.
      expect(drain(head, 0.999 * S)).toEqual([])
      expect(drain(head, 1 * S)).toEqual(['x', 'z'])
    })

    it('fires at once for a deadline that is past, as late as its timers are', () => {
      const head = throttled(50_000)
      head.enqueue(0.1 * S, request('other'))
      expect(head.wakeAt).toBe(0.1 * S + 150_000)
      expect(drain(head, 0.1 * S + 149_999)).toEqual([])
      expect(drain(head, 0.1 * S + 150_000)).toEqual(['other'])
      head.enqueue(0.2 * S, request('other'))
      expect(head.wakeAt).toBe(0.2 * S + 50_000)
      expect(drain(head, 0.2 * S + 50_000)).toEqual(['other'])
      expect(head.wakeAt).toBe(1 * S + 50_000)
    })

    it('releases the class that it waits for when that is reset, and only that', () => {
      const head = throttled(50_000)
      rule(head, 'change x rate=1', 'change z rate=1')
      head.enqueue(0.1 * S, request('z'))
      expect(drain(head, 0.1 * S)).toEqual([])
      head.enqueue(0.2 * S, request('x'))
      // The deadline of x moves back with its first RPC, so that z is examined.
      expect(drain(head, 0.2 * S)).toEqual(['x', 'z', 'x', 'x'])
    })
  })

  it('matches the newest rule first, wherever default stands', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start wide jobid={dd.*} rate=5', 'start narrow jobid={dd.1} rate=7', 'change default rank=narrow')
    expect(head.rules.map((r) => r.name)).toEqual(['default', 'narrow', 'wide'])
    for (const job of ['dd.1', 'dd.2', 'zz']) head.enqueue(0, request(job))
    expect(refs(head)).toEqual({ default: 1, narrow: 1, wide: 1 })
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

  it('lets a rule that is started again under the same name match its classes again', () => {
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

  it.each([
    ['the default', {}, 8192, 6144],
    ['what the module says', { jobidCacheSize: 10 }, 10, 7],
  ])('forgets the oldest idle classes beyond %s, down to three quarters', (_, more, most, remaining) => {
    const head = new TbfHead<Request>(['jobid'], { rate: 10_000, depth: 3, ...more })
    rule(head, 'start r jobid={*} rate=1')
    let now = 0
    const use = (job: string): number => {
      for (let i = 0; i < 4; i++) head.enqueue(now, request(job))
      const n = drain(head, now).length
      // Waits for missing tokens, so that the class is idle again.
      while (head.queued > 0) drain(head, (now = head.wakeAt))
      return n
    }
    for (let i = 0; i < most; i++) expect(use(`j${i}`)).toBe(3)
    expect(refs(head).r).toBe(most)
    // j0 was used last but one and keeps its bucket, which is empty; j1 is evicted and starts full.
    use('j0')
    expect(use('one more')).toBe(3)
    expect(refs(head).r).toBe(remaining)
    for (const [job, tokens] of [
      ['j0', 1],
      ['j1', 3],
    ] as const) {
      for (let i = 0; i < 4; i++) head.enqueue(now, request(job))
      expect(drain(head, now)).toHaveLength(tokens)
      while (head.queued > 0) drain(head, (now = head.wakeAt))
    }
  })

  it('reads the cache size live', () => {
    const module = { rate: 10_000, depth: 3, jobidCacheSize: 100 }
    const head = new TbfHead<Request>(['jobid'], module)
    const useAll = (): void => {
      for (let i = 0; i < 100; i++) {
        head.enqueue(i * S, request(`j${i}`))
        drain(head, i * S)
      }
    }
    useAll()
    expect(refs(head)).toEqual({ default: 100 })
    module.jobidCacheSize = 40
    head.enqueue(1000 * S, request('j1'))
    drain(head, 1000 * S)
    expect(refs(head)).toEqual({ default: 30 })
  })

  it('keeps what is idle apart from what waits: a class that has RPCs is never forgotten', () => {
    const head = new TbfHead<Request>(['jobid'], { rate: 1, depth: 3, jobidCacheSize: 4 })
    for (let i = 0; i < 50; i++) for (let k = 0; k < 4; k++) head.enqueue(0, request(`j${i}`))
    // Three of each go at once, by deadline, the fourth of each a second later.
    drain(head, 0)
    expect(head.queued).toBeGreaterThanOrEqual(50)
    expect(refs(head)).toEqual({ default: 50 })
    let now = 0
    while (head.queued > 0) drain(head, (now = head.wakeAt))
    expect(now).toBeLessThan(4 * S)
    expect(refs(head).default).toBeLessThanOrEqual(4)
  })

  it('releases one RPC a call when forced, tokens or not', () => {
    const head = new TbfHead<Request>(['jobid'])
    rule(head, 'start r jobid={j} rate=1')
    for (let i = 0; i < 50; i++) head.enqueue(0, request('j'))
    drain(head, 0)
    for (let remaining = 46; remaining >= 0; remaining--) {
      expect(head.dequeue(0, true)).toBeDefined()
      expect(head.queued).toBe(remaining)
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

  it('starves no RPC: each RPC goes within what its rate and the RPCs of its class before it need', () => {
    interface Sent extends Request {
      readonly at: number
      /** RPCs of its class that waited at its arrival. */
      readonly before: number
    }
    const jobs = ['a', 'b', 'c', 'd', 'e'] as const
    const rate = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constantFrom(333, 7000, 999_999))
    const rules = fc.array(fc.tuple(rate, fc.boolean()), { minLength: jobs.length, maxLength: jobs.length })
    const arrival = fc.tuple(
      fc.oneof(fc.constant(0), fc.nat(3e8)),
      fc.constantFrom(...jobs),
      fc.integer({ min: 1, max: 9 }),
    )
    fc.assert(
      fc.property(
        rules,
        fc.array(arrival, { maxLength: 60 }),
        fc.constantFrom(0, 1, 50_000, 600_000),
        fc.boolean(),
        (list, arrivals, latency, changes) => {
          const head = new TbfHead<Sent>(['jobid'], { rate: 10_000, depth: 3, timerLatencyNs: latency })
          list.forEach(([r, realtime], i) => {
            const command = parseRuleCommand(
              `start r${i} jobid={${jobs[i]!}} rate=${r}${realtime ? ' realtime=1' : ''}`,
            )
            if (command.ok) head.command(command.value)
          })
          const slowest = Math.min(...list.map(([r]) => r))
          const waiting = new Map<string, number>()
          let now = 0
          const serve = (until: number): void => {
            for (;;) {
              for (let s = head.dequeue(now); s; s = head.dequeue(now)) {
                waiting.set(s.jobId, waiting.get(s.jobId)! - 1)
                // With changes a class may have waited for its token under any of the rates.
                const r = changes ? slowest : list[jobs.indexOf(s.jobId as 'a')]![0]
                const perToken = Math.ceil(1e9 / r) + jobs.length * (latency + 1)
                expect(now - s.at).toBeLessThanOrEqual((s.before + 1) * perToken)
              }
              if (head.wakeAt > until) break
              now = head.wakeAt
            }
          }
          arrivals.forEach(([wait, jobId, n], k) => {
            const next = now + wait
            serve(next)
            now = next
            if (changes && k % 5 === 4) rule(head, `change r${k % jobs.length} rate=${list[0]![0]}`)
            for (let i = 0; i < n; i++) {
              const before = waiting.get(jobId) ?? 0
              head.enqueue(now, { ...request(jobId), at: now, before })
              waiting.set(jobId, before + 1)
            }
          })
          serve(1e12)
          expect(head.queued).toBe(0)
        },
      ),
      { numRuns: 400 },
    )
  })
})
