import { describe, expect, it } from 'vitest'
import type { Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { falseAllocation, type PadllStatus } from '#core/padll/status.ts'
import type { ExecResult, NodeConnection } from '../../base/connection.ts'
import { EventLog } from '../state/event-log.ts'
import { PadllReader, PadllDocuments } from './padll-reader.ts'
import { channelSeries, jobColumnOf, jobSeries, PadllSeries, scopeColumnOf } from './padll-series.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

const T0 = 1_767_225_600_000

function status(more: Partial<PadllStatus> = {}): PadllStatus {
  return {
    version: 1,
    controller: 'qos01',
    epoch: 1,
    atMs: T0,
    startedMs: T0,
    cycle: 1,
    cycleMs: 1,
    algorithm: 'psfa',
    epsilon: 0.25,
    split: 'equal',
    intervalMs: 1000,
    collectRounds: 1,
    lease: { seconds: 30, onExpiry: 'hold' },
    limits: [{ scope: 'meta_op', rate: 100 }],
    jobs: [],
    locals: [],
    policies: { text: '', startedMs: T0, steps: [] },
    events: [],
    failures: [],
    ...more,
  }
}

const jobNow = (job: string, more: Partial<PadllStatus['jobs'][number]> = {}): PadllStatus['jobs'][number] => ({
  job,
  scope: 'meta_op',
  stages: 1,
  demand: null,
  limit: null,
  asked: 10,
  measured: 10,
  allocated: 50,
  queued: 0,
  throttledS: 0,
  ...more,
})

const answer = (s: PadllStatus): Result<ExecResult> => printed(`${JSON.stringify(s)}\n`)

/** A controller's node with given answers. */
function reader(exec: NodeConnection['exec']) {
  const events = new EventLog()
  const node: NodeConnection = { host: 'qos01', roles: ['controller'], exec }
  return { events, padll: new PadllReader(node, events), reported: () => events.between(0, Infinity, 100) }
}

describe('reading the global controller', () => {
  it.each([
    ['nothing', '', 'not JSON'],
    ['a page of a web server', '<html>', 'not JSON'],
    ['JSON of something else', '{"version":2}', 'version'],
    ['a rate that is not a number', JSON.stringify({ ...status(), epsilon: 'much' }), 'epsilon'],
    [
      'more jobs than can be',
      JSON.stringify({ ...status(), jobs: Array.from({ length: 10_001 }, () => jobNow('a')) }),
      'jobs',
    ],
  ])('says what is wrong with %s, and keeps what it knew', async (_, stdout, why) => {
    let next = answer(status())
    const { padll, reported } = reader(async () => next)
    await padll.refresh(0, T0)
    next = printed(stdout)
    await padll.refresh(NS_PER_S, T0 + 1000)
    expect(padll.failure).toMatchObject({ code: 'CONTROLLER_UNREADABLE' })
    expect(padll.failure?.why).toContain(why)
    expect(padll.documents.newest?.atMs).toBe(T0)
    expect(reported()).toMatchObject([{ kind: 'lost', level: 'bad' }])
  })

  it('reports once that the controller is silent and once that it is back, and keeps the gap', async () => {
    let isUp = true
    const { padll, reported } = reader(async () => {
      if (!isUp) return lost('connection refused')
      return answer(status({ jobs: [jobNow('a')] }))
    })
    for (let s = 0; s < 6; s++) {
      isUp = s < 2 || s > 4
      await padll.refresh(s * NS_PER_S, T0 + s * 1000)
      expect(padll.failure?.code).toBe(isUp ? undefined : 'CONTROLLER_SILENT')
    }
    expect(reported().map((m) => m.level)).toEqual(['ok', 'bad'])
    expect(padll.jobsNow).toHaveLength(1)
    isUp = false
    await padll.refresh(6 * NS_PER_S, T0 + 6000)
    // Its last answer does not show the present jobs.
    expect(padll.jobsNow).toEqual([])
    const { jobs } = padll.series
    const measured = jobs.downsample(jobSeries('a', 'meta_op'), jobColumnOf('measured'), 1, 6, 1)
    expect(measured).toEqual([10, 10, null, null, null, 10])
  })

  it('never reads twice at once, and continues with gaps while an answer is late', async () => {
    let requests = 0
    let release: (r: Result<ExecResult>) => void = () => undefined
    const { padll } = reader(() => {
      requests++
      return new Promise((resolve) => (release = resolve))
    })
    const first = padll.refresh(0, T0)
    await padll.refresh(NS_PER_S, T0 + 1000)
    await padll.refresh(2 * NS_PER_S, T0 + 2000)
    expect(requests).toBe(1)
    release(answer(status()))
    await first
    const second = padll.refresh(3 * NS_PER_S, T0 + 3000)
    expect(requests).toBe(2)
    release(answer(status()))
    await second
    expect(padll.takeCosts().map((c) => c.bytes > 100)).toEqual([true, true])
    expect(padll.takeCosts()).toEqual([])
  })

  it('asks no more than once a second', async () => {
    let requests = 0
    const { padll } = reader(async () => {
      requests++
      return answer(status())
    })
    for (let i = 0; i < 30; i++) await padll.refresh(i * 0.1 * NS_PER_S, T0 + i * 100)
    expect(requests).toBe(3)
  })

  it('reports each event once, also when another run of the controller counts from 0 again', async () => {
    const event = (seq: number, atMs: number, text: string) =>
      ({ seq, atMs, kind: 'join', text, where: 'cn01' }) as const
    let next = status({ events: [event(0, T0 - 60_000, 'long ago'), event(1, T0, 'a joined')] })
    const { padll, reported } = reader(async () => answer(next))
    await padll.refresh(0, T0)
    await padll.refresh(NS_PER_S, T0 + 1000)
    next = status({ atMs: T0 + 2000, events: [event(1, T0, 'a joined'), event(2, T0 + 1500, 'b joined')] })
    await padll.refresh(2 * NS_PER_S, T0 + 2000)
    const again = [event(0, T0 + 2600, 'a joined again')]
    next = status({ atMs: T0 + 3000, epoch: 2, startedMs: T0 + 2500, events: again })
    await padll.refresh(3 * NS_PER_S, T0 + 3000)
    expect(reported().map((m) => m.text)).toEqual(['a joined again', 'b joined', 'a joined'])
    expect(padll.events(T0 - 1, T0 + 2000).map((e) => e.text)).toEqual(['a joined', 'b joined'])
  })

  it('places events by the clock of the samples, whatever that of the controller shows', async () => {
    for (const aheadMs of [3_600_000, -3_600_000]) {
      const event = (seq: number, atMs: number, text: string) =>
        ({ seq, atMs: atMs + aheadMs, kind: 'join', text, where: 'cn01' }) as const
      const events = [event(0, T0 - 60_000, 'long ago'), event(1, T0 - 1000, 'a joined')]
      const { padll, reported } = reader(async () => answer(status({ atMs: T0 + aheadMs, events })))
      await padll.refresh(0, T0)
      expect(reported().map((m) => m.text)).toEqual(['a joined'])
      expect(padll.events(T0 - 2000, T0)).toMatchObject([{ text: 'a joined', atMs: T0 - 1000 }])
    }
  })

  it('shows the state of an earlier time', async () => {
    let cycle = 0
    const { padll } = reader(async () => answer(status({ cycle: ++cycle })))
    for (let s = 0; s < 5; s++) await padll.refresh(s * NS_PER_S, T0 + s * 1000)
    expect(padll.documents.at(T0 + 2400)).toMatchObject({ atMs: T0 + 2000, status: { cycle: 3 } })
    expect(padll.documents.at(T0 + 9000)).toMatchObject({ status: { cycle: 5 } })
    expect(padll.documents.at(T0 - 1)).toBeUndefined()
  })
})

describe('false allocation', () => {
  it('is what is given and unused while another job waits', () => {
    const idle = { allocated: 50, measured: 10, queued: 0 }
    const waiting = { allocated: 30, measured: 30, queued: 9 }
    expect(falseAllocation([idle, waiting])).toBe(40)
    expect(falseAllocation([idle, { ...waiting, queued: 0 }])).toBe(0)
    expect(falseAllocation([{ ...idle, queued: 5 }])).toBe(0)
    expect(falseAllocation([{ ...idle, queued: 5 }, waiting])).toBe(40)
    expect(falseAllocation([{ ...idle, allocated: null }, waiting])).toBe(0)
    // One operation that waits for the next refill does not count as waiting.
    expect(falseAllocation([idle, { ...waiting, queued: 1 }])).toBe(0)
  })

  it('is kept by scope beside the limit', () => {
    const series = new PadllSeries()
    const jobs = [jobNow('a', { queued: 3, measured: 50 }), jobNow('b'), jobNow('c', { scope: 'open' })]
    series.add(T0, status({ jobs }))
    const of = (scope: string, m: Parameters<typeof scopeColumnOf>[0]): number =>
      series.scopes.value(scope, scopeColumnOf(m), 1)
    expect([of('meta_op', 'unused'), of('meta_op', 'limit'), of('meta_op', 'asked')]).toEqual([40, 100, 20])
    expect([of('open', 'unused'), of('open', 'limit')]).toEqual([0, NaN])
  })
})

describe('the memory of series', () => {
  it('takes so many jobs and no more, whatever users call them', () => {
    const series = new PadllSeries()
    const many = (from: number): PadllStatus =>
      status({ jobs: Array.from({ length: 900 }, (_, i) => jobNow(`__proto__${from + i}`)) })
    for (let s = 0; s < 3; s++) series.add(T0 + s * 1000, many(0))
    expect([...series.jobs.names]).toHaveLength(400)
    // Jobs that ended make room for present ones.
    for (let s = 3; s < 6; s++) series.add(T0 + s * 1000, many(5000))
    expect([...series.jobs.names]).toHaveLength(400)
    expect([...series.jobs.names].every((n) => Number(/\d+$/.exec(n)?.[0]) >= 5000)).toBe(true)
  })

  it('does not mix up channels whose names are made to look alike', () => {
    expect(channelSeries('a', ' b c', 1, 1)).not.toBe(channelSeries('a b', ' c', 1, 1))
    expect(channelSeries('a', '1\u0000b', 1, 1)).not.toBe(channelSeries('a1\u0000', 'b', 1, 1))
    expect(jobSeries('p x', 'meta_o')).not.toBe(jobSeries(' x', 'meta_op'))
  })
})

describe('status documents', () => {
  it('are known for half an hour, with the state at its beginning', () => {
    const documents = new PadllDocuments()
    for (let cycle = 0; cycle <= 600; cycle++) {
      const of = status({ cycle })
      documents.add(T0 + cycle * 7000, JSON.stringify(of), of)
    }
    const newestMs = T0 + 600 * 7000
    const at = (agoMs: number): number | undefined => documents.at(newestMs - agoMs)?.status.cycle
    expect([0, 7000, 1_800_000].map(at)).toEqual([600, 599, Math.floor(600 - 1_800_000 / 7000)])
    expect(at(1_820_000)).toBeUndefined()
    expect(documents.forgottenAt(newestMs - 1_820_000)).toBe(258 * 7000)
    expect(documents.forgottenAt(newestMs - 1_800_000)).toBeUndefined()
    const young = new PadllDocuments()
    young.add(T0, JSON.stringify(status({})), status({}))
    expect(young.forgottenAt(T0 - 1)).toBeUndefined()
  })
})
