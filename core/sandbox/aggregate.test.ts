import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseScenario, type Scenario } from '../emulator/scenario.ts'
import { fixedJobColors } from '../series/job-colors.ts'
import { aggregate } from './aggregate.ts'
import { buffersOf, digestOf, planOf, type RunDigest } from './run-digest.ts'
import type { JobReport, RunReport } from './run-report.ts'
import { BASE, digest } from '#tests/kits/core/sandbox/digests.ts'
import { variantSummary } from './variant-summary.ts'

function scenarioOf(jobs: number): Scenario {
  const read = parseScenario(`
title: Many
clients: { count: 2 }
oss: [{ name: oss01, osts: [{ name: x-OST0000, disk: { bandwidth_mb_s: 1000 } }] }]
control: { max_rate: 500 }
jobs:
${Array.from({ length: jobs }, (_, i) => `  - { id: '${i}.job', user: u${i}, clients: [1], op: write, size_kib: 4, pattern: { kind: poisson, rate: 9 } }`).join('\n')}
`)
  if (!read.ok) throw new Error(read.error.why)
  return read.value
}

const jobReport = (jobId: string, bytes: number, more: Partial<JobReport> = {}): JobReport => ({
  jobId,
  nodes: 1,
  wantedRpcs: bytes / 10,
  servedRpcs: bytes / 10,
  servedBytes: bytes,
  fairRpcs: 0,
  waitP50Ms: 1,
  waitP95Ms: 2,
  waitP99Ms: 3,
  starvedS: 0,
  record: NaN,
  bytes: Float64Array.of(bytes / 2, bytes / 2),
  rpcs: Float64Array.of(bytes / 20, bytes / 20),
  ...more,
})

const reportOf = (jobs: readonly JobReport[], more: Partial<RunReport> = {}): RunReport => ({
  variant: 0,
  seed: 1,
  seconds: 60,
  binS: 30,
  thinning: 1,
  jobs,
  targets: [],
  throughputRpcs: 1,
  throughputBps: 1,
  jain: 0.5,
  starvedS: 0,
  sloMisses: 0,
  utilisation: 0.5,
  planes: [],
  remarks: [],
  events: 10,
  ...more,
})

describe('a digest', () => {
  const jobs = Array.from({ length: 2500 }, (_, i) => jobReport(`${i}.job`, (i + 1) * 100))
  const report = reportOf(jobs)
  const plan = planOf(report)

  it('charts the seven largest and keeps rows of 2,000; nothing of the rest is lost', () => {
    expect(plan.chart).toEqual(['2499.job', '2498.job', '2497.job', '2496.job', '2495.job', '2494.job', '2493.job'])
    expect(plan.table).toHaveLength(2000)
    const d = digestOf(report, plan)
    expect(d.rest).toEqual({ jobs: 500, servedRpcs: ((500 * 501) / 2) * 10, servedBytes: ((500 * 501) / 2) * 100 })
    const rows = d.jobs.servedBytes.reduce((a, b) => a + b, 0)
    const all = jobs.reduce((n, j) => n + j.servedBytes, 0)
    expect(rows + d.rest.servedBytes).toBe(all)
    expect(d.chart.bytes.flatMap((b) => [...b]).reduce((a, b) => a + b, 0)).toBe(all)
    expect(buffersOf(d).length).toBe(9 + 8)
  })

  it('has at most 240 points, whatever the run had', () => {
    const long = reportOf([jobReport('a', 0, { bytes: new Float64Array(1000).fill(1) })], { binS: 1 })
    const { chart } = digestOf(long, planOf(long))
    expect(chart.bytes[0]?.length).toBeLessThanOrEqual(240)
    expect(chart.bytes[0]?.reduce((a, b) => a + b, 0)).toBe(1000)
    expect(chart.binS).toBe(5)
  })

  it('takes ids that are names of objects', () => {
    const odd = reportOf([jobReport('__proto__', 100), jobReport('constructor', 50), jobReport('a,"=1', 10)])
    const d = digestOf(odd, planOf(odd))
    expect([...d.jobs.servedBytes]).toEqual([100, 50, 10])
  })
})

describe('a comparison', () => {
  const plan = { table: ['0.job', '1.job'], chart: ['0.job'] }
  const run = (variant: number, seed: number, wait: number): RunDigest =>
    digest(plan, {
      variant,
      seed,
      bytes: [600, 60],
      figures: { throughputBps: 100, throughputRpcs: 10, jain: 0.5, starvedS: 1, sloMisses: 2, utilisation: 0.9 },
      jobs: [
        { wantedRpcs: 100, fairRpcs: 55, servedRpcs: 100, servedBytes: 6000, waitP95Ms: wait },
        { wantedRpcs: 100, fairRpcs: 55, servedRpcs: 10, servedBytes: 600, waitP95Ms: seed === 1 ? NaN : 5 * wait },
      ],
    })
  const variants = [
    BASE,
    { ...BASE, name: 'Cap', rules: [{ service: 'ost_io' as const, line: 'start cap jobid={0.*} rate=4' }], onS: 15 },
  ]
  const runs = [1, 2, 3].flatMap((seed) => [run(0, seed, 10 * seed), run(1, seed, seed)])
  const scenario = scenarioOf(2)
  const all = aggregate({ scenario, variants, plan, runs })

  it('has medians and bands of what was measured, and null of what was not', () => {
    const [base] = all.variants
    expect(base?.jobs.waitP95Ms[0]?.median).toBe(20)
    // Seed 1 has no value for the second job.
    expect(base?.jobs.waitP95Ms[1]).toEqual({ median: 125, low: 102.5, high: 147.5 })
    expect(base?.jobs.bps[0]?.median).toBe(100)
    expect(base?.jobs.record).toEqual([null, null])
    expect(base?.metrics.utilisation).toEqual({ median: 0.9, low: 0.9, high: 0.9 })
  })

  it('names the roles, gives the jobs of a chart their colors, and says when a policy begins', () => {
    const alone = fixedJobColors().colors(['0.job'])
    expect(all.jobs).toEqual({
      jobId: ['0.job', '1.job'],
      user: ['u0', 'u1'],
      nodes: [1, 1],
      colour: [...alone, 0],
      role: ['hog', 'victim'],
    })
    expect(all.variants.map((v) => v.chart.onS)).toEqual([null, 15])
    expect(all.variants[0]?.chart).toMatchObject({
      t: [0.5],
      series: [
        { jobId: '0.job', colour: alone[0] },
        { jobId: '', colour: 0 },
      ],
    })
    expect(all.variants[1]?.detail).toBe('4 RPC/s, jobid={0.*}, from 15 s on')
    const jobColors = fixedJobColors()
    jobColors.restore('0.job', 5)
    jobColors.restore('1.job', 12)
    const known = aggregate({ scenario, variants, plan, runs, jobColors })
    // Also of the job that is not in the chart.
    expect(known.jobs.colour).toEqual([5, 12])
  })

  it('selects a job without any reply as the victim, by the time that it starved', () => {
    const unserved = (variant: number, seed: number): RunDigest =>
      digest(
        { table: ['0.job', '1.job', '2.job'], chart: [] },
        {
          variant,
          seed,
          bytes: [],
          figures: { throughputBps: 2, throughputRpcs: 2, jain: 0.4 + variant / 2 },
          jobs: [
            { fairRpcs: 40, servedRpcs: 90, servedBytes: 90, waitP95Ms: 20 },
            { fairRpcs: 30, servedRpcs: 10, servedBytes: 10, waitP95Ms: 2100 },
            variant === 0
              ? { fairRpcs: 30, servedRpcs: 0, servedBytes: 0, waitP95Ms: NaN, starvedS: 59 }
              : { fairRpcs: 30, servedRpcs: 30, servedBytes: 30, waitP95Ms: 50, starvedS: 0 },
          ],
        },
      )
    const { jobs, verdict } = aggregate({
      scenario: scenarioOf(3),
      variants,
      plan: { table: ['0.job', '1.job', '2.job'], chart: [] },
      runs: [unserved(0, 1), unserved(1, 1)],
    })
    expect(jobs.jobId.filter((_, i) => jobs.role[i] === 'victim')).toEqual(['2.job'])
    expect(verdict.parts.map((p) => p.text).join('')).toContain('p95 wait not served → 50 ms')
  })

  it('does not depend on the order of the runs', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(runs, { minLength: runs.length }), (shuffled) => {
        expect(aggregate({ scenario, variants, plan, runs: shuffled })).toEqual(all)
      }),
    )
  })

  it('says each remark once, with the seed where only one run makes it', () => {
    const remarked = runs.map((r) => ({ ...r, remarks: r.seed === 2 ? ['always', 'once'] : ['always', 'always'] }))
    expect(aggregate({ scenario, variants, plan, runs: remarked }).variants[0]?.remarks).toEqual([
      'always',
      'once (seed 2)',
    ])
  })
})

it('puts every variant in words, within a line', () => {
  const demo = parseScenario(readFileSync(new URL('../../resources/scenarios/demo.yaml', import.meta.url), 'utf8'))
  if (!demo.ok) throw new Error(demo.error.why)
  const summary = (more: object): string => variantSummary({ ...BASE, ...more }, demo.value)
  expect(summary({})).toBe('no rules on OSTs')
  expect(summary({ controller: 'adaptbf', periodMs: 50, adaptbf: { demand: 'served' } })).toBe(
    'lends and borrows tokens per OST, token rate 500 RPC/s per OST, period 50 ms, demand served',
  )
  expect(summary({ metadata: 'psfa', locks: 'lustre', haechi: 'off' })).toBe(
    'no rules on OSTs, PADLL psfa, locks lustre, data nodes without QoS',
  )
  const rules = Array.from({ length: 400 }, (_, i) => ({
    service: 'ost_io',
    line: `start r${i} jobid={${'x'.repeat(90)}} rate=5`,
  }))
  expect(summary({ rules }).length).toBeLessThanOrEqual(160)
})
