import { describe, expect, it } from 'vitest'
import { deviceChange } from './calibrate.ts'

const bins = (n: number, of: (i: number) => number): number[] => Array.from({ length: n }, (_, i) => of(i))

describe('deviceChange', () => {
  it('sees a device that serves less while each request takes longer, in bins of any length', () => {
    for (const binS of [0.1, 0.5, 2]) {
      const n = Math.round(40 / binS)
      const isSlow = (i: number): boolean => i >= n / 2
      const rpcs = bins(n, (i) => (isSlow(i) ? (binS < 0.5 ? (i % 3) * 10 : 10) : 100))
      const serviceMs = bins(n, (i) => (isSlow(i) ? 200 : 20))
      expect(deviceChange({ rpcs, serviceMs, queued: bins(n, () => 5) }, binS)).toMatch(
        /^was 3 times slower or more for (19|20|21) s$/,
      )
    }
  })

  it('sees one that serves nothing while requests wait', () => {
    const rpcs = bins(40, (i) => (i >= 10 && i < 15 ? 0 : 100))
    const serviceMs = bins(40, (i) => (i >= 10 && i < 15 ? NaN : 20))
    expect(deviceChange({ rpcs, serviceMs, queued: bins(40, () => 3) }, 1)).toBe(
      'served nothing for 5 s while requests waited',
    )
  })

  it('takes pauses, bursts and queues of a healthy one for what they are', () => {
    const pauses = bins(40, (i) => (i % 10 < 5 ? 100 : 0))
    expect(
      deviceChange({ rpcs: pauses, serviceMs: pauses.map((r) => (r > 0 ? 20 : NaN)), queued: bins(40, () => 0) }, 1),
    ).toBeUndefined()
    const queue = bins(40, (i) => (i < 20 ? 40 : 100))
    expect(
      deviceChange({ rpcs: queue, serviceMs: queue.map((r) => (r > 50 ? 90 : 20)), queued: bins(40, () => 9) }, 1),
    ).toBeUndefined()
    expect(deviceChange({ rpcs: [], serviceMs: [], queued: [] }, 1)).toBeUndefined()
  })
})
