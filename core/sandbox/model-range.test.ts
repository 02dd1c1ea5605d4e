import { describe, expect, it } from 'vitest'
import { readScenarioText } from '../emulator/scenario.ts'
import { fittedSizes, withoutJobs, outsideOf } from './model-range.ts'

const job = (id: string, kib: number): string =>
  `  - { id: ${id}, clients: [1], op: write, size_kib: ${kib}, pattern: { kind: continuous } } # of ${id}`
const text = (jobs: string[], fork = ''): string =>
  `title: x\ncluster: t\nclients: { count: 2 }\ncontrol: { max_rate: 900 }\n${fork}oss:\n  - { name: oss01, osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 500, channels: 4 } }] }\njobs:\n${jobs.join('\n')}\n`
const FORK =
  'fork: { cluster: t, at: 2026-11-21T10:00:00.000Z, span_s: 60, workload: closed, size_kib: [16, 4096], unknown: [] }\n'
function read(yaml: string) {
  const scenario = readScenarioText(yaml)
  if (!scenario.ok) throw new Error(scenario.error[0]?.message)
  return scenario.value
}

describe('the range of the model', () => {
  it('is between the sizes that nearly all of the load has', () => {
    expect(
      fittedSizes([
        { kib: 4, rpcs: 1 },
        { kib: 64, rpcs: 500 },
        { kib: 1024, rpcs: 499 },
      ]),
    ).toEqual([64, 1024])
    expect(fittedSizes([{ kib: 0, rpcs: 9 }])).toBeUndefined()
  })
  it('says of which jobs the size is outside, on which side and how far', () => {
    const found = outsideOf(read(text([job('4718.bwa', 4), job('a', 8), job('b', 8192), job('c', 16_384)], FORK)))
    expect(found.map(({ jobId, side, times }) => [jobId, side, times])).toEqual([
      ['4718.bwa', 'below', 4],
      ['c', 'above', 4],
    ])
    expect(outsideOf(read(text([job('a', 4), job('b', 32_768)]))).map((o) => [o.jobId, o.bound])).toEqual([
      ['b', 'lustre'],
    ])
  })
  it('leaves a job out, and nothing else of the text', () => {
    const remaining = withoutJobs(text([job('a', 64), job('4718.bwa', 4)], FORK), new Set(['4718.bwa']))
    expect(read(remaining).jobs.map((j) => j.id)).toEqual(['a'])
    expect(remaining).toContain('# of a')
    expect(outsideOf(read(remaining))).toEqual([])
  })
})
