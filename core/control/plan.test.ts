import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseNrsTbfRule, RATE_MAX, type RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { NrsService } from '../tbf/nrs-service.ts'
import { ruleName, type DesiredRule } from './desired-rule.ts'
import { compareReadBack, planRemoval, planRules, type PlanCommand } from './plan.ts'

type Service = NrsService<{ readonly jobId: string; readonly nid: string }>

const JOBS = ['4690.python.u1021', 'dd.500', 'a=b', '~x', 'rank:1', 'x@y', '-rf', 'i.j']
const managedRule = (job: string, rate: number): DesiredRule => ({
  name: ruleName('adaptbf', 'oss01', job),
  conditions: `jobid={${job}}`,
  rate,
})

function must(service: Service, value: string): void {
  const r = service.writeRule(value)
  if (!r.ok) throw new Error(`${value}: ${r.error}`)
}

const textOf = (service: Service): string => {
  const r = service.readRules()
  if (!r.ok) throw new Error(r.error)
  return r.value
}
const withoutRefs = (service: Service): string => textOf(service).replaceAll(/, ref \d+$/gm, '')
const read = (service: Service): RuleLine[] => parseNrsTbfRule(textOf(service)).rules
const MANAGED = new Set(JOBS.map((job) => managedRule(job, 1).name))
const isForeign = (r: RuleLine): boolean => !MANAGED.has(r.name)
const liveSum = (service: Service): number =>
  read(service)
    .filter((r) => r.queue === 'reg' && r.cpt === 0 && !isForeign(r))
    .reduce((sum, r) => sum + r.rate, 0)

/** A service with 2 CPTs and the given rules on the regular queue, the first one at the head of the list. */
function serviceWith(rules: readonly DesiredRule[]): Service {
  const service: Service = new NrsService({ cpts: 2, hp: true })
  if (!service.writePolicies('tbf jobid').ok) throw new Error('tbf jobid')
  for (const r of rules.toReversed()) must(service, `reg start ${r.name} ${r.conditions} rate=${r.rate}`)
  must(service, 'hp start admin_hp jobid={*} rate=7')
  return service
}

const rate = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: RATE_MAX }))
const someJobs = fc.uniqueArray(fc.tuple(fc.constantFrom(...JOBS), rate), { selector: ([job]) => job })
const managedRules = someJobs.map((list) => list.map(([job, r]) => managedRule(job, r)))
const foreign = fc
  .uniqueArray(fc.tuple(fc.constantFrom('admin', 'zz', 'ab_', 'ab_123', 'st_0123456789a'), rate), {
    selector: ([name]) => name,
  })
  .map((list) => list.map(([name, r]): DesiredRule => ({ name, conditions: 'jobid={4690.* dd.*}', rate: r })))
/** Rules on a server: controllers' own, some with modified conditions, mixed with foreign ones. */
const present = fc
  .tuple(
    managedRules,
    foreign,
    fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
    fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  )
  .map(([managed, foreign, order, isTouched]) =>
    [...managed.map((r, i) => (isTouched[i] ? r : { ...r, conditions: `${r.conditions},jobid={other}` })), ...foreign]
      .map((r, i) => ({ r, key: order[i] ?? 0 }))
      .sort((a, b) => a.key - b.key)
      .map(({ r }) => r),
  )

const apply = (service: Service, commands: readonly PlanCommand[], each: () => void = () => undefined): void => {
  for (const c of commands) {
    must(service, c.value)
    each()
  }
}

describe('planRules', () => {
  it('leaves exactly the desired rules of our own, and foreign ones as and where they were', () => {
    fc.assert(
      fc.property(present, managedRules, (before, desired) => {
        const service = serviceWith(before)
        const foreignBefore = read(service).filter(isForeign)
        const plan = planRules('oss01', read(service), desired)
        apply(service, plan.commands)
        const after = read(service)
        expect(after.filter(isForeign)).toEqual(foreignBefore)
        for (const cpt of [0, 1]) {
          const managed = after.filter((r) => r.queue === 'reg' && r.cpt === cpt && !isForeign(r))
          const wanted = desired.map(({ name, conditions, rate: r }) => ({
            queue: 'reg',
            cpt,
            name,
            conditions,
            rate: r,
            ref: 0,
          }))
          const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1)
          expect([...managed].sort(byName)).toEqual(wanted.sort(byName))
        }
        expect(compareReadBack(plan, after)).toEqual([])
        expect([...plan.expected.values()]).toEqual(desired)
      }),
      { numRuns: 300 },
    )
  })

  it('is undone by its inverse, to the byte', () => {
    fc.assert(
      fc.property(present, managedRules, (before, desired) => {
        const service = serviceWith(before)
        const text = withoutRefs(service)
        const plan = planRules('oss01', read(service), desired)
        apply(service, plan.commands)
        apply(service, plan.inverse)
        expect(withoutRefs(service)).toBe(text)
      }),
      { numRuns: 300 },
    )
  })

  it('never lets the sum of live rates rise above that of before and after, forth and back', () => {
    fc.assert(
      fc.property(present, managedRules, (before, desired) => {
        const service = serviceWith(before)
        const plan = planRules('oss01', read(service), desired)
        const bound = Math.max(
          liveSum(service),
          desired.reduce((sum, r) => sum + r.rate, 0),
        )
        for (const commands of [plan.commands, plan.inverse]) {
          apply(service, commands, () => expect(liveSum(service)).toBeLessThanOrEqual(bound))
        }
      }),
      { numRuns: 300 },
    )
  })

  it('sends nothing for a rule that is right, so its classes keep their buckets', () => {
    fc.assert(
      fc.property(managedRules, fc.nat(8), rate, (desired, which, other) => {
        const service = serviceWith(desired)
        const same = planRules('oss01', read(service), desired)
        expect([same.commands, same.inverse, same.diff]).toEqual([[], [], []])
        const target = desired[which % Math.max(1, desired.length)]
        if (!target || target.rate === other) return
        const next = desired.map((r) => (r === target ? { ...r, rate: other } : r))
        const { commands } = planRules('oss01', read(service), next)
        expect(commands).toEqual([
          { verb: 'change', rule: target.name, value: `reg change ${target.name} rate=${other}` },
        ])
      }),
    )
  })

  it('stops first, then lowers, then raises, and starts the highest priority last, so that it is first in the list', () => {
    const service = serviceWith([managedRule('dd.500', 10), managedRule('a=b', 50), managedRule('~x', 5)])
    const plan = planRules('oss01', read(service), [
      managedRule('i.j', 9),
      managedRule('rank:1', 8),
      managedRule('~x', 6),
      managedRule('a=b', 40),
    ])
    const name = (job: string): string => ruleName('adaptbf', 'oss01', job)
    expect(plan.commands.map((c) => c.value)).toEqual([
      `reg stop ${name('dd.500')}`,
      `reg change ${name('a=b')} rate=40`,
      `reg change ${name('~x')} rate=6`,
      `reg start ${name('rank:1')} jobid={rank:1} rate=8`,
      `reg start ${name('i.j')} jobid={i.j} rate=9`,
    ])
    expect(plan.diff).toEqual([
      { kind: 'del', text: `${name('dd.500')} jobid={dd.500} 10` },
      { kind: 'del', text: `${name('~x')} jobid={~x} 5` },
      { kind: 'mod', text: `${name('~x')} jobid={~x} 6` },
      { kind: 'del', text: `${name('a=b')} jobid={a=b} 50` },
      { kind: 'mod', text: `${name('a=b')} jobid={a=b} 40` },
      { kind: 'add', text: `${name('rank:1')} jobid={rank:1} 8` },
      { kind: 'add', text: `${name('i.j')} jobid={i.j} 9` },
    ])
    apply(service, plan.commands)
    expect(read(service)[0]).toMatchObject({ name: name('i.j'), rate: 9 })
  })

  it('leaves rules of jobs alone that releases up to 2.17.0 print without the field', () => {
    const printed = (r: DesiredRule): RuleLine => ({
      ...r,
      conditions: r.conditions.replace('jobid=', ''),
      queue: 'reg',
      cpt: 0,
      ref: 1,
    })
    const a = managedRule('dd.500', 10)
    const b = managedRule('i.j', 20)
    const plan = planRules('oss01', [a, b].map(printed), [a])
    expect(plan.commands.map((c) => c.value)).toEqual([`reg stop ${b.name}`])
    expect(plan.inverse.map((c) => c.value)).toEqual([`reg start ${b.name} jobid={i.j} rate=20`])
    expect(compareReadBack(plan, [printed(a)])).toEqual([])
  })

  it('looks at the regular queue of CPT 0 only', () => {
    const elsewhere: RuleLine[] = [
      { ...managedRule('dd.500', 1), queue: 'hp', cpt: 0, ref: 0 },
      { ...managedRule('i.j', 1), queue: 'reg', cpt: 1, ref: 0 },
    ]
    expect(planRemoval('oss01', elsewhere).commands).toEqual([])
  })
})

describe('planRemoval', () => {
  it('takes away all of our rules and nothing else', () => {
    fc.assert(
      fc.property(present, (before) => {
        const service = serviceWith(before)
        const foreignBefore = read(service).filter(isForeign)
        apply(service, planRemoval('oss01', read(service)).commands)
        expect(read(service)).toEqual(foreignBefore)
      }),
    )
  })
})

describe('compareReadBack', () => {
  it('names missing, different and leftover rules', () => {
    const [a, b, c, d] = ['dd.500', 'i.j', 'x@y', '-rf'].map((job) => managedRule(job, 5)) as [
      DesiredRule,
      DesiredRule,
      DesiredRule,
      DesiredRule,
    ]
    const plan = planRules('oss01', [], [a, b, c])
    const found = (r: DesiredRule): RuleLine => ({ ...r, queue: 'reg', cpt: 0, ref: 0 })
    expect(
      compareReadBack(plan, [{ ...found(b), rate: 6 }, { ...found(c), conditions: 'jobid={*}' }, found(d)]),
    ).toEqual([
      `${a.name} is missing`,
      `${b.name} has rate 6, not 5`,
      `${c.name} matches jobid={*}, not jobid={x@y}`,
      `${d.name} is still there`,
    ])
  })
})
