import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readServer, serviceWith, write, type Service } from '../../tests/rule-oracle.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { typeOf } from '../tbf/tbf-type.ts'
import { shapeMatches, shapeOf } from './condition-shape.ts'
import { queuesOf, valueOf } from './edit-check.ts'
import { planEdits } from './edit-plan.ts'
import type { QueueChoice, RuleEdit } from './rule-edit.ts'
import { headOf } from './server-rules.ts'
import { simulatePlan } from './simulate.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const
const CONDITIONS = [
  'jobid={x.1}',
  'jobid={x.2}',
  'jobid={x.*}',
  'jobid={*.2}',
  'jobid={*}',
  'jobid={x.1 y.1}',
  'jobid={y.1},jobid={y.2}',
] as const
const JOBID = typeOf(['jobid'])
const JOBS = ['x.1', 'x.2', 'y.1', 'y.2', 'z.2', 'other']

const rate = fc.constantFrom(1, 5, 20, 100, 400, 999_999)
const queue = fc.constantFrom<QueueChoice>('reg', 'hp', 'both')
const name = fc.constantFrom(...NAMES)
const edit: fc.Arbitrary<RuleEdit> = fc.oneof(
  fc.record({
    verb: fc.constant('start' as const),
    name,
    conditions: fc.constantFrom(...CONDITIONS),
    rate,
    rank: fc.option(fc.oneof(name, fc.constant('default')), { nil: undefined }),
    realtime: fc.boolean(),
    queue,
  }),
  fc.record({
    verb: fc.constant('change' as const),
    name: fc.oneof({ weight: 5, arbitrary: name }, { weight: 1, arbitrary: fc.constant('default') }),
    rate: fc.option(rate, { nil: undefined }),
    rank: fc.option(fc.oneof(name, fc.constant('default')), { nil: undefined }),
    queue,
  }),
  fc.record({ verb: fc.constant('stop' as const), name, queue }),
)
const startsOf = (q: QueueChoice) =>
  fc
    .uniqueArray(fc.tuple(name, fc.constantFrom(...CONDITIONS), rate), { selector: ([n]) => n, maxLength: 5 })
    .map((rules) => rules.map(([n, conditions, r]) => `${q} start ${n} ${conditions} rate=${r}`))
/** Rules of a controller, which come and go. */
const CONTROLLED = ['reg start ab_0000000002 jobid={y.*} rate=100', 'reg start ab_0000000001 jobid={x.1} rate=20']
const presents = fc
  .tuple(startsOf('reg'), startsOf('hp'), fc.boolean())
  .map(([reg, hp, isControlled]) => [...reg, ...hp, ...(isControlled ? CONTROLLED : [])])

const text = (rules: readonly RuleLine[]): string[] =>
  rules.map((r) => `${r.queue} ${r.cpt} ${r.name} ${r.conditions} ${r.rate}`)
const limit = (rules: readonly RuleLine[], q: Queue, jobId: string): number => {
  const head = headOf(rules, q, 0)
  const first = head.find((r) => r.name !== 'default' && shapeMatches(shapeOf(r.conditions, JOBID) ?? [], { jobId }))
  return (first ?? head.find((r) => r.name === 'default'))?.rate ?? NaN
}
const ALL_NORMAL = new Map(NAMES.map((n) => [n, false]))
const firstMatch = (head: readonly RuleLine[], jobId: string): string =>
  head.find((r) => r.name !== 'default' && shapeMatches(shapeOf(r.conditions, JOBID) ?? [], { jobId }))?.name ??
  'default'

/** Applies the edits one after the other, in staging order; a repeated start counts as the first one. */
function writeAsStaged(service: Service, edits: readonly RuleEdit[], skipped: ReadonlySet<number>): void {
  edits.forEach((e, i) => {
    if (skipped.has(i)) return
    for (const queue of queuesOf(e, true)) {
      const done = service.writeRule(valueOf({ ...e, queue }))
      const isRepeated = edits.slice(0, i).some((x) => x.verb === 'start' && x.name === e.name)
      if (!done.ok && !(e.verb === 'start' && isRepeated)) throw new Error(valueOf(e))
    }
  })
}

describe('a plan of edits', () => {
  it('has the result of the edits in order, and its inverse restores the lists exactly', () => {
    let planned = 0
    fc.assert(
      fc.property(presents, fc.array(edit, { maxLength: 7 }), fc.boolean(), (present, edits, isKnown) => {
        const more = isKnown ? { realtime: ALL_NORMAL } : {}
        const server = { ...readServer(serviceWith('tbf jobid', present)), ...more }
        const plan = planEdits(server, edits)

        const asStaged = serviceWith('tbf jobid', present)
        const refused = new Set(plan.refused.map((r) => r.edit))
        writeAsStaged(asStaged, edits, refused)
        const asPlanned = serviceWith('tbf jobid', present)
        for (const c of plan.commands) write(asPlanned, c.value)
        const after = text(readServer(asPlanned).rules)
        expect(after).toEqual(text(readServer(asStaged).rules))
        expect(text(plan.expected)).toEqual(after)
        for (const c of plan.inverse) write(asPlanned, c.value)
        expect(text(readServer(asPlanned).rules)).toEqual(text(server.rules))
        planned += plan.commands.length
      }),
      { numRuns: 400 },
    )
    expect(planned).toBeGreaterThan(400)
  })

  it('never limits a job less than both before and after, on the way there and back', () => {
    fc.assert(
      fc.property(presents, fc.array(edit, { maxLength: 7 }), (present, edits) => {
        const server = readServer(serviceWith('tbf jobid', present))
        const plan = planEdits(server, edits)
        const there = simulatePlan(
          server,
          plan.commands.map((c) => c.value),
        )
        const back = simulatePlan(
          { ...server, rules: plan.expected },
          plan.inverse.map((c) => c.value),
        )
        for (const q of ['reg', 'hp'] as const) {
          for (const jobId of JOBS) {
            const most = Math.max(limit(plan.before, q, jobId), limit(plan.expected, q, jobId))
            for (const { rules, error } of [...there, ...back]) {
              expect(error).toBeUndefined()
              expect(limit(rules, q, jobId)).toBeLessThanOrEqual(most)
            }
          }
        }
      }),
      { numRuns: 400 },
    )
  })

  it('never gives a class that is known to the server more than that either, whenever its RPCs arrive', () => {
    fc.assert(
      fc.property(
        presents,
        fc.array(edit, { maxLength: 7 }),
        fc.constantFrom(...JOBS),
        fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
        (present, edits, jobId, arrives) => {
          const service = serviceWith('tbf jobid', present, { cpts: 1 })
          const server = readServer(service)
          const plan = planEdits(server, edits)
          const most = Math.max(limit(plan.before, 'reg', jobId), limit(plan.expected, 'reg', jobId))
          service.enqueue(0, 0, 'reg', { jobId, nid: '0@lo' })
          plan.commands.forEach((c, i) => {
            write(service, c.value)
            // Until its next RPC a class keeps its previous rule, even if that changed.
            if (!arrives[i % arrives.length]) return
            service.enqueue(0, 0, 'reg', { jobId, nid: '0@lo' })
            const bound = headOf(readServer(service).rules, 'reg', 0).find((r) => r.ref > 0)
            expect(bound?.rate, c.value).toBeLessThanOrEqual(most)
          })
        },
      ),
      { numRuns: 400 },
    )
  })

  it('applies to existing classes: after the last command every class runs under its first match', () => {
    fc.assert(
      fc.property(presents, fc.array(edit, { maxLength: 5 }), (present, edits) => {
        const service = serviceWith('tbf jobid', present)
        const server = readServer(service)
        const plan = planEdits(server, edits)
        const arrive = (): void => {
          for (const jobId of JOBS) {
            service.enqueue(0, 0, 'reg', { jobId, nid: '0@lo' })
            service.enqueue(0, 0, 'hp', { jobId, nid: '0@lo' })
          }
        }
        arrive()
        for (const c of plan.commands) write(service, c.value)
        arrive()
        for (const q of ['reg', 'hp'] as const) {
          const head = headOf(readServer(service).rules, q, 0)
          for (const r of head) {
            const bound = JOBS.filter((jobId) => firstMatch(head, jobId) === r.name).length
            expect(`${r.name} ${r.ref}`).toBe(`${r.name} ${bound}`)
          }
        }
      }),
      { numRuns: 400 },
    )
  })

  it('names no rule of a controller when rules are started, stopped, and given other rates: it may be gone any moment', () => {
    let started = 0
    const plain = edit.filter((e) => e.verb === 'stop' || e.rank === undefined)
    fc.assert(
      fc.property(presents, fc.array(plain, { maxLength: 7 }), (present, edits) => {
        const foreign = present.filter((v) => !v.includes('ab_'))
        const plan = planEdits(readServer(serviceWith('tbf jobid', [...foreign, ...CONTROLLED])), edits)
        for (const c of plan.commands) expect(c.value).not.toContain('ab_')
        started += plan.commands.filter((c) => c.verb === 'start').length
      }),
      { numRuns: 400 },
    )
    expect(started).toBeGreaterThan(40)
  })

  it('sends no command that changes nothing, and names of others only where an edit names them', () => {
    fc.assert(
      fc.property(presents, fc.array(edit, { maxLength: 6 }), (present, edits) => {
        const server = readServer(serviceWith('tbf jobid', present))
        const plan = planEdits(server, edits)
        const named = new Set(edits.map((e) => e.name))
        for (const t of plan.touched) expect(named).toContain(t)
        if (text(plan.before).join() === text(plan.expected).join() && plan.notes.every((n) => n.code !== 'STAND_IN')) {
          expect(plan.commands).toEqual([])
        }
        const steps = [
          { rules: plan.before },
          ...simulatePlan(
            server,
            plan.commands.map((c) => c.value),
          ),
        ]
        plan.commands.forEach((c, i) => {
          expect(text(steps[i + 1]?.rules ?? []), c.value).not.toEqual(text(steps[i]?.rules ?? []))
        })
      }),
      { numRuns: 500 },
    )
  })
})
