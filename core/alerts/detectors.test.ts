import { describe, expect, it } from 'vitest'
import { ConvoyDetector, DisconnectDetector, judgeLevels, ReservationDetector } from './detectors.ts'
import { conditionOf, type JobFigures, type Judgement } from './figures.ts'
import { DEFAULT_ALERT_RULES, isWithin, KINDS, LEVEL_KINDS, RULES } from './rules.ts'
import { QueueDetector } from './queue.ts'
import { StarvationDetector } from './starvation.ts'
import { amount, formatDuration, named, times } from './format.ts'

const S = 1_000

describe('queue growth', () => {
  /** Feeds one value a second and returns the last judgement. */
  function fed(detector: QueueDetector, fromS: number, values: readonly number[], threshold = 4): Judgement {
    let last: Judgement | undefined
    values.forEach((queued, i) => {
      const server = { host: 'oss01', queued, silent: '' }
      last = detector.look({ atMs: (fromS + i) * S, servers: [server] }, { threshold, forS: 20 })[0]
    })
    if (!last) throw new Error('nothing was fed')
    return last
  }
  const flat = (n: number, value: number): number[] => Array.from({ length: n }, () => value)

  it('reports nothing before two minutes are known', () => {
    expect(fed(new QueueDetector(), 0, flat(100, 5_000)).condition).toBe('unknown')
  })

  it('compares with the median: 500 are five times a median of 100', () => {
    const d = new QueueDetector()
    expect(fed(d, 0, flat(140, 100)).condition).toBe('low')
    const high = fed(d, 140, flat(12, 500))
    expect(high.condition).toBe('high')
    expect(high.text()).toMatch(/^oss01: 49\d RPCs queued, ×4\.9 the usual 100$/)
    expect(fed(d, 152, flat(12, 250)).condition).toBe('held')
    expect(fed(d, 164, flat(12, 100)).condition).toBe('low')
  })

  it('ignores a few requests where the queue is usually empty', () => {
    const d = new QueueDetector()
    fed(d, 0, flat(140, 0))
    expect(fed(d, 140, flat(12, 60)).condition).toBe('held')
    expect(fed(d, 152, flat(12, 70)).text()).toContain('usually none')
  })

  it('does not report peaks that recur every half minute', () => {
    const d = new QueueDetector()
    const storm = Array.from({ length: 900 }, (_, i) => (i % 30 < 10 ? 600 : 2))
    const conditions = storm.map((v, i) => fed(d, i, [v]).condition)
    expect(conditions.slice(300)).not.toContain('high')
  })

  it('adopts a load that lasts for most of a quarter of an hour as baseline', () => {
    const d = new QueueDetector()
    fed(d, 0, flat(300, 100))
    expect(fed(d, 300, flat(60, 500)).condition).toBe('high')
    // Nine tenths of the load end soon; the alert stays active until the value falls to half.
    expect(fed(d, 360, flat(140, 500)).condition).toBe('held')
    expect(fed(d, 500, flat(800, 500)).condition).toBe('low')
  })

  it('ignores a silent server, and waits a minute after it is back', () => {
    const d = new QueueDetector()
    fed(d, 0, flat(140, 10))
    const silent = { host: 'oss01', queued: NaN, silent: 'timed out' }
    expect(d.look({ atMs: 140 * S, servers: [silent] }, { threshold: 4, forS: 20 })[0]?.condition).toBe('unknown')
    expect(fed(d, 141, flat(30, 900)).condition).toBe('unknown')
    expect(fed(d, 201, flat(30, 900)).condition).toBe('high')
  })

  it('names the job that grew most since the rise', () => {
    const d = new QueueDetector()
    fed(d, 0, flat(140, 10))
    const since: number[] = []
    let text = ''
    for (let s = 140; s < 160; s++) {
      const [j] = d.look(
        {
          atMs: s * S,
          servers: [{ host: 'oss01', queued: 400, silent: '' }],
          grown: (_, sinceMs) => {
            since.push(sinceMs)
            return { job: '4690.python.u1021', by: 3_120 }
          },
        },
        { threshold: 4, forS: 20 },
      )
      text = j?.text() ?? ''
    }
    expect(text).toContain('; 4690.python.u1021 grew most, by 3120 RPC/s')
    expect(new Set(since).size).toBe(1)
    expect(since[0]).toBeGreaterThanOrEqual(139 * S)
    expect(since[0]).toBeLessThan(145 * S)
  })
})

describe('starvation', () => {
  interface Bin {
    readonly queued?: number
    readonly served: Readonly<Record<string, number>>
    readonly held?: Readonly<Record<string, number>>
    readonly nodes?: Readonly<Record<string, number>>
  }
  const figures = ({ queued = 0, served, held = {}, nodes = {} }: Bin): JobFigures => {
    const ids = Object.keys(served)
    const values = Object.values(served)
    const total = values.reduce((n, v) => n + (Number.isNaN(v) ? 0 : v), 0)
    return {
      ids,
      served: values,
      held: ids.map((id) => held[id] ?? NaN),
      serversOf: () => [0],
      weightOf: (i) => nodes[ids[i] ?? ''] ?? 1,
      servers: [{ host: 'oss01', queued, served: total }],
    }
  }
  function run(bins: readonly Bin[], threshold = 10): Judgement[][] {
    const d = new StarvationDetector()
    return bins.map((b, i) => d.look({ atMs: i * 5 * S, jobs: figures(b) }, { threshold }))
  }
  const many = (n: number, bin: Bin): Bin[] => Array.from({ length: n }, () => bin)
  const last = (all: Judgement[][], id: string): Judgement | undefined => all.at(-1)?.find((j) => j.subject === id)
  const steady = many(12, { queued: 4, served: { victim: 100, other: 100 } })

  it('reports a steady job that another one displaces', () => {
    const pushed = last(run([...steady, ...many(3, { queued: 200, served: { victim: 3, other: 500 } })]), 'victim')
    expect(pushed?.condition).toBe('high')
    expect(pushed?.text()).toBe('victim gets 3 of 100 RPC/s due, down from 100; 200 RPCs queued on its servers')
  })

  it('does not report a job that stopped: its requests are gone from the queue', () => {
    const stopped = run([...steady, ...many(3, { queued: 5, served: { victim: 3, other: 197 } })])
    expect(last(stopped, 'victim')?.condition).toBe('low')
  })

  it('does not report a job without any RPC, and forgets it after half a minute', () => {
    const stopped = run([...steady, ...many(9, { queued: 200, served: { victim: 0, other: 500 } })])
    expect(stopped.flat().filter((j) => j.subject === 'victim' && j.condition === 'high')).toEqual([])
    expect(stopped[13]?.[0]?.condition).toBe('unknown')
    expect(stopped.at(-1)).toEqual([])
  })

  it('does not report bursty jobs', () => {
    const bursts = Array.from({ length: 60 }, (_, i): Bin => ({
      queued: 50 + (i % 4) * 60,
      served: { burst: i % 3 === 0 ? 300 : 1, other: 400 },
    }))
    expect(
      run(bursts)
        .flat()
        .filter((j) => j.condition === 'high'),
    ).toEqual([])
  })

  it('limits the due rate to a share of the throughput by nodes', () => {
    const bin = (served: number): Bin => ({
      queued: 200,
      served: { hog: served, a: 60, b: 60 },
      nodes: { a: 10, b: 10 },
    })
    const bins = [...many(12, { queued: 4, served: { hog: 400, a: 0, b: 0 } }), ...many(3, bin(150))]
    expect(last(run(bins), 'hog')?.condition).toBe('low')
  })

  it('reports no job if all are slow', () => {
    const slow = run([...steady, ...many(4, { queued: 200, served: { victim: 3, other: 3 } })])
    expect(last(slow, 'victim')?.condition).toBe('low')
  })

  it('infers demand from the limit of a controller', () => {
    const bin = { queued: 60, served: { small: 2, big: 398 }, held: { small: 1, big: 0.2 } }
    const j = last(run(many(2, bin)), 'small')
    expect(j?.condition).toBe('high')
    expect(j?.text()).toContain('gets 2 of 200 RPC/s due, at its rule limit')
    expect(last(run(many(2, { ...bin, served: { small: 30, big: 370 } })), 'small')?.condition).toBe('held')
    expect(last(run(many(2, { ...bin, held: { small: 0.5 } })), 'small')).toBeUndefined()
  })

  it('is unknown in a gap', () => {
    const gap = run([...steady, { queued: NaN, served: { victim: 3, other: 500 } }])
    expect(last(gap, 'victim')?.condition).toBe('unknown')
    const unmeasured = run([
      ...steady,
      { queued: 200, served: { victim: 3, other: 500 } },
      { queued: 200, served: { victim: NaN, other: 500 } },
    ])
    expect(last(unmeasured, 'victim')?.condition).toBe('unknown')
  })

  it('forgets jobs that are gone', () => {
    const d = new StarvationDetector()
    for (let i = 0; i < 50; i++)
      d.look({ atMs: i * 5 * S, jobs: figures({ served: { [`job ${i}`]: 1 } }) }, { threshold: 10 })
    expect(d.size).toBe(1)
  })

  it('uses the waiting operations of stages', () => {
    const job = { job: 'a', scope: 'meta_op', measured: 5, demand: 200, queued: 900, limit: 400, demandingJobs: 4 }
    const of = (more: object): Judgement | undefined =>
      new StarvationDetector().staged([{ ...job, ...more }], { threshold: 10 })[0]
    expect(of({})?.condition).toBe('high')
    expect(of({})?.text()).toBe('a gets 5 of 100 op/s due; 900 operations queued in its stages')
    expect(of({ queued: 0 })?.condition).toBe('low')
    expect(of({ measured: 60 })?.condition).toBe('low')
    expect(of({ measured: NaN })?.condition).toBe('unknown')
  })
})

describe('convoys, reservations, silent servers', () => {
  it('counts waiters of a resource, and an eighth of the waiting locks of a target', () => {
    const d = new ConvoyDetector()
    const of = (waiting: number, per: number): string | undefined =>
      d.look(
        { convoys: [{ key: 'r', name: 'ckpt.h5 / 3', waiting, per, behind: per === 1 ? 'PR' : '' }] },
        { threshold: 12 },
      )?.[0]?.condition
    expect([of(12, 1), of(11, 1), of(5, 1), of(NaN, 1)]).toEqual(['high', 'held', 'low', 'unknown'])
    expect([of(96, 8), of(95, 8), of(40, 8)]).toEqual(['high', 'held', 'low'])
    expect(d.look({ convoys: undefined }, { threshold: 12 })).toBeUndefined()
  })

  it('counts consecutive periods, and ends with the first that is not missed', () => {
    const of = (missed: number): Judgement | undefined =>
      new ReservationDetector().look(
        {
          reservations: [
            { node: 'dn0', client: 'c07', job: '4763.train', missed, sinceMs: 3, completed: 900, reservation: 5_500 },
          ],
        },
        { threshold: 10 },
      )?.[0]
    expect([10, 9, 1, 0, NaN].map((n) => of(n)?.condition)).toEqual(['high', 'held', 'held', 'low', 'unknown'])
    expect(of(10)?.text()).toBe('c07 of 4763.train missed its reservation on dn0 10 periods in a row: 900 of 5500 I/O')
    expect(of(10)?.sinceMs).toBe(3)
  })

  it('names up to three silent servers, and reports when all are silent', () => {
    const of = (silent: number, threshold = 1): Judgement[] =>
      new DisconnectDetector().look(
        {
          servers: Array.from({ length: 6 }, (_, i) => ({
            host: `oss0${i}`,
            queued: NaN,
            silent: i < silent ? 'timed out' : '',
          })),
        },
        { threshold },
      )
    expect(of(1)[0]?.text()).toBe('oss00 does not answer: timed out')
    expect(of(5)[0]?.text()).toBe('oss00, oss01, oss02 and 2 more do not answer: timed out')
    expect(of(6)[0]?.text()).toBe('none of 6 servers answers: timed out')
    expect(of(1).map((j) => j.condition)).toEqual(['high', 'low', 'low', 'low', 'low', 'low'])
    expect(of(1, 2)[0]?.condition).toBe('held')
  })

  it('is unknown for NaN', () => {
    expect(conditionOf(NaN, 4)).toBe('unknown')
  })
})

describe('measured levels', () => {
  const of = (value: number): Judgement | undefined =>
    judgeLevels({ mds: [{ subject: 'mds01', where: 'mds01\u001b[31m', value, text: () => 'slow' }] }, 'mds', {
      threshold: 500,
    })?.[0]

  it('are held between the threshold and their clear level', () => {
    expect([500, 499, 250, 249, 0, NaN].map((v) => of(v)?.condition)).toEqual([
      'high',
      'held',
      'held',
      'low',
      'low',
      'unknown',
    ])
    expect(of(500)).toMatchObject({ level: 'watch', measure: 500, where: 'mds01?[31m' })
  })

  it('with a clear level of 0 are held until they are 0', () => {
    expect([3, 2, 0.1, 0, NaN].map((v) => conditionOf(v, 3, 0))).toEqual(['high', 'held', 'held', 'low', 'unknown'])
  })

  it('that were not measured are not judged, and measured ones without a subject are', () => {
    expect(judgeLevels({}, 'mds', { threshold: 500 })).toBeUndefined()
    expect(judgeLevels(undefined, 'mds', { threshold: 500 })).toBeUndefined()
    expect(judgeLevels({ mds: [] }, 'mds', { threshold: 500 })).toEqual([])
  })
})

describe('registry of rules', () => {
  it('has defaults within the bounds, under the kind of their entry', () => {
    expect(DEFAULT_ALERT_RULES.map((r) => r.kind)).toEqual(KINDS)
    expect(DEFAULT_ALERT_RULES.filter((r) => !isWithin(r))).toEqual([])
    expect(KINDS.filter((k) => RULES[k].usual.kind !== k)).toEqual([])
  })

  it('has one title per kind, in the order of planes', () => {
    expect(new Set(KINDS.map((k) => RULES[k].title)).size).toBe(KINDS.length)
    const planes = KINDS.map((k) => RULES[k].plane)
    expect(planes.filter((p, i) => p !== planes[i - 1])).toEqual(['data', 'locks', 'metadata', 'tokens', 'source'])
    expect(LEVEL_KINDS.length).toBeGreaterThan(10)
  })
})

describe('text', () => {
  it('shows figures, times and lengths', () => {
    expect([0.42, 3, 12.4, 412, 9_949, 39_600, 1_240_000].map(amount)).toEqual([
      '0.4',
      '3',
      '12',
      '412',
      '9949',
      '39.6 k',
      '1.2 M',
    ])
    expect([1.26, 41.2].map(times)).toEqual(['×1.3', '×41'])
    expect([900, 60_000, 291_000, 7_500_000].map(formatDuration)).toEqual(['1 s', '1 min', '4 min 51 s', '2 h 5 min'])
  })

  it('keeps a hostile name to one bounded line', () => {
    expect(named('a\nb\u001b[31m\u202ec')).toBe('a?b?[31m?c')
    expect(named(`${'x'.repeat(118)}😀😀`)).toHaveLength(119)
  })
})
