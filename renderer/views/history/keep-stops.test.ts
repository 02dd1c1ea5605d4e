import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvQuery } from '#core/api/history.ts'
import { csvName, csvWhats } from './csv-export.ts'
import { deletedBy, keepStops, coarserTier, readSize } from './keep-stops.ts'
import { DAY, historyFrame, HOUR, NOW_MS } from '#tests/kits/renderer/views/history-host.ts'

const { tiers } = historyFrame().store

describe('retention', () => {
  it('stops at round lengths, at its limits and at the current value', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 60_000, max: 3650 * DAY }),
        fc.integer({ min: 1, max: 1000 * DAY }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (leastMs, more, share) => {
          const mostMs = leastMs + more
          const keepMs = Math.round(leastMs + share * more)
          const stops = keepStops({ leastMs, mostMs, keepMs })
          expect(stops).toContain(keepMs)
          expect([stops[0], stops.at(-1)]).toEqual([leastMs, mostMs])
          expect(stops).toEqual([...new Set(stops)].sort((a, b) => a - b))
        },
      ),
    )
  })
  it('computes what a shorter retention deletes, and which tier still covers it', () => {
    const ten = tiers.find(({ id }) => id === '10s')!
    expect(deletedBy(ten, 30 * DAY, NOW_MS)).toBeNull()
    const gone = deletedBy(ten, 2 * DAY, NOW_MS)!
    expect(gone).toEqual({ fromMs: NOW_MS - 6 * DAY - 9 * HOUR, toMs: NOW_MS - 2 * DAY })
    expect(coarserTier(tiers, '10s', gone)).toBe('1min')
    expect(coarserTier(tiers, '1min', gone)).toBeUndefined()
    expect(deletedBy({ oldestMs: null }, HOUR, NOW_MS)).toBeNull()
  })
})

it('reads a quota as it is typed, and nothing else', () => {
  expect(['4', '4.5 GiB', '4,5g', ' 800 MiB ', '1T'].map(readSize)).toEqual([
    4 * 2 ** 30,
    4.5 * 2 ** 30,
    4.5 * 2 ** 30,
    800 * 2 ** 20,
    2 ** 40,
  ])
  for (const text of ['', '0', '-1', 'lots', '4 GiB!', '1e9', '9999999 T']) expect(readSize(text)).toBeUndefined()
})

const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 90 })
  .map((codes) => String.fromCharCode(...codes))
it('names a file by plain characters only, whatever the cluster is called', () => {
  fc.assert(
    fc.property(anyText, (cluster) => {
      expect(csvName(cluster, 'jobs', { fromMs: 0, toMs: HOUR })).toMatch(
        /^sluice-[A-Za-z0-9][A-Za-z0-9._-]{0,59}-jobs-19700101-000000-19700101-010000\.csv$/,
      )
    }),
  )
})

it('offers every table that the host exports', () => {
  expect(csvWhats.map(({ value }) => value).sort()).toEqual([...csvQuery.shape.what.options].sort())
  expect(new Set(csvWhats.map(({ label }) => label)).size).toBe(csvWhats.length)
})
