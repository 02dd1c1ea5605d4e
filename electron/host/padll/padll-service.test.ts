import { afterEach, describe, expect, it } from 'vitest'
import { BYTE_SCOPES } from '#core/api/padll.ts'
import { POSIX_CALLS } from '#core/padll/posix-calls.ts'
import { stagedHost, type Staged } from '../../../tests/node/staged-host.ts'

type Cluster = Awaited<ReturnType<typeof stagedHost>>

const open: Cluster[] = []
async function start(staged: Partial<Staged> = {}): Promise<Cluster> {
  const c = await stagedHost({ jobs: [{ id: 'a' }, { id: 'b', clients: [3] }], ...staged })
  open.push(c)
  await c.run(3)
  return c
}
afterEach(async () => {
  for (const c of open.splice(0)) await c.host.close()
})

const TEXT = '1 0 demand a meta_op 120\n2 0 demand b meta_op 80\n'
const records = (c: Cluster) => c.host.monitor.history.audit(1, 100).map((r) => [r.kind, r.server, r.text])
const policiesOf = (c: Cluster): string => c.padll.global?.policiesText ?? ''

describe('changing the controller of stages', () => {
  it('puts settings in force, each on record before it is sent, and reads them back', async () => {
    const c = await start()
    await c.client.padll.change({
      plane: 'stages',
      algorithm: 'psharing',
      epsilon: 0.1,
      split: 'usage',
      collectRounds: 3,
      limit: { scope: 'meta_op', rate: 90 },
    })
    const f = await c.frame()
    expect(f.controller).toMatchObject({ algorithm: 'psharing', epsilon: 0.1, split: 'usage', collectRounds: 3 })
    expect(f.limit).toBe(90)
    const command =
      'sluice padll set --epoch 1 algorithm=psharing epsilon=0.1 split=usage collect_rounds=3 limit.meta_op=90'
    expect(records(c).slice(-2)).toEqual([
      ['intent', 'qos01', command],
      ['outcome', 'qos01', 'done: verified by read-back'],
    ])
    await c.client.padll.change({ plane: 'stages', limit: { scope: 'meta_op', rate: null } })
    expect((await c.frame({ scope: 'meta_op' })).limit).toBeNull()
  })

  it.each(['observe', 'advise'] as const)('writes nothing in %s, and says what to do', async (mode) => {
    const c = await start({ mode })
    const change = c.client.padll.change({ plane: 'stages', algorithm: 'static' })
    await expect(change).rejects.toMatchObject({ code: 'REFUSED', data: { code: 'MODE', next: /Enforce/ } })
    const { planId, remarks } = await c.client.padll.check({ plane: 'stages', text: TEXT })
    expect(remarks[0]?.text).toContain(mode)
    const apply = c.client.padll.apply({ plane: 'stages', text: TEXT, planId, typed: '' })
    await expect(apply).rejects.toMatchObject({ code: 'REFUSED', data: { code: 'MODE' } })
    expect(policiesOf(c)).not.toBe(TEXT)
    expect(records(c)).toEqual([])
  })

  it.each([
    [{ epsilon: 2 }, 'epsilon'],
    [{ epsilon: -0 - 0.1 }, 'epsilon'],
    [{ collectRounds: 0 }, 'collect_rounds'],
    [{ collectRounds: 1.5 }, 'collect_rounds'],
    [{ limit: { scope: 'meta_op', rate: 0 } }, 'limit'],
    [{ limit: { scope: 'stat; reboot', rate: 5 } }, 'is not an operation or a class'],
    [{}, 'nothing to set'],
  ])('refuses %o and sends nothing', async (change, why) => {
    const c = await start()
    const done = c.client.padll.change({ plane: 'stages', ...change })
    await expect(done).rejects.toMatchObject({
      code: 'REFUSED',
      data: { code: 'BAD_SETTING', why: expect.stringContaining(why) as string },
    })
    expect(records(c)).toEqual([])
  })

  it('sends nothing that cannot be put on record', async () => {
    const c = await start()
    c.host.monitor.history.close()
    const change = c.client.padll.change({ plane: 'stages', algorithm: 'static' })
    await expect(change).rejects.toMatchObject({ data: { code: 'NOT_ON_RECORD' } })
    expect(c.padll.global?.settings.algorithm).toBe('psfa')
  })

  it('does not reach a controller that does not answer', async () => {
    const c = await start()
    c.padll.killGlobal()
    await c.run(6)
    const change = c.client.padll.change({ plane: 'stages', algorithm: 'static' })
    await expect(change).rejects.toMatchObject({ data: { code: 'CONTROLLER_SILENT' } })
  })
})

describe('policies', () => {
  it('are checked with their faults, steps, differences and the literal command', async () => {
    const c = await start({ padll: { policies: '1 0 demand a meta_op 50\n' } })
    const text = '1 0 demand a meta_op 150\n2 0 demand b meta_op 100\n3 60 job c open 5\n'
    const check = await c.client.padll.check({ plane: 'stages', text })
    expect(check.faults).toEqual([])
    expect(check.steps.map((s) => [s.line, s.job, s.state])).toEqual([
      [1, 'a', 'active'],
      [2, 'b', 'active'],
      [3, 'c', 'waiting'],
    ])
    expect(check.diff.map((d) => d.op)).toEqual(['del', 'add', 'add', 'add'])
    expect(check.commands).toEqual([`printf %s '${text}' | sluice padll policies set --epoch 1`])
    expect(check.remarks.map((r) => r.text).join('\n')).toMatch(/250 op\/s of meta_op.*limit is 200/)
    expect(check.remarks.map((r) => r.text).join('\n')).toMatch(/c: no such job/)
    expect(policiesOf(c)).toBe('1 0 demand a meta_op 50\n')
  })

  it('of data are in bytes a second', async () => {
    const c = await start()
    await c.client.padll.change({ plane: 'stages', limit: { scope: 'data_op', rate: 1000 } })
    const text = '1 0 demand a data_op 5000\n'
    const { remarks } = await c.client.padll.check({ plane: 'stages', text })
    expect(remarks.map((r) => r.text).join()).toContain('5000 B/s of data_op')
    const inBytes = POSIX_CALLS.filter((call) => call.origin === 'padll' && call.cost === 'bytes').map(
      (call) => call.type,
    )
    expect(new Set([...inBytes, 'data', 'data_op'])).toEqual(BYTE_SCOPES)
  })

  it('of YAML come back as lines, too', async () => {
    const c = await start()
    const text = 'policies:\n  - { at: 0, demand: 120, job: a, scope: meta_op }\n'
    const { lines, faults, planId } = await c.client.padll.check({ plane: 'stages', text })
    expect(faults).toEqual([])
    expect(lines).toMatch(/^\d+ 0 demand a meta_op 120\n$/)
    await c.client.padll.apply({ plane: 'stages', text, planId, typed: '' })
    expect((await c.frame()).policies.text).toBe(text)
  })

  it.each([
    ['1 0 demand a magic 5', 1, 14],
    ['1 0 demand a meta_op 5\n2 0 demand b meta_op zero', 2, 22],
    ['1 0 demand \u4f60 meta_op 5', 1, 12],
    ['1 0 demand a\u0000b meta_op 5', 1, 13],
  ])('with a fault are named by place and never sent: %j', async (text, line, column) => {
    const c = await start()
    const { faults, commands, planId } = await c.client.padll.check({ plane: 'stages', text })
    expect(faults[0]).toMatchObject({ line, column, severity: 'error' })
    expect(commands).toEqual([])
    const apply = c.client.padll.apply({ plane: 'stages', text, planId, typed: '' })
    await expect(apply).rejects.toMatchObject({ data: { code: 'FAULTY' } })
    expect(records(c)).toEqual([])
  })

  it('go to the controller as they were checked, byte for byte, and hold', async () => {
    const id = `x';reboot;'$(id)\`id\`%s\\n*{a,b}\u00e9`
    const c = await start({ jobs: [{ id, rate: 50 }], padll: { algorithm: 'static' } })
    const text = `# hostile\n1 0 job ${id} meta_op 40\n`
    const { planId, faults, commands } = await c.client.padll.check({ plane: 'stages', text })
    expect(faults).toEqual([])
    await c.client.padll.apply({ plane: 'stages', text, planId, typed: '' })
    expect(policiesOf(c)).toBe(text)
    expect(records(c).at(-2)).toEqual(['intent', 'qos01', commands[0]])
    await c.run(10)
    const f = await c.frame()
    expect(f.jobs.jobId).toEqual([id])
    expect(f.jobs.measured[0]).toBeGreaterThan(35)
    expect(f.jobs.measured[0]).toBeLessThanOrEqual(42)
    expect(f.policies.text).toBe(text)
  })

  it('are refused when the policies in force, the text or the controller changed since the check', async () => {
    const c = await start()
    const { planId } = await c.client.padll.check({ plane: 'stages', text: TEXT })
    const refused = { data: { code: 'PLAN_CHANGED' } }
    await expect(c.client.padll.apply({ plane: 'stages', text: `${TEXT}#`, planId, typed: '' })).rejects.toMatchObject(
      refused,
    )
    await expect(c.client.padll.apply({ plane: 'mds', text: TEXT, planId, typed: '' })).rejects.toMatchObject(refused)
    c.padll.killGlobal()
    c.padll.restartGlobal()
    await c.run(6)
    await expect(c.client.padll.apply({ plane: 'stages', text: TEXT, planId, typed: '' })).rejects.toMatchObject(
      refused,
    )
    const again = await c.client.padll.check({ plane: 'stages', text: TEXT })
    await c.client.padll.apply({ plane: 'stages', text: TEXT, planId: again.planId, typed: '' })
    expect(policiesOf(c)).toBe(TEXT)
  })

  it('outside a demo are refused until the name of what they change is typed', async () => {
    const c = await start()
    Object.defineProperty(c.host.source, 'kind', { value: 'LIVE' })
    const { planId } = await c.client.padll.check({ plane: 'stages', text: TEXT })
    const { name } = (await c.frame()).controller
    for (const typed of ['', 'staged', `${name} `]) {
      const apply = c.client.padll.apply({ plane: 'stages', text: TEXT, planId, typed })
      await expect(apply).rejects.toMatchObject({ data: { code: 'NOT_TYPED' } })
    }
    expect(records(c)).toEqual([])
    await c.client.padll.apply({ plane: 'stages', text: TEXT, planId, typed: name })
    expect(policiesOf(c)).toBe(TEXT)
    const mds = await c.client.padll.check({ plane: 'mds', text: TEXT })
    const order = { plane: 'mds', text: TEXT, planId: mds.planId } as const
    await expect(c.client.padll.apply({ ...order, typed: name })).rejects.toMatchObject({ data: { code: 'NOT_TYPED' } })
    await c.client.padll.apply({ ...order, typed: 'staged' })
    await c.run(5)
    expect((await c.frame({ plane: 'mds' })).policies.text).toBe(TEXT)
  })

  it('never reach the successor of the controller that they were checked on', async () => {
    const c = await start()
    const { planId } = await c.client.padll.check({ plane: 'stages', text: TEXT })
    // The console has not read the new one yet: the controller itself refuses because of the epoch.
    c.padll.killGlobal()
    c.padll.restartGlobal()
    const apply = c.client.padll.apply({ plane: 'stages', text: TEXT, planId, typed: '' })
    await expect(apply).rejects.toMatchObject({
      data: { code: 'CONTROLLER_REFUSED', why: expect.stringContaining('epoch') as string },
    })
    expect(policiesOf(c)).not.toBe(TEXT)
    expect(records(c).at(-1)?.[2]).toContain('CONTROLLER_REFUSED')
  })
})

describe('metadata servers', () => {
  it('are changed through the loop of the console, not through the controller of stages', async () => {
    const c = await start()
    await c.client.padll.change({ plane: 'mds', algorithm: 'uniform', limit: { scope: 'meta_op', rate: 500 } })
    await c.run(5)
    const f = await c.frame({ plane: 'mds' })
    expect(f).toMatchObject({ plane: 'mds', limit: 500, controller: { algorithm: 'uniform', name: 'Sluice' } })
    expect(c.padll.global?.settings.algorithm).toBe('psfa')
    const split = c.client.padll.change({ plane: 'mds', split: 'usage' })
    await expect(split).rejects.toMatchObject({ data: { code: 'NOT_OF_PLANE' } })
  })
})
