/** Pacing of one head, compared with the exact model and with measurements on running servers. */
import { describe, expect, it } from 'vitest'
import { ClosedLoop, type LoopOptions, type Threads } from '#tests/kits/core/tbf/closed-loop.ts'
import { parseRuleCommand } from './rule-command.ts'
import { TbfHead } from './tbf-head.ts'

interface Request {
  readonly jobId: string
  readonly nid: string
}

/** Service times (ns) of a class that always has RPCs waiting, from `from` on, with a latency on every timer. */
function pace(rate: number, latencyNs: number, realtime: boolean, from: number, seconds: number): number[] {
  const head = new TbfHead<Request>(['jobid'], { rate: 10_000, depth: 3, timerLatencyNs: latencyNs })
  const command = parseRuleCommand(`start a jobid={a} rate=${rate}${realtime ? ' realtime=1' : ''}`)
  if (!command.ok) throw new Error(command.error.why)
  head.command(command.value)
  const request = { jobId: 'a', nid: '0@lo' }
  head.enqueue(0, request)
  const times: number[] = []
  for (let now = from; now < from + seconds * 1e9; now = Math.max(now, head.wakeAt)) {
    head.enqueue(now, request)
    while (head.dequeue(now)) {
      times.push(now - from)
      if (head.queued === 0) head.enqueue(now, request)
    }
  }
  return times
}

const near = (actual: number, expected: number, by: number): void =>
  expect(Math.abs(actual - expected), `${actual} is ${expected} within ${by}`).toBeLessThanOrEqual(by)

const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0)

describe('one saturated class', () => {
  const L = 50_000
  // Rate; no latency; latency 50 us; with it and realtime; realtime after 5 s idle; normal after 5 s idle.
  it.each([
    [1, 12, 12, 12, 17, 12],
    [5, 52, 52, 52, 77, 52],
    [10, 102, 102, 102, 152, 102],
    [20, 202, 202, 202, 302, 202],
    [50, 502, 501, 502, 752, 501],
    [100, 1002, 998, 1002, 1502, 998],
    [1000, 10_002, 9526, 10_002, 15_002, 9526],
    // spec/lustre has 100,002 and 150,002 under realtime: an exact tie. At the last timer of the 10 s the residue is exactly N
    // and only more than N counts, so a latency that is not a multiple of 50 us to the ns gives its number.
    [10_000, 100_002, 66_669, 100_001, 150_001, 66_669],
  ])('at %i/s serves in 10 s what the exact model says', (rate, ...expected) => {
    const served = [
      pace(rate, 0, false, 0, 10),
      pace(rate, L, false, 0, 10),
      pace(rate, L, true, 0, 10),
      pace(rate, L, true, 5e9, 10),
      pace(rate, L, false, 5e9, 10),
    ].map((times) => times.length)
    expect(served).toEqual(expected)
  })

  it('at 10,000/s under realtime loses nothing when no residue ties', () => {
    expect(pace(10_000, L - 1, true, 0, 10)).toHaveLength(100_002)
    expect(pace(10_000, L - 1, true, 5e9, 10)).toHaveLength(150_002)
  })

  it('has a burst of three and is then evenly spaced', () => {
    expect(pace(20, 0, false, 0, 0.26).map((ns) => ns / 1e6)).toEqual([0, 0, 0, 50, 100, 150, 200, 250])
  })

  it('waits the whole nanosecond more that a rate needs which does not divide a second', () => {
    expect(pace(3, 0, false, 0, 1.1)).toEqual([0, 0, 0, 333_333_334, 666_666_668, 1_000_000_002])
  })

  it('runs at 1/(N + L) with latency and at its rate under realtime, for any rate', () => {
    for (const rate of [7, 30, 333, 2500, 6000]) {
      const n = Math.floor(1e9 / rate)
      near(pace(rate, L, false, 0, 10).length, 3 + Math.floor(10e9 / (n + L)), 1)
      near(pace(rate, L, true, 0, 10).length, 3 + Math.floor(10 * rate) - 1, 1)
    }
  })
})

describe('what servers were measured to do: rate and burst', () => {
  const run = (rate: number, threads: number, options: LoopOptions = {}): ClosedLoop =>
    new ClosedLoop({ 'ga.0': { threads } }, { serviceMs: 0.77, timerMs: 0.4, ...options }).rule(
      `start r jobid={ga.0} rate=${rate}`,
    )

  it.each([
    [5, [4.99, 4.99], 0.4],
    [10, [9.97, 9.95], 0.4],
    [20, [19.85, 19.69], 0.4],
    [100, [94.5, 94.5], 0.58],
    [500, [448, 459], 0.2],
    [1000, [868], 0.15],
  ])('%i/s: three at once, then one each N + L, whatever the number of threads', (rate, measured, timerMs) => {
    for (const [i, threads] of [1, 8].slice(0, measured.length).entries()) {
      const times = run(rate, threads, { timerMs }).times('ga.0', 11)
      expect(times[2]).toBeLessThan(5)
      expect(times[3]! - times[2]!).toBeGreaterThan(1000 / rate - 1.6)
      const sustained = times.filter((ms) => ms >= 1000).length / 10
      near(sustained, 1000 / (1000 / rate + timerMs), 0.11)
      near(sustained / measured[i]!, 1, 0.02)
    }
  })

  it('the depth is that of the module when the rule is started', () => {
    for (const depth of [1, 20]) {
      const module = { rate: 10_000, depth, jobidCacheSize: 8192 }
      const loop = run(5, 32, { module })
      module.depth = 7
      expect(loop.count('ga.0', 0, 0.2)).toBe(depth)
      expect(loop.count('ga.0', 0.2, 1)).toBe(4)
    }
  })

  it('one RPC is one token under every type', () => {
    for (const [type, rule] of [
      [['nid'], 'nid={0@lo}'],
      [['uid'], 'uid={1000}'],
      [['gid'], 'gid={1000}'],
      [['projid'], 'projid={0}'],
      [['opcode'], 'opcode={ost_write}'],
      [['jobid', 'opcode'], 'jobid={ga.0}&opcode={ost_write}'],
      [['jobid', 'nid', 'opcode', 'uid', 'gid', 'projid', 'nodemap'], 'jobid={ga.0}'],
    ] as const) {
      const job = { threads: 8, opcode: 'ost_write', uid: 1000, gid: 1000, projid: 0 }
      const loop = new ClosedLoop({ 'ga.0': job }, { fields: type }).rule(`start r ${rule} rate=10`)
      near(loop.count('ga.0', 0, 10), 103, 1)
    }
  })

  it.each([
    [5, 19.4],
    [10, 9.7],
    [20, 4.85],
  ])('100 RPCs of one thread at %i/s take %f s, within what the suite of Lustre lets pass', (rate, seconds) => {
    const [last] = new ClosedLoop({ dd: { total: 100 } }, { timerMs: 0.05 })
      .rule(`start r jobid={dd} rate=${rate}`)
      .times('dd', 30)
      .slice(-1)
    near(last! / 1000, seconds, 0.02)
    const counted = Math.floor(last! / 1000) + 1
    expect(100 / counted).toBeLessThan(1.1 * rate)
    expect(100 / (last! / 1000)).toBeGreaterThan(0.9 * rate)
  })
})

describe('what servers were measured to do: after idling', () => {
  /** Service times after the idle time, ms. */
  const after = (rate: number, idleSeconds: number, realtime: boolean): number[] => {
    const end = 4.003 + idleSeconds
    const loop = new ClosedLoop({ j: {} }, { serviceMs: 0.77, timerMs: 0.4 })
      .rule(`start r jobid={j} rate=${rate}${realtime ? ' realtime=1' : ''}`)
      .idle(4.003, idleSeconds)
    const times = loop.times('j', end + 2)
    const before = times.filter((ms) => ms < 4100 && ms < end * 1000).at(-1)!
    // The thread is idle from its last completion on, like the generator.
    return times.filter((ms) => ms > before).map((ms) => ms - end * 1000)
  }
  const gaps = (times: readonly number[]): number[] => times.slice(1).map((t, i) => t - times[i]!)

  it('a short pause saves nothing', () => {
    // Measured, 50 ms: 50 155 256; the token that was due comes first.
    for (const realtime of [false, true]) {
      const times = after(10, 0.05, realtime)
      for (const gap of gaps(times.slice(0, 4))) near(gap, 100, 1)
    }
  })

  it.each([
    [0.35, 3],
    [1, 3],
    [3, 3],
  ])('after %f s a bucket without realtime holds three', (idle, burst) => {
    const times = after(10, idle, false)
    expect(times.filter((ms) => ms < 50)).toHaveLength(burst)
    for (const gap of gaps(times.slice(burst - 1, burst + 3))) near(gap, 100, 1.2)
  })

  it.each([
    // Idle seconds, RPCs at once as measured, tolerance in ms.
    [0.35, 3, 50],
    [1, 10, 30],
    [3, 30, 62],
  ])('after %f s one with realtime has saved all of it', (idle, measured, within) => {
    const times = after(10, idle, true)
    near(times.filter((ms) => ms < within).length, measured, 1)
    const burst = times.filter((ms) => ms < within).length
    for (const gap of gaps(times.slice(burst, burst + 4))) near(gap, 100, 1.2)
  })

  it('after 5 s at 20/s one with realtime serves about 103 at once, and 109 in the first half second', () => {
    const times = after(20, 5, true)
    near(times.filter((ms) => ms < 100).length, 103, 2)
    near(times.filter((ms) => ms < 500).length, 109, 2)
  })
})

describe('what servers were measured to do: changes of the rate', () => {
  it.each([1, 8])(
    'a change lets three through at the next arrival and continues at the new rate (%i threads)',
    (threads) => {
      const run = (command: string): number[] => {
        const loop = new ClosedLoop({ j: { threads } }, { serviceMs: 0.77, timerMs: 0.4 })
        return loop
          .rule('start r jobid={j} rate=5')
          .at(4.1, command)
          .times('j', 6)
          .filter((ms) => ms >= 4100)
      }
      // Measured: 5 to 20: +0.187 +0.196 +0.198 +0.205, then every 50 ms; 5 to 5: +0.056 +0.059 +0.060 +0.061, then every 200 ms.
      for (const [rate, gap] of [
        [20, 50],
        [5, 200],
      ] as const) {
        const times = run(`change r rate=${rate}`)
        expect(times[3]! - times[0]!).toBeLessThan(20)
        for (let i = 4; i < 7; i++) near(times[i]! - times[i - 1]!, gap, 3.2)
      }
    },
  )

  it('a change of the rank alone, or of the rate of another rule, refills nothing', () => {
    for (const command of ['change r rank=default', 'change default rate=10000', 'change other rate=7']) {
      const loop = new ClosedLoop({ j: { threads: 8 } })
        .rule('start other jobid={zz} rate=5', 'start r jobid={j} rate=5')
        .at(4.1, command)
      expect(loop.perSecond('j', 4, 6)).toEqual([5, 5])
    }
  })

  it('hammered without a change in value, a rule gives as many RPCs more as it is deep for each change that finds an arrival', () => {
    const hammered = (every: number): number => {
      const loop = new ClosedLoop({ j: { threads: 8 } }, { serviceMs: 0.77, timerMs: 0.4 }).rule(
        'start r jobid={j} rate=5',
      )
      for (let t = 4.5; t < 6.5; t += every) loop.at(t, 'change r rate=5')
      return loop.count('j', 4, 6.5)
    }
    // A change every 0.1 s was requested; 33 RPCs in 2.5 s instead of 12 mean that only about seven of the twenty changes took
    // separate effect: the commands themselves were late. Seven changes give the same result.
    near(hammered(0.3), 33, 3)
    // On time, every period of 0.2 s has its three extra RPCs.
    near(hammered(0.1), 12 + 10 * 3, 3)
  })
})

describe('what servers were measured to do: rank', () => {
  it('known classes look for another rule only after a start', () => {
    const loop = new ClosedLoop({ 'ga.0': { threads: 4 } }, { serviceMs: 0.77, timerMs: 0.4 })
      .rule('start a jobid={ga.*} rate=20', 'start b jobid={ga.0} rate=5')
      .at(3.05, 'change a rank=b')
      .at(7.05, 'start dummy jobid={zz} rate=1')
      .at(11.05, 'change b rank=dummy')
      .at(14.05, 'stop dummy')
      .at(17.05, 'start dummy2 jobid={zz} rate=1')
    const served = loop.perSecond('ga.0', 0, 20)
    const measured = [7, 5, 5, 5, 5, 5, 5, 19, 20, 20, 20, 20, 20, 20, 20, 20, 20, 9, 5, 5]
    // One burst of tolerance where the class came under another rule, because the commands took a while; otherwise the loss of
    // the timers.
    measured.forEach((n, i) => near(served[i]!, n, i === 7 || i === 17 ? 2 : n === 20 ? 1 : 0))
  })
})

describe('what servers were measured to do: who shares', () => {
  const eight = (threads: Readonly<Record<string, Threads>>, options: LoopOptions, ...rules: string[]): number[] => {
    const loop = new ClosedLoop(threads, { serviceMs: 0.77, timerMs: 0.4, ...options }).rule(...rules)
    return Object.keys(threads).map((label) => loop.count(label, 0, 8))
  }

  it('tbf jobid: three jobs of one rule have its rate each', () => {
    const served = eight(
      { g1: { threads: 4 }, g2: { threads: 4 }, g3: { threads: 4 } },
      {},
      'start r jobid={g*} rate=10',
    )
    // The second waits behind the first and loses its burst of 3, as measured.
    served.forEach((n, i) => near(n, [84, 81, 81][i]!, 3))
    expect(served.map((n) => n - served[0]!)).toEqual([0, -3, -3])
  })

  it('tbf nid: the jobs of one node have it together', () => {
    const jobs = { a: { threads: 4 }, b: { threads: 4 }, c: { threads: 4 } }
    const served = eight(jobs, { fields: ['nid'] }, 'start r nid={0@lo} rate=10')
    near(sum(served), 83, 1)
    for (const n of served) near(n, 28, 5)
  })

  it('tbf uid: two jobs of one user have it together, another user has its own', () => {
    const jobs = { a: { threads: 4, uid: 0 }, b: { threads: 4, uid: 0 }, c: { threads: 4, uid: 1000 } }
    const [a, b, c] = eight(jobs, { fields: ['uid'] }, 'start r uid={0 1000} rate=10')
    near(a! + b!, 83, 3)
    near(c!, 82, 3)
  })

  it('generic tbf: reads and writes of one job have their own, under tbf jobid they share', () => {
    const jobs = {
      read: { jobId: 'j', opcode: 'ost_read', threads: 4 },
      write: { jobId: 'j', opcode: 'ost_write', threads: 4 },
    }
    const all = ['jobid', 'nid', 'opcode', 'uid', 'gid', 'projid', 'nodemap'] as const
    const apart = eight(jobs, { fields: all }, 'start r jobid={j} rate=10')
    apart.forEach((n, i) => near(n, [86, 84][i]!, 5))
    near(sum(eight(jobs, {}, 'start r jobid={j} rate=10')), 83, 1)
  })

  it('a changed default rate applies to every unmatched class by itself', () => {
    const served = eight({ a: { threads: 4 }, b: { threads: 4 } }, {}, 'change default rate=10')
    for (const n of served) near(n, 82, 3)
  })

  it('two limited jobs and an unlimited one do not delay each other', () => {
    const jobs = { a: { threads: 4 }, b: { threads: 4 }, free: { threads: 2 } }
    const [a, b, free] = eight(jobs, {}, 'start a jobid={a} rate=5', 'start b jobid={b} rate=50')
    // Measured: 5.0, 49.5 and 1500/s.
    near(a! / 8, 5.2, 0.3)
    near(b! / 8, 49.5, 1)
    expect(free! / 8).toBeGreaterThan(1400)
  })

  it('an unlimited job beside a throttled one pays for the timer with every RPC, and for nothing else', () => {
    // Measured, one thread: 1300/s alone, 1100/s beside the other job. This requires a timer latency of 0.14 ms.
    const free = (jobs: Readonly<Record<string, Threads>>): number => {
      const loop = new ClosedLoop({ ...jobs, free: {} }, { serviceMs: 0.77, timerMs: 0.14 }).rule(
        'start r jobid={a} rate=5',
      )
      return loop.count('free', 0, 8) / 8
    }
    near(free({}), 1300, 10)
    near(free({ a: { threads: 4 } }), 1100, 10)
  })

  it('a stopped rule lets its class go at the next arrival', () => {
    const loop = new ClosedLoop({ j: { threads: 8 } }).rule('start r jobid={j} rate=20').at(5.01, 'stop r')
    expect(loop.count('j', 4, 5)).toBe(20)
    // The RPC that is due within 50 ms frees a slot for the next one; from then on the queue drains at 10,000/s.
    expect(loop.count('j', 5.06, 6)).toBeGreaterThan(900)
  })
})
