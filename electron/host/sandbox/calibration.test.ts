import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Scenario } from '#core/emulator/scenario.ts'
import { emulatedCluster, smallScenario, type Emulated } from '../../../tests/node/emulated-cluster.ts'
import type { CalibrateEvent } from '#core/api/sandbox.ts'
import { calibrateOver } from './calibration.ts'
import { calibrationEvents } from './sandbox-service.ts'

const EPOCH = 1_767_225_600_000

/** Four jobs on two servers that serve about 190 RPC/s each, with the given faults. */
function scene(faults: readonly object[] = []): Scenario {
  const s = smallScenario([
    { id: '1.hog.u1', processes: 12 },
    { id: '2.calm.u2', clients: [2, 3], processes: 4, pattern: { kind: 'continuous', think_ms: 80 } },
    { id: '3.burst.u3', clients: [4], processes: 4, pattern: { kind: 'bursts', rpcs: 20, every_s: 6 } },
    { id: '4.trickle.u4', clients: [2], processes: 1, pattern: { kind: 'poisson', rate: 8 }, in_slurm: false },
  ])
  return { ...s, faults: faults as Scenario['faults'] }
}

const at = (s: number): number => EPOCH + s * 1000

describe('calibration', () => {
  let c: Emulated
  let broken: Emulated
  beforeAll(async () => {
    c = emulatedCluster(scene(), { controller: 'none', mode: 'observe' })
    await c.run(24)
    broken = emulatedCluster(scene([{ what: 'slow-disk', target: 'small-OST0001', factor: 8, at_s: 12 }]), {
      controller: 'none',
      mode: 'observe',
    })
    await broken.run(24)
  })
  afterAll(() => {
    c.monitor.close()
    broken.monitor.close()
  })

  const over = (of: Emulated, workload: 'open' | 'closed') =>
    calibrateOver(of.monitor, { span: { fromMs: at(2), toMs: at(24) }, atMs: null, workload, seeds: 1 })

  it.each(['open', 'closed'] as const)('predicts a stretch of the emulator within 10 %%: %s', async (workload) => {
    const r = await over(c, workload)
    if (!r.ok) throw new Error(`${r.error.what}: ${r.error.why}`)
    const { errors, sentence, isInRange, targets, jobs, chart } = r.value
    expect(errors[0]!.error).toBeLessThan(0.1)
    for (const e of targets.error) expect(e).toBeLessThan(0.15)
    expect(jobs.jobId[0]).toBe('1.hog.u1')
    expect(jobs.error[0]).toBeLessThan(0.15)
    expect(chart.t.length).toBe(chart.predicted.length)
    expect(sentence).toMatch(/^predicted [\d,]+ RPC\/s, recorded [\d,]+ \(\d+ %\); p95 of target errors \d+ %/)
    expect(r.value.knowledge.filter((k) => k.level === 'unknown').length).toBeGreaterThan(0)
    expect([isInRange, sentence]).toEqual([true, sentence])
  })

  it('says of a stretch with a failing disk that it is out of range, and why', async () => {
    const r = await over(broken, 'closed')
    if (!r.ok) throw new Error(r.error.what)
    expect(r.value.isInRange).toBe(false)
    expect(r.value.sentence).toContain('out of range')
    expect(r.value.knowledge.map((k) => k.text).join('\n')).toContain('small-OST0001')
  })

  it('is followed seed by seed to its result, and ends when its follower leaves', async () => {
    const input = { span: { fromMs: at(2), toMs: at(24) }, atMs: null, workload: 'closed', seeds: 2 } as const
    const seen: CalibrateEvent[] = []
    for await (const event of calibrationEvents(c.monitor, input)) seen.push(event)
    expect(seen[0]).toEqual({ kind: 'progress', done: 0, of: 2 })
    expect(seen.at(-1)?.kind).toBe('result')
    const done = seen.flatMap((e) => (e.kind === 'progress' ? [e.done] : []))
    expect(done).toEqual(done.toSorted((a, b) => a - b))
    expect(done.at(-1)).toBeGreaterThan(0)

    const abort = new AbortController()
    const rest: CalibrateEvent[] = []
    for await (const event of calibrationEvents(c.monitor, input, { signal: abort.signal })) {
      rest.push(event)
      abort.abort()
    }
    expect(rest).toEqual([{ kind: 'progress', done: 0, of: 2 }])
    const long = { ...input, span: { fromMs: at(0), toMs: at(0) + 7 * 3_600_000 } }
    const refused: CalibrateEvent[] = []
    for await (const event of calibrationEvents(c.monitor, long)) refused.push(event)
    expect(refused.at(-1)).toMatchObject({ kind: 'failed', notice: { code: 'CALIBRATION_TOO_LONG' } })
  })

  it('can be canceled', async () => {
    const abort = new AbortController()
    const input = { span: { fromMs: at(2), toMs: at(24) }, atMs: null, workload: 'closed', seeds: 5 } as const
    const run = calibrateOver(c.monitor, input, { signal: abort.signal })
    abort.abort()
    expect(await run).toMatchObject({ ok: false, error: { code: 'CALIBRATION_CANCELLED' } })
  })
})
