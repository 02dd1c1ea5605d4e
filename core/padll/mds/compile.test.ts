import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LIVE_FENCES, MODEL_FENCES, type Fences } from '../../control/fences.ts'
import { planRules } from '../../control/plan.ts'
import { serverRules } from '../../control/server-rules.ts'
import { parseNrsPolicies } from '../../lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '../../lustre/nrs-tbf-rule.ts'
import { profile, type Profile } from '../../lustre/profile.ts'
import { RELEASES, type Release } from '../../lustre/release.ts'
import { NrsService } from '../../tbf/nrs-service.ts'
import { OTHER_POLICIES } from '../../tbf/policy-command.ts'
import type { Scope } from '../vocabulary.ts'
import { compileRules, desiredOn, type CompiledRule } from './compile.ts'
import { MDS_SCOPES, MDS_SERVICES, type MdsService } from './operations.ts'
import { Remarks } from './remarks.ts'
import type { JobShare } from './shares.ts'
import { isOf, type MdsServer } from './spots.ts'

/** Real schedulers of each service, with the policy under test. */
class Mds {
  readonly host: string
  readonly profile: Profile
  readonly services: Readonly<Record<MdsService, NrsService<never>>>

  constructor(release: Release, policy: string, options: { host?: string; cpts?: number } = {}) {
    this.host = options.host ?? 'mds01'
    this.profile = profile(release)
    const service = (hp: boolean): NrsService<never> => {
      const s = new NrsService<never>({ cpts: options.cpts ?? 1, hp, policies: OTHER_POLICIES, profile: this.profile })
      const taken = s.writePolicies(policy)
      if (!taken.ok) throw new Error(`${release} refuses ${policy}`)
      return s
    }
    this.services = { mdt: service(true), mdt_readpage: service(false) }
  }

  read(jobs: Record<string, Record<string, number>> | null = {}): MdsServer {
    const reading = (name: MdsService) => {
      const s = this.services[name]
      const policies = s.readPolicies()
      const read = s.readRules()
      const { rules } = parseNrsTbfRule(read.ok ? read.value : '')
      const { tbf } = serverRules(
        this.host,
        parseNrsPolicies(policies.ok ? policies.value : '').policies,
        rules,
        this.profile,
      )
      return { rules, tbf }
    }
    const counts = jobs && new Map(Object.entries(jobs).map(([id, ops]) => [id, new Map(Object.entries(ops))]))
    return {
      host: this.host,
      profile: this.profile,
      spanS: 1,
      jobs: counts ?? undefined,
      services: { mdt: reading('mdt'), mdt_readpage: reading('mdt_readpage') },
    }
  }

  /** Writes the wanted rules as the console does; every command must succeed. */
  write(rules: readonly CompiledRule[]): void {
    for (const name of MDS_SERVICES) {
      const plan = planRules(this.host, this.read().services[name].rules, desiredOn(rules, this.host, name))
      for (const c of plan.commands) {
        const taken = this.services[name].writeRule(c.value)
        expect(taken.ok ? '' : `${c.value}: ${taken.error}`).toBe('')
      }
    }
  }
}

let line = 0
const share = (job: string, scope: Scope, allocated: number): JobShare => ({
  job,
  scope,
  demand: null,
  limit: allocated,
  allocated,
  lines: [++line],
})
function compile(
  servers: readonly MdsServer[],
  shares: readonly JobShare[],
  more: { clients?: number; isSteady?: boolean; fences?: Fences; exempt?: string } = {},
) {
  const remarks = new Remarks()
  const input = {
    servers,
    shares,
    clientsOf: () => more.clients,
    isSteady: more.isSteady ?? false,
    fences: more.fences ?? MODEL_FENCES,
    isExempt: (job: string) => job === more.exempt,
  }
  return { rules: compileRules(input, remarks), remarks: remarks.lines }
}
const text = (rules: readonly CompiledRule[]): string[] =>
  rules.map((r) => `${r.host} ${r.service} ${r.conditions} ${r.rate}`)

describe('policies as rules', () => {
  it('open: one rule on mdt by job id and opcode, with what it holds besides', () => {
    const { rules, remarks } = compile([new Mds('2.17', 'tbf jobid+opcode').read()], [share('4690.x', 'open', 50)])
    expect(text(rules)).toEqual(['mds01 mdt jobid={4690.x}&opcode={ldlm_enqueue} 50'])
    expect(rules[0]?.name).toMatch(/^pd_[0-9a-f]{10}$/)
    expect(remarks).toEqual([{ line, text: 'open of 4690.x is sent as ldlm_enqueue, which also limits stat' }])
  })

  it('close: on mdt_readpage', () => {
    const { rules, remarks } = compile([new Mds('dev', 'tbf jobid+opcode').read()], [share('a', 'close', 7)])
    expect(text(rules)).toEqual(['mds01 mdt_readpage jobid={a}&opcode={mds_close} 7'])
    expect(remarks).toEqual([])
  })

  it('a class under tbf jobid: one rule on each service, cut by use, never above the limit', () => {
    const mds = new Mds('2.15', 'tbf jobid')
    const first = compile([mds.read({ a: { open: 60, close: 60, getattr: 60 } })], [share('a', 'meta_op', 100)])
    expect(text(first.rules)).toEqual(['mds01 mdt jobid={a} 67', 'mds01 mdt_readpage jobid={a} 33'])
    expect(first.remarks).toEqual([])
  })

  it('a class where rules name opcodes: one rule each, because each opcode of a job is a separate class', () => {
    const { rules } = compile(
      [new Mds('dev', 'tbf jobid+opcode').read({ a: { open: 90, close: 45 } })],
      [share('a', 'meta_op', 200)],
    )
    expect(rules).toHaveLength(8)
    expect(rules.reduce((n, r) => n + r.limit, 0)).toBe(200)
    expect(rules.find((r) => r.opcodes[0] === 'ldlm_enqueue')?.rate).toBeGreaterThan(100)
    expect(rules.find((r) => r.opcodes[0] === 'mds_getattr')?.conditions).toBe(
      'jobid={a}&opcode={mds_getattr mds_getattr_lock}',
    )
  })

  it('each CPT takes the whole rate, so rules carry a part; that is said', () => {
    const { rules, remarks } = compile(
      [new Mds('dev', 'tbf jobid+opcode', { cpts: 4 }).read()],
      [share('a', 'close', 100)],
    )
    expect([rules[0]?.rate, rules[0]?.limit]).toEqual([25, 100])
    expect(remarks.at(-1)?.text).toMatch(/^rules carry 1\/4 of a rate.*\(mds01\)$/)
  })

  it('generic TBF: each client is a separate class on one CPT; unknown clients are said, not guessed', () => {
    const mds = new Mds('2.12', 'tbf', { cpts: 2 })
    expect(text(compile([mds.read()], [share('a', 'open', 100)], { clients: 5 }).rules)).toEqual([
      'mds01 mdt jobid={a}&opcode={ldlm_enqueue} 20',
    ])
    const unknown = compile([mds.read()], [share('a', 'open', 100)])
    expect(unknown.rules).toEqual([])
    expect(unknown.remarks[0]?.line).toBe(line)
    expect(unknown.remarks[0]?.text).toContain('the number of its clients is unknown')
  })

  it.each([
    ['tbf jobid', 'need tbf jobid+opcode', '2.17'],
    ['tbf jobid', 'which need tbf (', '2.15'],
    ['tbf nid', 'rules of tbf nid cannot name a job', '2.15'],
    ['fifo', 'TBF does not run there', 'dev'],
  ] as const)('%s: an operation is not limited, and the line reports why', (policy, why, release) => {
    const { rules, remarks } = compile([new Mds(release, policy).read()], [share('a', 'open', 100)])
    expect(rules).toEqual([])
    expect(remarks[0]?.line).toBe(line)
    expect(`${remarks[0]?.text} (`).toContain(why)
  })

  it('several operations on one opcode: the smallest rate applies to all of them', () => {
    const { rules, remarks } = compile(
      [new Mds('2.17', 'tbf jobid+opcode').read()],
      [share('a', 'rename', 50), share('a', 'mkdir', 10)],
    )
    expect(text(rules)).toEqual(['mds01 mdt jobid={a}&opcode={mds_reint} 10'])
    expect(rules[0]?.scopes).toEqual(['rename', 'mkdir'])
    expect(remarks.map((s) => s.text)).toContain(
      'rename, mkdir of a share mds_reint: the smallest rate, 10 op/s, applies to all of them together',
    )
  })

  it('an operation within a class takes its part of the class, and both limits hold', () => {
    const server = new Mds('dev', 'tbf jobid+opcode').read({ a: { open: 500, close: 500 } })
    const { rules } = compile([server], [share('a', 'meta_op', 300), share('a', 'open', 80)])
    expect(rules.find((r) => r.opcodes[0] === 'ldlm_enqueue')?.rate).toBe(80)
    expect(rules.reduce((n, r) => n + r.limit, 0)).toBeLessThanOrEqual(300)
    expect(rules.find((r) => r.opcodes[0] === 'mds_close')?.rate).toBeGreaterThan(150)
  })

  it('servers share a limit by use; one that is not measured keeps its rules, and what they allow is taken off', () => {
    const a = new Mds('dev', 'tbf jobid', { host: 'mds01' })
    const b = new Mds('dev', 'tbf jobid', { host: 'mds02' })
    const shares = [share('a', 'meta_op', 100)]
    const first = compile([a.read({ a: { open: 30 } }), b.read({ a: { open: 10 } })], shares)
    expect(first.rules.reduce((n, r) => n + r.limit, 0)).toBe(100)
    a.write(first.rules)
    b.write(first.rules)
    const onB = first.rules.filter((r) => r.host === 'mds02')
    const later = compile([a.read({ a: { open: 300, close: 300 } }), b.read(null)], shares)
    expect(later.rules.filter((r) => r.host === 'mds02').map((r) => r.rate)).toEqual(onB.map((r) => r.rate))
    expect(later.rules.reduce((n, r) => n + r.limit, 0)).toBeLessThanOrEqual(100)
  })

  it('limits below what rules can express are reported with the resulting rate', () => {
    const { rules, remarks } = compile(
      [new Mds('dev', 'tbf jobid+opcode', { cpts: 2 }).read()],
      [share('a', 'meta_op', 5)],
    )
    expect(rules.every((r) => r.rate === 1)).toBe(true)
    expect(remarks[0]?.text).toBe(
      'meta_op of a cannot be limited to 5 op/s: its rules cannot go below 18, 1 RPC/s for each class',
    )
  })

  it.each(['read', 'data_op', 'mmap', 'foreground', 'file_mod_op', 'ext_attr_op', 'total'] as const)(
    '%s: what no rule of an MDS holds of it is said with its line',
    (scope) => {
      const { rules, remarks } = compile([new Mds('dev', 'tbf jobid+opcode').read()], [share('a', scope, 50)])
      expect(remarks.map((s) => s.line)).toContain(line)
      expect(remarks.map((s) => s.text)).toContain(`${scope}: ${MDS_SCOPES[scope].not}`)
      expect(rules.length > 0).toBe(MDS_SCOPES[scope].opcodes.length > 0)
    },
  )

  it('exploit: a job id cannot end its condition, name others, or fill the list', () => {
    for (const job of ['*', 'a} rate=1', 'a,b', "a'b", 'a b', 'x'.repeat(32), 'a&opcode={x}', '']) {
      const { rules, remarks } = compile([new Mds('dev', 'tbf jobid+opcode').read()], [share(job, 'open', 50)])
      expect(rules, job).toEqual([])
      expect(remarks, job).toHaveLength(1)
    }
    const many = Array.from({ length: 1_200 }, (_, i) => share(`j${i}`, 'close', 5))
    const { rules, remarks } = compile([new Mds('dev', 'tbf jobid+opcode').read()], many)
    expect(rules).toHaveLength(1_000)
    expect(remarks.filter((s) => s.text.includes('takes 1000 rules'))).toHaveLength(200)
  })

  it('on real servers no rule is below the floor, and a policy that asks for less says so', () => {
    const one = [share('a', 'open', 2)]
    const { rules, remarks } = compile([new Mds('dev', 'tbf jobid+opcode').read()], one, { fences: LIVE_FENCES })
    expect(rules.map((r) => r.rate)).toEqual([5])
    expect(remarks.map((s) => s.text)).toContain(
      'open of a cannot be limited to 2 op/s: its rules cannot go below 5, 5 RPC/s for each class',
    )
    const all = compile([new Mds('dev', 'tbf jobid+opcode').read()], [share('a', 'meta_op', 60)], {
      fences: LIVE_FENCES,
    })
    expect(Math.min(...all.rules.map((r) => r.rate))).toBe(5)
    expect(all.rules.reduce((n, r) => n + r.limit, 0)).toBeLessThanOrEqual(60)
  })

  it('on real servers a rule begins at half of what its job was served, and falls by half at a time', () => {
    const mds = new Mds('dev', 'tbf jobid+opcode')
    const wanted = [share('a', 'open', 10)]
    const seen: number[] = []
    for (let i = 0; i < 7; i++) {
      const { rules, remarks } = compile([mds.read({ a: { open: 400 } })], wanted, { fences: LIVE_FENCES })
      mds.write(rules)
      seen.push(rules[0]!.rate)
      expect(remarks.some((s) => s.text.startsWith('a is above its rate'))).toBe(rules[0]!.rate > 10)
    }
    expect(seen).toEqual([200, 100, 50, 25, 13, 10, 10])
    const more = [share('a', 'open', 500)]
    const raised = [1, 2, 3].map(() => {
      const { rules } = compile([mds.read({ a: { open: 10 } })], more, { fences: LIVE_FENCES })
      mds.write(rules)
      return rules[0]!.rate
    })
    expect(raised).toEqual([40, 160, 500])
  })

  it('a job of the system gets no rule, and its policy says so', () => {
    const { rules, remarks } = compile(
      [new Mds('dev', 'tbf jobid').read()],
      [share('rsync.0', 'meta_op', 40), share('cp.500', 'meta_op', 40)],
      { exempt: 'rsync.0' },
    )
    expect(new Set(rules.map((r) => r.job))).toEqual(new Set(['cp.500']))
    expect(remarks.map((s) => s.text)).toContain(
      "rsync.0 is not limited: it is root's, or its id does not exclude that",
    )
  })

  it('a foreign rule that precedes those of Sluice is named', () => {
    const mds = new Mds('dev', 'tbf jobid+opcode')
    const shares = [share('4690.x', 'open', 50)]
    mds.write(compile([mds.read()], shares).rules)
    mds.services.mdt.writeRule('reg start night jobid={4690.*} rate=900')
    expect(compile([mds.read()], shares).remarks.map((s) => s.text)).toContain(
      "rule night precedes Sluice's and takes RPCs of 4690.x (mdt of mds01)",
    )
  })

  it('small differences are left alone while no limit is passed, and every lowering past one is written', () => {
    const mds = new Mds('dev', 'tbf jobid')
    const shares = [share('a', 'meta_op', 1000)]
    const first = compile([mds.read({ a: { open: 500, close: 500 } })], shares).rules
    mds.write(first)
    expect(
      compile([mds.read({ a: { open: 510, close: 490 } })], shares, { isSteady: true }).rules.map((r) => r.rate),
    ).toEqual(first.map((r) => r.rate))
    const lower = [{ ...shares[0]!, allocated: 990 }]
    const less = compile([mds.read({ a: { open: 500, close: 500 } })], lower, { isSteady: true }).rules
    expect(less.reduce((n, r) => n + r.limit, 0)).toBeLessThanOrEqual(990)
    expect(
      compile([mds.read({ a: { open: 900, close: 100 } })], shares, { isSteady: true }).rules[0]?.rate,
    ).toBeGreaterThan(800)
  })
})

describe('any policies, on every release and type', () => {
  const policies: Record<Release, readonly string[]> = {
    '2.12': ['tbf jobid', 'tbf', 'tbf opcode', 'fifo'],
    '2.15': ['tbf jobid', 'tbf', 'tbf nid', 'fifo'],
    '2.16': ['tbf jobid', 'tbf', 'tbf uid'],
    '2.17': ['tbf jobid', 'tbf', 'tbf jobid+opcode', 'tbf jobid+nid'],
    dev: ['tbf jobid', 'tbf', 'tbf jobid+opcode', 'tbf nid'],
  }
  const cases = RELEASES.flatMap((r) => policies[r].map((p) => [r, p] as const))
  const scopes = Object.keys(MDS_SCOPES) as Scope[]
  const shares = fc.uniqueArray(
    fc.record({
      job: fc.constantFrom('a', 'b.c', '4690.python.u1021', 'bad id'),
      scope: fc.constantFrom(...scopes),
      rate: fc.double({ min: 1, max: 2e6, noNaN: true }),
    }),
    { minLength: 1, maxLength: 12, selector: (s) => `${s.job} ${s.scope}` },
  )
  const ops = fc.dictionary(fc.constantFrom('open', 'close', 'getattr', 'mkdir', 'rename', 'getxattr'), fc.nat(5000))

  it.each(cases)(
    '%s, %s: the server takes every rule; sums keep the limits; unlimited operations are reported',
    (release, policy) => {
      fc.assert(
        fc.property(
          shares,
          ops,
          ops,
          fc.integer({ min: 1, max: 3 }),
          fc.integer({ min: 1, max: 9 }),
          (wanted, a, b, cpts, clients) => {
            const mds = new Mds(release, policy, { cpts })
            const given = wanted.map(({ job, scope, rate }, i): JobShare => ({
              job,
              scope,
              demand: null,
              limit: rate,
              allocated: rate,
              lines: [i + 1],
            }))
            for (const counts of [a, b]) {
              const { rules, remarks } = compile([mds.read({ a: counts, 'b.c': counts })], given, {
                clients,
                isSteady: counts === b,
              })
              mds.write(rules)
              // The server now prints the wanted rules: nothing more is sent.
              for (const s of MDS_SERVICES) {
                expect(planRules('mds01', mds.read().services[s].rules, desiredOn(rules, 'mds01', s)).commands).toEqual(
                  [],
                )
              }
              for (const { job, scope, allocated, lines } of given) {
                const ofJob = rules.filter((r) => r.job === job && isOf(r, scope))
                const least = ofJob.reduce((n, r) => n + r.limit / r.rate, 0)
                expect(ofJob.reduce((n, r) => n + r.limit, 0)).toBeLessThanOrEqual(Math.max(allocated!, least) + 1e-3)
                if (ofJob.length === 0) expect(remarks.some((u) => u.line === lines[0])).toBe(true)
              }
            }
          },
        ),
        { numRuns: 25 },
      )
    },
  )
})
