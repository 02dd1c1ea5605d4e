import { describe, expect, it } from 'vitest'
import { randomStream } from '#core/base/random.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import { ServerClock } from './server-clock.ts'

/** Times of an exchange, ms, for a server whose uptime is the console's time plus 5000 s. */
function exchange(beganMs: number, tookMs: number, outMs: number, backMs: number): Parameters<ServerClock['timeOf']> {
  const step = (ms: number): number => Math.floor((ms + 5e6) / 10) * 10
  const times = { uptimeMs: step(beganMs), tookMs: step(beganMs + tookMs) - step(beganMs) }
  return [times, Math.round((beganMs - outMs) * NS_PER_MS), Math.round((beganMs + tookMs + backMs) * NS_PER_MS)]
}
const ms = (ns: number): number => ns / NS_PER_MS

describe('the time of a reading', () => {
  it('is in the exchange, from the first one on', () => {
    const at = ms(new ServerClock().timeOf(...exchange(100, 2, 1, 1)))
    expect(at).toBeGreaterThanOrEqual(99)
    expect(at).toBeLessThanOrEqual(103)
  })

  it('stays right when one direction is slow, which the middle of the exchange is not', () => {
    const clock = new ServerClock()
    for (let n = 0; n < 20; n++) clock.timeOf(...exchange(103.3 * n, 1, 1, 1))
    const [times, fromNs, toNs] = exchange(2200, 1, 1, 400)
    expect(Math.abs(ms((fromNs + toNs) / 2) - 2200)).toBeGreaterThan(190)
    expect(Math.abs(ms(clock.timeOf(times, fromNs, toNs)) - 2200)).toBeLessThan(12)
  })

  it('is never outside of its exchange, and within a step and the quickest exchange of the truth, for any delays', () => {
    const draw = randomStream(7, 'server clock')
    for (let run = 0; run < 50; run++) {
      const clock = new ServerClock()
      let began = 0
      let quickest = Infinity
      for (let n = 0; n < 60; n++) {
        const tookMs = 40 * draw.uniform()
        const outMs = 0.2 + draw.exponential(20)
        const backMs = 0.2 + draw.exponential(20)
        const [times, fromNs, toNs] = exchange(began, tookMs, outMs, backMs)
        quickest = Math.min(quickest, outMs + backMs + tookMs)
        const at = clock.timeOf(times, fromNs, toNs)
        expect(at).toBeGreaterThanOrEqual(fromNs)
        expect(at).toBeLessThanOrEqual(toNs)
        // Two steps: of the uptime, and of the duration on the server.
        if (n === 59) expect(Math.abs(ms(at) - (began + tookMs / 2))).toBeLessThan(20 + quickest)
        began += 100 + outMs + backMs + tookMs
      }
    }
  })

  it('follows a server that was restarted, and one whose clock was stepped', () => {
    const clock = new ServerClock()
    for (let n = 0; n < 20; n++) clock.timeOf(...exchange(100 * n, 1, 1, 1))
    const [, fromNs, toNs] = exchange(3000, 1, 1, 1)
    for (const uptimeMs of [10, 900_000_000]) {
      const at = clock.timeOf({ uptimeMs, tookMs: 0 }, fromNs, toNs)
      expect(Math.abs(ms(at) - 3000)).toBeLessThan(3)
    }
  })
})
