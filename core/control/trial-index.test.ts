/** Trials evaluate only the jobs that a plan may affect; the results equal those of evaluating every job. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readServer, serviceWith } from '../../tests/rule-oracle.ts'
import { planEdits } from './edit-plan.ts'
import type { LiveJob } from './live-job.ts'
import type { RuleEdit } from './rule-edit.ts'
import { concerned, groupServers, type Group } from './trial-groups.ts'
import { classesOfEach, runTrial } from './trial.ts'

const NAMES = ['ra', 'rb', 'rc', 'rd'] as const
const id = fc.constantFrom('1.a.u1', '2.a.u1', '1.b.u2', '3.c.u3')
const one = fc.oneof(id, fc.constantFrom('1.*', '*.u1', '*a*', '*'))
const byJob = fc.uniqueArray(one, { minLength: 1, maxLength: 2 }).map((items) => `jobid={${items.join(' ')}}`)
const byMore = fc.constantFrom('opcode={ost_write}', 'opcode={ost_read}', 'nid={10.0.0.1@tcp}', 'uid={7}')
const conditions = fc.oneof(
  { weight: 3, arbitrary: byJob },
  byMore,
  fc.tuple(byJob, byMore).map((all) => all.join('&')),
)
const rate = fc.constantFrom(10, 20, 10_000)
const name = fc.constantFrom(...NAMES, 'new1', 'new2')
const queue = fc.constantFrom('reg' as const, 'hp' as const, 'both' as const)
const rank = fc.option(fc.constantFrom(...NAMES), { nil: undefined })
const edit: fc.Arbitrary<RuleEdit> = fc.oneof(
  fc.record({ verb: fc.constant('start' as const), name, conditions, rate, queue, rank }),
  fc.record({ verb: fc.constant('change' as const), name: fc.oneof(name, fc.constant('default')), rate, queue, rank }),
  fc.record({ verb: fc.constant('stop' as const), name, queue }),
)
const some = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined })
const SERVERS = ['oss01', 'oss02', 'oss03'] as const
const job: fc.Arbitrary<LiveJob> = fc.record({
  jobId: id,
  nids: some(fc.subarray(['10.0.0.1@tcp', '10.0.0.2@tcp'])),
  opcodes: some(fc.subarray(['ost_read', 'ost_write'])),
  uid: some(fc.constantFrom(7, 8)),
  nodes: some(fc.constantFrom(1, 3)),
  servers: fc.subarray([...SERVERS]),
  rpcs: fc.constantFrom(0, 5, 500),
})

/** No difference is known: every job is evaluated. */
const plainly = (groups: readonly Group[]): Group[] =>
  groups.map((g) => ({ ...g, queues: g.queues.map((q) => ({ ...q, difference: undefined })) }))

it('equal the results over all jobs, for any rules, edits and jobs', () => {
  let passedOver = 0
  fc.assert(
    fc.property(
      fc.record({ first: fc.array(conditions, { maxLength: 4 }), rest: fc.array(conditions, { maxLength: 4 }) }),
      fc.array(edit, { maxLength: 4 }),
      fc.array(job, { maxLength: 6 }),
      fc.subarray([...NAMES, 'new1', 'new2', 'default']),
      (lists, edits, jobs, names) => {
        const servers = SERVERS.map((server, i) => {
          const list = i === 0 ? lists.first : lists.rest
          const values = list.map((c, at) => `start ${NAMES[at] ?? ''} ${c} rate=${at === 0 ? 10 : 50}`)
          const before = readServer(serviceWith('tbf', values, { cpts: 1 }), server)
          return { before, after: planEdits(before, edits).expected }
        })
        const groups = groupServers(servers)
        expect(runTrial(servers, jobs, names, groups)).toEqual(runTrial(servers, jobs, names, plainly(groups)))
        const isConcerned = concerned(groups, new Set(names))
        passedOver += jobs.filter((j) => !isConcerned(j)).length
        const rules = names.filter((n) => n !== 'default')
        const each = classesOfEach(jobs, rules, groups)
        for (const rule of rules) expect(each.get(rule)).toBe(runTrial(servers, jobs, [rule], plainly(groups)).classes)
      },
    ),
    { numRuns: 600 },
  )
  expect(passedOver).toBeGreaterThan(100)
})
