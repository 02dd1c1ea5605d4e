import { describe, expect, it } from 'vitest'
import type { RuleForm } from '#core/api/rule-edits.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import type { NodeConnection } from '../../base/connection.ts'
import {
  demo,
  emulatedCluster,
  smallScenario,
  twoJobs,
  type Emulated,
  type Setup,
} from '../../../tests/node/emulated-cluster.ts'
import { QUICK } from '../../../tests/node/rule-service.ts'
import { stagedFrame } from '../views/rules/staged.ts'
import { rulesFrame } from '../views/rules/rules.ts'
import { checkDraft } from './check.ts'
import { RuleService } from './rule-service.ts'
import { formOfValue } from './draft.ts'
import { rateOf } from './servers.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

const RULES = 'ost.OSS.ost_io.nrs_tbf_rule'
const terms = { expiresS: null, reason: 'ticket 7' }

async function service(setup: Setup = {}): Promise<{ c: Emulated; service: RuleService }> {
  const c = emulatedCluster(twoJobs(), { controller: 'none', ...setup })
  await c.run(3)
  return { c, service: new RuleService(c.monitor, QUICK) }
}
const stage = (d: RuleService, value: string, more: Partial<typeof terms> | { expiresS: number } = {}): string => {
  const staged = d.stage('ost_io', formOfValue(value), { ...terms, ...more })
  if (!staged.ok) throw new Error(`${staged.error.code}: ${staged.error.why}`)
  return staged.value
}
const review = (d: RuleService) => stagedFrame(d, { service: 'ost_io' }, 1).review
const commit = (d: RuleService) => {
  const r = review(d)
  return d.commit('ost_io', r?.planId ?? '', r?.typed ?? '')
}
const lists = (c: Emulated, host = 'oss01'): string[] =>
  parseNrsTbfRule(c.rules(host))
    .rules.filter((r) => r.queue === 'reg' && r.cpt === 0)
    .map((r) => `${r.name} ${r.conditions} ${r.rate}`)

describe('a change from draft to servers and back', () => {
  it('sends exactly the reviewed commands to every server, timers first, and reads them back', async () => {
    const { c, service: d } = await service()
    stage(d, 'reg start hog_cap jobid={1.hog.u1} rate=20', { expiresS: 600 })
    const shown = review(d)
    const before = c.sent.length
    const done = await commit(d)
    expect(done).toMatchObject({ ok: true, value: { nodes: [{ state: 'done' }, { state: 'done' }] } })
    for (const node of shown?.nodes ?? []) {
      for (const host of [node.host, ...node.alike]) {
        const sent = c.sent.slice(before).filter((s) => s.host === host && !/get_param|systemctl show/.test(s.command))
        expect(sent.map((s) => s.command)).toEqual(node.commands)
        expect(sent[0]?.command).toMatch(
          /^systemd-run --on-active=600s \S+ --unit=sluice-\w+ --collect lctl set_param .*reg stop hog_cap/,
        )
        expect(lists(c, host)).toContain('hog_cap jobid={1.hog.u1} 20')
      }
    }
    expect(d.staged.count).toBe(0)
    const intents = c.records.filter((r) => r.kind === 'intent').map((r) => r.text)
    expect(intents).toContain(shown?.nodes[0]?.commands.join('\n'))
  })

  it('is gone at its expiry although the console does nothing more', async () => {
    const { c, service: d } = await service()
    stage(d, 'start hog_cap jobid={1.hog.u1} rate=20', { expiresS: 30 })
    await commit(d)
    c.source.emulator.sim.runUntil((c.source.emulator.seconds + 31) * 1e9)
    expect(lists(c)).toEqual(['default * 10000'])
  })

  it('limits the job, and undoing it gives the rules back as they were', async () => {
    const { c, service: d } = await service()
    for (const host of ['oss01', 'oss02']) {
      c.source.emulator.node(host)?.exec(`lctl set_param ${RULES}='start night_batch jobid={9.*} rate=77'`)
      c.source.emulator.node(host)?.exec(`lctl set_param ${RULES}='start wide jobid={1.*} rate=150'`)
    }
    await c.run(4)
    const was = c.rules('oss01').replaceAll(/ref \d+/g, '')
    stage(d, 'start hog_cap jobid={1.hog.u1} rate=20')
    stage(d, 'change night_batch rate=5')
    stage(d, 'stop wide')
    await commit(d)
    expect(lists(c)).toEqual(['hog_cap jobid={1.hog.u1} 20', 'night_batch jobid={9.*} 5', 'default * 10000'])
    await c.run(8)
    const [past] = d.changesOf('ost_io')
    expect(d.undo(past?.id ?? '')).toMatchObject({ ok: true })
    const done = await commit(d)
    expect(done).toMatchObject({ ok: true, value: { nodes: [{ state: 'done' }, { state: 'done' }] } })
    expect(c.rules('oss01').replaceAll(/ref \d+/g, '')).toBe(was)
  })
})

describe('a change that is committed by hand', () => {
  it.each(['observe', 'advise'] as const)(
    'needs no controller to enforce: in %s it is sent, and none is started',
    async (mode) => {
      const { c, service: d } = await service({ mode, controller: 'adaptbf' })
      stage(d, 'start a jobid={1.hog.u1} rate=5')
      expect(review(d)?.refused).toBeNull()
      expect(await commit(d)).toMatchObject({ ok: true, value: { nodes: [{ state: 'done' }, { state: 'done' }] } })
      await c.run(6)
      expect(c.monitor.loop.mode).toBe(mode)
      expect(c.writes().map((w) => /nrs_tbf_rule='?(?:reg )?(\w+) (\w+)/.exec(w.command)?.slice(1))).toEqual([
        ['start', 'a'],
        ['start', 'a'],
      ])
    },
  )
})

describe('what is not sent', () => {
  it('anything before a commit, whatever was checked and staged', async () => {
    const { c, service: d } = await service()
    const before = c.sent.length
    checkDraft(d, 'ost_io', { text: 'start a jobid={1.hog.u1} rate=5' })
    stage(d, 'start a jobid={1.hog.u1} rate=5')
    stagedFrame(d, { service: 'ost_io' }, 1)
    expect(c.sent.length).toBe(before)
  })

  it('anything for want of a controller: a change is sent in every mode', async () => {
    const { service: d } = await service({ mode: 'observe' })
    stage(d, 'start a jobid={1.hog.u1} rate=5')
    expect(review(d)?.refused).toBeNull()
    expect(await commit(d)).toMatchObject({ ok: true })
  })

  it('a change while the cluster is locked', async () => {
    const { c } = await service({ mode: 'observe' })
    const locked = { code: 'LOCKED', what: 'small is locked', why: 'its safe mode requires an unlock' }
    const d = new RuleService(c.monitor, { ...QUICK, mayWrite: () => locked })
    stage(d, 'start a jobid={1.hog.u1} rate=5')
    expect(review(d)?.refused?.code).toBe('LOCKED')
    expect(await commit(d)).toMatchObject({ ok: false, error: { code: 'LOCKED' } })
    expect(c.writes()).toEqual([])
  })

  it('a change whose target was typed wrongly', async () => {
    const { c, service: d } = await service()
    stage(d, 'start a jobid={1.hog.u1} rate=5')
    expect(await d.commit('ost_io', review(d)?.planId ?? '', 'yes')).toMatchObject({
      ok: false,
      error: { code: 'NOT_TYPED' },
    })
    expect(c.writes()).toEqual([])
    expect(d.staged.count).toBe(1)
  })

  it('a change whose servers changed since the review', async () => {
    const { c, service: d } = await service()
    stage(d, 'change default rate=500')
    const old = review(d)
    c.source.emulator.node('oss02')?.exec(`lctl set_param ${RULES}='change default rate=500'`)
    expect(await d.commit('ost_io', old?.planId ?? '', old?.typed ?? '')).toMatchObject({
      ok: false,
      error: { code: 'PLAN_CHANGED' },
    })
    expect(c.writes()).toEqual([])
  })

  it('a rule that a server would refuse, or that belongs to a controller', async () => {
    const { service: d } = await service()
    for (const value of [
      'start a jobid={x} rate=0',
      'start a uid={5} rate=1',
      'start default jobid={x} rate=1',
      'change nosuch rate=1',
      'stop default',
      'start a_name_of_16_chr jobid={x} rate=1',
      'start ab_0123456789 jobid={x} rate=1',
    ]) {
      const r = d.stage('ost_io', formOfValue(value), terms)
      expect([value, r.ok ? 'staged' : r.error.code]).toEqual([value, 'DRAFT_FAULTY'])
    }
    expect(d.staged.count).toBe(0)
  })
})

describe('a server that fails midway', () => {
  const failing =
    (host: string, at: RegExp, how: 'refuse' | 'silent') =>
    (node: NodeConnection): NodeConnection => ({
      ...node,
      exec: async (command) => {
        if (node.host === host && at.test(command)) {
          if (how === 'silent') return lost()
          return printed('', 'error: set_param: Invalid argument\n', 22)
        }
        return node.exec(command)
      },
    })

  it('is brought back to what it was, and the servers after it get nothing', async () => {
    const { c, service: d } = await service({ around: failing('oss01', /start two /, 'refuse') })
    stage(d, 'start one jobid={1.*} rate=9')
    stage(d, 'start two jobid={2.*} rate=9')
    const done = await commit(d)
    expect(done).toMatchObject({
      ok: true,
      value: {
        nodes: [
          { host: 'oss01', state: 'rolled back' },
          { host: 'oss02', state: 'not sent' },
        ],
      },
    })
    expect(lists(c)).toEqual(['default * 10000'])
    expect(c.writes().filter((w) => w.host === 'oss02')).toEqual([])
    expect(d.staged.count).toBe(2)
  })

  it('gets no rule when its timer is refused', async () => {
    const { c, service: d } = await service({ around: failing('oss01', /^systemd-run/, 'refuse') })
    stage(d, 'start one jobid={1.*} rate=9', { expiresS: 300 })
    await commit(d)
    expect(c.writes().filter((w) => /start one/.test(w.command))).toEqual([])
  })

  it('is called unknown when it does not answer any more, never done', async () => {
    let isGone = false
    const around = (node: NodeConnection): NodeConnection => ({
      ...node,
      exec: async (command) => {
        if (node.host === 'oss02' && command.includes('start one')) isGone = true
        if (node.host === 'oss02' && isGone) return lost()
        return node.exec(command)
      },
    })
    const { service: d } = await service({ around })
    stage(d, 'start one jobid={1.*} rate=9')
    expect(await commit(d)).toMatchObject({
      ok: true,
      value: {
        nodes: [
          { host: 'oss01', state: 'done' },
          { host: 'oss02', state: 'unknown' },
        ],
      },
    })
  })

  it('keeps what cannot be put on record from being sent', async () => {
    let isFull = false
    const { c, service: d } = await service({
      onAudit: () => {
        if (isFull) throw new Error('disk full')
      },
    })
    stage(d, 'start one jobid={1.*} rate=9')
    isFull = true
    expect(await commit(d)).toMatchObject({ ok: false, error: { code: 'NOT_ON_RECORD' } })
    expect(c.writes()).toEqual([])
  })
})

describe('the check of a draft', () => {
  it('gives the form for a text and the text for a form', async () => {
    const { service: d } = await service()
    const text = 'hp start cap jobid={1.*}&jobid={*.u1} rate=40 rank=default realtime=1'
    const read = checkDraft(d, 'ost_io', { text })
    expect(read.faults).toEqual([])
    expect(read.form).toEqual({
      verb: 'start',
      queue: 'hp',
      name: 'cap',
      conditions: 'jobid={1.*}&jobid={*.u1}',
      rate: '40',
      rank: 'default',
      realtime: true,
    } satisfies RuleForm)
    expect(checkDraft(d, 'ost_io', { form: read.form }).text).toBe(text)
  })

  it('places a fault under what is wrong', async () => {
    const { service: d } = await service()
    const text = 'start cap jobid={1.*} rate=0'
    const [fault] = checkDraft(d, 'ost_io', { text }).faults
    expect(text.slice(fault?.at, (fault?.at ?? 0) + (fault?.length ?? 0))).toBe('0')
    expect(fault).toMatchObject({ errno: 'EINVAL', field: 'rate' })
  })

  it('takes the syntax of 2013 and says what became of it', async () => {
    const { service: d } = await service()
    const read = checkDraft(d, 'ost_io', { text: 'lctl set_param ost.OSS.ost_io.nrs_tbf_rule="start old {1.*} 100"' })
    expect(read.text).toBe('start old jobid={1.*} rate=100')
    expect(read.notes.length).toBeGreaterThan(0)
    expect(read.faults).toEqual([])
  })

  it('says what the rate comes to and which live jobs would bind', async () => {
    const { service: d } = await service()
    const read = checkDraft(d, 'ost_io', { text: 'reg start cap jobid={1.hog.u1} rate=20' })
    expect(read.trial).toMatchObject({ jobCount: 1, mayCount: 0, servers: 2, targets: 2 })
    expect(read.trial?.jobs[0]).toMatchObject({ jobId: '1.hog.u1', how: 'yes', before: 'default' })
    expect(read.trial?.jobs[0]?.change).toBeLessThan(0)
    expect(read.ceiling.map((p) => p.text).join('')).toMatch(
      /^20 RPC\/s × 2 OSS = up to 40 RPC\/s, about .* 64 KiB\. Mean rate \d+ RPC\/s\.$/,
    )
  })
})

describe('the rules view', () => {
  const rows = (d: RuleService) =>
    rulesFrame(d, { at: null, service: 'ost_io', node: '', queue: 'reg', offset: 0, limit: 100 }, 1).rows

  it('marks what is staged where it will stand', async () => {
    const { c, service: d } = await service()
    for (const host of ['oss01', 'oss02']) {
      for (const rule of ['low jobid={7.*} rate=5', 'high jobid={8.*} rate=6']) {
        c.source.emulator.node(host)?.exec(`lctl set_param ${RULES}='start ${rule}'`)
      }
    }
    await c.run(4)
    stage(d, 'reg start new jobid={1.*} rate=9 rank=low')
    stage(d, 'change high rate=60')
    stage(d, 'stop low')
    expect(rows(d).map((r) => [r.name, r.staged, r.rateStaged])).toEqual([
      ['high', 'mod', 60],
      ['new', 'add', 9],
      ['low', 'del', null],
      ['default', '', null],
    ])
    expect(rows(d).find((r) => r.name === 'new')).toMatchObject({ would: 2, servers: 0 })
  })

  it('names the servers that lack a rule', async () => {
    const { c, service: d } = await service()
    c.source.emulator.node('oss01')?.exec(`lctl set_param ${RULES}='start lone jobid={7.*} rate=5'`)
    await c.run(4)
    const lone = rows(d).find((r) => r.name === 'lone')
    expect(lone).toMatchObject({ servers: 1, serversTotal: 2, missing: ['oss02'] })
  })
})

describe('metadata', () => {
  it('is limited on the MDS, where the rule counts opens and not closes', async () => {
    const c = emulatedCluster(demo(), { controller: 'none' })
    await c.run(8)
    const d = new RuleService(c.monitor, QUICK)
    const tar = '4733.tar.u512'
    const before = rateOf(c.monitor, 'mdt', tar)
    expect(before).toBeGreaterThan(100)
    const staged = d.stage('mdt', formOfValue(`start tar_cap jobid={${tar}} rate=30`), terms)
    expect(staged.ok).toBe(true)
    const frame = stagedFrame(d, { service: 'mdt' }, 1)
    expect(frame.review?.trial).toMatchObject({ jobCount: 1, servers: 1 })
    expect(frame.items[0]?.commands).toEqual([
      `lctl set_param mds.MDS.mdt.nrs_tbf_rule='start tar_cap jobid={${tar}} rate=30'`,
    ])
    expect(await d.commit('mdt', frame.review?.planId ?? '', 'tar_cap')).toMatchObject({
      ok: true,
      value: { nodes: [{ host: 'mds01', state: 'done' }] },
    })
    await c.run(14)
    // create, close, setattr, mkdir in turn: three of four RPCs match the rule, and job_stats counts five operations
    // for them.
    const after = rateOf(c.monitor, 'mdt', tar)
    expect(after).toBeGreaterThan(40)
    expect(after).toBeLessThan(55)
    const rows = rulesFrame(d, { at: null, service: 'mdt', node: '', queue: 'reg', offset: 0, limit: 10 }, 1)
    expect(rows.services).toEqual(['ost_io', 'mdt', 'mdt_readpage'])
    expect(rows.rows.map((r) => [r.name, r.owner, r.reason])).toEqual([
      ['tar_cap', 'operator', 'ticket 7'],
      ['default', 'lustre', ''],
    ])
  })
})

it('rates of a trial are means, so that a bursty job has the same rate in proposal, editor and review', async () => {
  const bursts = { pattern: { kind: 'bursts', rpcs: 40, every_s: 7 }, processes: 4 }
  const c = emulatedCluster(smallScenario([{ id: '1.burst.u1', ...bursts }]), { controller: 'none' })
  const d = new RuleService(c.monitor, QUICK)
  const rates: number[] = []
  const instants: number[] = []
  for (let at = 60; at < 74; at++) {
    await c.run(at)
    const { trial } = checkDraft(d, 'ost_io', { form: formOfValue('start cap jobid={1.burst.u1} rate=5') })
    rates.push(trial?.jobs.find(({ jobId }) => jobId === '1.burst.u1')?.rpcs ?? 0)
    instants.push(rateOf(c.monitor, 'ost_io', '1.burst.u1'))
  }
  expect(Math.min(...instants)).toBe(0)
  expect(Math.max(...instants)).toBeGreaterThan(100)
  // 160 RPCs every seven seconds.
  expect(Math.min(...rates)).toBeGreaterThan(18)
  expect(Math.max(...rates)).toBeLessThan(28)
})
