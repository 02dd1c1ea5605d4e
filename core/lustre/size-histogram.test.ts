import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { binBytes, binLabel, parseBinLabel, sizeBin } from './size-histogram.ts'

describe('size bins', () => {
  it('hold the sizes up to their label and above the one before', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 45 }), (bytes) => {
        const bin = sizeBin(bytes)
        expect(bytes).toBeLessThanOrEqual(binBytes(bin))
        if (bin > 0) expect(bytes).toBeGreaterThan(binBytes(bin - 1))
      }),
    )
    expect([0, 1, 2, 3, 4096, 4097, 2 ** 20, 2 ** 32, 2 ** 32 + 1].map(sizeBin)).toEqual([
      0, 0, 1, 2, 12, 13, 20, 32, 33,
    ])
  })

  it('have the labels of Lustre, which name them again', () => {
    expect([0, 9, 10, 12, 19, 20, 29, 30].map(binLabel)).toEqual(['1', '512', '1K', '4K', '512K', '1M', '512M', '1G'])
    for (let bin = 0; bin < 60; bin++) expect(parseBinLabel(binLabel(bin))).toBe(bin)
    for (const text of ['', 'K', '4X', '-1', '4K ', '1.5K']) expect(parseBinLabel(text)).toBeUndefined()
  })
})
