import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Flusher } from './flusher.ts'
import type { FlushRequest } from './messages.ts'
import { PageCache } from './page-cache.ts'

const UNIT = 10
const LIMITS = { minDirtyBytes: 120, maxDirtyBytes: 1000, maxRpcBytes: 80, maxInFlight: 2 }
const write = fc.record({
  kind: fc.constant('write' as const),
  at: fc.nat(40).map((n) => n * UNIT),
  // Runs of writes of equal length, with others in between.
  lengths: fc.array(fc.constantFrom(UNIT, UNIT, UNIT, 7, 25, 200), { minLength: 1, maxLength: 12 }),
  sn: fc.integer({ min: 1, max: 3 }),
})
const answer = fc.record({ kind: fc.constant('answer' as const), which: fc.nat(3) })
const flush = fc.record({
  kind: fc.constant('flush' as const),
  sn: fc.integer({ min: 1, max: 3 }),
  isClosing: fc.boolean(),
})

/** One client node that writes and flushes; what it sent and still has. */
function node(content: boolean, maxCleanBytes: number) {
  const cache = new PageCache({ maxExtentBytes: LIMITS.maxRpcBytes, maxCleanBytes })
  const under: FlushRequest[] = []
  const log: string[] = []
  const flusher = new Flusher({
    cache,
    limits: LIMITS,
    serverOf: () => 0,
    onLessDirty: () => {},
    send: (_, request) => {
      under.push(request)
      log.push(`${request.rpcSeq}: ${request.blocks.map((b) => `${b.start}-${b.end}/${b.sn}`).join(' ')}`)
    },
  })
  return {
    cache,
    under,
    log,
    write(start: number, end: number, sn: number) {
      const data = content ? new Uint8Array(end - start) : null
      flusher.wrote(cache.write(0, { start, end, sn, data, hole: false }))
    },
    answer(which: number) {
      const [request] = under.splice(which % Math.max(1, under.length), 1)
      if (request !== undefined) flusher.answered(0, request.rpcSeq)
    },
    flush: (sn: number, isClosing: boolean) => flusher.flush(0, [sn], isClosing, () => log.push(`flushed ${sn}`)),
    state: () => [cache.dirtyBytes, cache.cleanBytes, cache.missing(0, 0, 2000)],
  }
}

it('sends the very same flushes, and keeps the very same bytes, whether content is carried or runs of writes are one extent', () => {
  const steps = fc.array(fc.oneof(write, write, answer, answer, flush), { maxLength: 60 })
  const property = fc.property(steps, fc.constantFrom(60, 300, 10_000), (list, maxCleanBytes) => {
    const plain = node(true, maxCleanBytes)
    const runs = node(false, maxCleanBytes)
    for (const step of list) {
      for (const n of [plain, runs]) {
        if (step.kind === 'answer') n.answer(step.which)
        else if (step.kind === 'flush') n.flush(step.sn, step.isClosing)
        else {
          let { at } = step
          for (const length of step.lengths) n.write(at, (at += length), step.sn)
        }
      }
      expect(runs.log).toEqual(plain.log)
      expect(runs.state()).toEqual(plain.state())
    }
  })
  fc.assert(property, { numRuns: 400 })
})

describe('clean bytes of writes that were one extent are reclaimed write by write', () => {
  /** Writes of 10 bytes each from `start` to `end`, flushed and clean. */
  function clean(n: ReturnType<typeof node>, start: number, end: number, isClosing = false): void {
    for (let at = start; at < end; at += 10) n.write(at, at + 10, 1)
    n.flush(1, isClosing)
    n.answer(0)
  }
  const gaps = (n: ReturnType<typeof node>, end: number): number[][] =>
    n.cache.missing(0, 0, end).map((gap) => [gap.start, gap.end])

  it('when something was overwritten in between, not where one write ends', () => {
    // Found by a random seed: everything on one side of the overwritten part was removed at once.
    const plain = node(true, 80)
    const runs = node(false, 80)
    for (const n of [plain, runs]) {
      clean(n, 0, 80)
      n.write(35, 45, 2)
      clean(n, 100, 120)
      expect(gaps(n, 120)).toEqual([
        [0, 10],
        [80, 100],
      ])
      clean(n, 200, 230)
      expect(gaps(n, 120)).toEqual([
        [0, 35],
        [45, 50],
        [80, 100],
      ])
    }
    expect(runs.state()).toEqual(plain.state())
  })

  it('when one of them became clean before, too', () => {
    const plain = node(true, 50)
    const runs = node(false, 50)
    for (const n of [plain, runs]) {
      clean(n, 0, 10)
      clean(n, 0, 10, true)
      clean(n, 0, 40)
      clean(n, 100, 120)
      expect(gaps(n, 40)).toEqual([[0, 10]])
    }
    expect(runs.state()).toEqual(plain.state())
  })
})

it('fills a flush write by write if later writes lie where an earlier one was discarded', () => {
  // Found by a random seed: newer bytes had been there and were removed; the write stood for the whole extent that came
  // later.
  const plain = node(true, 10_000)
  const runs = node(false, 10_000)
  for (const n of [plain, runs]) {
    n.write(200, 245, 2)
    n.write(200, 210, 1)
    n.flush(2, true)
    n.answer(0)
    // Two are under way. The next flush can take five of the six writes.
    for (const sn of [4, 5]) {
      n.write(500 + sn, 501 + sn, sn)
      n.flush(sn, false)
    }
    n.write(400, 430, 3)
    for (let at = 200; at < 260; at += 10) n.write(at, at + 10, 1)
    for (const sn of [3, 1]) n.flush(sn, false)
    n.answer(0)
    expect(n.log).toContain('4: 200-250/1 400-430/3')
  }
  expect(runs.log).toEqual(plain.log)
})

it('keeps one extent for writes that follow each other, and parts it between two of them when a flush can take fewer bytes', () => {
  const { cache, log, ...client } = node(false, 10_000)
  client.write(100, 145, 2)
  client.flush(2, false)
  client.write(200, 245, 2)
  // Two are under way. New data waits, and the next flush can take half of the run.
  client.write(300, 345, 2)
  for (let at = 0; at < 60; at += 10) client.write(at, at + 10, 1)
  const run = (): number[][] => [...cache.extents(0)].filter((e) => e.sn === 1).map((e) => [e.start, e.end])
  expect(run()).toEqual([[0, 60]])
  client.flush(1, false)
  client.answer(0)
  expect(log).toEqual(['1: 100-145/2', '2: 200-245/2', '3: 0-30/1 300-345/2'])
  expect(run()).toHaveLength(6)
})
