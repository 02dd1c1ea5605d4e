import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '#tests/any-character.ts'
import { parseDocument, visit } from 'yaml'
import { DEFAULT_LOOP_OPTIONS } from '../adaptbf/loop-options.ts'
import { EmulatedCluster } from '../emulator/cluster.ts'
import { fitDevice } from './fork-device.ts'
import { ACCOUNTS_MAX, isJobId } from './fork-fold.ts'
import type { ForkInputs, ForkJob, ForkTarget } from './fork-inputs.ts'
import { roundOf } from './fork-operations.ts'
import { forkScenario, RPC_BUDGET, type Fork } from './fork.ts'
import { findBursts } from './fork-jobs.ts'

const BINS = 120
const flat = (v: number): number[] => Array<number>(BINS).fill(v)

const job = (jobId: string, rate: number, more: Partial<ForkJob> = {}): ForkJob => ({
  jobId,
  user: 'u',
  account: 'acc',
  nodes: 2,
  hosts: [],
  throttled: 0,
  targets: [],
  ops: new Map(),
  rpcs: flat(rate),
  readBps: flat(0),
  writeBps: flat(rate * 2 ** 20),
  mdops: flat(0),
  ...more,
})
const target = (name: string, rate: number, more: Partial<ForkTarget> = {}): ForkTarget => ({
  name,
  server: 'oss01',
  rpcs: flat(rate),
  serviceMs: flat(8),
  queued: flat(0),
  ...more,
})
const inputs = (jobs: readonly ForkJob[], more: Partial<ForkInputs> = {}): ForkInputs => ({
  cluster: 'altair',
  kind: 'LIVE',
  atMs: 1_795_000_000_000,
  binS: 0.5,
  spanS: 60,
  gaps: [],
  binAtS: flat(0).map((_, i) => i * 0.5),
  isReplay: false,
  workload: 'closed',
  jobs,
  mdts: [],
  rules: [],
  controllerRules: 0,
  unknown: [],
  targets: [target('altair-OST0000', 200), target('altair-OST0001', 200)],
  servers: [{ name: 'oss01', kind: 'oss', version: '2.15.8', cpts: 2, policy: 'tbf jobid' }],
  control: { controller: 'none', mode: 'observe', maxRate: 500, periodMs: 1000, options: DEFAULT_LOOP_OPTIONS },
  ...more,
})
function fork(i: ForkInputs, options?: { jobsMax: number }): Fork {
  const made = forkScenario(i, options)
  if (!made.ok) throw new Error(`${made.error.what}: ${made.error.why}`)
  return made.value
}

describe('a fork', () => {
  it('makes the recorded rates again, closed and open, when nothing changes', () => {
    for (const workload of ['closed', 'open'] as const) {
      const { scenario } = fork(inputs([job('1.a.u1', 250), job('2.b.u2', 150)], { workload }))
      const c = new EmulatedCluster(scenario)
      c.sim.runUntil(15e9)
      for (const [i, rate] of [250, 150].entries()) {
        expect(Math.abs(c.jobs[i]!.servedRpcs / 15 / rate - 1)).toBeLessThan(0.1)
      }
    }
  })

  it('keeps the servers as they were read', () => {
    const { scenario } = fork(inputs([job('1.a.u1', 250)]))
    expect(scenario.oss[0]).toMatchObject({ name: 'oss01', version: '2.15.8', cpts: 2 })
    expect(scenario.policy).toBe('tbf jobid')
    expect(scenario.fork).toMatchObject({ cluster: 'altair', workload: 'closed', span_s: 60 })
  })

  it('detects jobs that were held back: a throttled job wants more than it got', () => {
    const held = fork(inputs([job('1.a.u1', 100, { throttled: 1 }), job('2.b.u2', 300)]))
    const [b, a] = held.scenario.jobs
    expect(a!.id).toBe('1.a.u1')
    expect(a!.pattern).toEqual({ kind: 'continuous', think_ms: 0 })
    expect(b!.pattern).toMatchObject({ kind: 'continuous' })
    expect((b!.pattern as { think_ms: number }).think_ms).toBeGreaterThan(0)
  })

  it('assigns the queue of a scheduler to jobs held by a rule', () => {
    const targets = [target('altair-OST0000', 400, { queued: flat(50) })]
    const { scenario } = fork(inputs([job('1.held.u1', 100, { throttled: 1 }), job('2.free.u2', 300)], { targets }))
    const slots = new Map(scenario.jobs.map((j) => [j.id, j.processes * j.outstanding]))
    expect(slots.get('1.held.u1')).toBeGreaterThan(35)
    expect(slots.get('2.free.u2')).toBeLessThan(15)
  })

  it('sees bursts as bursts, and when the next one is due', () => {
    // Bursts of 300 RPCs every 10 s, the last one 4 s before the end.
    const rpcs = flat(0).map((_, i) => ((i * 0.5 + 4) % 10 < 1 ? 300 : 0))
    const { scenario } = fork(inputs([job('1.ckpt.u1', 0, { rpcs, writeBps: rpcs.map((r) => r * 2 ** 20) })]))
    const [j] = scenario.jobs
    expect(j!.pattern).toMatchObject({ kind: 'bursts', every_s: 10 })
    expect((j!.pattern as { rpcs: number }).rpcs * j!.processes).toBeGreaterThan(280)
    expect(j!.start_s).toBeCloseTo(6, 0)
  })

  it('lets jobs begin and end inside a stretch that is replayed', () => {
    const rpcs = flat(0).map((_, i) => (i >= 40 && i < 90 ? 100 : 0))
    const made = fork(
      inputs([job('1.a.u1', 0, { rpcs, writeBps: rpcs.map((r) => r * 4096) }), job('2.b.u2', 50)], { isReplay: true }),
    )
    const a = made.scenario.jobs.find((j) => j.id === '1.a.u1')!
    if (a.pattern.kind === 'bursts') expect(a.start_s).toBeCloseTo(20, 0)
    else expect([a.start_s, a.stop_s]).toEqual([20, 45])
  })

  it('thins what would take too long, and says so', () => {
    const { thinning, scenario } = fork(inputs([job('1.a.u1', 40_000)]))
    expect(thinning).toBe(Math.ceil((40_000 * 60) / RPC_BUDGET))
    expect(scenario.thinning).toBe(thinning)
  })

  it('adds up by account what is too much, and says how many', () => {
    const many = Array.from({ length: 50 }, (_, i) => job(`${i}.x.u${i}`, i + 1, { account: `acc${i % 3}` }))
    const { scenario } = fork(inputs(many), { jobsMax: 10 })
    expect(scenario.jobs.length).toBe(13)
    expect(
      scenario.jobs
        .slice(10)
        .map((j) => j.id)
        .sort(),
    ).toEqual(['other.acc0', 'other.acc1', 'other.acc2'])
    expect(scenario.fork?.unknown.join(' ')).toContain('smallest 40 jobs')
  })

  it('stays bounded where every job has a different account', () => {
    const many = Array.from({ length: 1500 }, (_, i) => job(`${i}.x.u${i}`, 1 + i / 1500, { account: `acc${i}` }))
    const { scenario } = fork(inputs(many), { jobsMax: 10 })
    expect(scenario.jobs.length).toBe(10 + ACCOUNTS_MAX)
    expect(scenario.jobs.filter((j) => j.id === 'other')).toHaveLength(1)
  })

  it('takes a job that hardly ever does anything, one that nothing can serve, and names that are cut', () => {
    const rare = fork(inputs([job('1.a', 1e-9, { user: `${'x'.repeat(63)}😀` })])).scenario.jobs[0]!
    expect(rare).toMatchObject({ pattern: { kind: 'continuous', think_ms: 1e9 }, user: 'x'.repeat(63) })
    expect(fork(inputs([job('1.a', 1e9)])).thinning).toBe(1e6)
  })

  it('lists unknowns with their values', () => {
    const i = inputs([job('1.a.u1', 100)], { pending: 9, gaps: [{ fromS: 10, toS: 13, why: '' }] })
    const notes = fork(i).scenario.fork!.unknown.join('\n')
    for (const part of [
      'Never saturated: OST0000, OST0001; T = 500',
      'page caches',
      '9 jobs pending',
      '1 gap, 3 s',
      'never reached a server',
      'RDMA',
    ])
      expect(notes).toContain(part)
  })

  it('is refused for a cluster that does nothing', () => {
    const r = forkScenario(inputs([job('1.a.u1', 0)]))
    expect(r).toMatchObject({ ok: false, error: { code: 'FORK_EMPTY' } })
    if (!r.ok) expect(r.error.next).toBeTruthy()
    expect(forkScenario(inputs([job('1.a.u1', 5)], { targets: [] }))).toMatchObject({
      ok: false,
      error: { code: 'FORK_NO_TARGETS' },
    })
  })

  it('carries the rules that the servers take, in their order, and counts the others', () => {
    const rules = [
      { service: 'ost_io' as const, line: 'start a jobid={a.*} rate=9', servers: ['oss01'] },
      { service: 'ost_io' as const, line: 'start b jobid={b.*} rate=0', servers: ['oss01'] },
      { service: 'ost_io' as const, line: 'start c jobid={c.*} rate=8', servers: ['oss01'] },
    ]
    const { scenario } = fork(inputs([job('1.a.u1', 5)], { rules }))
    expect(scenario.rules.map((r) => r.line)).toEqual([rules[0]!.line, rules[2]!.line])
    expect(scenario.fork?.unknown.join(' ')).toContain('1 rule')
  })
})

const latin = fc.string({
  unit: fc.integer({ min: 1, max: 255 }).map((c) => String.fromCharCode(c)),
  minLength: 1,
  maxLength: 31,
})
const hostile = fc.oneof(
  latin,
  fc.constantFrom(
    '__proto__',
    'constructor',
    '- id: evil',
    '*alias',
    '&anchor',
    '!!js/function',
    'a: b',
    '#x',
    "'",
    '"',
    '\n',
    '\nrules:\n- x',
    '%TAG',
    '? x',
    '{',
    '[',
    '|',
    '>',
    'null',
    'true',
    '0x10',
    '1e3',
    '~',
    '.nan',
    '<<',
    '=cmd',
    '\u0085',
    '\u00a0',
    ' lead',
    'trail ',
    '-',
    '---',
    '...',
    '\t',
  ),
)

describe('exploits', () => {
  it('yaml injection through job ids, users and accounts: every id comes back as it was, and nothing else appears', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(hostile, { minLength: 1, maxLength: 6 }),
        fc.string({ unit: anyCharacter }),
        fc.string({ unit: anyCharacter }),
        (ids, user, account) => {
          const { scenario, text } = fork(inputs(ids.map((id, i) => job(id, 10 + i, { user, account }))))
          expect(new Set(scenario.jobs.map((j) => j.id))).toEqual(new Set(ids))
          expect(scenario.jobs[0]!.user).toBe([...user.slice(0, 64)].join(''))
          expect(scenario.rules).toEqual([])
          expect(Object.getPrototypeOf(scenario)).toBe(Object.prototype)
          // No comment contains foreign text: all of them are Sluice's.
          const comments: string[] = []
          visit(parseDocument(text), {
            Node: (_, n) => void (n.commentBefore && comments.push(n.commentBefore)),
            Scalar: (_, n) => void (n.commentBefore && comments.push(n.commentBefore)),
          })
          for (const c of comments) expect(c).toMatch(/^[\x20-\x7e\n]*$/)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('yaml injection through names of clusters, servers and targets: they become names or are replaced', () => {
    const evil = 'x\n  - id: evil'
    const i = inputs([job('1.a', 5, { targets: [evil] })], {
      cluster: evil,
      servers: [{ name: evil, kind: 'oss', version: '2.15.8; rm', cpts: 99, policy: 'tbf jobid\nevil: 1' }],
      targets: [target(evil, 5, { server: evil })],
    })
    const { scenario } = fork(i)
    expect(scenario.fork?.cluster).toBe(evil)
    expect(scenario.jobs.map((j) => j.id)).toEqual(['1.a'])
    expect(scenario.oss.map((o) => o.name)).toEqual(['x-----id--evil'])
    expect(scenario.policy).toBe('fifo')
  })

  it('ids beyond Latin-1, empty ones and ones that are too long are added up, not lost and not made up', () => {
    const ids = ['snow\u2603', '', 'x'.repeat(32), 'nul\u0000']
    expect(ids.map(isJobId)).toEqual([false, false, false, false])
    const { scenario } = fork(inputs([job('1.a', 5), ...ids.map((id) => job(id, 10))]))
    expect(scenario.jobs.map((j) => j.id)).toEqual(['1.a', 'other.acc'])
    expect(scenario.fork?.unknown.join(' ')).toContain('4 jobs with an invalid id')
  })

  it('a job that is called like the sum of an account keeps its name', () => {
    const { scenario } = fork(inputs([job('other.acc', 50), job('1.a', 5), job('2.b', 4)]), { jobsMax: 1 })
    expect(scenario.jobs.map((j) => j.id)).toEqual(['other.acc', 'other.acc.2'])
  })

  it('counters called like members of objects are no operations', () => {
    const ops = new Map([
      ['constructor', 5],
      ['__proto__', 3],
      ['toString', 2],
    ])
    const i = inputs([job('1.a', 0, { mdops: flat(20), ops })], {
      mdts: [{ name: 'altair-MDT0000', server: 'mds01', perOpUs: NaN }],
    })
    const servers = [
      ...i.servers,
      { name: 'mds01', kind: 'mds' as const, version: undefined, cpts: undefined, policy: 'fifo' },
    ]
    expect(fork({ ...i, servers }).scenario.jobs[0]!.op).toEqual(['stat'])
  })
})

describe('the parts of a fork', () => {
  it('a device that was saturated is known by its rate, one that was not stands at T', () => {
    const busy = flat(0).map((_, i) => (i < 60 ? 100 : 400))
    const ms = flat(0).map((_, i) => (i < 60 ? 8 : 60))
    const saturated = fitDevice({ rpcs: busy, serviceMs: ms, queued: flat(0) }, 500)
    expect(saturated).toMatchObject({ wasSaturated: true, capacity: 400 })
    expect(saturated.channels / saturated.serviceS).toBeCloseTo(400, 6)
    const unloaded = fitDevice({ rpcs: flat(100), serviceMs: flat(8), queued: flat(0) }, 500)
    expect(unloaded).toMatchObject({ wasSaturated: false, channels: 4, serviceS: 0.008 })
    expect(fitDevice({ rpcs: flat(0), serviceMs: flat(NaN), queued: flat(NaN) }, 500)).toMatchObject({
      bins: 0,
      wasSaturated: false,
    })
  })

  it('a round of operations is in the proportions asked for', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('read', 'write', 'open', 'stat'), fc.integer({ min: 1, max: 1000 }), {
          minKeys: 1,
        }),
        (o) => {
          const weights = new Map(Object.entries(o)) as Parameters<typeof roundOf>[0] & Map<never, number>
          const round = roundOf(weights)
          expect(round.length).toBeGreaterThan(0)
          expect(round.length).toBeLessThanOrEqual(24)
          const all = [...weights.values()].reduce((a, b) => a + b, 0)
          for (const [op, w] of weights) {
            const part = round.filter((x) => x === op).length / round.length
            expect(Math.abs(part - w / all)).toBeLessThan(0.08)
          }
        },
      ),
    )
  })

  it('finds the rhythm of bursts whatever it is, and none in a steady series', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 20 }),
        fc.integer({ min: 0, max: 3 }),
        fc.integer({ min: 10, max: 5000 }),
        (everyS, phase, rpcs) => {
          const rates = Array.from({ length: 240 }, (_, i) => (Math.floor(i * 0.25 + phase) % everyS === 0 ? rpcs : 0))
          const found = findBursts(rates, 0.25)!
          expect(found.everyS).toBeCloseTo(everyS, 0)
          expect(Math.abs(found.rpcs / rpcs - 1)).toBeLessThan(0.2)
          expect(
            findBursts(
              rates.map(() => rpcs),
              0.25,
            ),
          ).toBeUndefined()
        },
      ),
    )
  })
})
