import { describe, expect, it } from 'vitest'
import type { NodeConnection } from '../../base/connection.ts'
import { asOtherUser, ruleService, send } from '../../../tests/node/rule-service.ts'
import type { Emulated } from '../../../tests/node/emulated-cluster.ts'

const RULE = 'start hog_cap jobid={1.hog.u1} rate=20'
const stops = (c: Emulated) =>
  c.monitor.events
    .between(-Infinity, Infinity, 1_000)
    .filter(({ kind }) => kind === 'stop')
    .map(({ level, subject, text, where }) => [level, subject, text, where])
const untimed = (node: NodeConnection): NodeConnection => ({ ...node, timers: 'none' })

describe('a rule that expires', () => {
  it('is reported once, with the servers whose timers stopped it', async () => {
    const { c, service } = await ruleService()
    await send(service, [RULE, 30])
    await c.run(20)
    expect(stops(c)).toEqual([])
    await c.run(45)
    expect(stops(c)).toEqual([['ok', 'Rule', 'hog_cap expired, stopped by its server timer', '2 servers']])
    await c.run(165)
    expect(stops(c)).toHaveLength(1)
  })

  it('is not reported if the rule was stopped before', async () => {
    const { c, service } = await ruleService()
    await send(service, [RULE, 30])
    await c.run(5)
    for (const host of ['oss01', 'oss02']) asOtherUser(c, host, 'stop hog_cap')
    await c.run(45)
    expect(stops(c)).toEqual([])
  })

  it('is reported as stopped by this console where the server keeps no timer', async () => {
    const { c, service } = await ruleService({ around: untimed })
    const staged = service.stage(
      'ost_io',
      {
        verb: 'start',
        name: 'hog_cap',
        conditions: 'jobid={1.hog.u1}',
        rate: '20',
        rank: '',
        realtime: false,
        queue: 'reg',
      },
      { expiresS: 30, reason: '', laptopBound: true },
    )
    expect(staged.ok).toBe(true)
    await send(service)
    await c.run(45)
    expect(stops(c)).toEqual([['ok', 'Rule', 'hog_cap expired, stopped by this console', '2 servers']])
  })

  it('is reported as a fault if it is still active after its expiry', async () => {
    const { c, service } = await ruleService()
    await send(service, [RULE, 30])
    const unit = /--unit=(sluice-\w+)/.exec(c.sent.map(({ command }) => command).join(' '))?.[1] ?? ''
    expect(c.source.emulator.node('oss01')?.exec(`systemctl stop ${unit}.timer`).code).toBe(0)
    await c.run(140)
    expect(stops(c)).toEqual([
      ['bad', 'Rule', 'hog_cap has expired but is still active: stop it', 'oss01'],
      ['ok', 'Rule', 'hog_cap expired, stopped by its server timer', 'oss02'],
    ])
  })
})
