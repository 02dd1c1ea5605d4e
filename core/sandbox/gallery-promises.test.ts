/** Scenarios of the gallery keep what their descriptions promise. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { jobOf, runOf } from '#tests/kits/core/sandbox/small-run.ts'
import { EmulatedCluster } from '../emulator/cluster.ts'
import { parseScenario, type Scenario } from '../emulator/scenario.ts'
import type { Algorithm } from '../padll/algorithms/algorithm.ts'
import type { RunReport } from './run-report.ts'

function scenario(name: string): Scenario {
  const file = `${name}.yaml`
  const read = parseScenario(readFileSync(new URL(`../../resources/scenarios/${file}`, import.meta.url), 'utf8'), file)
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

const JOBS = ['101.job.u1000', '102.job.u1000', '103.job.u1000', '104.job.u1000']

const served = (report: RunReport): number[] => JOBS.map((id) => jobOf(report, id).servedRpcs)
const sharesOf = (report: RunReport): number[] => {
  const rpcs = served(report)
  const all = rpcs.reduce((sum, n) => sum + n, 0)
  return rpcs.map((n) => n / all)
}

describe('paper-adaptbf-allocation', () => {
  const allocation = scenario('paper-adaptbf-allocation')

  it('gives equal shares without control, and 10, 10, 30 and 50 % with AdapTBF', () => {
    const shares = (controller: 'none' | 'static' | 'adaptbf'): number[] =>
      sharesOf(runOf(allocation, { controller }, { seconds: 60 }))
    for (const share of shares('none')) expect(share).toBeCloseTo(0.25, 2)
    for (const controller of ['static', 'adaptbf'] as const) {
      for (const [job, share] of shares(controller).entries()) {
        expect(Math.abs(share - [0.1, 0.1, 0.3, 0.5][job]!)).toBeLessThan(0.01)
      }
    }
  })

  it('keeps the OST busy after the largest job, which static shares do not', () => {
    const [fixed, adaptive] = (['static', 'adaptbf'] as const).map((controller) => {
      const report = runOf(allocation, { controller }, { seconds: 90 })
      const after = Math.ceil(70 / report.binS)
      const bins = report.targets[0]!.rpcs.slice(after)
      return bins.reduce((sum, n) => sum + n, 0) / (bins.length * report.binS)
    })
    expect(fixed! / 500).toBeCloseTo(0.5, 1)
    expect(adaptive! / 500).toBeGreaterThan(0.95)
  })
})

describe('paper-adaptbf-redistribution', () => {
  const [none, fixed, adaptive] = (['none', 'static', 'adaptbf'] as const).map((controller) =>
    runOf(scenario('paper-adaptbf-redistribution'), { controller }, { seconds: 40 }),
  )

  it.each(JOBS.slice(0, 3))('serves bursts of %s faster than no control and static shares', (id) => {
    const wait = (report: RunReport | undefined): number => jobOf(report!, id).waitP95Ms
    expect(wait(adaptive)).toBeLessThan(0.9 * wait(none))
    expect(wait(adaptive)).toBeLessThan(0.9 * wait(fixed))
  })

  it('leaves the stream several times its static share', () => {
    expect(served(adaptive!)[3]! / served(fixed!)[3]!).toBeGreaterThan(4)
  })
})

describe('noisy-neighbour', () => {
  const [none, fixed, adaptive] = (['none', 'static', 'adaptbf'] as const).map((controller) =>
    runOf(scenario('noisy-neighbour'), { controller }, { seconds: 60 }),
  )
  const HOG = '4690.python.u1021'

  it.each(['4711.cfd_solve.u884', '4655.vasp_std.u340'])('a static cap and AdapTBF help %s', (id) => {
    const wait = (report: RunReport | undefined): number => jobOf(report!, id).waitP95Ms
    expect(wait(fixed)).toBeLessThan(0.8 * wait(none))
    expect(wait(adaptive)).toBeLessThan(0.8 * wait(none))
  })

  it('at different costs: the static cap leaves unused what AdapTBF lends to the hog', () => {
    const served = (report: RunReport | undefined): number => jobOf(report!, HOG).servedRpcs
    expect(served(fixed)).toBeLessThan(0.1 * served(none))
    expect(served(adaptive)).toBeGreaterThan(3 * served(fixed))
  })
})

describe('paper-seqdlm-strided', () => {
  it('writes 14 times the bytes of DLM-basic and 8 times those of DLM-Lustre', () => {
    const written = (locks: string): number =>
      runOf(scenario('paper-seqdlm-strided'), { locks }, { seconds: 60 }).planes.find(
        ({ key }) => key === 'locksWritten',
      )!.value
    const seqdlm = written('seqdlm')
    expect(Math.round(seqdlm / written('basic'))).toBe(14)
    expect(Math.round(seqdlm / written('lustre'))).toBe(8)
  })
})

const SECONDS = 60

/** Completed / reserved of each client, period by period. */
function ratios(variant: 'bare' | 'haechi'): number[][] {
  const read = scenario('paper-haechi-zipf')
  const cluster = new EmulatedCluster({ ...read, haechi: read.haechi.map((node) => ({ ...node, variant })) })
  cluster.sim.runUntil(SECONDS * 1e9)
  const run = cluster.dataNodes[0]?.run(cluster.sim.now)
  if (run === undefined) throw new Error('no data node has run')
  return run.node.periods.items.map(({ completed }) =>
    run.clients.map(({ reservation }, client) => completed[client]! / reservation),
  )
}

it('paper-haechi-zipf gives each client its reservation in every period with tokens, and C1 and C2 75 % of theirs without', () => {
  const kept = ratios('haechi')
  expect(kept.length).toBeGreaterThanOrEqual(SECONDS - 1)
  expect(Math.min(...kept.flat())).toBeGreaterThanOrEqual(1)
  const bare = ratios('bare').map(([c1, c2]) => [c1!, c2!])
  for (const ratio of bare.flat()) expect(ratio).toBeCloseTo(0.75, 2)
})

/** Served operations of all jobs in 120 s. */
function operations(algorithm: Algorithm): number {
  const read = scenario('paper-padll-four-jobs')
  if (read.padll === undefined) throw new Error('no stages')
  const cluster = new EmulatedCluster({ ...read, padll: { ...read.padll, algorithm } })
  cluster.sim.runUntil(120e9)
  return cluster.jobs.reduce((sum, job) => sum + job.servedRpcs, 0)
}

it('paper-padll-four-jobs serves least under uniform and most under PSFA, as it says', () => {
  const totals = (['uniform', 'priority', 'psharing', 'psfa'] as const).map(operations)
  expect(totals).toEqual(totals.toSorted((a, b) => a - b))
  expect(totals[3]).toBeGreaterThan(1.15 * totals[0]!)
  const names = ['uniform', 'priority', 'proportional sharing', 'PSFA']
  const about = names.map((name, i) => `${name} ${totals[i]!.toLocaleString('en-US')}`).join(', ')
  expect(scenario('paper-padll-four-jobs').about).toContain(about)
})

it('paper-padll-four-jobs has a fixed quarter for uniform, however many jobs run', () => {
  expect(scenario('paper-padll-four-jobs').padll).toMatchObject({ slots: 4, system_limits: { meta_op: 1100 } })
})
