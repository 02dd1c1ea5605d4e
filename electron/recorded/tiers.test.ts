import { expect, it } from 'vitest'
import { totalColumn } from '../cluster/state/recent.ts'
import { facts, HOUR_MS, job, MINUTE_MS, NOW, openAt, target } from '#tests/kits/electron/history/samples.ts'
import { clusterAt, NEAR_MS, placeAt } from './find.ts'
import { Past } from './past.ts'

it.each([5_000, 15_000])('of a source sampled every %i ms charts of the past have no gap at each sample', (everyMs) => {
  const history = openAt(':memory:')
  history.beginSource('EMULATED', 'slow', '', NOW)
  for (let t = 137; t < HOUR_MS + 20 * MINUTE_MS; t += everyMs) {
    history.record(NOW + t, [job('1.a.u1', 5)], [target('t', 1)], facts, { rpcs: 5 })
  }
  history.settle()
  const past = new Past(history.reader())
  const place = placeAt(past, NOW + 16 * MINUTE_MS, NEAR_MS)
  if (!place) throw new Error('nothing is kept')
  expect(place.tier.id).toBe('1s')
  const cluster = clusterAt(past, place)
  for (const windowMs of [5 * MINUTE_MS, 15 * MINUTE_MS]) {
    const { tier, to } = cluster.recent.tierFor(cluster.nearest(place.atMs), windowMs)
    const { from, step } = tier.totals.window(to, windowMs, 300)
    const values = tier.totals.downsample('total', totalColumn('rpcs'), from, to, step)
    expect(values.length).toBeGreaterThan(4)
    expect(new Set(values)).toEqual(new Set([5]))
    expect([...tier.jobs.means(['1.a.u1'], 0, to, 1)]).toEqual([5])
  }
  history.close()
})
