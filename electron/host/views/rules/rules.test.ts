import { describe, expect, it } from 'vitest'
import { parseScenario } from '#core/emulator/scenario.ts'
import {
  asOtherUser,
  commit,
  ends,
  review,
  ruleService,
  stage,
  activeRules,
} from '../../../../tests/node/rule-service.ts'
import { checkDraft } from '../../rules/check.ts'
import type { RuleService } from '../../rules/rule-service.ts'
import { rulesFrame } from './rules.ts'

const rows = (d: RuleService, at: number | null = null) =>
  rulesFrame(d, { at, service: 'ost_io', node: '', queue: 'reg', offset: 0, limit: 100 }, 1).rows

/** Two servers of different releases and CPT counts. */
function mixed() {
  const disk = { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 }
  const read = parseScenario(
    JSON.stringify({
      title: 'Two releases',
      cluster: 'mixed',
      clients: { count: 1 },
      oss: [
        { name: 'oss01', version: '2.15.8', cpts: 1, osts: [{ name: 'mixed-OST0000', disk }] },
        { name: 'oss02', version: '2.17.57', cpts: 3, osts: [{ name: 'mixed-OST0001', disk }] },
      ],
      control: { max_rate: 200, period_ms: 500 },
      jobs: [
        { id: '1.hog.u1', clients: [1], processes: 1, op: 'write', size_kib: 64, pattern: { kind: 'continuous' } },
      ],
    }),
  )
  if (!read.ok) throw new Error(read.error.why)
  return read.value
}

describe('rules of servers of several releases', () => {
  it('are one row each, however the servers print them', async () => {
    const { c, service: d } = await ruleService({}, mixed())
    stage(d, 'start cap jobid={1.hog.u1} rate=5')
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    await c.run(5)
    expect(activeRules(c, 'oss01')).toEqual(['cap {1.hog.u1} 5', 'default {*} 10000'])
    expect(rows(d).map((r) => [r.name, r.conditions, r.servers, r.missing, r.jobId, r.ceiling])).toEqual([
      ['cap', 'jobid={1.hog.u1}', 2, [], '1.hog.u1', 20],
      ['default', '*', 2, [], undefined, 40_000],
    ])
  })

  it('reach together what the rate comes to on the CPTs of each', async () => {
    const { service: d } = await ruleService({}, mixed())
    const { ceiling } = checkDraft(d, 'ost_io', { text: 'reg start cap jobid={1.hog.u1} rate=5' })
    expect(ceiling.map((p) => p.text).join('')).toMatch(/^5 RPC\/s × 4 CPT = up to 20 RPC\/s/)
  })

  it('are refused where a server lacks one, by its name', async () => {
    const { c, service: d } = await ruleService({}, mixed())
    for (const host of ['oss01', 'oss02']) asOtherUser(c, host, 'start old jobid={9.*} rate=7')
    await c.run(4)
    stage(d, 'change old rate=5')
    asOtherUser(c, 'oss02', 'stop old')
    await c.run(5)
    expect(review(d)?.refused?.why).toMatch(/^old does not exist.*\(oss02\)$/)
  })

  it('are restored by undoing a change on both', async () => {
    const { c, service: d } = await ruleService({}, mixed())
    for (const host of ['oss01', 'oss02']) asOtherUser(c, host, 'start old jobid={9.*} rate=7')
    await c.run(4)
    const was = [activeRules(c), activeRules(c, 'oss02')]
    stage(d, 'stop old')
    stage(d, 'start new jobid={9.* 8.*} rate=6')
    await commit(d)
    await c.run(5)
    d.undo(d.changesOf('ost_io')[0]?.id ?? '')
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    expect([activeRules(c), activeRules(c, 'oss02')]).toEqual(was)
  })
})

describe('an old picture', () => {
  it('says of a rule only what was known of it then', async () => {
    const { c, service: d } = await ruleService()
    for (const host of ['oss01', 'oss02']) asOtherUser(c, host, 'start cap jobid={9.*} rate=7')
    await c.run(4)
    const then = c.monitor.sample
    await c.run(16)
    stage(d, 'stop cap')
    stage(d, 'start cap jobid={8.*} rate=7', 60)
    await commit(d)
    await c.run(17)
    expect(rows(d).map((r) => [r.name, r.owner, r.reason])).toContainEqual(['cap', 'operator', 'ticket 7'])
    expect(rows(d, then).map((r) => [r.name, r.owner, r.reason])).toContainEqual(['cap', 'other', ''])
  })
})

describe('a line for another service', () => {
  it('is read for the one that is edited, and says so', async () => {
    const { service: d } = await ruleService()
    const text = 'lctl set_param mds.MDS.mdt.nrs_tbf_rule="start a jobid={x} rate=5"'
    expect(checkDraft(d, 'ost_io', { text })).toMatchObject({
      parameter: 'ost.OSS.ost_io.nrs_tbf_rule',
      notes: [expect.stringMatching(/^the line is for mdt/)],
    })
  })
})

describe('a rule that is asked for by its name', () => {
  it('has its place in the whole list, whatever part of it is sent', async () => {
    const { c, service: d } = await ruleService()
    for (const n of [1, 2, 3]) stage(d, `start cap${n} jobid={${n}.app.u1} rate=5`)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    await c.run(5)
    const query = { at: null, service: 'ost_io', node: '', queue: 'reg', limit: 1 } as const
    const names = rows(d).map((r) => r.name)
    for (const [at, name] of names.entries()) {
      const frame = rulesFrame(d, { ...query, offset: 0, sought: name }, 1)
      expect([frame.rows.length, frame.sought]).toEqual([1, { name, at }])
      expect(rulesFrame(d, { ...query, offset: at }, 1).rows[0]?.name).toBe(name)
    }
    expect(rulesFrame(d, { ...query, offset: 0, sought: 'nowhere' }, 1).sought).toEqual({ name: 'nowhere', at: null })
    expect(rulesFrame(d, { ...query, offset: 0 }, 1).sought).toBeUndefined()
  })
})
