import { describe, expect, it } from 'vitest'
import type { RuleForm } from '#core/api/rule-edits.ts'
import { stagedFrame } from '../views/rules/staged.ts'
import { checkDraft } from './check.ts'
import type { RuleService } from './rule-service.ts'
import {
  asOtherUser,
  commit,
  ends,
  failing,
  review,
  ruleService,
  send,
  stage,
  activeRules,
} from '../../../tests/node/rule-service.ts'

const CAP = 'start cap jobid={1.hog.u1} rate=20'
const STANDS = 'cap jobid={1.hog.u1} 20'
const RENEWAL: RuleForm = {
  verb: 'change',
  name: 'cap',
  conditions: '',
  rate: '',
  rank: '',
  realtime: false,
  queue: 'both',
}
function renew(d: RuleService, expiresS: number | null): void {
  const staged = d.stage('ost_io', RENEWAL, { expiresS, renews: true, reason: '' })
  if (!staged.ok) throw new Error(`${staged.error.code}: ${staged.error.why}`)
}

describe('the timer of a rule', () => {
  it('is replaced when the rule is stopped and started again, also at the rate it has', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [CAP, 30])
    await c.run(10)
    await send(d, 'stop cap', [CAP, 60])
    await c.run(50)
    expect(activeRules(c)).toContain(STANDS)
    await c.run(75)
    expect(activeRules(c)).not.toContain(STANDS)
  })

  it('is taken away when the rule is started again to stay', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [CAP, 30])
    await c.run(5)
    await send(d, 'stop cap', CAP)
    await c.run(60)
    expect(activeRules(c)).toContain(STANDS)
    expect(c.source.emulator.node('oss01')?.timers.size).toBe(0)
  })

  it('still ends the rule of the other queue when one is stopped', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [CAP, 30])
    await c.run(5)
    await send(d, 'reg stop cap')
    expect(activeRules(c, 'oss01', 'hp')).toContain(STANDS)
    await c.run(40)
    expect(activeRules(c, 'oss01', 'hp')).not.toContain(STANDS)
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
    expect(activeRules(c)).toEqual(['default * 10000'])
  })

  it('is replaced by a change with a new expiry, which sends no rule command', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [`${CAP} realtime=1`, 30])
    await c.run(10)
    const before = c.sent.length
    renew(d, 600)
    expect(review(d)).toMatchObject({ expiresS: 600, servers: 2, typed: 'cap' })
    expect(stagedFrame(d, { service: 'ost_io' }, 1).items[0]).toMatchObject({
      verb: 'change',
      renews: true,
      servers: 2,
    })
    expect(stagedFrame(d, { service: 'ost_io' }, 1).lints.map(({ code }) => code)).not.toContain('NO_CHANGE')
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    const commands = c.sent.slice(before).map(({ command }) => command)
    expect(commands.filter((command) => /set_param/.test(command) && !/^systemd-run/.test(command))).toEqual([])
    expect(c.source.emulator.node('oss01')?.timers.size).toBe(1)
    await c.run(100)
    expect(activeRules(c)).toContain(STANDS)
    expect(d.rules.find({ service: 'ost_io', host: 'oss01', queue: 'reg', name: 'cap' })?.realtime).toBe(true)
    await c.run(620)
    expect(activeRules(c)).not.toContain(STANDS)
  })

  it('is ended by a change to no expiry; its rollback commands leave no rule without a timer', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [CAP, 30])
    await c.run(5)
    renew(d, 600)
    expect(review(d)?.nodes[0]?.inverse).toEqual([])
    d.unstage('ost_io', null)
    renew(d, null)
    await commit(d)
    expect(c.source.emulator.node('oss01')?.timers.size).toBe(0)
    await c.run(60)
    expect(activeRules(c)).toContain(STANDS)
  })

  it('is replaced together with the rate', async () => {
    const { c, service: d } = await ruleService()
    await send(d, [CAP, 30])
    await c.run(5)
    const form = { ...RENEWAL, rate: '50' }
    expect(d.stage('ost_io', form, { expiresS: 300, renews: true, reason: '' }).ok).toBe(true)
    await commit(d)
    await c.run(60)
    expect(activeRules(c)).toContain('cap jobid={1.hog.u1} 50')
    await c.run(310)
    expect(activeRules(c)).toEqual(['default * 10000'])
  })

  it('is not renewed for a rule that does not exist, nor for default', async () => {
    const { c, service: d } = await ruleService()
    const terms = { expiresS: 300, renews: true, reason: '' }
    expect(d.stage('ost_io', RENEWAL, terms)).toMatchObject({ ok: false, error: { code: 'DRAFT_FAULTY' } })
    expect(d.stage('ost_io', { ...RENEWAL, name: 'default' }, terms).ok).toBe(false)
    expect(checkDraft(d, 'ost_io', { form: RENEWAL, renews: true }).faults).toHaveLength(1)
    stage(d, CAP, 30)
    await commit(d)
    await c.run(5)
    expect(checkDraft(d, 'ost_io', { form: RENEWAL, renews: true }).faults).toEqual([])
    expect(checkDraft(d, 'ost_io', { form: RENEWAL }).faults).toHaveLength(1)
  })

  it('stays with a rule that a roll-back brings back', async () => {
    const { c, service: d } = await ruleService({ around: failing('oss01', /start two/, 'refuse') })
    await send(d, [CAP, 30])
    await c.run(5)
    stage(d, 'stop cap')
    stage(d, 'start two jobid={2.*} rate=9')
    expect(ends(await commit(d))).toEqual(['oss01 rolled back', 'oss02 not sent'])
    expect(activeRules(c)).toContain(STANDS)
    await c.run(40)
    expect(activeRules(c)).not.toContain(STANDS)
  })

  it('stays with a rule that a roll-back could not stop', async () => {
    const { c, service: d } = await ruleService({
      around: failing('oss01', /start two|^lctl set_param .*'stop one'$/, 'refuse'),
    })
    stage(d, 'start two jobid={2.*} rate=9', 30)
    stage(d, 'start one jobid={1.*} rate=9', 30)
    expect(ends(await commit(d))).toEqual(['oss01 failed', 'oss02 not sent'])
    expect(activeRules(c)).toContain('one jobid={1.*} 9')
    await c.run(40)
    expect(activeRules(c)).toEqual(['default * 10000'])
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
      expect(activeRules(c, host)).toContain(STANDS)
      expect(c.source.emulator.node(host)?.timers.size).toBe(1)
    }
    expect(d.staged.count).toBe(0)
  })
})
