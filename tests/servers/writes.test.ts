/** Processes on a server with a real sudo and sshd for the changes of one period. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serverInput } from '#core/api/clusters.ts'
import type { DesiredRule } from '#core/control/desired-rule.ts'
import { planRemoval, planRules, type Plan } from '#core/control/plan.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { Audit } from '#electron/base/audit.ts'
import type { NodeConnection } from '#electron/base/connection.ts'
import { whileTimerExists } from '#electron/base/while-timer-exists.ts'
import { LiveServer } from '#electron/cluster/live/live-server.ts'
import { SshAccess } from '#electron/cluster/live/ssh-access.ts'
import { applyPlan } from '#electron/enforce/executor.ts'
import { Lease } from '#electron/enforce/lease.ts'
import { scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { LOGIN, noServers } from '../lab/nspawn.ts'

const HOST = 'oss01'
const OST = 'ost.OSS.ost_io.nrs_tbf_rule'
const SCENARIO = `title: One
cluster: one
clients: { count: 1 }
policy: tbf jobid
control: { max_rate: 200, mode: observe }
oss:
  - { name: ${HOST}, osts: [{ name: one-OST0000, disk: { bandwidth_mb_s: 20 } }] }
jobs:
  - { id: "1.hog.u1001", clients: [1], op: write, size_kib: 64, total_rpcs: 100000000, pattern: { kind: continuous } }
`
const MOST = 40
const rules = (rate: number, changed: number): DesiredRule[] =>
  Array.from({ length: MOST }, (_, i) => ({
    name: `ab_${String(i).padStart(10, '0')}`,
    conditions: `jobid={${i}.python.u1021}`,
    rate: i < changed ? rate : 50,
  }))

describe.skipIf(noServers !== '')('the changes of one period', () => {
  let lab: Lab
  beforeAll(async () => {
    const scenario = join(scratch(), 'one.yaml')
    writeFileSync(scenario, SCENARIO)
    lab = await startLab({ parts: 'nspawn', scenario, servers: [HOST], login: 'ops', sudo: 'write' })
  })
  afterAll(async () => lab?.stop())

  /** Processes started on the server so far, with the one that counts them. */
  const processes = async (): Promise<number> => Number((await lab.exec(HOST, 'echo $$')).stdout)

  it.each([LOGIN, 'root'])('take as many processes for forty rules as for one, as %s', async (user) => {
    const access = new SshAccess({
      knownHosts: [{ path: lab.knownHosts, isRequired: true }],
      configFile: lab.sshConfig,
    })
    const server = new LiveServer(serverInput.parse({ host: HOST, user }), access)
    await server.bring()
    const node = server.node(['oss']) as NodeConnection
    expect(server.isReady).toBe(true)
    const audit = new Audit(() => undefined)
    const lease = new Lease(node, `writes-${user}`, audit)
    const covered = await lease.cover(
      rules(1, 0).map((r) => r.name),
      performance.now() * 1e6,
      0,
    )
    if (!covered.ok) throw new Error(JSON.stringify(covered.error))
    const timerFile = lease.state?.file
    expect(timerFile).toBeDefined()
    let present: readonly RuleLine[] = []
    const apply = async (plan: Plan): Promise<void> => {
      const applied = await applyPlan(node, plan, audit, 0, { timerFile })
      expect(applied).toMatchObject({ state: 'applied', detail: 'verified by read-back' })
      present = applied.rules ?? []
    }
    /** One command per rule, then a reading. */
    const applySingly = async (plan: Plan): Promise<void> => {
      for (const c of plan.commands)
        expect(await node.exec(whileTimerExists(timerFile ?? '', setParamCommand(OST, c.value)))).toMatchObject({
          ok: true,
        })
      await apply({ ...plan, commands: [] })
    }
    await apply(planRules(HOST, [], rules(50, 0)))

    const measure = async (n: number, rate: number, how: (plan: Plan) => Promise<void>): Promise<number> => {
      const plan = planRules(HOST, present, rules(rate, n))
      expect(plan.commands).toHaveLength(n)
      const first = await processes()
      const between = (await processes()) - first
      const from = await processes()
      await how(plan)
      const count = (await processes()) - from - between
      await apply(planRules(HOST, present, rules(50, 0)))
      return count
    }
    const counts: number[] = []
    for (const [i, n] of [1, 10, MOST].entries()) {
      const singly = await measure(n, 60 + i, applySingly)
      counts.push(await measure(n, 70 + i, apply))
      if (n === MOST) expect(counts.at(-1)).toBeLessThan(singly / 4)
    }
    // Services of the server start processes of their own at times.
    expect(counts.at(-1)).toBeLessThanOrEqual((counts[0] ?? 0) + 20)
    expect(counts.at(-1)).toBeLessThan(MOST)
    // Removals and changes in one line.
    await apply(planRules(HOST, present, rules(33, 9).slice(4)))
    await apply(planRemoval(HOST, present))
    await lease.end(0)
    server.forget()
    access.stop()
  })
})
