import fc from 'fast-check'
import { expect, it } from 'vitest'
import { entryDelta } from './entry-delta.ts'
import type { JobEntry } from './job-entry.ts'
import { parseJobStats } from './job-stats.ts'

interface Amounts {
  readonly samples: bigint
  readonly sum: bigint
  readonly sumsq: bigint
  readonly hist?: string
}

const entry = (c: Amounts, start = '1.000000000'): JobEntry => {
  const hist = c.hist === undefined ? '' : `, hist: { ${c.hist} }`
  const text =
    `- job_id:          a\n  start_time:      ${start} secs.nsecs\n` +
    `  write_bytes:     { samples: ${c.samples}, unit: bytes, min: 1, max: 9, sum: ${c.sum}, sumsq: ${c.sumsq % 2n ** 64n}${hist} }\n`
  return parseJobStats(text).entries[0] as JobEntry
}

it('differences are exact below 2^53, however large the counters are, and sums of squares may wrap around', () => {
  const amount = fc.bigInt(0n, 2n ** 52n)
  fc.assert(
    fc.property(
      fc.bigInt(1n, 2n ** 62n),
      fc.bigInt(1n, 2n ** 62n),
      fc.bigInt(0n, 2n ** 64n - 1n),
      amount,
      amount,
      amount,
      (...n) => {
        const [samples, sum, sumsq, moreSamples, moreSum, moreSumsq] = n
        const before = entry({ samples, sum, sumsq })
        const now = entry({ samples: samples + moreSamples, sum: sum + moreSum, sumsq: sumsq + moreSumsq })
        const delta = entryDelta(now, before).get('write_bytes')
        if (moreSamples === 0n) expect(delta).toBeUndefined()
        else
          expect(delta).toMatchObject({
            samples: Number(moreSamples),
            sum: Number(moreSum),
            sumsq: Number(moreSumsq),
            unit: 'bytes',
          })
      },
    ),
  )
})

it('size bins are differenced one by one, and smallest and largest are not given', () => {
  const before = entry({ samples: 3n, sum: 3n, sumsq: 3n, hist: '4K: 2, 1M: 1' })
  const now = entry({ samples: 7n, sum: 9n, sumsq: 9n, hist: '4K: 2, 64K: 3, 1M: 2' })
  const delta = entryDelta(now, before).get('write_bytes')
  expect(delta?.hist).toEqual(
    new Map([
      [16, 3],
      [20, 1],
    ]),
  )
  expect(Object.keys(delta ?? {})).toEqual(['samples', 'unit', 'sum', 'sumsq', 'hist'])
})

it('an entry with another start time, and one that was not there, are new in whole', () => {
  const before = entry({ samples: 3n, sum: 3n, sumsq: 3n })
  const now = entry({ samples: 7n, sum: 9n, sumsq: 9n }, '2.000000000')
  for (const last of [before, undefined]) {
    expect(entryDelta(now, last).get('write_bytes')).toMatchObject({ samples: 7, sum: 9, sumsq: 9 })
  }
})
