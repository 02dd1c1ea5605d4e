/** Robustness against any messages in any order: nothing throws, and the status stays readable. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NS_PER_MS } from '../../base/units.ts'
import { parseHousekeeping } from '../rules/housekeeping.ts'
import { Stage } from '../stage/stage.ts'
import { padllStatus } from '../status.ts'
import { GlobalController } from './global-controller.ts'
import { LocalController } from './local-controller.ts'
import type { ChannelCounts, GlobalToLocal, LocalToGlobal, LocalToStage, StageEntry, StageToLocal } from './messages.ts'
import { StageAgent } from './stage-agent.ts'

const RULES = parseHousekeeping(`1 create_channel 1 posix 0 open no_op
2 create_object 1 1 posix open no_op drl 10000 1000
`).rules

const small = fc.nat(4)
const number = fc.oneof(small, fc.constantFrom(-1, 0.5, 1e9, 2 ** 53, 1e300, NaN, Infinity, -Infinity))
const text = fc.oneof(fc.constantFrom('1', 'a', 'g', '', '__proto__', '\n', '\ud800'), fc.string({ maxLength: 300 }))
const scope = fc.constantFrom('open' as const, 'meta_op' as const, 'read' as const)
const identity = fc.record({ job: text, instance: number, pid: number, ppid: number, hostname: text, user: text })
const lease = fc.record({
  ns: number,
  onExpiry: fc.oneof(fc.constant('hold' as const), fc.record({ rate: number })),
})
const channels: fc.Arbitrary<ChannelCounts[]> = fc.array(
  fc.record({
    channel: small,
    object: small,
    scope,
    arrived: number,
    served: number,
    waited: number,
    queued: number,
    throttledNs: number,
  }),
  { maxLength: 3 },
)
const entry: fc.Arbitrary<StageEntry> = fc.record({
  key: text,
  identity,
  channels: fc.array(fc.record({ channel: small, object: small, scope, rate: number }), { maxLength: 3 }),
})
const rule = fc.constantFrom(...RULES)
const kind = <K extends string>(k: K): fc.Arbitrary<K> => fc.constant(k)

const toStage: fc.Arbitrary<LocalToStage> = fc.oneof(
  fc.record({ kind: kind('housekeeping'), request: number, rule }),
  fc.record({ kind: kind('ready'), request: number, lease }),
  fc.record({
    kind: kind('enforce'),
    request: number,
    epoch: number,
    command: fc.record(
      { channel: small, object: small, rate: number, refillNs: number },
      { requiredKeys: ['channel', 'object'] },
    ),
  }),
  fc.record({ kind: kind('collect'), request: number }),
  fc.record({ kind: kind('alive') }),
  fc.record({ kind: kind('refused'), why: text }),
)
const fromStage: fc.Arbitrary<StageToLocal> = fc.oneof(
  fc.record({ kind: kind('hello'), protocol: fc.constantFrom(1, 1, 1, NaN), identity }),
  fc.record({ kind: kind('ack'), request: number, failed: text }, { requiredKeys: ['kind', 'request'] }),
  fc.record({ kind: kind('counts'), request: number, channels }),
  fc.record({ kind: kind('bye') }),
)
const toLocal: fc.Arbitrary<GlobalToLocal> = fc.oneof(
  fc.record({
    kind: kind('welcome'),
    epoch: number,
    controller: text,
    housekeeping: fc.array(rule, { maxLength: 3 }),
    lease,
  }),
  fc.record({ kind: kind('collect'), request: number, epoch: number, controller: text }),
  fc.record({
    kind: kind('enforce'),
    request: number,
    epoch: number,
    controller: text,
    rates: fc.array(fc.record({ key: text, scope, rate: number }), { maxLength: 3 }),
  }),
)
const fromLocal: fc.Arbitrary<LocalToGlobal> = fc.oneof(
  fc.record({
    kind: kind('hello'),
    local: text,
    hostname: text,
    epoch: number,
    stages: fc.array(entry, { maxLength: 3 }),
  }),
  fc.record({ kind: kind('stage-joined'), stage: entry }),
  fc.record({ kind: kind('stage-left'), key: text, why: text }),
  fc.record({
    kind: kind('counts'),
    request: number,
    windowNs: number,
    stages: fc.array(fc.record({ key: text, channels }), { maxLength: 3 }),
    silent: fc.array(text, { maxLength: 3 }),
  }),
  fc.record({
    kind: kind('ack'),
    request: number,
    failed: fc.array(fc.record({ key: text, scope, why: text }), { maxLength: 2 }),
  }),
  fc.record({ kind: kind('stale'), request: number, epoch: number, controller: text }),
)

const stepOf = <M>(
  message: fc.Arbitrary<M>,
): fc.Arbitrary<{ link: number; waitNs: number; open: boolean; message: M }> =>
  fc.record({ link: fc.nat(2), waitNs: fc.nat(900).map((ms) => ms * NS_PER_MS), open: fc.boolean(), message })

describe('exploit: a peer that sends arbitrary messages', () => {
  it('to a stage', () => {
    fc.assert(
      fc.property(fc.array(stepOf(toStage), { maxLength: 60 }), (steps) => {
        const stage = new Stage({
          identity: { job: 'j', instance: 0, pid: 9, ppid: 1, hostname: 'n', user: 'u' },
          mounts: ['/fs'],
        })
        const agent = new StageAgent({ stage, io: { send: () => undefined, close: () => undefined } })
        let now = 0
        for (const { link, waitNs, open, message } of steps) {
          now += waitNs
          if (link === 0) {
            if (open) agent.onOpen(now)
            else agent.onGone(now)
          }
          agent.onMessage(message, now)
          agent.tick(now)
          stage.submit({ call: 'open', path: '/fs/a' }, now)
          expect(agent.nextNs()).not.toBeLessThan(0)
          const rate = stage.limitOf(1, 1)?.rate
          expect(rate === undefined || rate >= 1).toBe(true)
        }
      }),
    )
  })

  it('to a local controller', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            stepOf(toLocal.map((m) => ['global', m] as const)),
            stepOf(fromStage.map((m) => ['stage', m] as const)),
          ),
          {
            maxLength: 80,
          },
        ),
        (steps) => {
          const none = (): void => undefined
          const io = { toStage: none, closeStage: none, toGlobal: none, closeGlobal: none }
          const local = new LocalController({ local: 'l', hostname: 'n', io })
          let now = 0
          for (const { link, waitNs, open, message } of steps) {
            now += waitNs
            if (message[0] === 'global') {
              if (open) local.onGlobalOpen(link, now)
              local.onGlobalMessage(link, message[1], now)
              if (!open && link === 2) local.onGlobalGone(link, now)
            } else {
              if (open) local.onStageOpen(link, now)
              local.onStageMessage(link, message[1], now)
              if (!open && link === 2) local.onStageGone(link, now)
            }
            if (now >= local.nextNs()) local.tick(now)
          }
          expect(local.stages).toBeLessThanOrEqual(3)
        },
      ),
    )
  })

  it('to a global controller, whose status stays readable and whose commands keep to the floor', () => {
    fc.assert(
      fc.property(fc.array(stepOf(fromLocal), { maxLength: 80 }), (steps) => {
        let pending: { link: number; request: number } | undefined
        const global = new GlobalController({
          controller: 'g',
          startedMs: 1,
          startedNs: 0,
          housekeeping: RULES,
          settings: { limits: new Map([['open', 100]]) },
          io: {
            send: (link, m) => {
              if (m.kind !== 'welcome') pending = { link, request: m.request }
              if (m.kind === 'enforce') for (const { rate } of m.rates) expect(rate).toBeGreaterThanOrEqual(1)
            },
            close: () => undefined,
          },
        })
        let now = 0
        for (const { link, waitNs, open, message } of steps) {
          now += waitNs
          if (open) global.onOpen(link, now)
          // Half of the answers match a request.
          const answer = open && pending && 'request' in message ? { ...message, request: pending.request } : message
          const hello = answer.kind === 'hello' && open ? { ...answer, epoch: global.epoch } : answer
          global.onMessage(answer === message ? link : (pending?.link ?? link), hello, now)
          if (!open && link === 2) global.onGone(link, now)
          if (now >= global.nextNs()) global.tick(now)
          const status = global.status(now / NS_PER_MS)
          expect(padllStatus.safeParse(status).error).toBeUndefined()
        }
      }),
    )
  })
})
