import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPolicies, readServer, rulesText, serviceWith, write, type Service } from '../../tests/rule-oracle.ts'
import { primaryPolicy } from '../lustre/nrs-policies.ts'
import { disagreements } from './queue-list.ts'
import { planPolicy, type PolicyPlan, type PolicyStep } from './policy-plan.ts'

const RULES = ['start backup jobid={backup.*} rate=50', 'start ml jobid={ml.*} rate=300']
const textsOf = (steps: readonly PolicyStep[]): string[] =>
  steps.map((s) => (s.kind === 'write' ? `${s.parameter}=${s.value}` : `wait ${s.policy} ${s.queues.join(' ')}`))

function carryOut(service: Service, steps: readonly PolicyStep[]): void {
  for (const s of steps) {
    if (s.kind === 'wait') {
      for (const q of s.queues) {
        expect(readPolicies(service).find((p) => p.queue === q && p.name === s.policy)?.state).toBe('stopped')
      }
    } else if (s.parameter === 'nrs_tbf_rule') write(service, s.value)
    else {
      const done = service.writePolicies(s.value)
      if (!done.ok) throw new Error(s.value)
    }
  }
}
const plan = (service: Service, ...to: [name: string, arg: string, queue?: 'reg' | 'hp']): PolicyPlan =>
  planPolicy(readServer(service), readPolicies(service), { name: to[0], arg: to[1] }, to[2])

describe('a change of policy', () => {
  it('starts TBF from fifo in one command', () => {
    expect(plan(serviceWith('fifo', []), 'tbf', 'jobid')).toEqual({
      server: 'oss01',
      steps: [{ kind: 'write', parameter: 'nrs_policies', value: 'tbf jobid' }],
      inverse: [{ kind: 'write', parameter: 'nrs_policies', value: 'fifo' }],
      queues: ['reg', 'hp'],
      was: [
        { queue: 'reg', policy: { name: 'fifo', arg: '' } },
        { queue: 'hp', policy: { name: 'fifo', arg: '' } },
      ],
      wanted: [
        { queue: 'reg', policy: { name: 'tbf', arg: 'jobid' } },
        { queue: 'hp', policy: { name: 'tbf', arg: 'jobid' } },
      ],
      drain: { queued: 0, expectedS: 0, mostS: 0 },
      lost: [],
      notes: ['TBF limits every class to 10\u202f000 RPC/s unless a rule sets another rate.'],
      refused: undefined,
    })
    expect(textsOf(plan(serviceWith('fifo', []), 'tbf', '').steps)).toEqual(['nrs_policies=tbf'])
  })

  it('from type to type is direct if servers wait for queued RPCs, and names the lost rules', () => {
    const p = plan(serviceWith('tbf jobid', RULES), 'tbf', 'nid')
    expect(textsOf(p.steps)).toEqual(['nrs_policies=tbf nid'])
    expect(textsOf(p.inverse)).toEqual([
      'nrs_policies=tbf jobid',
      'nrs_tbf_rule=start backup jobid={backup.*} rate=50',
      'nrs_tbf_rule=start ml jobid={ml.*} rate=300',
    ])
    expect(p.lost).toEqual(['ml jobid={ml.*} 300', 'backup jobid={backup.*} 50'])
    expect(p.notes).toEqual([
      '2 rules are lost: ml jobid={ml.*} 300, backup jobid={backup.*} 50.',
      'Servers do not report whether ml, backup were realtime: the rollback starts them without realtime.',
    ])
  })

  it('goes through fifo and waits on releases that lose queued RPCs, in both directions', () => {
    const p = plan(serviceWith('tbf jobid', RULES, { release: '2.15' }), 'tbf', 'nid')
    expect(textsOf(p.steps)).toEqual(['nrs_policies=fifo', 'wait tbf reg hp', 'nrs_policies=tbf nid'])
    expect(textsOf(p.inverse).slice(0, 3)).toEqual(['nrs_policies=fifo', 'wait tbf reg hp', 'nrs_policies=tbf jobid'])
    expect(p.notes[1]).toBe(
      'A direct change of type loses queued RPCs on this release: fifo first, then TBF once it is stopped.',
    )
  })

  it('away from TBF waits until it is stopped, and notes the effect on its queued RPCs', () => {
    const queued = (release: 'dev' | '2.15'): PolicyPlan => {
      const service = serviceWith('tbf jobid', ['start a jobid={a} rate=1'], { release, hp: false })
      for (let i = 0; i < 8; i++) service.enqueue(0, 0, 'reg', { jobId: 'a', nid: '0@lo' })
      return plan(service, 'fifo', '')
    }
    expect(textsOf(queued('dev').steps)).toEqual(['nrs_policies=fifo reg', 'wait tbf reg'])
    expect(queued('dev').notes.at(-1)).toBe('8 queued RPCs pass at once, without limit.')
    expect(queued('2.15').notes.at(-1)).toMatch(
      /^8 queued RPCs leave at the rates of their rules before TBF is stopped: about \d+ s, \d+ s if all are of the slowest rule\.$/,
    )
    expect(queued('2.15').drain).toEqual({ queued: 8, expectedS: 8, mostS: 8 })
  })

  it('to the running policy is empty, also with the words of the type in another order', () => {
    const p = plan(serviceWith('tbf jobid+nid', []), 'tbf', 'nid+jobid')
    expect(p.steps).toEqual([])
    expect(p.notes).toEqual(['oss01 runs tbf nid+jobid already; its rules stay.'])
  })

  it('is refused where the server would refuse it', () => {
    const service = serviceWith('fifo', [])
    expect(plan(service, 'tbf', 'jobname').refused).toMatch(/^unknown type jobname.*: Invalid argument$/)
    expect(plan(service, 'nosuch', '').refused).toBe('oss01 has no policy nosuch: No such file or directory')
    expect(plan(serviceWith('fifo', [], { hp: false }), 'tbf', 'jobid', 'hp').refused).toBe(
      'the service has no high-priority queue: No such device',
    )
    expect(plan(serviceWith('fifo', [], { release: '2.15' }), 'tbf', 'projid').refused).toMatch(/^unknown type projid/)
  })

  it('warns that rules cannot be read while only reg runs TBF', () => {
    expect(plan(serviceWith('fifo', []), 'tbf', 'jobid', 'reg').notes.slice(1)).toEqual([
      'Rules of reg cannot be read while hp does not run TBF: run it on both queues.',
    ])
  })

  it('is undone by its inverse: policies, rules, order, rates and the built-in rule', () => {
    const rule = fc
      .tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('', 'reg ', 'hp '), fc.integer({ min: 1, max: 50 }))
      .map(([n, q, r]) => `${q}start ${n} jobid={${n} x} rate=${r}`)
    const extra = fc.constantFrom('change default rate=77', 'hp change default rank=a', 'reg change default rank=b')
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 5 }),
        fc.array(extra, { maxLength: 2 }),
        fc.constantFrom('dev', '2.15', '2.17' as const),
        fc.constantFrom(['tbf', 'nid'], ['fifo', ''], ['tbf', ''], ['crrn', ''] as const),
        (rules, extras, release, [name, arg]) => {
          const service = serviceWith('tbf jobid', [], { release })
          for (const v of [...rules, ...extras]) service.writeRule(v)
          // A command that failed halfway leaves CPTs with differences that no command can restore.
          fc.pre((['reg', 'hp'] as const).every((q) => disagreements(readServer(service).rules, q).length === 0))
          const before = rulesText(service)
          const p = plan(service, name, arg)
          carryOut(service, p.steps)
          expect(primaryPolicy(readPolicies(service), 'hp')).toMatchObject({ name, arg })
          carryOut(service, p.inverse)
          expect(rulesText(service)).toBe(before)
        },
      ),
      { numRuns: 300 },
    )
  })
})
