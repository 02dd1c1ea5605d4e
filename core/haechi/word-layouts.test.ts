import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClientAccount } from './client-account.ts'
import { packCounts, unpackCounts } from './count-words.ts'
import type { ClientReport } from './messages.ts'
import { epochNear, packPool, unpackPool } from './pool-word.ts'
import { proportion } from './proportion.ts'
import { QosEngine } from './qos-engine.ts'
import {
  isSameReport,
  lowEpoch,
  MAX_RESERVATION,
  MAX_WINDOW,
  packReport,
  unpackReport,
  type SlotReport,
} from './report-word.ts'
import { DEFAULT_SETTINGS } from './settings.ts'
import { TokenMemory, tokenMemoryBytes } from './token-memory.ts'

const count28 = fc.nat(2 ** 28 - 1)

describe('words of two counts', () => {
  it('round-trip', () => {
    fc.assert(
      fc.property(fc.nat(255), count28, count28, (epoch, residual, completed) => {
        expect(unpackCounts(packCounts(epoch, residual, completed))).toEqual({ epoch, residual, completed })
      }),
    )
  })

  it('saturate instead of running into the field beside', () => {
    const word = packCounts(3, 2 ** 40, -5)
    expect(unpackCounts(word)).toEqual({ epoch: 3, residual: 2 ** 28 - 1, completed: 0 })
    expect(unpackCounts(packCounts(3, 0, 2 ** 28))).toEqual({ epoch: 3, residual: 0, completed: 2 ** 28 - 1 })
  })
})

const without = ({ epoch, residual, spent, completed, isBacklogged }: SlotReport | ClientReport): object => ({
  epoch: lowEpoch(epoch),
  residual,
  spent,
  completed,
  isBacklogged,
})

describe('the report word', () => {
  it('carries every count exactly, before and after the reservation is used up', () => {
    const before = fc
      .tuple(fc.integer({ min: 1, max: MAX_RESERVATION }), fc.nat(MAX_RESERVATION), fc.nat(2 * MAX_WINDOW))
      .map(([residual, spent, offset]) => ({ residual, spent, completed: spent + offset - MAX_WINDOW }))
    const after = fc
      .tuple(fc.nat(MAX_RESERVATION), fc.nat(2 ** 33 - 1))
      .map(([spent, completed]) => ({ residual: 0, spent, completed }))
    fc.assert(
      fc.property(
        fc.oneof(before, after),
        fc.nat(1e6),
        fc.nat(1e6),
        fc.boolean(),
        (counts, epoch, beat, isBacklogged) => {
          const report = { ...counts, epoch, beat, isBacklogged }
          expect(without(unpackReport(packReport(report)))).toEqual(without(report))
        },
      ),
    )
  })

  it('changes between any two readings of an idle client, also if only every k-th report is read', () => {
    const idle = (beat: number): SlotReport =>
      unpackReport(packReport({ epoch: 1, residual: 5, spent: 0, completed: 0, beat }))
    for (let k = 1; k <= 32; k++) {
      for (let first = 1; first < 50; first++) {
        const read = Array.from({ length: DEFAULT_SETTINGS.missedReports }, (_, i) => idle(first + i * k))
        expect(read.every((report) => report.beat > 0)).toBe(true)
        expect(read.slice(1).some((report) => !isSameReport(report, read[0]!))).toBe(true)
      }
    }
  })

  it('loses nothing of what an engine did, whatever happens between two readings', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('request' as const), n: fc.nat(3000) }),
      fc.record({ kind: fc.constant('complete' as const), n: fc.nat(MAX_WINDOW) }),
      fc.record({ kind: fc.constant('tick' as const), n: fc.integer({ min: 1, max: 400 }) }),
      fc.record({ kind: fc.constant('grant' as const), n: fc.integer({ min: -500, max: 2000 }) }),
      fc.record({ kind: fc.constant('period' as const), n: fc.nat(5000) }),
      fc.record({ kind: fc.constant('read' as const), n: fc.constant(0) }),
    )
    const window = fc.integer({ min: 1, max: MAX_WINDOW })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), window, (steps, most) => {
        const settings = { ...DEFAULT_SETTINGS, window: most, phase2Window: most }
        const tokens = new TokenMemory(1, () => 7 + taken++, new ArrayBuffer(tokenMemoryBytes(1)))
        let taken = 0
        const keys = tokens.admit(0, settings.batch)
        if (!keys.ok) throw new Error(keys.error.what)
        let asked = 0
        let now = 0
        let epoch = 1
        const engine = new QosEngine(settings, {
          postIo: () => undefined,
          faa: (take) => void (asked = take),
          writeReport: (report) => expect(tokens.report(keys.value, report).ok).toBe(true),
        })
        const account = new ClientAccount(0, 0, 0, null, 10)
        const begin = (reservation: number): void => {
          engine.onPeriodStart(now, { kind: 'period-start', epoch, reservation, limit: null })
          account.nextReservation = reservation
          account.beginPeriod(now)
          engine.onStartReport({ kind: 'start-report', epoch })
        }
        begin(1000)
        for (const { kind, n } of steps) {
          if (kind === 'request') engine.onRequest(n)
          else if (kind === 'complete') engine.onCompletion(Math.min(n, engine.inflight))
          else if (kind === 'grant' && asked > 0) {
            const take = asked
            asked = 0
            engine.onFaaReply(now, n, take, epoch)
          } else if (kind === 'tick') {
            now += n * settings.tickNs
            engine.onWake(now)
          } else if (kind === 'period') {
            epoch++
            begin(n)
          } else if (kind === 'read') {
            // The next tick's report is the state at that time.
            now = Math.max(now, Math.ceil(now / settings.tickNs + 1) * settings.tickNs)
            engine.onWake(now)
            expect(account.take(tokens.slot(0), epoch, now)).toBeNull()
            const { reservationTokens: residual, completed, yielded } = engine
            expect(account).toMatchObject({ residual, completed, yielded })
          }
        }
        engine.leave()
        expect(account.take(tokens.slot(0), epoch, now)).toBeNull()
        expect(account).toMatchObject({ residual: 0, completed: engine.completed, yielded: engine.yielded })
      }),
    )
  })
})

describe('the epoch of a pool word', () => {
  it('name the epoch again that is meant', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.integer({ min: -128, max: 127 }), (current, off) => {
        expect(epochNear((current + off) & 255, current)).toBe(current + off)
      }),
    )
  })
})

describe('the pool word', () => {
  it('keeps its epoch while FAAs take it below zero', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 2 ** 40 }), fc.nat(255), fc.nat(1e9), (tokens, epoch, take) => {
        const taken = BigInt.asIntN(64, packPool(tokens, epoch) - BigInt(take))
        expect(unpackPool(taken)).toEqual({ tokens: tokens - take, epoch })
      }),
    )
  })
})

it('takes an exact share where a double would round', () => {
  const part = fc.nat(2 ** 42)
  fc.assert(
    fc.property(fc.nat(2 ** 30), part, fc.integer({ min: 1, max: 2 ** 42 }), (total, of, whole) => {
      expect(proportion(total, of, whole)).toBe(Number((BigInt(total) * BigInt(of)) / BigInt(whole)))
    }),
  )
})
