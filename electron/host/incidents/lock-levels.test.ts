import { describe, expect, it } from 'vitest'
import { LdlmSeries, type LdlmReading } from '../../cluster/locks/ldlm-series.ts'
import { lustreEvictions } from './lock-levels.ts'

const S = 1_000

/** Counters of one namespace, read once a second from second 1 on; NaN is a gap. */
function counted(timeouts: readonly number[]): LdlmSeries {
  const series = new LdlmSeries()
  timeouts.forEach((n, i) => {
    series.push((i + 1) * S)
    if (Number.isNaN(n)) return
    const rates = { grantRate: 0, cancelRate: 0 }
    const counts = { locks: 1, unused: 0, resources: 1, granted: 1, limit: 100, contentions: 0, timeouts: n }
    series.set(
      'oss01',
      [{ namespace: 'filter-t-OST0000_UUID', target: 't-OST0000', ...counts, rates } as LdlmReading],
      1,
    )
  })
  return series
}
const flat = (n: number, value: number): number[] => Array.from({ length: n }, () => value)

describe('lock timeouts of Lustre', () => {
  it('are a risk of eviction for the minute after the counter grew', () => {
    const series = counted([...flat(70, 4), ...flat(80, 6)])
    expect(lustreEvictions(series, 70 * S)[0]?.value).toBe(0)
    expect(lustreEvictions(series, 71 * S)[0]).toMatchObject({ where: 't-OST0000', value: 100 })
    expect(lustreEvictions(series, 71 * S)[0]?.text()).toBe(
      '2 locks on t-OST0000 timed out in a minute: their clients are evicted',
    )
    expect(lustreEvictions(series, 130 * S)[0]?.value).toBe(100)
    expect(lustreEvictions(series, 132 * S)[0]?.value).toBe(0)
  })

  it('before the first reading do not count: the counter is as old as the server', () => {
    expect(lustreEvictions(counted(flat(5, 900)), 5 * S)[0]?.value).toBe(0)
  })

  it('are unknown in a gap and when the readings are old', () => {
    const series = counted([...flat(70, 4), ...flat(5, NaN)])
    expect(lustreEvictions(series, 75 * S)[0]?.value).toBeNaN()
    expect(lustreEvictions(series, 95 * S)[0]?.value).toBeNaN()
  })
})
