/** Metadata control on emulated metadata servers, through the real commands, counters, timers and read-backs. */
import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { LIVE_FENCES } from '#core/control/fences.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { parseJobStats } from '#core/lustre/job-stats.ts'
import { countOfScope } from '#core/padll/mds/operations.ts'
import type { Scope } from '#core/padll/vocabulary.ts'
import { emulatedCluster, type Emulated, type Setup } from '../../../tests/node/emulated-cluster.ts'
import { RuleService } from '../../host/rules/rule-service.ts'
import { QUICK } from '../../../tests/node/rule-service.ts'
import { formOfValue } from '../../host/rules/draft.ts'
import { rulesFrame } from '../../host/views/rules/rules.ts'
import { stagedFrame } from '../../host/views/rules/staged.ts'
import { metadataColumn, metadataSeries } from './state.ts'
import { edited, lost, printed } from '#tests/kits/electron/answers.ts'

interface MdsScenario {
  readonly policy?: string
  readonly version?: string
  readonly cpts?: number
  readonly servers?: number
  readonly control?: object
  readonly mode?: string
}

/** Metadata jobs on one MDS or several of one MDT each. */
function mdsScenario(jobs: readonly object[], more: MdsScenario = {}): Scenario {
  const { policy = 'tbf jobid+opcode', version = '2.17.57', cpts = 1, servers = 1 } = more
  const read = parseScenario(
    JSON.stringify({
      title: 'Metadata',
      cluster: 'meta',
      clients: { count: 8, max_rpcs_in_flight: 64 },
      oss: [{ name: 'oss01', version, osts: [{ name: 'meta-OST0000', disk: { bandwidth_mb_s: 1000 } }] }],
      mds: Array.from({ length: servers }, (_, i) => ({
        name: `mds0${i + 1}`,
        version,
        cpts,
        policy,
        threads: 32,
        mdts: [{ name: `meta-MDT000${i}`, per_op_us: 100, channels: 16 }],
      })),
      control: { max_rate: 500, controller: 'none', mode: more.mode ?? 'enforce', metadata: more.control ?? {} },
      jobs: jobs.map((j) => ({
        clients: [1, 2, 3, 4],
        processes: 16,
        op: 'open',
        pattern: { kind: 'continuous' },
        ...j,
      })),
    }),
  )
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

/** Operations of a job in a scope so far, as counted by job_stats of the MDTs. */
function counted(c: Emulated, job: string, scope: Scope): number {
  let n = 0
  for (const mdt of c.source.emulator.mds.flatMap((m) => m.mdts)) {
    const entry = parseJobStats(mdt.jobStats.read()).entries.find((e) => e.jobId === job)
    const ops = new Map([...(entry?.counters ?? [])].map(([name, x]) => [name, x.samples]))
    n += countOfScope(ops, scope)
  }
  return n
}

/** Runs, and returns the most operations served in any second after `fromS`, sampled every tenth of a second. */
async function mostPerSecond(
  c: Emulated,
  of: readonly (readonly [job: string, scope: Scope])[],
  fromS: number,
  toS: number,
): Promise<{ each: number[]; sum: number }> {
  const seen: number[][] = []
  await c.run(toS, (atNs) => {
    if (atNs >= fromS * NS_PER_S) seen.push(of.map(([job, scope]) => counted(c, job, scope)))
  })
  const each = of.map(() => 0)
  let sum = 0
  for (let i = 10; i < seen.length; i++) {
    const moved = of.map((_, k) => seen[i]![k]! - seen[i - 10]![k]!)
    moved.forEach((n, k) => (each[k] = Math.max(each[k]!, n)))
    sum = Math.max(
      sum,
      moved.reduce((a, b) => a + b, 0),
    )
  }
  return { each, sum }
}

const rulesOf = (c: Emulated, host: string, service: 'mdt' | 'mdt_readpage'): string =>
  c.source.emulator.node(host)?.exec(`lctl get_param -n mds.MDS.${service}.nrs_tbf_rule`).stdout ?? ''
const run = (jobs: readonly object[], more: MdsScenario = {}, setup: Setup = {}): Emulated =>
  emulatedCluster(mdsScenario(jobs, more), setup)

const MIX = ['open', 'close', 'stat', 'mkdir']
const THREE = [
  { id: '7.a', op: MIX },
  { id: '8.b', op: ['stat', 'stat', 'open', 'close'], clients: [5, 6] },
  { id: '9.c', op: ['mkdir', 'rename', 'unlink'], clients: [7], pattern: { kind: 'poisson', rate: 5 } },
]
const DEMANDS = '1 0 demand 7.a meta_op 300\n2 0 demand 8.b meta_op 400\n3 0 demand 9.c meta_op 200'
const SHARED = { algorithm: 'psfa', limits: { meta_op: 900 }, policies: DEMANDS }
const OPEN_200 = { algorithm: 'static', policies: '1 0 job 7.a open 200' }
/** tbf_depth: tokens of a full bucket. */
const DEPTH = 3

const managed = (c: Emulated, host: string): string[] =>
  (['mdt', 'mdt_readpage'] as const).flatMap((s) =>
    parseNrsTbfRule(rulesOf(c, host, s))
      .rules.filter((r) => isControllerRule(r.name) && r.cpt === 0)
      .map((r) => `${s} ${r.conditions} ${r.rate}`),
  )
/** Rate changes, each of which gives every class of the rule a full bucket, in the busiest second after `fromS`. */
function mostChanges(c: Emulated, fromS: number): number {
  const at = c.writes().flatMap((w) => (w.atNs >= fromS * NS_PER_S && / change /.test(w.command) ? [w.atNs] : []))
  return Math.max(0, ...at.map((t) => at.filter((u) => u >= t && u < t + NS_PER_S).length))
}
const away =
  (hosts: readonly string[], isAway: () => boolean): NonNullable<Setup['around']> =>
  (node) => ({
    ...node,
    exec: async (command) => {
      if (isAway() && hosts.includes(node.host)) return lost('timed out')
      return node.exec(command)
    },
  })

describe('a limit of one operation', () => {
  it.each([
    ['tbf jobid+opcode', '2.17.57', 1, 1],
    ['tbf jobid+opcode', '2.17.0', 2, 2],
    ['tbf', '2.15.8', 1, 2],
    ['tbf', '2.12.9', 2, 1],
  ] as const)(
    '%s of %s, %i CPT, %i MDS: holds in every second as the MDTs count it',
    async (policy, version, cpts, servers) => {
      const jobs = [{ id: '7.a' }, { id: 'free' }]
      const c = run(jobs, { policy, version, cpts, servers, control: OPEN_200 })
      const [limited, free] = (
        await mostPerSecond(
          c,
          [
            ['7.a', 'open'],
            ['free', 'open'],
          ],
          1.5,
          9,
        )
      ).each
      // One full bucket for each class on each CPT; under generic TBF each of the four clients is a class.
      const classes = servers * (policy === 'tbf' ? 4 : cpts)
      expect(limited).toBeLessThanOrEqual(200 + DEPTH * classes)
      // Each client uses one CPT: one of two CPTs may be idle.
      expect(limited).toBeGreaterThan(cpts * servers === 4 || policy === 'tbf' ? 90 : 180)
      expect(free).toBeGreaterThan(1000)
      expect(managed(c, 'mds01').every((r) => r.includes('jobid={7.a}'))).toBe(true)
      expect(c.monitor.failures).toEqual([])
    },
  )

  it('holds from the first operation on: its rule exists before the job begins', async () => {
    const c = run([{ id: '7.a', start_s: 3 }, { id: 'free' }], { control: OPEN_200 })
    await c.run(2)
    expect(managed(c, 'mds01')).toEqual(['mdt jobid={7.a}&opcode={ldlm_enqueue} 200'])
    expect((await mostPerSecond(c, [['7.a', 'open']], 2.5, 5)).sum).toBeLessThanOrEqual(200 + DEPTH)
  })

  it('leaves a neighbor as it was, and what the job does otherwise', async () => {
    const jobs = [
      { id: '7.a', op: 'close', processes: 2 },
      { id: '8.b', op: 'open', processes: 2 },
    ]
    const served = async (control: object): Promise<number[]> => {
      const c = run(jobs, { control })
      await c.run(6)
      return [counted(c, '7.a', 'close'), counted(c, '8.b', 'open')]
    }
    const without = await served({})
    const held = await served(OPEN_200)
    expect(held).toEqual(without)
  })

  it('follows the policy file in time', async () => {
    const policies = '1 0 job 7.a open 200\n2 4 job 7.a open 50\n3 7 job 7.a open 400'
    const c = run([{ id: '7.a' }], { control: { algorithm: 'static', policies } })
    const rates: string[] = []
    await c.run(9, (atNs) => {
      if (atNs % NS_PER_S === 0.5 * NS_PER_S) rates.push(managed(c, 'mds01')[0]?.split(' ').at(-1) ?? '')
    })
    expect(rates).toEqual(['200', '200', '200', '200', '50', '50', '50', '400', '400'])
    expect(c.monitor.metadata.stateAt(c.monitor.sample)?.steps.map((s) => s.state)).toEqual([
      'replaced',
      'replaced',
      'active',
    ])
  })
})

describe('a limit of a class', () => {
  it.each([
    ['tbf jobid+opcode', 8, 0.9],
    ['tbf jobid', 2, 0.95],
  ] as const)('%s: is one sum over services and opcodes, cut where the job spends it', async (policy, rules, least) => {
    const control = { algorithm: 'static', policies: '1 0 job 7.a meta_op 400' }
    const c = run(
      [
        { id: '7.a', op: MIX },
        { id: 'free', op: MIX },
      ],
      { policy, control },
    )
    const { sum } = await mostPerSecond(c, [['7.a', 'meta_op']], 3, 12)
    expect(sum).toBeLessThanOrEqual(400)
    expect(sum).toBeGreaterThan(400 * least)
    expect(managed(c, 'mds01')).toHaveLength(rules)
    expect(mostChanges(c, 3)).toBe(0)
  })
})

describe('demands under one system limit (PSFA)', () => {
  it.each([
    ['tbf jobid+opcode', 1, 1],
    ['tbf jobid', 1, 1],
    ['tbf jobid', 2, 2],
  ] as const)(
    '%s, %i CPT, %i MDS: no second is above the limit, and demands are met first',
    async (policy, cpts, servers) => {
      const c = run(THREE, { policy, cpts, servers, control: SHARED })
      const { sum } = await mostPerSecond(
        c,
        ['7.a', '8.b', '9.c'].map((job) => [job, 'meta_op'] as const),
        3,
        20,
      )
      expect(sum).toBeLessThanOrEqual(900)
      const jobs = c.monitor.metadata.stateAt(c.monitor.sample)?.jobs ?? []
      expect(jobs.reduce((n, j) => n + (j.allocated ?? 0), 0)).toBeCloseTo(900)
      if (cpts === 1) {
        expect(sum).toBeGreaterThan(780)
        expect(jobs.find((j) => j.job === '7.a')?.measured).toBeGreaterThan(290)
        expect(jobs.find((j) => j.job === '8.b')?.measured).toBeGreaterThan(390)
      }
      expect(c.monitor.failures).toEqual([])
    },
  )

  it('a job that comes takes its share at once, one that goes leaves it to the others', async () => {
    const jobs = [
      { id: '7.a', op: 'open' },
      { id: '8.b', op: 'open', start_s: 5.05, stop_s: 8, clients: [5] },
    ]
    const policies = '1 0 demand 7.a open 300\n2 0 demand 8.b open 300'
    const c = run(jobs, { control: { algorithm: 'psfa', limits: { open: 600 }, policies } })
    await c.run(5)
    expect(managed(c, 'mds01').map((r) => r.split(' ').at(-1))).toEqual(expect.arrayContaining(['10', '600']))
    await c.run(5.5)
    expect(managed(c, 'mds01').map((r) => r.split(' ').at(-1))).toEqual(['300', '300'])
    const { sum } = await mostPerSecond(
      c,
      [
        ['7.a', 'open'],
        ['8.b', 'open'],
      ],
      5.5,
      19.5,
    )
    expect(sum).toBeLessThanOrEqual(600 + 2 * DEPTH * 2)
    expect(managed(c, 'mds01').map((r) => r.split(' ').at(-1))).toEqual(expect.arrayContaining(['10', '600']))
    const events = c.monitor.metadata.stateAt(c.monitor.sample)?.events.map((e) => e.text) ?? []
    expect(events).toEqual(expect.arrayContaining(['8.b began', '8.b is idle']))
  })

  it('psfa-adaptive: servers do not report what waits, so PSFA applies, which is reported once', async () => {
    const jobs = [{ id: '7.a', op: 'open' }]
    const c = run(jobs, {
      control: { algorithm: 'psfa-adaptive', limits: { open: 600 }, policies: '1 0 demand 7.a open 300' },
    })
    await c.run(6)
    const events = c.monitor.metadata.stateAt(c.monitor.sample)?.events.map((e) => e.text) ?? []
    expect(events.filter((text) => text.includes('replaced by PSFA'))).toEqual([
      'open: psfa-adaptive is replaced by PSFA, because the operations that wait are not reported',
    ])
  })
})

describe('the modes', () => {
  const foreign = (c: Emulated): void => {
    for (const service of ['mdt', 'mdt_readpage']) {
      c.source.emulator
        .node('mds01')
        ?.exec(`lctl set_param mds.MDS.${service}.nrs_tbf_rule='reg start night jobid={99.*} rate=77'`)
    }
  }
  const lists = (c: Emulated): string[] => [rulesOf(c, 'mds01', 'mdt'), rulesOf(c, 'mds01', 'mdt_readpage')]
  const mdsWrites = (c: Emulated): string[] =>
    c.sent.filter((s) => s.host === 'mds01' && !s.command.startsWith('lctl get_param')).map((s) => s.command)

  it('without a limit and policies nothing is ever sent', async () => {
    const c = run(THREE)
    await c.run(4)
    expect(mdsWrites(c)).toEqual([])
  })

  it('advise: the plans are shown and nothing is sent; observe: nothing is planned', async () => {
    const c = run([{ id: '7.a', op: MIX }], { mode: 'advise', control: SHARED })
    await c.run(4)
    expect(mdsWrites(c)).toEqual([])
    expect(c.monitor.metadata.outcome('mds01', 'mdt')).toMatchObject({ state: 'shown' })
    expect(c.monitor.metadata.outcome('mds01', 'mdt_readpage')?.plan.commands).not.toEqual([])
    const o = run([{ id: '7.a' }], { mode: 'observe', control: OPEN_200 })
    await o.run(4)
    expect([mdsWrites(o), o.monitor.metadata.outcome('mds01', 'mdt')]).toEqual([[], undefined])
  })

  it('leaving enforce restores both lists byte for byte, and takes the timer away', async () => {
    const c = run([{ id: '7.a', op: MIX, stop_s: 4 }], { control: SHARED })
    foreign(c)
    const before = lists(c)
    await c.run(5)
    expect(lists(c)).not.toEqual(before)
    expect(c.source.emulator.node('mds01')?.timers.size).toBe(1)
    expect(c.monitor.setMode('advise')).toMatchObject({ ok: true })
    await c.run(6)
    const bare = (text: string): string => text.replace(/, ref \d+/g, '')
    expect(lists(c).map(bare)).toEqual(before.map(bare))
    expect(c.source.emulator.node('mds01')?.timers.size).toBe(0)
  })

  it('switching it off removes its rules under enforce, too', async () => {
    const c = run([{ id: '7.a', op: MIX }], { control: SHARED })
    foreign(c)
    await c.run(3)
    expect(managed(c, 'mds01').length).toBeGreaterThan(2)
    expect(c.monitor.setMetadata({ policies: '' })).toMatchObject({ ok: true })
    await c.run(4)
    expect(managed(c, 'mds01')).toEqual([])
    expect(rulesOf(c, 'mds01', 'mdt')).toContain('night jobid={99.*} 77')
    expect(c.source.emulator.node('mds01')?.timers.size).toBe(0)
  })

  it('no rule is sent before the timer that removes it, and nothing that is not on record', async () => {
    const order: string[] = []
    const c = run(
      THREE,
      { servers: 2, control: SHARED },
      {
        onAudit: (r) => {
          if (r.kind === 'intent') order.push(...r.text.split('\n').map((t) => `audit ${t}`))
        },
        around: (node) => ({
          ...node,
          exec: (command) => {
            if (node.roles.includes('mds') && !command.startsWith('lctl get_param')) order.push(command)
            return node.exec(command)
          },
        }),
      },
    )
    await c.run(6)
    const sent = order.filter((o) => !o.startsWith('audit'))
    expect(sent.length).toBeGreaterThan(20)
    for (const command of sent) expect(order.indexOf(`audit ${command}`)).toBeLessThan(order.indexOf(command))
    for (const host of ['mds01', 'mds02']) {
      const covered = new Set<string>()
      for (const { command } of c.sent.filter((s) => s.host === host)) {
        if (command.startsWith('systemd-run')) for (const m of command.matchAll(/reg stop (\w+)/g)) covered.add(m[1]!)
        const started = /reg start (\w+)/.exec(command)?.[1]
        if (started !== undefined) expect(covered).toContain(started)
      }
      expect(covered.size).toBeGreaterThan(10)
    }
  })

  it('what cannot be put on record is not sent', async () => {
    const c = run(
      [{ id: '7.a' }],
      { control: OPEN_200 },
      {
        onAudit: (r) => {
          if (r.server === 'mds01') throw new Error('disk full')
        },
      },
    )
    await c.run(3)
    expect(mdsWrites(c)).toEqual([])
    expect(c.monitor.failures.map((f) => f.code)).toContain('NOT_ON_RECORD')
  })
})

describe('servers that do not answer, and a console that is gone', () => {
  it('a silent server keeps its rules; what they allow is not given to the others before its timer', async () => {
    let isAway = false
    const c = run(
      [{ id: '7.a', op: 'open' }],
      { servers: 2, control: OPEN_200 },
      { around: away(['mds02'], () => isAway) },
    )
    await c.run(4)
    expect([...managed(c, 'mds01'), ...managed(c, 'mds02')].map((r) => r.split(' ').at(-1))).toEqual(['100', '100'])
    isAway = true
    const { sum } = await mostPerSecond(c, [['7.a', 'open']], 4, 40)
    expect(sum).toBeLessThanOrEqual(200 + 2 * DEPTH)
    expect(managed(c, 'mds01')[0]).toMatch(/ 100$/)
    expect(c.monitor.metadata.stateAt(c.monitor.sample)?.servers[1]).toMatchObject({
      state: 'silent',
      why: 'timed out',
    })
    await c.run(75)
    // Its rules expired with its timer: it no longer counts in the sum.
    expect(managed(c, 'mds02')).toEqual([])
    expect(managed(c, 'mds01')[0]).toMatch(/ 200$/)
    isAway = false
    await c.run(79)
    const back = [...managed(c, 'mds01'), ...managed(c, 'mds02')].map((r) => Number(r.split(' ').at(-1)))
    expect(back.every((rate) => rate > 80)).toBe(true)
    expect(back[0]! + back[1]!).toBeLessThanOrEqual(200)
    expect(c.monitor.failures).toEqual([])
  })

  it('a console that is gone leaves no rule for longer than a minute', async () => {
    const c = run([{ id: '7.a', op: MIX }], { control: SHARED })
    await c.run(5)
    expect(managed(c, 'mds01').length).toBeGreaterThan(2)
    c.source.emulator.sim.runUntil(66 * NS_PER_S)
    expect(managed(c, 'mds01')).toEqual([])
  })

  it('one that starts again takes its rules over: the same names, no fresh buckets', async () => {
    const scenario = mdsScenario([{ id: '7.a' }], { control: OPEN_200 })
    const first = emulatedCluster(scenario)
    await first.run(5)
    const before = rulesOf(first, 'mds01', 'mdt')
    const second = emulatedCluster(scenario, { source: first.source, session: 'again' })
    await second.run(9)
    expect(rulesOf(second, 'mds01', 'mdt')).toBe(before)
    expect(second.writes()).toEqual([])
    expect(second.sent.some((s) => s.command.startsWith('systemd-run') && s.command.includes('again-md'))).toBe(true)
  })

  it('a live console keeps its settings', async () => {
    const scenario = mdsScenario([{ id: '7.a.u1' }])
    const first = emulatedCluster(scenario, { kind: 'LIVE' })
    await first.run(1)
    expect(first.monitor.setMetadata({ algorithm: 'static', policies: '1 0 job 7.a.u1 open 200' })).toMatchObject({
      ok: true,
    })
    expect(first.monitor.setMetadata({ limit: { scope: 'meta_op', rate: 900 } })).toMatchObject({ ok: true })
    await first.run(3)
    const second = emulatedCluster(scenario, { kind: 'LIVE', source: first.source, history: first.history })
    expect(second.monitor.metadata.settings).toEqual(first.monitor.metadata.settings)
    await second.run(5)
    expect(managed(second, 'mds01')).toHaveLength(1)
  })

  it('a server that refuses its rules is tried again later, and others are not raised meanwhile', async () => {
    let refuses = false
    const c = run(
      [{ id: '7.a', op: 'open' }],
      { servers: 2, control: OPEN_200 },
      {
        around: (node) => ({
          ...node,
          exec: async (command) =>
            refuses && node.host === 'mds02' && command.includes('nrs_tbf_rule=')
              ? printed('', 'error: set_param: setting x: Device or resource busy\n', 16)
              : node.exec(command),
        }),
      },
    )
    await c.run(3)
    refuses = true
    expect(c.monitor.setMetadata({ policies: '1 0 job 7.a open 50' })).toMatchObject({ ok: true })
    await c.run(6)
    expect(managed(c, 'mds02')[0]).toMatch(/ 100$/)
    expect(c.monitor.failures.map((f) => f.code)).toContain('RULES_NOT_APPLIED')
    refuses = false
    await c.run(12)
    expect([...managed(c, 'mds01'), ...managed(c, 'mds02')].map((r) => r.split(' ').at(-1))).toEqual(['25', '25'])
    expect(c.monitor.failures).toEqual([])
  })
})

describe('what an operator sets and sees', () => {
  it.each([
    [{ algorithm: 'psychic' as 'psfa' }, 'BAD_ALGORITHM'],
    [{ epsilon: 1.01 }, 'BAD_EPSILON'],
    [{ epsilon: NaN }, 'BAD_EPSILON'],
    [{ slots: 0 }, 'BAD_SLOTS'],
    [{ limit: { scope: 'opne', rate: 5 } }, 'BAD_LIMIT'],
    [{ limit: { scope: 'open', rate: 0 } }, 'BAD_LIMIT'],
    [{ limit: { scope: 'open', rate: NaN } }, 'BAD_LIMIT'],
    [{ policies: '1 0 job a opne 5' }, 'BAD_POLICIES'],
  ] as const)('%j is refused with %s and changes nothing', (change, code) => {
    const c = run([{ id: '7.a' }], { control: OPEN_200 })
    const before = c.monitor.metadata.settings
    expect(c.monitor.setMetadata(change)).toMatchObject({ ok: false, error: { code } })
    expect(c.monitor.metadata.settings).toBe(before)
    expect(c.records).toEqual([])
  })

  it('a change is on record before it holds', async () => {
    const c = run(
      [{ id: '7.a' }],
      {},
      {
        onAudit: (r) => {
          if (r.kind === 'mode') throw new Error('disk full')
        },
      },
    )
    expect(c.monitor.setMetadata({ policies: '1 0 job 7.a open 5' })).toMatchObject({
      ok: false,
      error: { code: 'NOT_ON_RECORD' },
    })
    expect(c.monitor.metadata.settings.policies).toBe('')
  })

  it('a preview lists the commands and what rules cannot express, and stores nothing', async () => {
    const c = run([{ id: '7.a', op: MIX }], { control: {} })
    await c.run(3)
    const preview = c.monitor.metadata.preview({ policies: '1 0 job 7.a open 100\n2 0 job 7.a read 5' }, c.monitor.jobs)
    expect(preview).toMatchObject({
      ok: true,
      value: {
        commands: [
          {
            host: 'mds01',
            commands: [
              expect.stringMatching(/^lctl set_param mds\.MDS\.mdt\.nrs_tbf_rule=.*opcode=\{ldlm_enqueue\} rate=100/),
            ],
          },
        ],
        unexpressed: [{ line: 1 }, { line: 2, text: 'read: data goes to OSTs and is not visible to rules of an MDS' }],
      },
    })
    await c.run(5)
    expect(managed(c, 'mds01')).toEqual([])
  })

  it('the state of each cycle and the series of each sample agree', async () => {
    const c = run(THREE, { control: SHARED })
    await c.run(8)
    const { metadata, sample } = c.monitor
    const now = metadata.stateAt(sample)
    expect(now?.scopes).toEqual(['meta_op'])
    expect(metadata.stateAt(sample - 30)?.cycle).toBe((now?.cycle ?? 0) - 3)
    expect(metadata.series.table.newest).toBe(sample)
    for (const j of now?.jobs ?? []) {
      const name = metadataSeries(j.job, j.scope)
      expect(metadata.series.table.value(name, metadataColumn('measured'), now!.sample)).toBeCloseTo(j.measured!, 3)
      expect(metadata.series.table.value(name, metadataColumn('allocated'), now!.sample)).toBeCloseTo(j.allocated!, 2)
    }
    const all = metadata.series.table.value(metadataSeries('', 'meta_op'), metadataColumn('limit'), sample)
    expect(all).toBe(900)
    const rules = now?.servers[0]?.rules ?? []
    expect(rules.length).toBe(24)
    expect(rules.every((r) => r.inForce)).toBe(true)
    expect(rules.find((r) => r.job === '7.a' && r.opcodes[0] === 'mds_reint')).toMatchObject({
      atLimit: true,
      service: 'mdt',
    })
  })

  it('the rules of both services are in the Rules view, with their plans', async () => {
    const c = run([{ id: '7.a', op: MIX }], { control: SHARED })
    await c.run(4)
    const ruleService = new RuleService(c.monitor, QUICK)
    const frame = (service: 'mdt' | 'mdt_readpage') =>
      rulesFrame(ruleService, { at: null, service, node: '', queue: 'reg', offset: 0, limit: 100 }, 1)
    const readpage = frame('mdt_readpage')
    expect(readpage.services).toEqual(['ost_io', 'mdt', 'mdt_readpage'])
    expect(readpage.rows.map((r) => r.conditions)).toContain('jobid={7.a}&opcode={mds_close}')
    expect(readpage.rows.find((r) => r.jobId === undefined || r.owner === 'sluice')?.owner).toBe('sluice')
    expect(readpage.plans[0]?.commands[0]).toContain('mds.MDS.mdt_readpage.nrs_tbf_rule')
    expect(readpage.server.text).toContain('mds_close')
    expect(frame('mdt').rows.map((r) => r.conditions)).toContain('jobid={7.a}&opcode={ldlm_enqueue}')
    expect(frame('mdt').rows.some((r) => r.conditions.includes('mds_close'))).toBe(false)
  })

  it('a rule can be committed on mdt_readpage manually', async () => {
    const c = run([{ id: '7.a', op: MIX }])
    await c.run(2)
    const ruleService = new RuleService(c.monitor, QUICK)
    const form = formOfValue('reg start slow jobid={7.a}&opcode={mds_close} rate=7')
    expect(ruleService.stage('mdt_readpage', form, { expiresS: null, reason: '' })).toMatchObject({ ok: true })
    const review = stagedFrame(ruleService, { service: 'mdt_readpage' }, 1).review
    expect(await ruleService.commit('mdt_readpage', review?.planId ?? '', review?.typed ?? '')).toMatchObject({
      ok: true,
    })
    expect(rulesOf(c, 'mds01', 'mdt_readpage')).toContain('slow jobid={7.a}&opcode={mds_close} 7')
  })
})

describe('on real servers', () => {
  const LOW = { algorithm: 'static', policies: '1 0 job 7.a.u1 open 2\n2 0 job login03.rsync.u0 open 50' }
  const live = (more: Setup = {}): Emulated =>
    run(
      [{ id: '7.a.u1' }, { id: 'login03.rsync.u0' }],
      { control: LOW },
      { kind: 'LIVE', fences: LIVE_FENCES, ...more },
    )
  const written = (c: Emulated): string[] =>
    c.writes().flatMap(({ host, command }) => (host.startsWith('mds') ? [command] : []))
  const started = (c: Emulated): string[] => written(c).filter((w) => / (?:start|change) /.test(w))

  it('rules are shown for ten seconds before the first is written, begin at half of what was served and end at the floor', async () => {
    const c = live()
    await c.run(9)
    expect(written(c)).toEqual([])
    expect(c.monitor.metadata.outcome('mds01', 'mdt')).toMatchObject({ state: 'shown' })
    expect(c.monitor.metadata.outcome('mds01', 'mdt')?.detail).toMatch(/^shown first, written in \d+ s$/)
    await c.run(40)
    const rates = started(c).map((w) => Number(/ rate=(\d+)/.exec(w)?.[1]))
    expect(rates.length).toBeGreaterThan(4)
    for (const [i, rate] of rates.entries())
      if (i > 0) expect(rate).toBeGreaterThanOrEqual(Math.floor(rates[i - 1]! / 2))
    expect(rates.at(-1)).toBe(5)
    const output = c.monitor.metadata.stateAt(c.monitor.sample)?.unexpressed.map((u) => u.text) ?? []
    expect(output).toContain(
      'open of 7.a.u1 cannot be limited to 2 op/s: its rules cannot go below 5, 5 RPC/s for each class',
    )
  })

  it('no policy limits root, and its line shows it', async () => {
    const c = live({ fences: { ...LIVE_FENCES, shadowNs: 0 } })
    await c.run(15)
    expect(started(c).length).toBeGreaterThan(0)
    expect(started(c).filter((w) => w.includes('rsync'))).toEqual([])
    expect(c.monitor.metadata.stateAt(c.monitor.sample)?.unexpressed).toContainEqual({
      line: 2,
      text: "login03.rsync.u0 is not limited: it is root's, or its id does not exclude that",
    })
  })

  it('time in advise counts as shown, and a policy that comes later is shown first again', async () => {
    const c = live({ mode: 'advise' })
    await c.run(11)
    expect(c.monitor.setMode('enforce').ok).toBe(true)
    await c.run(13)
    expect(started(c).length).toBeGreaterThan(0)
    expect(c.monitor.setMetadata({ policies: '' }).ok).toBe(true)
    await c.run(15)
    expect(managed(c, 'mds01')).toEqual([])
    const before = started(c).length
    expect(c.monitor.setMetadata({ policies: LOW.policies }).ok).toBe(true)
    await c.run(24)
    expect(started(c).length).toBe(before)
    await c.run(27)
    expect(started(c).length).toBeGreaterThan(before)
  })

  it('rules of a server that is seen in part are held, then removed, and never lowered meanwhile', async () => {
    let isPartial = false
    const c = live({
      fences: { ...LIVE_FENCES, shadowNs: 0, holdNs: 3e9 },
      around: (node) => ({
        ...node,
        exec: async (command) => {
          const r = await node.exec(command)
          return isPartial && command.includes('job_stats')
            ? edited(r, (t) => t.replace(/mdt\.meta-MDT0000\.job_stats=/, 'mdt.meta-MDT0001.job_stats='))
            : r
        },
      }),
    })
    await c.run(4)
    const [rule = ''] = managed(c, 'mds01')
    expect(Number(rule.split(' ').at(-1))).toBeGreaterThan(20)
    const before = started(c).length
    isPartial = true
    await c.run(6)
    expect(started(c).slice(before)).toEqual([])
    expect(managed(c, 'mds01')).toEqual([rule])
    await c.run(9)
    expect(managed(c, 'mds01')).toEqual([])
  })
})
