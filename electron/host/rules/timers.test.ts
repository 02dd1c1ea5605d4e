import { describe, expect, it } from 'vitest'
import {
  asOtherUser,
  commit,
  ends,
  failing,
  review,
  ruleService,
  send,
  stage,
  standing,
} from '../../../tests/node/rule-service.ts'

const CAP = 'start cap jobid={1.hog.u1} rate=20'
const STANDS = 'cap jobid={1.hog.u1} 20'

describe('the timer of a rule', () => {
  it('is replaced when the rule is stopped and started again, also at the rate it has', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [CAP, 30])
    await c.run(10)
    await send(d, 'stop cap', [CAP, 60])
    await c.run(50)
    expect(standing(c)).toContain(STANDS)
    await c.run(75)
    expect(standing(c)).not.toContain(STANDS)
  })

  it('is taken away when the rule is started again to stay', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [CAP, 30])
    await c.run(5)
    await send(d, 'stop cap', CAP)
    await c.run(60)
    expect(standing(c)).toContain(STANDS)
    expect(c.source.emulator.node('oss01')?.timers.size).toBe(0)
  })

  it('still ends the rule of the other queue when one is stopped', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [CAP, 30])
    await c.run(5)
    await send(d, 'reg stop cap')
    expect(standing(c, 'oss01', 'hp')).toContain(STANDS)
    await c.run(40)
    expect(standing(c, 'oss01', 'hp')).not.toContain(STANDS)
  })

  it('of each queue is its own', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [`reg ${CAP}`, 30], [`hp ${CAP}`, 60])
    await c.run(5)
    await send(d, 'stop cap')
    expect(c.source.emulator.node('oss01')?.timers.size).toBe(0)
  })

  it('is not asked for by a change: the one that is there stays', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [CAP, 30])
    await c.run(5)
    stage(d, 'change cap rate=50', 600)
    expect(review(d)?.expiresS).toBeNull()
    expect(d.staged.of('ost_io')[0]?.terms.expiresS).toBeNull()
    await commit(d)
    await c.run(40)
    expect(standing(c)).toEqual(['default * 10000'])
  })

  it('stays with a rule that a roll-back brings back', async () => {
    const { c, service: d } = await ruleService({ around: failing('oss01', /start two/, 'refuse') })
    await send(d, [CAP, 30])
    await c.run(5)
    stage(d, 'stop cap')
    stage(d, 'start two jobid={2.*} rate=9')
    expect(ends(await commit(d))).toEqual(['oss01 rolled back', 'oss02 not sent'])
    expect(standing(c)).toContain(STANDS)
    await c.run(40)
    expect(standing(c)).not.toContain(STANDS)
  })

  it('stays with a rule that a roll-back could not stop', async () => {
    const { c, service: d } = await ruleService({
      around: failing('oss01', /start two|^lctl set_param .*'stop one'$/, 'refuse'),
    })
    stage(d, 'start two jobid={2.*} rate=9', 30)
    stage(d, 'start one jobid={1.*} rate=9', 30)
    expect(ends(await commit(d))).toEqual(['oss01 failed', 'oss02 not sent'])
    expect(standing(c)).toContain('one jobid={1.*} 9')
    await c.run(40)
    expect(standing(c)).toEqual(['default * 10000'])
  })

  it('is forgotten with its rule, so that a rule of others under that name is not ours', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [`${CAP} realtime=1`, 30])
    const place = { service: 'ost_io', host: 'oss01', queue: 'reg', name: 'cap' } as const
    expect(d.rules.find(place)?.timer).toBeDefined()
    await c.run(140)
    asOtherUser(c, 'oss01', CAP)
    await c.run(142)
    expect(d.rules.find(place)).toBeUndefined()
  })
})

describe('a commit that ended halfway', () => {
  it('is sent again to the servers that lack it, with timers of new names', async () => {
    let isSilent = true
    const { c, service: d } = await ruleService({ around: failing('oss02', /start cap/, 'silent', () => isSilent) })
    stage(d, CAP, 60)
    // The lost command did not take effect, as the read-back shows.
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 rolled back'])
    await c.run(5)
    isSilent = false
    expect(review(d)?.nodes.map((n) => n.host)).toEqual(['oss02'])
    expect(ends(await commit(d))).toEqual(['oss02 done'])
    for (const host of ['oss01', 'oss02']) {
      expect(standing(c, host)).toContain(STANDS)
      expect(c.source.emulator.node(host)?.timers.size).toBe(1)
    }
    expect(d.staged.count).toBe(0)
  })
})
