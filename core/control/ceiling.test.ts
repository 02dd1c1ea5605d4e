import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sizeBin } from '../lustre/size-histogram.ts'
import { ceiling } from './ceiling.ts'
import { RPC_BYTES_MAX, sizeOfHistogram, sizeOfMean } from './rpc-size.ts'
import { byteRate, duration, grouped, listed, formatSentence, size, spans } from './sentence.ts'

const plain = (s: Parameters<typeof formatSentence>[0]): string => formatSentence(s).replaceAll('\u202f', ' ')
const KIB = 1024

describe('the effective ceiling', () => {
  it('produces the sentence of the editor', () => {
    const c = ceiling({
      rate: 400,
      cpts: 4,
      servers: 12,
      queues: 1,
      fields: ['jobid', 'opcode'],
      rpcSize: sizeOfMean(256 * KIB * 10, 10),
      now: 61_904.2,
    })
    expect(plain(c.sentence)).toBe(
      "400 RPC/s × 4 CPT × 12 OSS = up to 19 200 RPC/s, about 5.0 GB/s at this job's 256 KiB. Mean rate 61 904 RPC/s.",
    )
    expect(c).toMatchObject({ perClass: 19_200, total: 19_200 })
    expect(c.bytesPerSec?.upper).toBe(19_200 * 256 * KIB)
    expect(
      spans(c.sentence)
        .filter((s) => s.strong)
        .map((s) => s.text),
    ).toEqual(['400 RPC/s', '4 CPT', '12 OSS', '19\u202f200 RPC/s', '5.0 GB/s', '256 KiB', '61\u202f904 RPC/s'])
  })

  it.each([
    [
      { rate: 3000, cpts: 4, servers: 12, queues: 1, fields: ['jobid'] as const },
      '3000 RPC/s × 4 CPT × 12 OSS = up to 144 000 RPC/s.',
    ],
    [
      { rate: 400, cpts: 4, servers: 12, queues: 1, fields: ['nid'] as const },
      '400 RPC/s × 12 OSS = up to 4800 RPC/s.',
    ],
    [{ rate: 400, cpts: 4, servers: 1, queues: 1, fields: ['nid'] as const }, 'Up to 400 RPC/s.'],
    [
      { rate: 20, cpts: 2, servers: 2, queues: 2, classes: 3, fields: ['jobid'] as const },
      '20 RPC/s × 3 classes × 2 CPT × 2 queues × 2 OSS = up to 480 RPC/s.',
    ],
    [
      { rate: 20, cpts: 1, servers: 2, queues: 1, fields: ['uid'] as const, server: 'MDS' as const },
      '20 RPC/s × 2 MDS = up to 40 RPC/s.',
    ],
  ])('leaves out what is one, and counts one CPT for classes of one NID', (options, words) => {
    expect(plain(ceiling(options).sentence)).toBe(words)
  })

  it('gives bounds where only the bins of the sizes are known', () => {
    const c = ceiling({
      rate: 100,
      cpts: 1,
      servers: 10,
      queues: 1,
      fields: ['jobid'],
      rpcSize: sizeOfHistogram(new Map([[sizeBin(256 * KIB), 9]])),
    })
    expect(plain(c.sentence)).toBe(
      "100 RPC/s × 10 OSS = up to 1000 RPC/s, 131 to 262 MB/s at this job's 128 to 256 KiB.",
    )
  })
})

describe('the size of an RPC', () => {
  it('is the mean if sums are known; sizes above one RPC count as several', () => {
    expect(sizeOfMean(3 * 4096, 3)).toEqual({ lower: 4096, upper: 4096 })
    expect(sizeOfMean(16 * 2 ** 20, 1)).toEqual({ lower: RPC_BYTES_MAX, upper: RPC_BYTES_MAX })
    expect(sizeOfMean(6 * 2 ** 20, 1)).toEqual({ lower: 3 * 2 ** 20, upper: 3 * 2 ** 20 })
    expect([
      sizeOfMean(0, 3),
      sizeOfMean(5, 0),
      sizeOfHistogram(new Map()),
      sizeOfHistogram(new Map([[3, 0]])),
    ]).toEqual(Array(4).fill(undefined))
  })

  it('lies between its bounds, whatever the sizes behind a histogram', () => {
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 2 ** 12 }), fc.integer({ min: 1, max: 2 ** 26 })), {
      minLength: 1,
      maxLength: 20,
    })
    fc.assert(
      fc.property(sizes, (list) => {
        const hist = new Map<number, number>()
        for (const s of list) hist.set(sizeBin(s), (hist.get(sizeBin(s)) ?? 0) + 1)
        const rpcs = list.reduce((n, s) => n + Math.ceil(s / RPC_BYTES_MAX), 0)
        const mean = list.reduce((n, s) => n + s, 0) / rpcs
        const bounds = sizeOfHistogram(hist)
        expect(bounds?.lower).toBeLessThanOrEqual(mean * (1 + 1e-9))
        expect(bounds?.upper).toBeGreaterThanOrEqual(mean * (1 - 1e-9))
        expect(bounds?.upper).toBeLessThanOrEqual(RPC_BYTES_MAX)
      }),
    )
  })

  it('is tight for one bin', () => {
    expect(sizeOfHistogram(new Map([[12, 5]]))).toEqual({ lower: 2049, upper: 4096 })
    expect(sizeOfHistogram(new Map([[24, 2]]))).toEqual({ lower: (8 * 2 ** 20 + 1) / 3, upper: RPC_BYTES_MAX })
  })
})

describe('figures in words', () => {
  it('are short and never jitter in their digits', () => {
    expect([0, 999, 9999, 10_000, 1_234_567].map((n) => grouped(n).replaceAll('\u202f', ' '))).toEqual([
      '0',
      '999',
      '9999',
      '10 000',
      '1 234 567',
    ])
    expect(grouped(12_345.678, 1)).toBe('12\u202f345.7')
    expect([500, 999.6, 15_000, 157_000_000, 5_033_000_000].map((n) => plain([byteRate(n)]))).toEqual([
      '500 B/s',
      '1.0 kB/s',
      '15.0 kB/s',
      '157 MB/s',
      '5.0 GB/s',
    ])
    expect([1, 4096, 1536, 2 ** 22].map((n) => plain([size(n)]))).toEqual(['1 B', '4 KiB', '1.5 KiB', '4 MiB'])
    expect([72_000, 130_000, 3 * 3_600_000].map(duration)).toEqual(['72 s', '2 min', '3 h'])
    expect([listed(['a']), listed(['a', 'b', 'c', 'd', 'e'])]).toEqual(['a', 'a, b, c and 2 more'])
  })
})
