import { describe, expect, it } from 'vitest'
import { readServer, serviceWith, write } from '../../tests/rule-oracle.ts'
import { driftOf } from './drift.ts'
import { planEdits } from './edit-plan.ts'
import { compareHeads } from './read-back.ts'
import type { ServerRules } from './server-rules.ts'

const PRESENT = ['start b jobid={b} rate=5', 'start a jobid={a} rate=5']
const server = (name: string, values: readonly string[], policy = 'tbf jobid'): ServerRules =>
  readServer(serviceWith(policy, values), name)

describe('a read-back', () => {
  it('is empty if the plan was applied, and names deviations with queue and CPTs', () => {
    const service = serviceWith('tbf jobid', PRESENT)
    const plan = planEdits(readServer(service), [
      { verb: 'change', name: 'a', rate: 9, queue: 'both' },
      { verb: 'start', name: 'n', conditions: 'jobid={n}', rate: 1, queue: 'both' },
      { verb: 'stop', name: 'b', queue: 'both' },
    ])
    expect(compareHeads(plan.expected, plan.touched, readServer(service)).differences).toEqual([
      'n is missing (reg)',
      'a has rate 5, not 9 (reg)',
      'b is still there (reg)',
      'n is missing (hp)',
      'a has rate 5, not 9 (hp)',
      'b is still there (hp)',
    ])
    for (const c of plan.commands) write(service, c.value)
    expect(compareHeads(plan.expected, plan.touched, readServer(service))).toEqual({ differences: [], foreign: [] })
    const now = readServer(service)
    const lame = { ...now, rules: now.rules.map((r) => (r.cpt === 1 && r.name === 'a' ? { ...r, rate: 5 } : r)) }
    expect(compareHeads(plan.expected, plan.touched, lame).differences).toEqual([
      'a has rate 5, not 9 (reg CPT 1)',
      'a has rate 5, not 9 (hp CPT 1)',
    ])
  })

  it('separates changes by others, and names a rule in the wrong place', () => {
    const service = serviceWith('tbf jobid', PRESENT)
    const plan = planEdits(readServer(service), [
      { verb: 'start', name: 'n', conditions: 'jobid={n}', rate: 1, rank: 'b', queue: 'reg' },
    ])
    for (const c of plan.commands) write(service, c.value)
    write(service, 'start foreign jobid={f} rate=3')
    write(service, 'reg change b rate=50')
    write(service, 'reg change n rank=a')
    expect(compareHeads(plan.expected, plan.touched, readServer(service))).toEqual({
      differences: ['a is not before n (reg)'],
      foreign: ['b has rate 50, not 5 (reg)', 'foreign is new (reg)', 'foreign is new (hp)'],
    })
  })
})

describe('rules of a controller', () => {
  it('may appear, disappear and move in a read-back', () => {
    const managed = ['start ab_0000000002 jobid={y} rate=9', 'start ab_0000000001 jobid={x} rate=9']
    const service = serviceWith('tbf jobid', [...PRESENT, ...managed])
    const plan = planEdits(readServer(service), [
      { verb: 'start', name: 'n', conditions: 'jobid={n}', rate: 1, queue: 'both' },
      { verb: 'change', name: 'b', rank: 'a', queue: 'both' },
    ])
    for (const c of plan.commands) write(service, c.value)
    write(service, 'stop ab_0000000001')
    write(service, 'start ab_0000000003 jobid={z} rate=9')
    write(service, 'change ab_0000000002 rank=default')
    write(service, 'stop ab_0000000002')
    write(service, 'start ab_0000000002 jobid={y} rate=9')
    expect(compareHeads(plan.expected, plan.touched, readServer(service)).differences).toEqual([])
    write(service, 'change a rank=n')
    expect(compareHeads(plan.expected, plan.touched, readServer(service)).differences).not.toEqual([])
  })
})

describe('drift', () => {
  it('is nothing among servers that are alike, and where rules are decided server by server', () => {
    expect(driftOf([server('oss01', PRESENT), server('oss02', PRESENT)])).toEqual([])
    const expected = [server('oss01', [...PRESENT, 'start p jobid={p} rate=1']), server('oss02', PRESENT)]
    expect(driftOf(expected, (rule) => rule === 'p')).toEqual([])
  })

  it('names the servers that differ, and how', () => {
    const all = [
      server('oss01', PRESENT),
      server('oss02', PRESENT),
      server('oss03', ['start a jobid={a} rate=5', 'start b jobid={b} rate=5']),
      server('oss04', ['start b jobid={b} rate=7', 'start a jobid={aa} rate=5']),
      server('oss05', ['start a jobid={a} rate=5']),
    ]
    expect(
      driftOf(all)
        .filter((d) => d.queue === 'reg')
        .map((d) => [d.kind, d.rule, d.servers, d.text]),
    ).toEqual([
      ['conditions', 'a', ['oss04'], 'a has conditions jobid={aa} on oss04, jobid={a} elsewhere'],
      ['missing', 'b', ['oss05'], 'b is on 4 of 5 servers, not on oss05'],
    ])
    expect(
      driftOf(all.slice(0, 4))
        .filter((d) => d.queue === 'hp')
        .map((d) => [d.kind, d.servers, d.text]),
    ).toEqual([
      ['conditions', ['oss04'], 'a has conditions jobid={aa} on oss04, jobid={a} elsewhere'],
      ['rate', ['oss04'], 'b has rate 7 on oss04, 5 elsewhere'],
      ['order', ['oss03'], 'b is before a on oss03, not elsewhere'],
    ])
  })

  it('names CPTs that disagree on one server, as a command that failed midway leaves them', () => {
    const service = serviceWith('tbf jobid', ['start a jobid={a} rate=5', 'hp stop a'])
    expect(service.writeRule('change a rate=9').ok).toBe(false)
    expect(service.writeRule('start c jobid={c} rate=1 rank=a').ok).toBe(false)
    expect(driftOf([readServer(service, 'oss07')]).map((d) => [d.kind, d.text])).toEqual([
      ['cpts', 'oss07: CPT 1 of reg lacks c'],
      ['cpts', 'oss07: a has rate 9 on CPT 0, 5 on CPT 1 of reg'],
    ])
  })

  it('names servers that run another type, or no TBF', () => {
    const all = [server('oss01', []), server('oss02', []), server('oss03', [], 'tbf nid'), server('oss04', [], 'fifo')]
    expect(
      driftOf(all)
        .filter((d) => d.queue === 'reg')
        .map((d) => d.text),
    ).toEqual(['oss03 runs tbf nid on reg, tbf jobid elsewhere', 'oss04 runs no TBF on reg, tbf jobid elsewhere'])
  })
})
