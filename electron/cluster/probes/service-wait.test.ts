import { describe, expect, it } from 'vitest'
import { WaitMeter } from './service-wait.ts'

/** Statistics of a service after these waits, us. */
const stats = (waits: readonly number[]): string => {
  const sum = (of: (w: number) => number): number => waits.reduce((n, w) => n + of(w), 0)
  return (
    `snapshot_time             1763676486.123456789 secs.nsecs\n` +
    `req_waittime              ${waits.length} samples [usecs] ${Math.min(...waits)} ${Math.max(...waits)} ${sum((w) => w)} ${sum((w) => w * w)}\n` +
    `req_qdepth                ${waits.length} samples [reqs] 0 1 1 1\n`
  )
}

describe('WaitMeter', () => {
  it('measures the wait between two readings, and not before', () => {
    const meter = new WaitMeter()
    expect(meter.take(stats([5000, 9000]))).toBeUndefined()
    const wait = meter.take(stats([5000, 9000, 100, 300]))
    expect(wait?.requests).toBe(2)
    expect(wait?.meanMs).toBeCloseTo(0.2)
    // Of 100 and 300 the standard deviation is 100.
    expect(wait?.p95Ms).toBeCloseTo(0.2 + 0.1645)
    // Not read this time: unchanged.
    expect(meter.take(undefined)).toBe(wait)
  })

  it('is not known after a restart, with no requests, and where the server prints no row', () => {
    const meter = new WaitMeter()
    meter.take(stats([5000, 9000, 100]))
    expect(meter.take(stats([200]))).toBeUndefined()
    expect(meter.take(stats([200]))).toBeUndefined()
    expect(meter.take('snapshot_time 1.0 secs.nsecs\n')).toBeUndefined()
    expect(meter.take(stats([200, 300]))).toBeUndefined()
  })

  it('has no spread where sums of squares are cut short, as servers print them without root', () => {
    const meter = new WaitMeter()
    meter.take(stats([1]))
    const cut = stats([1, 4_000_000, 4_000_000]).replace(/\d\n(?=req_qdepth)/, '\n')
    expect(meter.take(cut)).toMatchObject({ requests: 2, meanMs: 4000, p95Ms: undefined })
  })
})
