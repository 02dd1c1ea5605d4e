import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SERVICES } from '../../base/service.ts'
import type { NodeReading } from '../probes/reading.ts'
import { ReadingSum } from './reading-sum.ts'

type Counts = Readonly<Record<string, number>>
/** Counts by target, then job; null: the target was not measured. */
type Round = Readonly<Record<string, Counts | null>>

const NOMINAL_NS = 1e8

function readingOf(round: Round, spanNs: number): NodeReading {
  return {
    service: SERVICES.ost_io,
    policies: [],
    rules: [],
    rulesText: '',
    isRead: true,
    wait: undefined,
    host: 'oss01',
    others: [],
    version: undefined,
    skipped: 0,
    bytes: 10,
    tookMs: 4,
    cpuMs: 1,
    periodNs: NOMINAL_NS,
    parseMs: 2,
    atNs: 0,
    stream: undefined,
    texts: new Map(),
    targets: Object.entries(round).map(([target, counts]) => ({
      target,
      entries: [],
      rawOf: () => '',
      replaced: 1,
      scale: NOMINAL_NS / spanNs,
      deltas:
        counts === null
          ? undefined
          : Object.entries(counts).map(([jobId, rpcs]) => ({
              jobId,
              rpcs,
              ops: new Map([['write', rpcs]]),
              readBytes: 0,
              writeBytes: rpcs * 4096,
              serviceUsecs: rpcs * 7,
              dataRpcs: rpcs,
            })),
    })),
  }
}

const counts = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 1000 }))
const round = fc.dictionary(fc.constantFrom('OST0', 'OST1'), fc.option(counts), { minKeys: 1 })

it('every count is in exactly one sum, and with the time in which it was counted', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ round, spanNs: fc.integer({ min: 5e7, max: 1e9 }), isTaken: fc.boolean() }), {
        minLength: 1,
        maxLength: 30,
      }),
      (steps) => {
        const sum = new ReadingSum()
        const read = new Map<string, number>()
        const counted = new Map<string, number>()
        const add = (into: Map<string, number>, key: string, n: number): void =>
          void into.set(key, (into.get(key) ?? 0) + n)
        const take = (): void => {
          for (const reading of sum.take()) {
            for (const t of reading.targets) {
              if (t.deltas === undefined) continue
              add(counted, `${t.target} ns`, reading.periodNs / t.scale)
              for (const d of t.deltas) {
                add(counted, `${t.target} ${d.jobId}`, d.rpcs)
                expect(d.ops.get('write')).toBe(d.rpcs)
                expect(d.writeBytes).toBe(4096 * d.rpcs)
                expect([d.serviceUsecs, d.dataRpcs]).toEqual([7 * d.rpcs, d.rpcs])
              }
            }
          }
          expect(sum.isEmpty).toBe(true)
        }
        for (const step of steps) {
          sum.add([readingOf(step.round, step.spanNs)])
          for (const [target, jobs] of Object.entries(step.round)) {
            if (jobs === null) continue
            add(read, `${target} ns`, step.spanNs)
            for (const [jobId, n] of Object.entries(jobs)) add(read, `${target} ${jobId}`, n)
          }
          if (step.isTaken) take()
        }
        take()
        expect([...counted.keys()].sort()).toEqual([...read.keys()].sort())
        for (const [key, n] of read) {
          if (key.endsWith(' ns')) expect(counted.get(key)).toBeCloseTo(n, -2)
          else expect(counted.get(key)).toBe(n)
        }
      },
    ),
  )
})

it('a target that was never measured has no counts, and durations are those of one reading', () => {
  const sum = new ReadingSum()
  sum.add([readingOf({ OST0: null, OST1: { a: 1 } }, 1e8)])
  sum.add([readingOf({ OST0: null, OST1: { a: 2 } }, 3e8)])
  const [reading] = sum.take()
  expect(reading?.targets.map((t) => t.deltas?.map((d) => d.rpcs))).toEqual([undefined, [3]])
  expect(reading?.targets.map((t) => t.replaced)).toEqual([2, 2])
  expect(reading).toMatchObject({ periodNs: 4e8, tookMs: 4, parseMs: 2, bytes: 20 })
  expect(sum.take()).toEqual([])
})
