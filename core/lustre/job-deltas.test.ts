import { describe, expect, it } from 'vitest'
import { JobDeltas } from './job-deltas.ts'
import { parseJobStats, type JobEntry } from './job-stats.ts'

type Counts = Record<string, number | [samples: number, sum: number]>

/** A reading of one target as its parser gives it: counters by job. */
const reading = (jobs: Record<string, Counts>, start: Record<string, string> = {}): readonly JobEntry[] =>
  parseJobStats(
    Object.entries(jobs)
      .map(([id, counters]) => {
        const lines = Object.entries(counters).map(([name, c]) => {
          const [samples, sum] = Array.isArray(c) ? c : [c, c]
          const hist = name.endsWith('_bytes') && sum > 0 ? `, hist: { 4K: ${samples} }` : ''
          return `  ${name}: { samples: ${samples}, unit: x, min: 1, max: 1, sum: ${sum}, sumsq: 1${hist} }\n`
        })
        return `- job_id: ${id}\n  snapshot_time: 2.0\n  start_time: ${start[id] ?? '1.0'} secs.nsecs\n${lines.join('')}`
      })
      .join(''),
  ).entries

const rpcsOf = (deltas: ReturnType<JobDeltas['update']>): Record<string, number> | undefined =>
  deltas && Object.fromEntries(deltas.map((d) => [d.jobId, d.rpcs]))

describe('JobDeltas', () => {
  it('takes the first reading as the base only', () => {
    const deltas = new JobDeltas()
    expect(deltas.update(reading({ a: { write: 100 } }))).toBeUndefined()
    expect(deltas.update(reading({ a: { write: 100 } }))).toEqual([])
  })

  it('counts operations once, with their bytes, sizes and service times', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write_bytes: [10, 40960], write: [10, 5000], getattr: 4 } }))
    const [a] = deltas.update(
      reading({ a: { write_bytes: [13, 53248], write: [13, 5600], getattr: 5, read_bytes: [2, 8192], read: [2, 90] } }),
    )!
    expect(a).toEqual({
      jobId: 'a',
      rpcs: 6,
      ops: new Map([
        ['write', 3],
        ['getattr', 1],
        ['read', 2],
      ]),
      readBytes: 8192,
      writeBytes: 12_288,
      serviceUsecs: 690,
      dataRpcs: 5,
    })
  })

  it('lets the byte counters carry the RPCs of servers that have no read and write counters', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write_bytes: [10, 40960] } }))
    const [a] = deltas.update(reading({ a: { write_bytes: [14, 57344] } }))!
    expect(a).toMatchObject({ rpcs: 4, writeBytes: 16_384, dataRpcs: 0, ops: new Map([['write', 4]]) })
  })

  it('takes all of a new job as new', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 1 } }))
    expect(rpcsOf(deltas.update(reading({ a: { write: 1 }, b: { write: 7 } })))).toEqual({ b: 7 })
  })

  it('takes all counters of an entry as new when one of them went down: somebody cleared it', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 100, read: 3 } }))
    expect(rpcsOf(deltas.update(reading({ a: { write: 5, read: 10 } })))).toEqual({ a: 15 })
    // A counter that is gone went down too.
    expect(rpcsOf(deltas.update(reading({ a: { write: 8 } })))).toEqual({ a: 8 })
  })

  it('sees by the start time that an entry is another one, however large its counters already are', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 100 } }))
    expect(rpcsOf(deltas.update(reading({ a: { write: 120 } }, { a: '9.0' })))).toEqual({ a: 120 })
  })

  it('counts a job that aged out and came back from zero', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 100 } }))
    expect(deltas.update(reading({}))).toEqual([])
    expect(rpcsOf(deltas.update(reading({ a: { write: 2 } }, { a: '9.0' })))).toEqual({ a: 2 })
  })

  it('invents nothing across a gap', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 100 } }))
    deltas.reset()
    expect(deltas.update(reading({ a: { write: 900 } }))).toBeUndefined()
    expect(rpcsOf(deltas.update(reading({ a: { write: 901 } })))).toEqual({ a: 1 })
  })
})
