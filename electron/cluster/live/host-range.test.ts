import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expandHosts } from './cluster-file.ts'

const names = (text: string): readonly string[] => {
  const r = expandHosts(text)
  return r.ok ? r.value : [r.error.code]
}

describe('a range of hosts', () => {
  it('names each of its servers, with leading zeros as written', () => {
    expect(names('oss[01-03]')).toEqual(['oss01', 'oss02', 'oss03'])
    expect(names('oss[1,3,8-10].hpc, mds1')).toEqual([
      'oss1.hpc',
      'oss3.hpc',
      'oss8.hpc',
      'oss9.hpc',
      'oss10.hpc',
      'mds1',
    ])
    expect(names('r[1-2]n[01-02]')).toEqual(['r1n01', 'r1n02', 'r2n01', 'r2n02'])
    expect(names('plain')).toEqual(['plain'])
  })

  it.each(['', ' , ', 'oss[', 'oss]', 'oss[a-b]', 'oss[3-1]', 'oss[1-99999]', 'oss[]', 'r[1-30]n[1-30]', 'a[1[2]]'])(
    'refuses %j',
    (text) => expect(names(text)).toEqual(['HOST_RANGE']),
  )

  it('never names more than 512, whatever is typed', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'[]-,019a '), maxLength: 40 }), (text) => {
        expect(names(text).length).toBeLessThanOrEqual(512)
      }),
      { numRuns: 2000 },
    )
  })
})
