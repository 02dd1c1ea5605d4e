/** The control step of the live loop and of the sandbox: the same cluster under both, period by period. */
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ControlSteps, type Action, type UnthrottledJobs, type ServerStep } from '#core/control/control-step.ts'
import type { Decision } from '#core/control/controller.ts'
import { LIVE_FENCES, MODEL_FENCES, type Fences } from '#core/control/fences.ts'
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { ModelControl } from '#core/sandbox/control-model.ts'
import { emulatedCluster } from './emulated-cluster.ts'

/** Result of one period of one server. */
interface Taken {
  readonly server: string
  readonly atMs: number
  readonly action: Action
  /** Decisions without the records of idle jobs, which the sandbox does not keep. */
  readonly decisions: readonly Omit<Decision, 'records'>[]
  readonly unthrottled: UnthrottledJobs
  readonly commands: readonly string[]
}

afterEach(() => vi.restoreAllMocks())

/** Records every step that is taken until the mocks are restored. */
function recordSteps(): readonly Taken[] {
  const taken: Taken[] = []
  const actionOf: ControlSteps['actionOf'] = Reflect.get(ControlSteps.prototype, 'actionOf')
  vi.spyOn(ControlSteps.prototype, 'actionOf').mockImplementation(function (
    this: ControlSteps,
    step: ServerStep,
    activeRules,
    nowNs,
  ) {
    const action = actionOf.call(this, step, activeRules, nowNs)
    const { server, unthrottled, plan } = step
    const decisions = step.decisions.map(({ target, atNs, budget, allocations }) => ({
      target,
      atNs,
      budget,
      allocations,
    }))
    const commands = plan.commands.map((c) => c.value)
    taken.push({ server, atMs: nowNs / 1e6, action, decisions, unthrottled, commands })
    return action
  })
  return taken
}

interface Run {
  readonly steps: readonly Taken[]
  /** Rules of every server at the end, and RPCs served per job. */
  readonly rules: readonly string[]
  readonly served: readonly number[]
  /** Servers that refused a command. */
  readonly refused: readonly string[]
}

const endOf = (cluster: EmulatedCluster): Pick<Run, 'rules' | 'served'> => ({
  rules: cluster.oss.flatMap((o) => o.io.nrs.rules().map((r) => `${o.name} ${r.name} ${r.conditions} ${r.rate}`)),
  served: cluster.jobs.map((j) => j.servedRpcs),
})

async function live(scenario: Scenario, fences: Fences, seconds: number): Promise<Run> {
  const steps = recordSteps()
  const refused = new Set<string>()
  const c = emulatedCluster(scenario, { controller: scenario.control.controller, fences })
  await c.run(seconds, () => {
    for (const { name } of c.source.emulator.oss) {
      if (c.monitor.loop.failureOf(name)?.code === 'RULES_NOT_APPLIED') refused.add(name)
    }
  })
  expect(c.monitor.failures.map((f) => f.code).filter((code) => code !== 'RULES_NOT_APPLIED')).toEqual([])
  vi.restoreAllMocks()
  return { steps, ...endOf(c.source.emulator), refused: [...refused].sort() }
}

function sandbox(scenario: Scenario, fences: Fences, seconds: number, asText: boolean): Run {
  const steps = recordSteps()
  const refused = new Set<string>()
  const cluster = new EmulatedCluster(scenario)
  const variant = {
    name: 'as it is',
    controller: scenario.control.controller,
    maxRate: null,
    periodMs: null,
    adaptbf: {},
    rules: [],
    metadata: null,
    metadataLimits: [],
    haechi: 'scenario' as const,
    tokens: {},
    locks: null,
    lockOptions: {},
    onS: 0,
  }
  const remark = (text: string): void => void refused.add(text.split(' ')[0] ?? '')
  const control = new ModelControl(cluster, variant, { thinning: 1, remark, asText, fences })
  while (cluster.sim.now < seconds * 1e9) {
    cluster.sim.runUntil(Math.min(seconds * 1e9, control.nextNs))
    if (cluster.sim.now >= control.nextNs) control.step(cluster.sim.now)
  }
  vi.restoreAllMocks()
  return { steps, ...endOf(cluster), refused: [...refused].sort() }
}

/** A small cluster in which every input of a step can occur. */
const scenarios = fc
  .record({
    policy: fc.constantFrom('tbf jobid', 'tbf', 'tbf nid'),
    controller: fc.constantFrom('adaptbf' as const, 'static' as const),
    period_ms: fc.constantFrom(100, 200, 500),
    max_rate: fc.integer({ min: 20, max: 400 }),
    adaptbf: fc.record({
      demand: fc.constantFrom('saturation', 'served', 'arrivals', 'backlog'),
      deadband_percent: fc.constantFrom(0, 10, 50),
      overdraft: fc.constantFrom(0, 0.5),
    }),
    ownRules: fc.subarray(['start night jobid={1.*} rate=40', 'start last uid={0} rate=9']),
    jobs: fc.array(
      fc.record({
        clients: fc.subarray([1, 2, 3, 4], { minLength: 1 }),
        processes: fc.integer({ min: 1, max: 8 }),
        start_s: fc.constantFrom(0, 0, 1.3),
        rate: fc.option(fc.integer({ min: 1, max: 120 })),
        isSystem: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    seed: fc.integer({ min: 1, max: 1000 }),
    fences: fc.constantFrom(MODEL_FENCES, LIVE_FENCES, { ...LIVE_FENCES, shadowNs: 0 }),
    shadowS: fc.constantFrom(0, 1),
  })
  .map(({ jobs, ownRules, fences, shadowS, policy, seed, ...control }) => {
    const disk = { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 }
    const ost = (n: number): object => ({ name: `small-OST000${n}`, disk })
    const read = parseScenario(
      JSON.stringify({
        title: 'Two servers, three targets',
        cluster: 'small',
        policy,
        seed,
        clients: { count: 4 },
        oss: [
          { name: 'oss01', osts: [ost(1), ost(2)] },
          { name: 'oss02', osts: [ost(3)] },
        ],
        control,
        rules: policy === 'tbf' ? ownRules.map((line) => ({ service: 'ost_io', line })) : [],
        jobs: jobs.map(({ rate, isSystem, ...j }, i) => ({
          ...j,
          id: isSystem ? `cp${i}.0` : `${i + 1}.app.u${i + 1}`,
          op: 'write',
          size_kib: 64,
          in_slurm: !isSystem,
          pattern: rate === null ? { kind: 'continuous' } : { kind: 'poisson', rate },
        })),
      }),
    )
    if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
    return { scenario: read.value, fences: { ...fences, shadowNs: shadowS * 1e9 } }
  })

describe('the control step', () => {
  it('decides, plans and is refused alike on a cluster and in a what-if', { timeout: 600_000 }, async () => {
    const met = { writes: 0, shown: 0, refused: 0, others: 0, held: 0 }
    await fc.assert(
      fc.asyncProperty(scenarios, async ({ scenario, fences }) => {
        const onCluster = await live(scenario, fences, 4)
        const asText = sandbox(scenario, fences, 4, true)
        expect(asText).toEqual(onCluster)
        const fast = sandbox(scenario, fences, 4, false)
        expect(fast.steps.map((s) => [s.server, s.atMs, s.action, s.decisions])).toEqual(
          onCluster.steps.map((s) => [s.server, s.atMs, s.action, s.decisions]),
        )
        expect({ ...fast, steps: [] }).toEqual({ ...onCluster, steps: [] })
        met.writes += onCluster.steps.filter((s) => s.action === 'write' && s.commands.length > 0).length
        met.shown += onCluster.steps.filter((s) => s.action === 'announce' || s.action === 'show').length
        met.refused += onCluster.refused.length
        met.others += onCluster.rules.filter((r) => r.includes(' night ')).length
        met.held += onCluster.steps.filter((s) => s.unthrottled.exempt > 0).length
      }),
      { numRuns: 24 },
    )
    // Every case occurred.
    for (const [what, count] of Object.entries(met)) expect([what, count > 0]).toEqual([what, true])
  })
})
