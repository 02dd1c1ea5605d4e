import { describe, expect, it } from 'vitest'
import type { Scenario } from '#core/emulator/scenario.ts'
import { emulatedCluster, smallScenario, type Emulated } from '../../../tests/node/emulated-cluster.ts'
import { asOtherUser, ends, failing, QUICK, send, activeRules } from '../../../tests/node/rule-service.ts'
import { stagedFrame } from '../views/rules/staged.ts'
import { RuleService } from './rule-service.ts'
import { printed } from '#tests/kits/electron/answers.ts'

const POLICIES = 'ost.OSS.ost_io.nrs_policies'

/** Two servers of a release, with a job that always has RPCs waiting. */
function loaded(version: string, policy: string): Scenario {
  const s = smallScenario([{ id: '1.hog.u1', processes: 8 }], { period_ms: 500, policy })
  return { ...s, oss: s.oss.map((o) => ({ ...o, version })) }
}
const runs = (c: Emulated, host: string): string => {
  const text = c.source.emulator.node(host)?.exec(`lctl get_param -n ${POLICIES}`).stdout ?? ''
  return (
    /name: (tbf[^\n]*)\n {4}state: started/.exec(text)?.[1] ??
    (/name: fifo\n {4}state: started/.test(text) ? 'fifo' : '?')
  )
}
/** Virtual time follows the wall clock at ten times its speed, so waits poll in wall time. */
async function whileRunning<T>(c: Emulated, work: Promise<T>): Promise<T> {
  let isOver = false
  void work.finally(() => (isOver = true))
  for (let second = c.source.emulator.seconds; !isOver;) {
    second += 1
    await c.run(second)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return work
}
async function change(c: Emulated, d: RuleService, name: string, arg: string) {
  const staged = d.policies.stage('ost_io', { name, arg }, 'ticket 9')
  if (!staged.ok) throw new Error(staged.error.why)
  const frame = stagedFrame(d, { service: 'ost_io' }, 1)
  const done = await whileRunning(c, d.commit('ost_io', frame.review?.planId ?? '', frame.review?.typed ?? ''))
  return { frame, done }
}

describe.each(['2.15.8', '2.17.0', '2.17.57'])('a change of policy on %s', (version) => {
  it('starts TBF where fifo runs', async () => {
    const c = emulatedCluster(loaded(version, 'fifo'), { controller: 'none', mode: 'enforce' })
    await c.run(3)
    const { frame, done } = await change(c, new RuleService(c.monitor, QUICK), 'tbf', 'jobid')
    expect(frame.policy).toMatchObject({ from: 'fifo', to: 'tbf jobid', lost: [] })
    expect(frame.review?.typed).toBe('small')
    expect(ends(done)).toEqual(['oss01 done', 'oss02 done'])
    expect([runs(c, 'oss01'), runs(c, 'oss02')]).toEqual(['tbf jobid', 'tbf jobid'])
  })

  it('from type to type with RPCs queued hangs nothing, and undoing it brings the rules back', async () => {
    const c = emulatedCluster(loaded(version, 'tbf jobid'), { controller: 'none', mode: 'enforce' })
    for (const h of ['oss01', 'oss02']) asOtherUser(c, h, 'start slow jobid={1.*} rate=2')
    await c.run(4)
    const served = (): number => c.source.emulator.jobs[0]?.servedRpcs ?? 0
    expect(c.monitor.reading('oss01')?.policies.reduce((n, p) => n + p.queued, 0)).toBeGreaterThan(0)
    const d = new RuleService(c.monitor, QUICK)
    const { frame, done } = await change(c, d, 'tbf', 'nid')
    expect(frame.policy?.lost).toEqual(['slow jobid={1.*} 2'])
    expect(frame.review?.nodes[0]?.commands.some((l) => l.startsWith('# wait'))).toBe(version === '2.15.8')
    expect(ends(done)).toEqual(['oss01 done', 'oss02 done'])
    expect([runs(c, 'oss01'), runs(c, 'oss02')]).toEqual(['tbf nid', 'tbf nid'])
    // A hung server serves nothing.
    const then = served()
    await c.run(c.source.emulator.seconds + 4)
    expect(served()).toBeGreaterThan(then + 20)
    expect(d.undo(d.changesOf('ost_io')[0]?.id ?? '')).toMatchObject({ ok: true })
    const back = stagedFrame(d, { service: 'ost_io' }, 2).review
    expect(ends(await whileRunning(c, d.commit('ost_io', back?.planId ?? '', back?.typed ?? '')))).toEqual([
      'oss01 done',
      'oss02 done',
    ])
    // Up to 2.17.0 the field is not printed.
    expect(activeRules(c).map((l) => l.replace('jobid=', ''))[0]).toBe('slow {1.*} 2')
  })
})

it('the emulated 2.15 hangs on what the plan never sends', async () => {
  const c = emulatedCluster(loaded('2.15.8', 'tbf jobid'), { controller: 'none', mode: 'enforce' })
  for (const h of ['oss01', 'oss02']) asOtherUser(c, h, 'start slow jobid={1.*} rate=2')
  await c.run(4)
  for (const h of ['oss01', 'oss02']) c.source.emulator.node(h)?.exec(`lctl set_param ${POLICIES}='tbf nid'`)
  await c.run(6)
  const served = c.source.emulator.jobs[0]?.servedRpcs ?? 0
  await c.run(20)
  expect(c.source.emulator.jobs[0]?.servedRpcs).toBe(served)
})

it('a change of policy that the second server refuses leaves the first done and says so', async () => {
  const around = failing('oss02', /nrs_policies=/, 'refuse')
  const c = emulatedCluster(loaded('2.17.57', 'fifo'), { controller: 'none', mode: 'enforce', around })
  await c.run(3)
  const { done } = await change(c, new RuleService(c.monitor, QUICK), 'tbf', 'jobid')
  expect(ends(done)).toEqual(['oss01 done', 'oss02 rolled back'])
  expect([runs(c, 'oss01'), runs(c, 'oss02')]).toEqual(['tbf jobid', 'fifo'])
})

it('nothing is written on a server whose release cannot be read', async () => {
  const c = emulatedCluster(loaded('2.17.57', 'fifo'), {
    controller: 'none',
    mode: 'enforce',
    around: (node) => ({
      ...node,
      exec: async (command) => (command.includes(' version') ? printed('', 'no\n', 2) : node.exec(command)),
    }),
  })
  await c.run(3)
  const d = new RuleService(c.monitor, QUICK)
  const { frame, done } = await change(c, d, 'tbf', 'jobid')
  expect(frame.review?.refused?.code).toBe('VERSION_UNKNOWN')
  expect(ends(done)).toEqual(['VERSION_UNKNOWN'])
  expect(c.writes()).toEqual([])
})

/** Commits the undo of the newest change. */
async function undoNewest(c: Emulated, d: RuleService) {
  // The review is based on the newest sample.
  await c.run(c.source.emulator.seconds + 2)
  const [newest] = d.changesOf('ost_io')
  expect(d.undo(newest?.id ?? '')).toMatchObject({ ok: true })
  const back = stagedFrame(d, { service: 'ost_io' }, 2).review
  return whileRunning(c, d.commit('ost_io', back?.planId ?? '', back?.typed ?? ''))
}

it('undoing a change of policy returns each server to the policy that it had, and marks the change as undone', async () => {
  const c = emulatedCluster(loaded('2.17.57', 'fifo'), { controller: 'none', mode: 'enforce' })
  c.source.emulator.node('oss02')?.exec(`lctl set_param ${POLICIES}='tbf jobid'`)
  await c.run(3)
  const d = new RuleService(c.monitor, QUICK)
  const { done } = await change(c, d, 'tbf', 'nid')
  expect(ends(done)).toEqual(['oss01 done', 'oss02 done'])
  expect(ends(await undoNewest(c, d))).toEqual(['oss01 done', 'oss02 done'])
  expect([runs(c, 'oss01'), runs(c, 'oss02')]).toEqual(['fifo', 'tbf jobid'])
  expect(d.changesOf('ost_io').map((x) => x.undone)).toEqual([false, true])
})

it('undoing a change of policy starts no rule again whose timer would not end it any more, nor one of a controller', async () => {
  const c = emulatedCluster(loaded('2.17.57', 'tbf jobid'), { controller: 'none', mode: 'enforce' })
  await c.run(3)
  const d = new RuleService(c.monitor, QUICK)
  await send(d, ['start sl_short jobid={1.hog.u1} rate=50', 40], ['start sl_long jobid={2.*} rate=60', 3_600])
  for (const h of ['oss01', 'oss02']) asOtherUser(c, h, 'start ab_0123456789 jobid={3.*} rate=9')
  await c.run(c.source.emulator.seconds + 2)
  await change(c, d, 'tbf', 'nid')
  expect(ends(await undoNewest(c, d))).toEqual(['oss01 done', 'oss02 done'])
  expect(activeRules(c).map((l) => l.split(' ')[0])).toEqual(['sl_long', 'default'])
})

it('a review says which rules of others go with TBF', async () => {
  const c = emulatedCluster(loaded('2.17.57', 'tbf jobid'), { controller: 'none', mode: 'enforce' })
  await c.run(3)
  const d = new RuleService(c.monitor, QUICK)
  await send(d, ['start sl_mine jobid={1.hog.u1} rate=50', 600])
  asOtherUser(c, 'oss02', 'start theirs jobid={3.*} rate=9')
  await c.run(c.source.emulator.seconds + 2)
  d.policies.stage('ost_io', { name: 'fifo', arg: '' }, '')
  const { lints } = stagedFrame(d, { service: 'ost_io' }, 1)
  expect(lints.filter((l) => l.level === 'bad').map((l) => l.text)).toEqual([
    '1 rule that Sluice did not start is removed with TBF: theirs on oss02.',
  ])
})
