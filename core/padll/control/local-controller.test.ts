import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '../../base/units.ts'
import { parseHousekeeping } from '../rules/housekeeping.ts'
import { LocalController } from './local-controller.ts'
import type { ChannelCounts, GlobalToLocal, Lease, LocalToGlobal, LocalToStage, StageToLocal } from './messages.ts'
import { HANDSHAKE_NS, GOODBYE, STAGE_ANSWER_NS } from './protocol.ts'

const RULES = parseHousekeeping(`1 create_channel 1 posix 0 open no_op
2 create_object 1 1 posix open no_op drl 10000 1000
3 create_channel 2 posix 2000 open no_op
4 create_object 2 1 posix open no_op drl 10000 1000
5 create_channel 3 posix 3000 open no_op
6 create_object 3 1 posix open no_op drl 10000 1000
`).rules
const LEASE: Lease = { ns: 6 * NS_PER_S, onExpiry: 'hold' }
const GLOBAL = 100
const identity = { job: 'j', instance: 0, pid: 9, ppid: 1, hostname: 'n', user: 'u' }

const welcome = (epoch: number, controller: string, lease = LEASE): GlobalToLocal => ({
  kind: 'welcome',
  epoch,
  controller,
  housekeeping: RULES,
  lease,
})

class Bench {
  now = 0
  readonly toStages: [number, LocalToStage][] = []
  readonly toGlobals: [number, LocalToGlobal][] = []
  readonly closed: number[] = []
  readonly local = new LocalController({
    local: 'l',
    hostname: 'n',
    io: {
      toStage: (link, m) => this.toStages.push([link, m]),
      closeStage: (link) => this.closed.push(link),
      toGlobal: (link, m) => this.toGlobals.push([link, m]),
      closeGlobal: () => undefined,
    },
  })

  constructor() {
    this.local.onGlobalOpen(GLOBAL, 0)
    this.local.onGlobalMessage(GLOBAL, welcome(1, 'g'), 0)
  }

  stage(link: number, m: StageToLocal): void {
    this.local.onStageMessage(link, m, this.now)
  }

  global(m: GlobalToLocal, link = GLOBAL): void {
    this.local.onGlobalMessage(link, m, this.now)
  }

  open(link: number): void {
    this.local.onStageOpen(link, this.now)
    this.stage(link, { kind: 'hello', protocol: 1, identity })
  }

  /** Answers all requests to a stage until none are left. */
  answerAll(link: number, from = 0): void {
    for (let i = from; i < this.toStages.length; i++) {
      const [to, m] = this.toStages[i]!
      if (to === link && 'request' in m && m.kind !== 'collect') this.stage(link, { kind: 'ack', request: m.request })
    }
  }

  join(link: number): void {
    const from = this.toStages.length
    this.open(link)
    this.answerAll(link, from)
  }

  get last(): LocalToGlobal {
    return this.toGlobals.at(-1)![1]
  }
}

const counts: ChannelCounts = {
  channel: 1,
  object: 1,
  scope: 'open',
  arrived: 5,
  served: 4,
  waited: 1,
  queued: 1,
  throttledNs: 7,
}

describe('a local controller', () => {
  it('lays a stage out rule by rule, sets its first rates, and reports it', () => {
    const b = new Bench()
    b.open(1)
    expect(b.toStages.map(([, m]) => m.kind)).toEqual(['housekeeping'])
    b.answerAll(1)
    expect(b.toStages.map(([, m]) => m.kind)).toEqual([
      ...Array<string>(6).fill('housekeeping'),
      'ready',
      'enforce',
      'enforce',
      'enforce',
    ])
    expect(b.last).toMatchObject({ kind: 'stage-joined', stage: { identity, channels: { length: 3 } } })
  })

  it('drops a session whose ACK is missing', () => {
    const b = new Bench()
    b.open(1)
    b.local.tick(HANDSHAKE_NS)
    expect(b.closed).toEqual([1])
    expect(b.local.stages).toBe(0)
  })

  it('sends a stage away that refuses a rule, or whose identity cannot be', () => {
    const b = new Bench()
    b.open(1)
    b.stage(1, { kind: 'ack', request: 1, failed: 'E_FULL' })
    b.local.onStageOpen(2, 0)
    b.stage(2, { kind: 'hello', protocol: 1, identity: { ...identity, job: 'x'.repeat(201) } })
    b.local.onStageOpen(3, 0)
    b.stage(3, { kind: 'hello', protocol: 2, identity })
    expect(b.toStages.filter(([, m]) => m.kind === 'refused').map(([link]) => link)).toEqual([1, 2, 3])
    expect(b.closed).toEqual([1, 2, 3])
  })

  it('cuts a rate over the channels of its scope, the remainder on the first', () => {
    const b = new Bench()
    b.join(1)
    const from = b.toStages.length
    b.global({ kind: 'enforce', request: 1, epoch: 1, controller: 'g', rates: [{ key: '1', scope: 'open', rate: 11 }] })
    const rates = b.toStages.slice(from).map(([, m]) => (m.kind === 'enforce' ? m.command.rate : undefined))
    expect(rates).toEqual([4, 4, 3])
    b.answerAll(1, from)
    expect(b.last).toEqual({ kind: 'ack', request: 1, failed: [] })
  })

  it('reports the parts of a command that failed', () => {
    const b = new Bench()
    b.join(1)
    b.global({
      kind: 'enforce',
      request: 1,
      epoch: 1,
      controller: 'g',
      rates: [
        { key: '7', scope: 'open', rate: 5 },
        { key: '1', scope: 'close', rate: 5 },
        { key: '1', scope: 'open', rate: NaN },
      ],
    })
    expect(b.last).toMatchObject({
      kind: 'ack',
      failed: [{ key: '7' }, { scope: 'close' }, { why: 'the rate is not valid' }],
    })
  })

  it('answers with the counts that came in time, and adds late ones to the next answer', () => {
    const b = new Bench()
    b.join(1)
    b.join(2)
    const collect = (request: number): number[] => {
      const from = b.toStages.length
      b.global({ kind: 'collect', request, epoch: 1, controller: 'g' })
      return b.toStages.slice(from).map(([, m]) => ('request' in m ? m.request : 0))
    }
    b.now = NS_PER_S
    const [one, two] = collect(1)
    b.stage(1, { kind: 'counts', request: one!, channels: [counts] })
    b.local.tick(b.now + STAGE_ANSWER_NS)
    expect(b.last).toMatchObject({ kind: 'counts', request: 1, stages: [{ key: '1' }], silent: ['2'] })
    b.stage(2, { kind: 'counts', request: two!, channels: [counts] })
    b.stage(2, { kind: 'counts', request: two!, channels: [counts] })
    b.now = 2 * NS_PER_S
    const [, next] = collect(2)
    b.stage(2, { kind: 'counts', request: next!, channels: [counts] })
    b.local.tick(b.now + STAGE_ANSWER_NS)
    expect(b.last).toMatchObject({ windowNs: NS_PER_S, stages: [{ key: '2', channels: [{ served: 8, queued: 1 }] }] })
  })

  it('drops a stage that does not answer three times, and reports why one has left', () => {
    const b = new Bench()
    b.join(1)
    b.join(2)
    b.stage(2, { kind: 'bye' })
    expect(b.last).toEqual({ kind: 'stage-left', key: '2', why: GOODBYE })
    for (let i = 1; i <= 3; i++) {
      b.now += NS_PER_S
      b.global({ kind: 'collect', request: i, epoch: 1, controller: 'g' })
      b.local.tick(b.now + STAGE_ANSWER_NS)
    }
    expect(b.last).toEqual({ kind: 'stage-left', key: '1', why: 'it did not answer 3 times' })
    expect(b.closed).toEqual([2, 1])
  })

  it('obeys the highest epoch, of one epoch the first, and tells the others', () => {
    const b = new Bench()
    b.local.onGlobalOpen(200, 0)
    b.global(welcome(1, 'h'), 200)
    expect(b.toGlobals.at(-1)).toEqual([200, { kind: 'stale', request: 0, epoch: 1, controller: 'g' }])
    b.global(welcome(2, 'h'), 200)
    expect(b.toGlobals.at(-1)).toMatchObject([200, { kind: 'hello', epoch: 2 }])
    b.global({ kind: 'enforce', request: 5, epoch: 1, controller: 'g', rates: [] })
    expect(b.toGlobals.at(-1)).toEqual([GLOBAL, { kind: 'stale', request: 5, epoch: 2, controller: 'h' }])
  })

  it('reports calls that a stage cannot limit: once it has joined, at once, and to a controller that takes over', () => {
    const b = new Bench()
    b.open(1)
    const failed = 'E_IO_URING: its submissions are not limited'
    b.stage(1, { kind: 'ack', request: 0, failed })
    expect(b.toGlobals.some(([, m]) => m.kind === 'ack')).toBe(false)
    b.answerAll(1)
    const [key] = b.toGlobals.flatMap(([, m]) => (m.kind === 'stage-joined' ? [m.stage.key] : []))
    const report = { kind: 'ack', request: 0, failed: [{ key, scope: 'data_op', why: failed }] }
    expect(b.last).toEqual(report)
    const before = b.toGlobals.length
    b.stage(1, { kind: 'ack', request: 0, failed })
    expect(b.toGlobals.slice(before)).toEqual([[GLOBAL, report]])
    b.local.onGlobalOpen(GLOBAL + 1, b.now)
    b.global(welcome(2, 'h'), GLOBAL + 1)
    expect(b.toGlobals.at(-1)).toEqual([GLOBAL + 1, report])
  })

  it('renews leases until its own is over', () => {
    const b = new Bench()
    b.join(1)
    const from = b.toStages.length
    for (let i = 0; i < 100 && b.local.nextNs() < Infinity; i++) {
      b.now = b.local.nextNs()
      b.local.tick(b.now)
    }
    expect(b.local.nextNs()).toBe(Infinity)
    expect(b.now).toBe(LEASE.ns)
    expect(b.toStages.slice(from).map(([, m]) => m.kind)).toEqual(['alive', 'alive'])
  })

  it('tells stages a new lease', () => {
    const b = new Bench()
    b.join(1)
    const lease: Lease = { ns: 9 * NS_PER_S, onExpiry: { rate: 5 } }
    b.global(welcome(1, 'g', lease))
    expect(b.toStages.at(-1)).toMatchObject([1, { kind: 'ready', lease }])
  })
})
