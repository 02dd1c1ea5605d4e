/** A controller that is added to the registry is known everywhere. */
import { describe, expect, it, vi } from 'vitest'
import { controllerName } from '#core/api/frames.ts'
import { variant } from '#core/api/sandbox.ts'
import { desiredRules, ruleName } from '#core/control/desired-rule.ts'
import { CONTROLLER_NAMES, isControllerRule } from '#core/controllers/registry.ts'
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import { ModelControl } from '#core/sandbox/control-model.ts'
import { checkRun } from '#core/sandbox/run.ts'
import { variantSummary } from '#core/sandbox/variant-summary.ts'
import { NameCollector } from '#core/snapshot/names.ts'
import { makeRedactor } from '#core/snapshot/pseudonyms.ts'
import { compareCommand } from '#electron/cli/compare.ts'
import { controlCommand } from '#electron/cli/control.ts'
import { runCommand } from '#electron/cli/run.ts'
import { isManagedName } from '#electron/enforce/managed-names.ts'
import { stopScriptText } from '#electron/enforce/stop-script.ts'
import { AS_IT_IS, HOG_AND_OTHERS, scenarioOf } from '#tests/kits/core/sandbox/small-run.ts'
import { EQUAL } from '#tests/kits/made-up-controller.ts'
import { emulatedCluster, twoJobs } from './emulated-cluster.ts'

vi.mock('#core/controllers/definitions.ts', async (original) => {
  const { EQUAL_DEFINITION } = await import('#tests/kits/made-up-controller.ts')
  const real = await original<typeof import('#core/controllers/definitions.ts')>()
  return { ...real, CONTROLLERS: [...real.CONTROLLERS, EQUAL_DEFINITION] }
})
vi.mock('#core/adaptbf/make-controller.ts', async (original) => {
  const { EQUAL, EqualController } = await import('#tests/kits/made-up-controller.ts')
  const { makeController } = await original<typeof import('#core/adaptbf/make-controller.ts')>()
  const make: typeof makeController = (name, options) =>
    name === EQUAL ? new EqualController(options) : makeController(name, options)
  return { makeController: make }
})

const NAME = ruleName(EQUAL, 'oss01', '1.hog.u1')

describe('a controller that is added to the list', () => {
  it('has rules of its own names, which Sluice takes for its own', () => {
    expect(NAME).toMatch(/^ev_[0-9a-f]{10}$/)
    expect([isControllerRule(NAME), isManagedName(NAME), isManagedName('ez_0123456789')]).toEqual([true, true, false])
    const decision = { target: 't', atNs: 1, budget: 1, records: new Map() }
    const allocations = [{ jobId: '1.hog.u1', tokens: 1, ratePerSec: 7, record: 0, recordDelta: 0 }]
    expect(desiredRules(EQUAL, 'oss01', [{ ...decision, allocations }]).rules).toMatchObject([{ name: NAME, rate: 7 }])
  })

  it('is in the stop script', () => {
    const server = { host: 'oss01', roles: ['oss'] as const, rules: [], units: [] }
    expect(stopScriptText('altair', [server], 0).text).toMatch(/grep -E '[^']*\|ev[|)]/)
  })

  it('is taken by the helper of an emulated server', () => {
    const cluster = new EmulatedCluster(scenarioOf(HOG_AND_OTHERS))
    const line = (name: string): string =>
      `/usr/local/sbin/sluice-rule start ost.OSS.ost_io.nrs_tbf_rule reg ${name} 'jobid={a.n01}' 50`
    expect(cluster.node('oss01')?.exec(line(NAME))).toMatchObject({ code: 0 })
    expect(cluster.node('oss01')?.exec(line('ez_0123456789'))).toMatchObject({ code: 2 })
  })

  it('keeps its prefix in a redacted bundle, and loses its digits', () => {
    const redactor = makeRedactor(new NameCollector(), (_, text) => `${text.length}`.padEnd(24, 'z'))
    const text = redactor.text(`stop ${NAME} on oss01`)
    expect(text).toMatch(/ev_[0-9a-f]{10}/)
    expect(text).not.toContain(NAME)
  })

  it('is taken in scenarios, by the contract and by the command line', () => {
    const { control } = scenarioOf(HOG_AND_OTHERS, { control: `{ controller: ${EQUAL}, max_rate: 300 }` })
    expect(control.controller).toBe(EQUAL)
    expect(controllerName.parse(EQUAL)).toBe(EQUAL)
    expect(variant.parse({ name: 'x', controller: EQUAL }).controller).toBe(EQUAL)
    for (const command of [controlCommand(), runCommand()]) {
      const choices = command.options.find((o) => o.long === '--controller')?.argChoices
      expect([command.name(), choices]).toEqual([command.name(), [...CONTROLLER_NAMES]])
    }
    expect(compareCommand().options.find((o) => o.long === '--controllers')?.defaultValue).toContain(EQUAL)
    expect(CONTROLLER_NAMES).toContain(EQUAL)
  })

  it('controls a what-if run', () => {
    const scenario = scenarioOf(HOG_AND_OTHERS)
    const task = { ...AS_IT_IS, controller: EQUAL }
    expect(checkRun({ index: 0, seed: 1, seconds: 8, sloWaitMs: 100, variant: task })).toMatchObject({ ok: true })
    expect(variantSummary(task, scenario)).toBe('the same rate for every active job, token rate 300 RPC/s per OST')
    for (const asText of [true, false]) {
      const cluster = new EmulatedCluster(scenario)
      const control = new ModelControl(cluster, task, { thinning: 1, remark: (text) => expect.fail(text), asText })
      while (cluster.sim.now < 3e9) {
        cluster.sim.runUntil(Math.min(3e9, control.nextNs))
        control.step(cluster.sim.now)
      }
      const names = cluster.oss.flatMap((o) => o.io.nrs.rules().map((r) => r.name))
      expect([asText, names.filter((n) => n.startsWith('ev_')).length]).toEqual([asText, expect.any(Number)])
      expect(names.filter((n) => n.startsWith('ev_')).length).toBeGreaterThan(1)
    }
  })

  it('controls a cluster', async () => {
    const { source, monitor, run } = emulatedCluster(twoJobs(), { mode: 'enforce', controller: EQUAL })
    await run(2)
    expect(monitor.loop.controller).toBe(EQUAL)
    const rules = source.emulator.oss.flatMap((o) => o.io.nrs.rules().map((r) => r.name))
    expect(rules.filter((n) => n.startsWith('ev_')).length).toBeGreaterThan(1)
  })
})
