import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readServer, rulesText, serviceWith, write, type Service } from '../../tests/rule-oracle.ts'
import type { Release } from '../lustre/release.ts'
import { jobIdPattern } from '../tbf/job-id-pattern.ts'
import { ruleName, type DesiredRule } from './desired-rule.ts'
import { fenced, LIVE_FENCES, MODEL_FENCES } from './fences.ts'
import { planRemoval, planRules } from './plan.ts'
import { writtenRules } from './server-rules.ts'

const JOBS = ['4690.python.u1', '4691.dd.u2', '4692.ior.u3', 'cp.500']
const managedRule = (job: string, rate: number): DesiredRule => ({
  name: ruleName('adaptbf', 'oss01', job),
  conditions: `jobid={${job}}`,
  rate,
})
const MANAGED = new Set(JOBS.map((j) => managedRule(j, 1).name))

/** Rules of an operator: started, moved and stopped between a controller's steps. */
const operator = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('cap', 'wide', 'night'),
      fc.constantFrom('4690.*', '*.dd.*', '*', JOBS[2] as string),
      fc.nat(900),
    )
    .map(([n, items, r]) => `start ${n} jobid={${items}} rate=${r + 1}`),
  fc.constantFrom('cap', 'wide', 'night').map((n) => `stop ${n}`),
  fc.constantFrom(
    'change cap rank=default',
    'change default rank=wide',
    'reg change night rank=default',
    'change default rate=50',
  ),
)
const decision = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...JOBS), fc.integer({ min: 1, max: 900 })), { selector: ([j]) => j })
  .map((list) => list.map(([j, r]) => managedRule(j, r)))
const step = fc.oneof(operator, decision)
const releases = fc.constantFrom<Release>('dev', '2.17', '2.15')

const matches = (conditions: string, job: string): boolean =>
  /^jobid=\{(.*)\}$/
    .exec(conditions)?.[1]
    ?.split(' ')
    .some((item) => jobIdPattern(item)(job)) === true

/** Foreign rule that decides a job's requests, by job; undefined if a controller's rule or `default` does. */
function decided(service: Service): (string | undefined)[] {
  const head = writtenRules(readServer(service)).filter((r) => r.queue === 'reg' && r.cpt === 0)
  return JOBS.map((job) => {
    const first = head.find((r) => r.name !== 'default' && matches(r.conditions, job))
    return first && !MANAGED.has(first.name) ? first.name : undefined
  })
}
const foreign = (service: Service): string =>
  rulesText(service)
    .split('\n')
    .filter((l) => !MANAGED.has(l.split(' ')[0] ?? ''))
    .join('\n')

describe('a controller among foreign rules', () => {
  it('never changes which of them decides a request, nor anything of them, whatever the two do in turn', () => {
    let written = 0
    fc.assert(
      fc.property(releases, fc.array(step, { maxLength: 14 }), (release, steps) => {
        const service = serviceWith('tbf jobid', [], { release })
        for (const s of steps) {
          if (typeof s === 'string') {
            service.writeRule(s)
            continue
          }
          const was = decided(service)
          const list = foreign(service)
          const plan = planRules('oss01', readServer(service).rules, s)
          for (const c of plan.commands) {
            write(service, c.value)
            // Also between two commands. A foreign rule placed below a controller's rule decides once that is gone.
            expect(decided(service).map((now, i) => was[i] === undefined || was[i] === now)).not.toContain(false)
          }
          expect(foreign(service)).toBe(list)
          written += was.filter((w) => w !== undefined).length
          for (const c of plan.commands) expect(c.value).toMatch(/^reg (?:start|change|stop) ab_[0-9a-f]{10}(?: |$)/)
        }
      }),
      { numRuns: 500 },
    )
    expect(written).toBeGreaterThan(500)
  })

  it('restarts the rule of a bursty job below the cap that an operator gave it meanwhile', () => {
    const service = serviceWith('tbf jobid', [])
    const [job = ''] = JOBS
    const run = (desired: readonly DesiredRule[]): void => {
      for (const c of planRules('oss01', readServer(service).rules, desired).commands) write(service, c.value)
    }
    run([managedRule(job, 300)])
    write(service, 'start cap jobid={4690.*} rate=20')
    run([]) // idle
    run([managedRule(job, 500)])
    expect(decided(service)[0]).toBe('cap')
  })

  it('that is taken away leaves the list as it was to the byte', () => {
    fc.assert(
      fc.property(
        releases,
        fc.array(operator, { maxLength: 6 }),
        fc.array(decision, { maxLength: 6 }),
        (release, before, steps) => {
          const service = serviceWith('tbf jobid', [], { release })
          for (const v of before) service.writeRule(v)
          const was = rulesText(service)
          for (const desired of steps) {
            for (const c of planRules('oss01', readServer(service).rules, desired).commands) write(service, c.value)
          }
          for (const c of planRemoval('oss01', readServer(service).rules).commands) write(service, c.value)
          expect(rulesText(service)).toBe(was)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('writes no name that is not a controller’s, whatever is wanted', () => {
    const wanted = ['default', 'cap', 'ab_1', 'ab_0123456789x'].map((name) => ({ ...managedRule('a', 5), name }))
    expect(planRules('oss01', [], wanted)).toMatchObject({ commands: [], inverse: [] })
  })

  it('gets no rule if a foreign rule is the last of the list', () => {
    const service = serviceWith('tbf jobid', ['start cap jobid={4690.*} rate=20', 'change default rank=cap'])
    const plan = planRules('oss01', readServer(service).rules, [managedRule('cp.500', 9)])
    expect(plan).toMatchObject({ commands: [], unplaceable: [managedRule('cp.500', 9).name] })
  })
})

describe('fences', () => {
  const now = { inForce: new Map<string, number>(), servedBy: () => undefined, isExempt: () => false }
  it('keep every rate within a step of the one before, above the floor, and the rules few', () => {
    const rule = fc.tuple(
      fc.constantFrom(...JOBS),
      fc.integer({ min: 1, max: 999_999 }),
      fc.integer({ min: 1, max: 999_999 }),
    )
    fc.assert(
      fc.property(fc.uniqueArray(rule, { selector: ([j]) => j }), (list) => {
        const inForce = new Map(list.map(([j, , was]) => [managedRule(j, 1).name, was]))
        const { rules } = fenced(
          list.map(([j, r]) => managedRule(j, r)),
          { ...LIVE_FENCES, rulesMax: 3 },
          { ...now, inForce },
        )
        expect(rules.length).toBe(Math.min(3, list.length))
        for (const r of rules) {
          const was = inForce.get(r.name) as number
          expect(r.rate).toBeGreaterThanOrEqual(Math.max(5, was / 2))
          expect(r.rate).toBeLessThanOrEqual(Math.max(5, was * 4, was + 1))
        }
      }),
    )
  })

  it('start a rule at no less than half of its job’s served rate', () => {
    const { rules } = fenced([managedRule('cp.500', 5)], LIVE_FENCES, { ...now, servedBy: () => 301 })
    expect(rules[0]?.rate).toBe(151)
  })

  it('leave the model as it decides', () => {
    const rules = JOBS.map((j, i) => managedRule(j, i + 1))
    expect(fenced(rules, MODEL_FENCES, { ...now, servedBy: () => 1e6 }).rules).toEqual(rules)
  })

  it('omit the jobs of the system, and count them', () => {
    const { rules, skipped } = fenced([managedRule('rsync.0', 5), managedRule('cp.500', 5)], LIVE_FENCES, {
      ...now,
      isExempt: (r) => r.conditions === 'jobid={rsync.0}',
    })
    expect([rules.length, skipped.exempt]).toEqual([1, 1])
  })
})
