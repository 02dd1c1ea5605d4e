import { describe, expect, it } from 'vitest'
import { SleepWatch } from './live-source.ts'

function watch(): { slept: number[]; go: (wallMs: number, steadyMs: number) => void } {
  let wall = 1_000_000
  let steady = 0
  const slept: number[] = []
  const w = new SleepWatch((ms) => slept.push(ms), { wallMs: () => wall, steadyMs: () => steady })
  return {
    slept,
    go: (wallMs, steadyMs) => {
      wall += wallMs
      steady += steadyMs
      w.look()
    },
  }
}

describe('a sleep of this machine', () => {
  it('is detected by the wall clock getting ahead of the steady one', () => {
    const { slept, go } = watch()
    go(1_000, 1_000)
    go(90_000, 1_000)
    expect(slept).toEqual([89_000])
  })

  it('is detected by a missing heartbeat where the steady clock counts it in, or where the process was stopped', () => {
    const { slept, go } = watch()
    go(90_000, 90_000)
    expect(slept).toEqual([90_000])
  })

  it('is not a server that hangs, however long it is waited for', () => {
    const { slept, go } = watch()
    for (let i = 0; i < 300; i++) go(1_000, 1_000)
    expect(slept).toEqual([])
  })
})
