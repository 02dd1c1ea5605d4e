import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '../../base/units.ts'
import { parseHousekeeping } from '../rules/housekeeping.ts'
import { Stage } from '../stage/stage.ts'
import type { Lease, LocalToStage, StageToLocal } from './messages.ts'
import { StageAgent } from './stage-agent.ts'

const RULES = parseHousekeeping(`1 create_channel 1 posix 0 open no_op
2 create_object 1 1 posix open no_op drl 10000 1000
3 create_object 1 2 posix close no_op noop 0 0
`).rules

class Bench {
  readonly sent: StageToLocal[] = []
  isClosed = false
  readonly stage = new Stage({
    identity: { job: 'j', instance: 0, pid: 9, ppid: 1, hostname: 'n', user: 'u' },
    mounts: ['/fs'],
  })
  readonly agent = new StageAgent({
    stage: this.stage,
    io: { send: (m) => this.sent.push(m), close: () => (this.isClosed = true) },
  })
  #request = 0

  deliver(...messages: readonly LocalToStage[]): void {
    for (const m of messages) this.agent.onMessage(m, 0)
  }

  handshake(lease: Lease): void {
    this.agent.onOpen(0)
    for (const rule of RULES) this.deliver({ kind: 'housekeeping', request: ++this.#request, rule })
    this.deliver({ kind: 'ready', request: ++this.#request, lease })
  }

  get rate(): number | undefined {
    return this.stage.limitOf(1, 1)?.rate
  }
}

const enforce = (request: number, rate: number, epoch = 1): LocalToStage => ({
  kind: 'enforce',
  request,
  epoch,
  command: { channel: 1, object: 1, rate },
})
const HOLD: Lease = { ns: NS_PER_S, onExpiry: 'hold' }
const FALL_BACK: Lease = { ns: NS_PER_S, onExpiry: { rate: 50 } }

describe('a stage and its local controller', () => {
  it('sends its identity, acknowledges each rule, and limits from `ready` on', () => {
    const b = new Bench()
    b.handshake(HOLD)
    expect(b.sent.map((m) => m.kind)).toEqual(['hello', 'ack', 'ack', 'ack', 'ack'])
    expect(b.sent.every((m) => m.kind !== 'ack' || m.failed === undefined)).toBe(true)
    expect(b.stage.isReady).toBe(true)
  })

  it('forwards everything before it is ready', () => {
    const b = new Bench()
    b.agent.onOpen(0)
    expect(b.stage.submit({ call: 'open', path: '/fs/a', count: 1e6 }, 0)).toMatchObject({ reason: 'not-ready' })
  })

  it('carries out a command once, and overtaken ones not at all', () => {
    const b = new Bench()
    b.handshake(HOLD)
    const before = b.sent.length
    b.deliver(enforce(9, 70), enforce(9, 70), enforce(8, 90))
    expect(b.rate).toBe(70)
    expect(b.sent.slice(before)).toEqual([{ kind: 'ack', request: 9 }])
  })

  it('refuses a lower epoch, an unknown object and an invalid rate, and continues', () => {
    const b = new Bench()
    b.handshake(HOLD)
    b.deliver(enforce(9, 70, 5), enforce(10, 80, 4), enforce(11, NaN, 5))
    b.deliver({ kind: 'enforce', request: 12, epoch: 5, command: { channel: 7, object: 7, rate: 1 } })
    expect(b.rate).toBe(70)
    const failed = b.sent.slice(-3).map((m) => (m.kind === 'ack' ? m.failed?.slice(0, 9) : ''))
    expect(failed).toEqual(['E_STALE: ', 'E_RATE: N', 'E_CHANNEL'])
  })

  it('holds its rates through lost connections and leases', () => {
    const b = new Bench()
    b.handshake(HOLD)
    b.deliver(enforce(9, 70))
    b.agent.onGone(0)
    b.agent.tick(10 * NS_PER_S)
    expect([b.agent.isExpired, b.rate]).toEqual([true, 70])
  })

  it('falls back when the lease is over, never to more than it had, and takes up again when spoken to', () => {
    const b = new Bench()
    b.handshake(FALL_BACK)
    b.deliver(enforce(9, 70))
    expect(b.agent.nextNs()).toBe(NS_PER_S)
    b.agent.tick(NS_PER_S)
    expect(b.rate).toBe(50)
    b.agent.onMessage({ kind: 'alive' }, 2 * NS_PER_S)
    expect(b.rate).toBe(70)
    b.agent.onMessage(enforce(10, 20), 2 * NS_PER_S)
    b.agent.tick(9 * NS_PER_S)
    expect(b.rate).toBe(20)
  })

  it('does not resume replaced rates after a new connection', () => {
    const b = new Bench()
    b.handshake(FALL_BACK)
    b.deliver(enforce(9, 70))
    b.agent.onGone(0)
    b.agent.tick(NS_PER_S)
    b.agent.onOpen(NS_PER_S)
    b.agent.onMessage({ kind: 'alive' }, NS_PER_S)
    expect(b.rate).toBe(50)
  })

  it('takes the same rules again, keeps its rates, and refuses others under the same numbers', () => {
    const b = new Bench()
    b.handshake(HOLD)
    b.deliver(enforce(9, 70))
    b.agent.onGone(0)
    b.handshake(HOLD)
    expect(b.rate).toBe(70)
    const [channel] = parseHousekeeping('1 create_channel 1 posix 0 close no_op').rules
    b.deliver({ kind: 'housekeeping', request: 99, rule: channel! })
    expect(b.sent.at(-1)).toMatchObject({
      kind: 'ack',
      request: 99,
      failed: expect.stringContaining('E_DUPLICATE') as string,
    })
  })

  it('when rejected, limits nothing and closes the connection', () => {
    const b = new Bench()
    b.handshake(HOLD)
    b.deliver(enforce(9, 1), { kind: 'refused', why: 'x' })
    expect(b.isClosed).toBe(true)
    expect(b.stage.submit({ call: 'open', path: '/fs/a', count: 1e6 }, NS_PER_S).kind).not.toBe('waits')
  })
})
