import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '../base/units.ts'
import { setPoliciesCommand } from '../padll/console.ts'
import { padllStatus, type PadllStatus } from '../padll/status.ts'
import { EmulatedCluster } from './cluster.ts'
import { parseScenario } from './scenario.ts'

interface Setup {
  readonly padll?: string
  readonly policies?: string
  readonly seed?: number
}

/** Four clients, one fast MDT, and jobs in flow maps. */
function cluster(jobs: readonly string[], { padll = '', policies = '', seed }: Setup = {}): EmulatedCluster {
  const text = `title: Staged
clients: { count: 4 }
oss:
  - { name: oss01, osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 2000 } }] }
mds:
  - { name: mds01, mdts: [{ name: t-MDT0000, per_op_us: 50 }] }
control: { max_rate: 100 }
padll:
  mounts: [/lustre]
${padll === '' ? '' : `  ${padll.replaceAll('\n', '\n  ')}\n`}  policies: |
    ${policies === '' ? '#' : policies.replaceAll('\n', '\n    ')}
jobs:
${jobs.map((j) => `  - ${j}`).join('\n')}
`
  const read = parseScenario(text)
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return new EmulatedCluster(read.value, { seed })
}

const busy = (id: string, more = 'clients: [1], processes: 4'): string =>
  `{ id: ${id}, ${more}, outstanding: 8, op: [open, close], stages: {}, pattern: { kind: continuous } }`

function status(c: EmulatedCluster): PadllStatus {
  const answer = c.node('qos01')?.exec('sluice padll status')
  if (answer?.code !== 0) throw new Error(answer?.stderr ?? 'no node')
  return padllStatus.parse(JSON.parse(answer.stdout))
}

const run = (c: EmulatedCluster, toS: number): void => void c.sim.runUntil(toS * NS_PER_S)
const served = (c: EmulatedCluster, job: string): number => c.jobs.find((j) => j.scenario.id === job)?.servedRpcs ?? NaN

/** Served operations of jobs in each whole second of [from, to). */
function perSecond(c: EmulatedCluster, from: number, to: number, ...jobs: string[]): number[] {
  const sum = (): number => jobs.reduce((n, j) => n + served(c, j), 0)
  run(c, from)
  return Array.from({ length: to - from }, (_, i) => {
    const before = sum()
    run(c, from + i + 1)
    return sum() - before
  })
}

describe('stages in the emulated cluster', () => {
  it('hold a job at its limit in every second, to one refill, however many nodes it has', () => {
    const c = cluster([busy('a', 'clients: [1, 2, 3, 4], processes: 8')], {
      policies: '1 0 job a meta_op 400',
      padll: 'algorithm: static',
    })
    for (const n of perSecond(c, 2, 10, 'a')) {
      expect(n).toBeLessThanOrEqual(404)
      expect(n).toBeGreaterThanOrEqual(396)
    }
    expect(status(c).locals.map((l) => [l.hostname, l.stages.length])).toEqual([
      ['cn01', 1],
      ['cn02', 1],
      ['cn03', 1],
      ['cn04', 1],
    ])
  })

  it('never let all jobs together pass the system limit, whatever the algorithm', () => {
    for (const algorithm of ['uniform', 'priority', 'psharing', 'psfa']) {
      const c = cluster([busy('a'), busy('b', 'clients: [2, 3], processes: 4'), busy('c', 'clients: [4]')], {
        padll: `algorithm: ${algorithm}\nsystem_limits: { meta_op: 300 }`,
        policies: '1 0 demand a meta_op 200\n2 0 demand b meta_op 150\n3 0 demand c meta_op 100',
      })
      const each = perSecond(c, 3, 9, 'a', 'b', 'c')
      for (const n of each) expect(n, algorithm).toBeLessThanOrEqual(300 + 4)
      expect(Math.max(...each), algorithm).toBeGreaterThan(280)
    }
  })

  it('leave paths outside the mount points alone', () => {
    const outside = busy('out', 'clients: [2]').replace('stages: {}', 'stages: { directory: /tmp/x }')
    const c = cluster([busy('in'), outside], {
      padll: 'algorithm: static',
      policies: '1 0 job in meta_op 50\n2 0 job out meta_op 50',
    })
    const inside = perSecond(c, 2, 3, 'in')[0] ?? 0
    const free = perSecond(c, 3, 4, 'out')[0] ?? 0
    expect(inside).toBeLessThanOrEqual(52)
    expect(free).toBeGreaterThan(1000)
  })

  it('pass calls that no stage intercepts, uncounted', () => {
    const c = cluster(['{ id: a, clients: [1], op: readdir, stages: {}, pattern: { kind: poisson, rate: 200 } }'], {
      policies: '1 0 job a meta_op 10',
      padll: 'algorithm: static',
    })
    run(c, 5)
    expect(served(c, 'a')).toBeGreaterThan(800)
    expect(status(c).jobs.find((j) => j.job === 'a')?.asked ?? 0).toBe(0)
  })

  it('hold bytes of reads and writes where a channel says so', () => {
    const c = cluster(['{ id: a, clients: [1], op: write, size_kib: 64, stages: {}, pattern: { kind: continuous } }'], {
      padll: `algorithm: static
housekeeping: |
  1 create_channel 2000 posix_meta 0 no_op data_op
  2 create_object 2000 1 posix_meta no_op data_op drl 10000 1000000000`,
      policies: '1 0 job a data_op 6553600',
    })
    const each = perSecond(c, 2, 8, 'a')
    expect(each.reduce((n, v) => n + v, 0) / each.length).toBeGreaterThan(97)
    for (const n of each) expect(n).toBeLessThanOrEqual(102)
  })

  it('come and go with the phases of a job', () => {
    const phases = 'pattern: { kind: phases, phases: [{ for_s: 3, rate: 50 }, { for_s: 4, rate: 0 }] }'
    const c = cluster([`{ id: a, clients: [1, 2], processes: 2, op: stat, stages: {}, ${phases} }`])
    const present = [1, 5, 8, 12].map((s) => {
      run(c, s)
      return status(c).jobs.find((j) => j.job === 'a' && j.stages > 0)?.stages ?? 0
    })
    expect(present).toEqual([2, 0, 2, 0])
    const kinds = status(c).events.map((e) => e.kind)
    expect(kinds.filter((k) => k === 'join').length).toBeGreaterThanOrEqual(2)
    expect(kinds.filter((k) => k === 'leave').length).toBeGreaterThanOrEqual(2)
  })

  it('give the same bytes for the same seed, in one run or in many pieces', () => {
    const make = (): EmulatedCluster =>
      cluster(
        [
          busy('a'),
          '{ id: b, clients: [2, 3], processes: 4, op: [open, stat, close], start_s: 2.5, stages: {}, pattern: { kind: poisson, rate: 80 } }',
        ],
        {
          padll: 'system_limits: { meta_op: 200 }',
          policies: '1 0 demand a meta_op 90\n2 0 demand b meta_op 110',
          seed: 7,
        },
      )
    const one = make()
    const many = make()
    run(one, 12)
    for (let s = 0.7; s < 12; s += 0.7) run(many, s)
    run(many, 12)
    expect(JSON.stringify(status(many))).toBe(JSON.stringify(status(one)))
    expect(served(many, 'b')).toBe(served(one, 'b'))
  })
})

describe('the control plane over the emulated network', () => {
  it('recomputes at once when a job joins, not at the next cycle', () => {
    const b = busy('b', 'clients: [2], processes: 4, start_s: 5.3')
    const c = cluster([busy('a'), b], {
      padll: 'algorithm: psharing\nsystem_limits: { meta_op: 200 }\ncollect_rounds: 5',
      policies: '1 0 demand a meta_op 100\n2 0 demand b meta_op 100',
    })
    run(c, 5.2)
    expect(status(c).jobs.find((j) => j.job === 'a')?.allocated).toBeCloseTo(200, 0)
    // Rates of both in the round after the join; the five rounds end long after it.
    run(c, 7.1)
    const of = (job: string): number => status(c).jobs.find((j) => j.job === job)?.allocated ?? NaN
    expect([of('a'), of('b')]).toEqual([100, 100])
    for (const n of perSecond(c, 7.1, 9.1, 'a', 'b')) expect(n).toBeLessThanOrEqual(203)
  })

  it('gives the share of a stage that dies to the others of its job', () => {
    const c = cluster([busy('a', 'clients: [1, 2], processes: 4')], {
      padll: 'algorithm: static',
      policies: '1 0 job a meta_op 200',
    })
    run(c, 5)
    c.padll?.killStage('a', 1)
    const [, , ...after] = perSecond(c, 5, 10, 'a')
    for (const n of after) expect(n).toBeGreaterThanOrEqual(196)
    expect(status(c).jobs.find((j) => j.job === 'a')?.stages).toBe(1)
    c.padll?.restartStage('a', 1)
    const [, ...again] = perSecond(c, 10, 14, 'a')
    for (const n of again) expect(n).toBeLessThanOrEqual(203)
    expect(status(c).jobs.find((j) => j.job === 'a')?.stages).toBe(2)
  })

  it('names a stage that does not answer, and readmits it when it does', () => {
    const c = cluster([busy('a', 'clients: [1, 2], processes: 4')], {
      padll: 'algorithm: static\nsystem_limits: { meta_op: 200 }',
      policies: '1 0 job a meta_op 200',
    })
    run(c, 3)
    c.padll?.hangStage('a', 1, true)
    run(c, 4.9)
    const stage = (): string | undefined =>
      status(c)
        .locals.flatMap((l) => l.stages)
        .find((s) => s.instance === 1)?.state
    expect(stage()).toBe('silent')
    run(c, 8)
    expect(stage()).toBeUndefined()
    expect(status(c).events.map((e) => e.kind)).toContain('lost')
    for (const n of perSecond(c, 8, 10, 'a')) expect(n).toBeLessThanOrEqual(203)
    c.padll?.hangStage('a', 1, false)
    run(c, 14)
    expect(stage()).toBe('ok')
  })

  it('keeps the last rates when a local controller dies, applies the lease rate after the lease, and recovers afterwards', () => {
    const c = cluster([busy('a')], {
      padll: 'algorithm: static\nlease: { seconds: 4, on_expiry: 20 }',
      policies: '1 0 job a meta_op 100',
    })
    run(c, 5)
    c.padll?.killLocal(1)
    for (const n of perSecond(c, 5, 8, 'a')) expect(n).toBeLessThanOrEqual(102)
    for (const n of perSecond(c, 11, 14, 'a')) expect(n).toBeLessThanOrEqual(22)
    c.padll?.restartLocal(1)
    const [last = 0] = perSecond(c, 18, 19, 'a')
    expect(last).toBeGreaterThanOrEqual(97)
    expect(last).toBeLessThanOrEqual(102)
  })

  it.each(['local', 'stage'] as const)(
    'keeps what a lost %s may still use from all others, until it is back',
    (lost) => {
      const c = cluster([busy('a', 'clients: [1]'), busy('b', 'clients: [2]')], {
        padll: 'algorithm: psharing\nsystem_limits: { meta_op: 200 }\nlease: { seconds: 2 }',
        policies: '1 0 demand a meta_op 100\n2 0 demand b meta_op 100',
      })
      run(c, 5)
      if (lost === 'local') c.padll?.killLocal(1)
      else c.padll?.hangStage('a', 0, true)
      // Long after every lease: it still applies its last rates.
      for (const n of perSecond(c, 30, 34, 'a', 'b')) expect(n).toBeLessThanOrEqual(204)
      expect(status(c).failures.map((f) => f.code)).toContain('OUT_OF_REACH')
      if (lost === 'local') c.padll?.restartLocal(1)
      else c.padll?.hangStage('a', 0, false)
      run(c, 46)
      expect(status(c).failures).toEqual([])
      const [both = 0] = perSecond(c, 46, 47, 'a', 'b')
      expect(both).toBeGreaterThanOrEqual(196)
      expect(both).toBeLessThanOrEqual(204)
    },
  )

  it('continues without its global controller, and restores all state when another run takes over', () => {
    const c = cluster([busy('a', 'clients: [1, 2], processes: 4')], {
      padll: 'algorithm: static\nlease: { seconds: 5 }',
      policies: '1 0 job a meta_op 100',
    })
    run(c, 4)
    c.padll?.killGlobal()
    expect(c.node('qos01')?.exec('sluice padll status')).toMatchObject({ code: 1, stdout: '' })
    for (const n of perSecond(c, 5, 15, 'a')) expect(n).toBeLessThanOrEqual(103)
    c.padll?.restartGlobal()
    // Counts that were not collected belong to that time, not to the second of the collection.
    run(c, 18)
    expect(status(c).jobs.find((j) => j.job === 'a')?.measured).toBeLessThanOrEqual(103)
    run(c, 25)
    const now = status(c)
    expect(now.epoch).toBe(2)
    expect(now.jobs.find((j) => j.job === 'a')).toMatchObject({ stages: 2, limit: 100 })
    for (const n of perSecond(c, 25, 28, 'a')) expect(n).toBeLessThanOrEqual(103)
  })

  it.each([0, 1])('is not confused by a second global controller with the epoch %s', (epoch) => {
    const c = cluster([busy('a')], { padll: 'algorithm: static', policies: '1 0 job a meta_op 100' })
    run(c, 4)
    const second = c.padll?.addSecondGlobal(epoch)
    second?.change({ limits: [{ scope: 'meta_op', rate: 5000 }] }, c.sim.now)
    second?.setPolicies('1 0 job a meta_op 5000', c.sim.now)
    for (const n of perSecond(c, 6, 12, 'a')) expect(n).toBeLessThanOrEqual(102)
  })

  it('yields to a second global controller with a higher epoch, and says so', () => {
    const c = cluster([busy('a')], { padll: 'algorithm: static', policies: '1 0 job a meta_op 100' })
    run(c, 4)
    const second = c.padll?.addSecondGlobal(5)
    second?.setPolicies('1 0 job a meta_op 300', c.sim.now)
    run(c, 60)
    const [n = 0] = perSecond(c, 60, 61, 'a')
    expect(n).toBeGreaterThan(290)
    expect(status(c).failures.length).toBeGreaterThan(0)
  })

  it('divides a rate by usage where the demands of stages differ, and equally if configured', () => {
    const uneven = (split: string): EmulatedCluster =>
      cluster(
        [
          '{ id: a, clients: [1, 2, 1, 1, 1], processes: 5, op: stat, outstanding: 64, stages: {}, pattern: { kind: poisson, rate: 50 } }',
        ],
        { padll: `algorithm: static\nsplit: ${split}`, policies: '1 0 job a meta_op 240' },
      )
    const total = (split: string): number => perSecond(uneven(split), 8, 20, 'a').reduce((n, v) => n + v, 0) / 12
    // Five stages demand 50 op/s each and get 48 each.
    expect(total('equal')).toBeGreaterThan(225)
    const skewed = (split: string): number => {
      const c = cluster(
        [
          '{ id: a, clients: [1, 2], processes: 9, op: stat, outstanding: 64, stages: { per_client: 1 }, pattern: { kind: poisson, rate: 20 } }',
        ],
        { padll: `algorithm: static\nsplit: ${split}`, policies: '1 0 job a meta_op 180' },
      )
      return Math.max(
        ...status((run(c, 12), c)).locals.flatMap((l) => l.stages.flatMap((s) => s.channels.map((x) => x.limit ?? 0))),
      )
    }
    expect(skewed('equal')).toBe(90)
    expect(skewed('usage')).toBeGreaterThan(95)
  })
})

describe('its console', () => {
  it('changes policies through the shell, with a job id as hostile as a shell can meet', () => {
    const id = `x';reboot;'$(id)\`id\`%s\\n*{a,b}`
    const c = cluster(
      [
        `{ id: ${JSON.stringify(id)}, clients: [1], processes: 4, outstanding: 8, op: stat, stages: {}, pattern: { kind: continuous } }`,
      ],
      { padll: 'algorithm: static' },
    )
    run(c, 2)
    const text = `1 0 job ${id} meta_op 60\n`
    expect(c.node('qos01')?.exec(setPoliciesCommand(text, 1))).toEqual({ stdout: '', stderr: '', code: 0 })
    expect(c.node('qos01')?.exec('sluice padll policies show').stdout).toBe(text)
    for (const n of perSecond(c, 3, 6, id)) expect(n).toBeLessThanOrEqual(62)
    expect(status(c).jobs.find((j) => j.job === id)?.limit).toBe(60)
  })

  it('reports the place of an error in a text and keeps the active one', () => {
    const c = cluster([busy('a')], { policies: '1 0 job a meta_op 60' })
    run(c, 1)
    const answer = c.node('qos01')?.exec(setPoliciesCommand('1 0 job a meta_op 50\n2 0 job a magic 5\n'))
    expect(answer).toMatchObject({ code: 1, stdout: '' })
    expect(answer?.stderr).toMatch(/^2:11: error: /)
    expect(c.node('qos01')?.exec('sluice padll policies show').stdout).toContain('meta_op 60')
  })

  it('takes settings, and refuses what it cannot use', () => {
    const c = cluster([busy('a')])
    run(c, 1)
    const exec = (line: string) => c.node('qos01')?.exec(line)
    expect(exec('sluice padll set algorithm=uniform limit.meta_op=80 split=usage')).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(status(c)).toMatchObject({ algorithm: 'uniform', split: 'usage', limits: [{ scope: 'meta_op', rate: 80 }] })
    expect(exec('sluice padll set epsilon=2')).toMatchObject({ code: 2 })
    expect(exec('sluice papers')).toMatchObject({ code: 2 })
    for (const n of perSecond(c, 3, 5, 'a')) expect(n).toBeLessThanOrEqual(82)
  })
})
