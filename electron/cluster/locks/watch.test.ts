import { describe, expect, it } from 'vitest'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { LockWorld, TracedCondition } from '#core/seqdlm/trace/trace.ts'
import { EventLog } from '../state/event-log.ts'
import { LockWatch } from './watch.ts'

const EPOCH_MS = 1_767_225_600_000

/** A world without events except the conditions returned by `conditionsAt`. */
function watching(conditionsAt: (atNs: number) => TracedCondition[], name = (r: number): string => `f${r} / 0`) {
  const nobody = { waiting: 0, held: 0, grants: 0 }
  const world: LockWorld = {
    trace: {
      convoyWaiting: 4,
      keptSince: 0,
      countedSince: 0,
      resources: () => [],
      modes: () => [{ mode: 'NBW', ...nobody }],
      lives: () => ({ lives: [], more: 0 }),
      messages: () => ({ messages: [], more: 0 }),
      queue: (_r, _from, _to, bins) => new Float64Array(bins),
      longest: () => new Map(),
      busiest: () => undefined,
      waits: () => [],
      unprocessed: () => [],
      conditions: conditionsAt,
      takePeriods: () => [],
      takeConvoys: () => [],
    },
    manager: 'SeqDLM',
    managerName: 'SeqDLM',
    describe: (r) => ({ name: name(r), server: 'ds01', about: '' }),
    find: () => undefined,
    client: (c) => ({ name: `cn0${c}`, jobId: 'ckpt' }),
  }
  const events = new EventLog()
  const watch = new LockWatch(world, events)
  return {
    watch,
    run(seconds: number): void {
      for (let s = 1; s <= seconds * 10; s++) watch.look(s, s * 100 * NS_PER_MS, EPOCH_MS + s * 100)
    },
    /** Seconds and texts of the marks. */
    told: () =>
      events
        .between(0, Infinity, 10_000)
        .reverse()
        .map((m) => [(m.atMs - EPOCH_MS) / 1000, m.text] as const),
    marks: () => events.between(0, Infinity, 10_000),
  }
}

const convoy = (atNs: number, resource = 3, waiting = 14): TracedCondition => ({
  kind: 'convoy',
  resource,
  waiting,
  behindMode: 'PR',
  sinceNs: atNs - 31 * NS_PER_MS,
})
const second = (ns: number): number => ns / NS_PER_S

describe('lock storms as events', () => {
  it('a lasting convoy is reported once, and again when it comes back after five quiet minutes', () => {
    const w = watching((at) => ((second(at) >= 2 && second(at) <= 30) || second(at) >= 331 ? [convoy(at)] : []))
    w.run(340)
    expect(w.told()).toEqual([
      [2, 'Convoy on f3 / 0, 14 behind 1 PR lock'],
      [331, 'Convoy on f3 / 0, 14 behind 1 PR lock'],
    ])
    expect(w.marks()[0]).toMatchObject({ kind: 'alarm', level: 'watch', subject: 'Locks', where: 'f3 / 0' })
  })

  it('an intermittent convoy is reported once, and a short queue never', () => {
    const pauses = watching((at) => (second(at) % 8 < 4 ? [convoy(at)] : []))
    pauses.run(120)
    expect(pauses.told()).toHaveLength(1)
    const short = watching((at) => [convoy(at, 3, 7)])
    short.run(60)
    expect(short.told()).toEqual([])
  })

  it('a convoy that keeps coming back is reported once, then as a number every five minutes', () => {
    const often = watching((at) => (second(at) % 15 < 1 ? [convoy(at)] : []))
    often.run(640)
    expect(often.told()).toEqual([
      [0.1, 'Convoy on f3 / 0, 14 behind 1 PR lock'],
      [315, 'Convoy on f3 / 0, 21 more times in 5 min'],
      [630, 'Convoy on f3 / 0, 21 more times in 5 min'],
    ])
    const around = watching((at) => (second(at) % 15 < 1 ? [convoy(at, Math.floor(second(at) / 15) % 4)] : []))
    around.run(380)
    expect(around.told().map(([s]) => s)).toEqual([0.1, 15, 30, 45, 360])
    expect(around.told().at(-1)?.[1]).toBe('Convoy on 4 resources, 21 more times in 5 min')
    expect(around.marks()[0]?.where).toBe('')
  })

  it('an eviction risk is never only counted', () => {
    const eviction: TracedCondition = {
      kind: 'eviction',
      resource: 1,
      client: 8,
      ageNs: 60 * NS_PER_S,
      timeoutNs: 100 * NS_PER_S,
    }
    const w = watching((at) => (second(at) % 30 < 1 ? [eviction] : []))
    w.run(95)
    expect(w.told().map(([s]) => s)).toEqual([0.1, 30, 60, 90])
  })

  it('storms everywhere are three names and a number in ten seconds', () => {
    const w = watching((at) => Array.from({ length: 5_000 }, (_, r) => convoy(at, r, 10 + (r % 100))))
    w.run(25)
    expect(w.told()).toEqual([
      [0.1, 'Convoy on f99 / 0, 109 behind 1 PR lock'],
      [0.1, 'Convoy on f199 / 0, 109 behind 1 PR lock'],
      [0.1, 'Convoy on f299 / 0, 109 behind 1 PR lock'],
      [10.1, 'Convoy on 4997 more resources'],
    ])
    expect(w.watch.conditions(200, 10)).toHaveLength(4)
  })

  it('a ping-pong is reported by itself, but not of a convoy: while one is served, the lock changes hands', () => {
    const pingPong = (resource: number): TracedCondition => ({
      kind: 'ping-pong',
      resource,
      perSecond: 41.2,
      sinceNs: 0,
    })
    const w = watching((at) => [...(second(at) % 1 < 0.5 ? [convoy(at)] : []), pingPong(3), pingPong(4)])
    w.run(20)
    expect(w.told().map(([, text]) => text)).toEqual([
      'Convoy on f3 / 0, 14 behind 1 PR lock',
      'Ping-pong on f4 / 0, 41 owner changes/s',
    ])
    expect(w.watch.storms(200, 10).map(({ condition }) => [condition.kind, condition.resource])).toEqual([
      ['convoy', 3],
      ['ping-pong', 4],
    ])
  })

  it('a client is a risk from half of the timeout on, at once and once', () => {
    const eviction = (at: number): TracedCondition => ({
      kind: 'eviction',
      resource: 1,
      client: 8,
      ageNs: at,
      timeoutNs: 100 * NS_PER_S,
    })
    const w = watching((at) => [eviction(at)])
    w.run(70)
    expect(w.told()).toEqual([[50.1, 'Eviction risk on f1 / 0, cn08 silent for 50 % of 100 s']])
    expect(w.marks()[0]).toMatchObject({ level: 'bad' })
    expect(w.watch.storms(500, 10)).toEqual([])
    expect(w.watch.conditions(500, 10)).toHaveLength(1)
    expect(w.watch.storms(501, 10)).toHaveLength(1)
  })

  it('a file name of a page is a bounded text', () => {
    const w = watching(
      (at) => [convoy(at)],
      () => '\u202E<img src=x onerror=alert(1)>\u{1F4A3}'.repeat(200),
    )
    w.run(2)
    const [mark] = w.marks()
    expect(mark?.text.length).toBeLessThan(200)
    expect(mark?.where.length).toBeLessThanOrEqual(120)
  })
})

describe('conditions of a sample', () => {
  it('are the worst of the samples up to it, none of later ones, and of samples in memory only', () => {
    const w = watching((at) => (second(at) === 2 || second(at) === 2.5 ? [convoy(at, 3, second(at) * 10)] : []))
    w.run(3)
    const waiting = (sample: number): number[] =>
      w.watch
        .conditions(sample, 10)
        .flatMap(({ condition }) => (condition.kind === 'convoy' ? [condition.waiting] : []))
    expect([19, 20, 24, 25, 29].map(waiting)).toEqual([[], [20], [20], [25], [25]])
    expect(w.watch.conditions(25, 10)[0]?.atNs).toBe(2.5 * NS_PER_S)
    w.run(200)
    expect(waiting(25)).toEqual([])
  })
})
