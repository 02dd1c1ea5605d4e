import { expect, it } from 'vitest'
import { PageCache } from './page-cache.ts'
import { lockRange } from './ranges.ts'

const pages = (): PageCache => new PageCache({ maxExtentBytes: 512, maxCleanBytes: 1 << 20 })
const gaps = (cache: PageCache): number[][] => cache.missing(0, 0, 100).map(({ start, end }) => [start, end])

it('drops what was read under a lock exactly as far as no other lock vouches for it', () => {
  // Found by a random schedule: bytes read under two touching locks were one run, and all stayed because of the second
  // lock.
  const cache = pages()
  cache.fill(0, 0, 1, new Uint8Array(1))
  cache.fill(0, 1, 2, new Uint8Array(1))
  cache.fill(0, 2, 50, new Uint8Array(48))
  cache.dropRead(0, lockRange(0, 0), [lockRange(1, Infinity)])
  expect(gaps(cache)).toEqual([
    [0, 1],
    [50, 100],
  ])
  cache.dropRead(0, lockRange(1, Infinity), [])
  expect(gaps(cache)).toEqual([[0, 100]])
  expect(cache.cleanBytes).toBe(0)
})

it('keeps what was written when a server answers a read with something older', () => {
  const cache = pages()
  cache.write(0, { start: 10, end: 20, sn: 3, data: new Uint8Array(10).fill(7), hole: false })
  cache.fill(0, 0, 30, new Uint8Array(30).fill(1))
  const out = new Uint8Array(30)
  cache.copy(0, 0, 30, out, 0)
  expect([...out]).toEqual([...Array<number>(10).fill(1), ...Array<number>(10).fill(7), ...Array<number>(10).fill(1)])
  expect([cache.dirtyBytes, cache.cleanBytes]).toEqual([10, 20])
})

it('lets go of the oldest clean bytes above its limit, of dirty ones never, and of none that a read counts on', () => {
  const cache = new PageCache({ maxExtentBytes: 512, maxCleanBytes: 20 })
  cache.write(0, { start: 90, end: 100, sn: 3, data: null, hole: false })
  cache.hold(0, 1)
  for (let at = 0; at < 90; at += 10) cache.fill(0, at, at + 10, null)
  expect(gaps(cache)).toEqual([])
  cache.hold(0, -1)
  cache.fill(1, 0, 10, null)
  expect(gaps(cache)).toEqual([[0, 80]])
  expect([cache.dirtyBytes, cache.cleanBytes]).toEqual([10, 20])
})

it('does not grow with the number of times that bytes are written and flushed under one lock', () => {
  const cache = pages()
  for (let i = 0; i < 20_000; i++) {
    const bucket = cache.write(0, { start: (i % 7) * 10, end: (i % 7) * 10 + 10, sn: 3, data: null, hole: false })
    const carried = cache.dirty(bucket, bucket.shift()!)
    for (const e of carried) {
      e.state = 'flushing'
      e.rpcSeq = i
    }
    cache.flushed(0, i, carried)
  }
  expect([cache.dirtyBytes, cache.cleanBytes]).toEqual([0, 70])
  cache.dropSn(0, 3)
  expect(cache.cleanBytes).toBe(0)
})
