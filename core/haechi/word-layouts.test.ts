import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packPool, unpackPool } from './pool-word.ts'
import { proportion } from './proportion.ts'
import { epochNear, packReport, packYield, unpackReport, unpackYield } from './report-word.ts'

const count28 = fc.nat(2 ** 28 - 1)

describe('report words', () => {
  it('round-trip', () => {
    fc.assert(
      fc.property(fc.nat(255), count28, count28, fc.nat(2 ** 24 - 1), (epoch, residual, completed, beat) => {
        expect(unpackReport(packReport(epoch, residual, completed))).toEqual({ epoch, residual, completed })
        expect(unpackYield(packYield(epoch, beat, residual))).toEqual({ epoch, beat, yielded: residual })
      }),
    )
  })

  it('saturate instead of running into the field beside', () => {
    const word = packReport(3, 2 ** 40, -5)
    expect(unpackReport(word)).toEqual({ epoch: 3, residual: 2 ** 28 - 1, completed: 0 })
    expect(unpackReport(packReport(3, 0, 2 ** 28))).toEqual({ epoch: 3, residual: 0, completed: 2 ** 28 - 1 })
  })

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
