import { describe, expect, it } from 'vitest'
import { readServer, serviceWith } from '../../tests/rule-oracle.ts'
import { planEdits } from './edit-plan.ts'
import { opcodesOf, type LiveJob } from './live-job.ts'
import type { RuleEdit } from './rule-edit.ts'
import { runTrial, type TrialResult } from './trial.ts'

const OSS = Array.from({ length: 12 }, (_, i) => `oss${String(i + 1).padStart(2, '0')}`)
const job = (jobId: string, rpcs: number, more: Partial<LiveJob> = {}): LiveJob => ({
  jobId,
  rpcs,
  servers: OSS,
  ...more,
})

function trial(
  policy: string,
  present: readonly string[],
  jobs: readonly LiveJob[],
  ...edits: RuleEdit[]
): TrialResult {
  const service = serviceWith(policy, present, { cpts: 4 })
  const servers = OSS.map((name) => {
    const before = readServer(service, name)
    return { before, after: planEdits(before, edits).expected }
  })
  return runTrial(
    servers,
    jobs,
    edits.filter((e) => e.verb !== 'stop').map((e) => e.name),
  )
}
const hog = {
  verb: 'start',
  name: 'hog',
  conditions: 'jobid={4690.*}&opcode={ost_write}',
  rate: 400,
  queue: 'reg',
} as const

describe('a plan tried against live jobs', () => {
  it('counts the bound jobs, their classes, and their ceiling', () => {
    const targets = Array.from({ length: 38 }, (_, i) => `OST${i}`)
    const jobs = [
      job('4690.python.u1021', 61_904, { opcodes: ['ost_write'], targets }),
      job('4711.dd.u9', 100, { opcodes: ['ost_read'], targets: ['OST99'] }),
    ]
    const t = trial('tbf jobid+opcode', [], jobs, hog)
    expect(t).toMatchObject({
      sure: 1,
      may: 0,
      others: 0,
      classes: 48,
      knowsClasses: true,
      rpcsNow: 61_904,
      rpcsAfter: 19_200,
    })
    expect(t.targets).toHaveLength(38)
    expect(t.servers).toEqual(OSS)
    expect(t.jobs).toEqual([
      {
        jobId: '4690.python.u1021',
        how: 'all',
        rpcs: 61_904,
        before: ['default'],
        after: ['hog'],
        ceilingBefore: undefined,
        ceilingAfter: 19_200,
        change: (19_200 - 61_904) / 61_904,
        servers: OSS,
      },
    ])
    expect(Math.round((t.jobs[0]?.change ?? 0) * 100)).toBe(-69)
  })

  it('reports may for unknown fields, and some for a part of the RPCs', () => {
    const may = trial('tbf jobid+opcode', [], [job('4690.a', 10)], hog)
    expect(may).toMatchObject({ sure: 0, may: 1, rpcsAfter: undefined, knowsClasses: false })
    expect(may.jobs[0]).toMatchObject({ how: 'may', after: ['hog', 'default'], change: undefined })
    const some = trial('tbf jobid+opcode', [], [job('4690.a', 10, { opcodes: ['ost_write', 'ost_read'] })], hog)
    expect(some).toMatchObject({ sure: 1, may: 0, classes: 48, rpcsAfter: undefined })
    expect(some.jobs[0]).toMatchObject({ how: 'some', after: ['hog', 'default'] })
  })

  it('counts other affected jobs: released, or under a later rule', () => {
    const present = ['reg start cap jobid={*} rate=50', 'reg start ml jobid={ml.*} rate=300']
    const jobs = [job('ml.1', 900), job('x', 5)]
    const freed = trial('tbf jobid', present, jobs, { verb: 'stop', name: 'ml', queue: 'reg' })
    expect(freed).toMatchObject({ sure: 0, may: 0, others: 1, classes: 0 })
    expect(freed.jobs[0]).toMatchObject({
      jobId: 'ml.1',
      how: 'none',
      before: ['ml'],
      after: ['cap'],
      ceilingBefore: 300 * 48,
      ceilingAfter: 50 * 48,
    })
    const changed = trial('tbf jobid', present, jobs, { verb: 'change', name: 'cap', rate: 20, queue: 'reg' })
    expect(changed.jobs.map((j) => [j.jobId, j.how, j.ceilingBefore, j.ceilingAfter])).toEqual([
      ['x', 'all', 50 * 48, 20 * 48],
    ])
    expect(
      trial('tbf jobid', present, jobs, {
        verb: 'start',
        name: 'z',
        conditions: 'jobid={nobody}',
        rate: 5,
        queue: 'reg',
      }).jobs,
    ).toEqual([])
  })

  it('counts classes as distinguished by the type, on the CPTs that their RPCs reach', () => {
    const nids = ['10.0.0.1@tcp', '10.0.0.2@tcp']
    const jobs = [job('a', 10, { nids, uid: 500 }), job('b', 10, { nids, uid: 500 })]
    const all = (conditions: string, queue: 'reg' | 'both' = 'reg') => ({ ...hog, conditions, queue })
    // Two jobs on the same two clients share two classes, each on one CPT; by uid they share one, on all CPTs.
    expect(trial('tbf nid', [], jobs, all('nid={*@tcp}'))).toMatchObject({ classes: 2 * 12, knowsClasses: true })
    expect(trial('tbf uid', [], jobs, all('uid={500}'))).toMatchObject({ classes: 4 * 12, knowsClasses: true })
    expect(trial('tbf jobid', [], jobs, all('jobid={*}'))).toMatchObject({ classes: 2 * 4 * 12 })
    expect(trial('tbf jobid', [], jobs, all('jobid={*}', 'both'))).toMatchObject({ classes: 2 * 4 * 12 * 2 })
    expect(trial('tbf jobid+nid', [], jobs, all('jobid={*}'))).toMatchObject({ classes: 2 * 2 * 12 })
    // The number of clients of a job is not guessed: without it there is no ceiling either.
    const unknown = trial('tbf jobid+nid', [], [job('a', 10)], all('jobid={*}'))
    expect(unknown).toMatchObject({ sure: 1, knowsClasses: false, rpcsAfter: undefined })
    expect(trial('tbf nid', [], [job('a', 10, { nodes: 5 })], all('nid={*@tcp}'))).toMatchObject({
      may: 1,
      classes: 5 * 12,
    })
  })

  it('looks at a job only on the servers that it sends to', () => {
    const t = trial('tbf jobid', [], [job('4690.a', 10, { servers: ['oss03'] })], {
      ...hog,
      conditions: 'jobid={4690.*}',
    })
    expect(t).toMatchObject({ classes: 4, servers: ['oss03'], rpcsAfter: 1600 })
  })
})

describe('RPC names behind operations', () => {
  it('are those of the wire, and unknown where an operation may be either of two', () => {
    expect(opcodesOf('ost_io', ['read', 'write', 'punch'])).toEqual(['ost_read', 'ost_write', 'ost_punch'])
    expect(opcodesOf('mdt', ['open', 'mkdir', 'unlink', 'close'])).toEqual(['ldlm_enqueue', 'mds_reint'])
    expect(opcodesOf('mdt', ['getattr'])).toBeUndefined()
  })
})
