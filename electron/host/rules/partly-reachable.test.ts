import { describe, expect, it } from 'vitest'
import type { Failure } from '#core/base/result.ts'
import { EnforcementStore } from '../../enforce/store.ts'
import {
  asOtherUser,
  commit,
  ends,
  QUICK,
  review,
  ruleService,
  send,
  stage,
  activeRules,
  type Around,
} from '../../../tests/node/rule-service.ts'
import { stagedFrame } from '../views/rules/staged.ts'
import { RuleService } from './rule-service.ts'
import { liveJobs } from './servers.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

const CAP = 'start cap jobid={1.hog.u1} rate=20'

function cutOff(host: string) {
  const line = { isCut: false }
  const around: Around = (node) => ({
    ...node,
    exec: async (command) => {
      if (line.isCut && node.host === host) return lost('no route to host')
      return node.exec(command)
    },
  })
  return { line, around }
}
function memoryStore(): EnforcementStore {
  const opened = EnforcementStore.open(':memory:', 0)
  if (!opened.ok) throw new Error(opened.error.what)
  return opened.value
}
const undo = (d: RuleService): void => {
  const staged = d.undo(d.changesOf('ost_io')[0]?.id ?? '')
  if (!staged.ok) throw new Error(staged.error.why)
}
const changes = (d: RuleService) => stagedFrame(d, { service: 'ost_io' }, 1).changes

describe('a plan that was shown before a server fell silent', () => {
  it('says that it does not answer and how old its last reading is, and still hits the jobs that it is about', async () => {
    const { line, around } = cutOff('oss02')
    const { c, service: d } = await ruleService({ around })
    stage(d, CAP, 600)
    const shown = review(d)
    const hit = (): string[] => liveJobs(c.monitor, 'ost_io').map((j) => j.jobId)
    expect(hit()).toContain('1.hog.u1')
    line.isCut = true
    await c.run(8)
    const sent = await d.commit('ost_io', shown?.planId ?? '', shown?.typed ?? '')
    expect(sent.ok ? '' : sent.error.why).toMatch(/^oss02 does not answer: its last reading is \d s old$/)
    expect(hit()).toContain('1.hog.u1')
  })
})

describe('undoing with a server that does not answer', () => {
  it('goes to the others at once, is shown as pending, and is sent when it answers again', async () => {
    const { line, around } = cutOff('oss02')
    const { c, service: d } = await ruleService({ around })
    await send(d, [CAP, 600])
    line.isCut = true
    await c.run(5)
    undo(d)
    expect(review(d)).toMatchObject({ pending: ['oss02'], refused: null })
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 pending'])
    expect(activeRules(c)).toEqual(['default * 10000'])
    expect(activeRules(c, 'oss02')[0]).toBe('cap jobid={1.hog.u1} 20')
    expect(changes(d)[1]).toMatchObject({ undone: false, pending: [{ host: 'oss02' }] })
    line.isCut = false
    await c.run(8)
    expect(activeRules(c, 'oss02')).toEqual(['default * 10000'])
    expect(c.source.emulator.node('oss02')?.timers.size).toBe(0)
    expect(changes(d)[0]?.nodes.map((n) => n.state)).toEqual(['done', 'done'])
    expect(changes(d)[1]).toMatchObject({ undone: true, pending: [] })
  })

  it('waits and says why while nothing may be written', async () => {
    const { line, around } = cutOff('oss02')
    let isLocked = false
    const mayWrite = (): Failure | undefined =>
      isLocked ? { code: 'LOCKED', what: 'it', why: 'it is locked' } : undefined
    const { c, service: d } = await ruleService({ around }, undefined, { mayWrite })
    await send(d, [CAP, 600])
    line.isCut = true
    await c.run(5)
    undo(d)
    await commit(d)
    isLocked = true
    line.isCut = false
    await c.run(8)
    expect(activeRules(c, 'oss02')[0]).toBe('cap jobid={1.hog.u1} 20')
    expect(changes(d)[1]?.pending).toEqual([{ host: 'oss02', why: 'it answers again; it is locked' }])
    isLocked = false
    await c.run(10)
    expect(activeRules(c, 'oss02')).toEqual(['default * 10000'])
  })

  it('is not sent by itself after everything was stopped', async () => {
    const { line, around } = cutOff('oss02')
    const { c, service: d } = await ruleService({ around })
    await send(d, [CAP, 600])
    line.isCut = true
    await c.run(5)
    undo(d)
    await commit(d)
    c.monitor.stops.record('stop', 'ada@desk', 0)
    line.isCut = false
    const from = c.writes().length
    await c.run(10)
    expect(c.writes().slice(from)).toEqual([])
    expect(changes(d)[1]?.pending).toMatchObject([{ why: expect.stringContaining('ada@desk stopped it') as string }])
  })

  it('of something else than a committed change is refused as before', async () => {
    const { line, around } = cutOff('oss02')
    const { c, service: d } = await ruleService({ around })
    line.isCut = true
    await c.run(5)
    stage(d, CAP)
    expect(ends(await commit(d))).toEqual(['SERVER_MISSING'])
  })
})

describe('a server whose end is not known', () => {
  it('is told by its rules when it answers again', async () => {
    const { line, around } = cutOff('oss02')
    const { c, service: d } = await ruleService({
      around: (node) => {
        const inner = around(node)
        return {
          ...inner,
          exec: async (command) => {
            const r = await inner.exec(command)
            if (node.host === 'oss02' && command.includes('start cap')) {
              line.isCut = true
              return lost()
            }
            return r
          },
        }
      },
    })
    stage(d, CAP, 600)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 unknown'])
    line.isCut = false
    await c.run(8)
    expect(changes(d)[0]?.nodes).toMatchObject([
      { state: 'done' },
      { state: 'done', detail: /answers again: verified by read-back/ },
    ])
    undo(d)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    expect(activeRules(c, 'oss02')).toEqual(['default * 10000'])
  })
})

describe('the change history', () => {
  it('outlives the console, with the Sluice rules and the pending changes', async () => {
    const store = memoryStore()
    const { line, around } = cutOff('oss02')
    const { c, service: d } = await ruleService({ around }, undefined, { store })
    await send(d, [CAP, 600])
    expect(store.rules.of('small').map((r) => `${r.host} ${r.queue} ${r.name}`)).toHaveLength(4)
    line.isCut = true
    await c.run(5)
    const second = new RuleService(c.monitor, { ...QUICK, store })
    const place = { service: 'ost_io', host: 'oss01', queue: 'reg', name: 'cap' } as const
    expect(second.rules.find(place)).toMatchObject({ reason: 'ticket 7', timer: { unit: /^sluice-/ } })
    undo(second)
    expect(ends(await commit(second))).toEqual(['oss01 done', 'oss02 pending'])
    const third = new RuleService(c.monitor, { ...QUICK, store })
    expect(changes(third).map((x) => [x.title, x.pending.length])).toEqual([
      ['stop cap', 1],
      ['start cap', 1],
    ])
    line.isCut = false
    await c.run(8)
    expect(activeRules(c, 'oss02')).toEqual(['default * 10000'])
    expect(store.rules.of('small')).toEqual([])
  })

  it('has what a command committed meanwhile', async () => {
    const store = memoryStore()
    const { c, service: d } = await ruleService({}, undefined, { store })
    const command = new RuleService(c.monitor, { ...QUICK, store })
    await send(command, [CAP, 600])
    await c.run(12)
    expect(d.changesOf('ost_io').map((x) => x.title)).toEqual(['start cap'])
    expect(d.rules.find({ service: 'ost_io', host: 'oss01', queue: 'reg', name: 'cap' })?.timer).toBeDefined()
  })

  it('keeps nothing of a rule that was not started', async () => {
    const store = memoryStore()
    const { c, service: d } = await ruleService(
      {
        around: (node) => ({
          ...node,
          exec: async (command) => (command.includes('start cap') ? printed('', 'no\n', 22) : node.exec(command)),
        }),
      },
      undefined,
      { store },
    )
    stage(d, CAP, 600)
    expect(ends(await commit(d))).toEqual(['oss01 rolled back', 'oss02 not sent'])
    expect(store.rules.of('small')).toEqual([])
    expect(activeRules(c)).toEqual(['default * 10000'])
  })
})

describe('a server that keeps no timers', () => {
  const noTimers: Around = (node) => ({ ...node, timers: 'none' })
  const bound = (d: RuleService, laptopBound: boolean): void => {
    const id = stage(d, CAP, 30)
    const item = d.staged.of('ost_io').find((s) => s.id === id)
    if (item) d.stage('ost_io', item.form, { expiresS: 30, reason: '', laptopBound }, id)
  }
  it('gets no rule unless the operator accepts that it is bound to the console', async () => {
    const { c, service: d } = await ruleService({ around: noTimers })
    bound(d, false)
    expect(review(d)?.refused?.code).toBe('NO_TIMER')
    expect(ends(await commit(d))).toEqual(['NO_TIMER'])
    expect(c.writes()).toEqual([])
  })

  it('has its rule stopped by the console at its time, in any mode, and when the console ends', async () => {
    for (const how of ['time', 'close'] as const) {
      const { c, service: d } = await ruleService({ around: noTimers })
      bound(d, true)
      expect(review(d)?.timers).toBe('laptop')
      expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
      expect(activeRules(c)[0]).toBe('cap jobid={1.hog.u1} 20')
      c.monitor.setMode('observe')
      await c.run(20)
      expect(activeRules(c)[0]).toBe('cap jobid={1.hog.u1} 20')
      if (how === 'time') {
        await c.run(40)
        // Automatic writes are not awaited by a sample.
        for (const h of ['oss01', 'oss02']) await expect.poll(() => activeRules(c, h)).toEqual(['default * 10000'])
      } else await d.close()
      for (const h of ['oss01', 'oss02']) expect(activeRules(c, h)).toEqual(['default * 10000'])
    }
  })
})

describe('what is different since the review', () => {
  it('is said, server by server, and nothing is sent', async () => {
    const { c, service: d } = await ruleService()
    for (const h of ['oss01', 'oss02']) asOtherUser(c, h, 'start night jobid={9.*} rate=77')
    await c.run(5)
    stage(d, CAP)
    const r = review(d)
    asOtherUser(c, 'oss02', 'change night rate=50')
    const done = await d.commit('ost_io', r?.planId ?? '', r?.typed ?? '')
    expect(done).toMatchObject({ ok: false, error: { code: 'PLAN_CHANGED', why: /^oss02: night has rate 50, not 77/ } })
    expect(activeRules(c)).toEqual(['night jobid={9.*} 77', 'default * 10000'])
    await c.run(7)
    expect(stagedFrame(d, { service: 'ost_io', reviewed: r?.planId }, 1).since[0]).toMatch(/^oss02: night has rate 50/)
  })

  it('is said of a release and of a policy, too', async () => {
    const { c, service: d } = await ruleService()
    stage(d, CAP)
    const r = review(d)
    c.source.emulator.node('oss01')?.exec("lctl set_param ost.OSS.ost_io.nrs_policies='fifo'")
    const done = await d.commit('ost_io', r?.planId ?? '', r?.typed ?? '')
    expect(done).toMatchObject({
      ok: false,
      error: { code: 'PLAN_CHANGED', why: /^oss01: reg runs no TBF, not tbf jobid/ },
    })
  })

  it('asks for the time of a rule that would stand for days', async () => {
    const { service: d } = await ruleService()
    stage(d, CAP, 172_800)
    expect(review(d)?.typed).toBe('cap for 48 h')
  })
})
