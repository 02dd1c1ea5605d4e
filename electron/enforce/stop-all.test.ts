import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import type { EmulatedNode } from '#core/emulator/node.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { NodeConnection } from '../base/connection.ts'
import { EmulatedSource } from '../cluster/emulated-source.ts'
import { demo, emulatedCluster, twoJobs } from '../../tests/node/emulated-cluster.ts'
import { Audit, type AuditRecord } from '../base/audit.ts'
import { makeTimerCommand } from './expiry.ts'
import { cleanLeftovers, findLeftovers, type LeftoverParts } from './leftovers.ts'
import { isReading, readOnlyWhile } from '../cluster/remote/read-only.ts'
import { stopEverything, type StopParts } from './stop-all.ts'
import { EnforcementStore } from './store.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

const OST = 'ost.OSS.ost_io.nrs_tbf_rule'
const managed = 'ab_0123456789'

let source: EmulatedSource
let oss: EmulatedNode
let store: EnforcementStore
let records: AuditRecord[]
let sent: string[]
let node: NodeConnection
let stopped: number
/** Commands that are not answered, lose their answer, or are refused. */
let fate: (command: string) => 'ok' | 'lost' | 'lost after' | 'refused'

beforeEach(() => {
  source = new EmulatedSource(twoJobs())
  oss = source.emulator.node('oss01') as EmulatedNode
  const opened = EnforcementStore.open(':memory:', 0)
  if (!opened.ok) throw new Error('no store')
  store = opened.value
  records = []
  sent = []
  stopped = 0
  fate = () => 'ok'
  const inner = source.nodes.find((n) => n.host === 'oss01') as NodeConnection
  node = {
    ...inner,
    exec: async (command) => {
      const f = fate(command)
      if (f === 'lost') return lost('the connection was lost')
      if (f === 'refused') return printed('', 'error: set_param: no\n', 22)
      if (!isReading(command)) sent.push(command)
      const r = await inner.exec(command)
      if (f === 'lost after') return lost('the connection was lost')
      return r
    },
  }
})
const audit = (): Audit => new Audit((r) => records.push(r))
const parts = (): StopParts => ({
  cluster: 'demo',
  nodes: [node],
  store,
  audit: audit(),
  nowMs: () => 0,
  answerMs: 200,
  session: 'me--here-0000a1',
  settleMs: 0,
  stopControllers: () => stopped++,
})
const put = (value: string): void => void expect(oss.exec(setParamCommand(OST, value)).code, value).toBe(0)
const text = (): string => oss.exec(`lctl get_param -n ${OST}`).stdout
const keep = (name: string, unit = '', expiresMs: number | null = null): void =>
  store.rules.keep({
    cluster: 'demo',
    host: 'oss01',
    service: 'ost_io',
    queue: 'reg',
    name,
    change: 'c1',
    owner: 'ada@desk',
    reason: 'noisy',
    ticket: '',
    createdMs: 0,
    unit,
    expiresMs,
    realtime: false,
  })
const timer = (unit: string, names: readonly string[], seconds = 600): void => {
  const stops = names.map((name) => ({ parameter: OST, queue: 'reg' as const, name }))
  const made = makeTimerCommand('systemd', { unit, seconds, stops })
  expect(made.ok && oss.exec(made.value).code).toBe(0)
}

describe('the global stop', () => {
  it('removes the rules of the other servers although the program fails on one, which is unknown then', async () => {
    put(`reg start ${managed} jobid={a.0} rate=5`)
    const faulty: NodeConnection = {
      ...node,
      host: 'oss00',
      exec: () => Promise.reject(new TypeError('x is undefined')),
    }
    const end = await stopEverything({ ...parts(), nodes: [faulty, node] })
    expect(end.nodes).toEqual([
      { host: 'oss00', state: 'unknown', detail: 'internal error: x is undefined' },
      { host: 'oss01', state: 'done', detail: '1 rule removed, read back' },
    ])
    expect(end.state).toBe('uncertain')
    expect(text()).not.toContain(managed)
  })

  it('ends controllers first, then removes Sluice rules by name and by record, reads back, and ends their timers', async () => {
    put('reg start theirs jobid={x.*} rate=9')
    put(`reg start ${managed} jobid={a.0} rate=5`)
    put('start sl_both jobid={c.0} rate=5')
    put('reg start hog jobid={b.0} rate=5')
    keep('hog')
    timer('sluice-t1', [managed, 'hog'])
    const end = await stopEverything(parts())
    expect(end).toEqual({
      removed: 4,
      state: 'stopped',
      others: [],
      nodes: [{ host: 'oss01', state: 'done', detail: '4 rules removed, read back' }],
    })
    expect(stopped).toBe(1)
    expect(text()).toContain('theirs jobid={x.*} 9')
    for (const name of [managed, 'hog', 'sl_both']) expect(text()).not.toContain(name)
    expect(oss.timers.size).toBe(0)
    expect(store.rules.of('demo')).toEqual([])
    // Recorded verbatim before it was sent.
    expect(records.map((r) => r.kind)).toEqual(['intent', 'outcome', 'intent', 'outcome'])
    const intents = records.filter((r) => r.kind === 'intent').flatMap((r) => r.text.split('\n'))
    expect(intents).toEqual(sent)
    // Timers last.
    expect(sent.at(-1)).toBe('systemctl stop sluice-t1.timer')
  })

  it('leaves the original list byte for byte, whatever it was', async () => {
    const name = fc
      .stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,8}$/)
      .filter((n) => n !== 'default' && !/^(?:ab|st|pd|sl|sluice)_/.test(n))
    const queue = fc.constantFrom('reg ', 'hp ', '')
    const foreign = fc.uniqueArray(fc.tuple(name, queue, fc.integer({ min: 1, max: 999_999 })), {
      maxLength: 6,
      selector: ([n]) => n,
    })
    const own = fc.uniqueArray(
      fc.tuple(fc.stringMatching(/^(?:ab|st|pd)_[0-9a-f]{10}$|^sl_[a-z0-9]{1,8}$/), queue, fc.boolean()),
      { minLength: 1, maxLength: 6, selector: ([n]) => n },
    )
    await fc.assert(
      fc.asyncProperty(foreign, own, fc.uniqueArray(name, { maxLength: 3 }), async (theirs, mine, registered) => {
        const world = new EmulatedSource(twoJobs())
        const server = world.emulator.node('oss01') as EmulatedNode
        const run = (v: string): void => void expect(server.exec(setParamCommand(OST, v)).code, v).toBe(0)
        for (const [n, q, rate] of theirs) run(`${q}start ${n} jobid={${n}.*} rate=${rate}`)
        const before = server.exec(`lctl get_param ${OST}`).stdout
        const taken = new Set(theirs.map(([n]) => n))
        const free = registered.filter((n) => !taken.has(n))
        const first = theirs[0]
        for (const [n, q, isRanked] of mine) {
          const rank = isRanked && first && first[1] === q ? ` rank=${first[0]}` : ''
          run(`${q}start ${n} jobid={${n}.0} rate=7${rank}`)
        }
        const opened = EnforcementStore.open(':memory:', 0)
        if (!opened.ok) throw new Error('no store')
        for (const n of free) {
          run(`reg start ${n} jobid={${n}.0} rate=3`)
          opened.value.rules.keep({
            cluster: 'demo',
            host: 'oss01',
            service: 'ost_io',
            queue: 'reg',
            name: n,
            change: 'c',
            owner: 'o',
            reason: '',
            ticket: '',
            createdMs: 0,
            unit: '',
            expiresMs: null,
            realtime: false,
          })
        }
        expect(server.exec(`lctl get_param ${OST}`).stdout).not.toBe(before)
        const nodes = world.nodes.filter((n) => n.host === 'oss01')
        const end = await stopEverything({ ...parts(), nodes, store: opened.value })
        expect(end.nodes).toMatchObject([{ state: 'done' }])
        expect(server.exec(`lctl get_param ${OST}`).stdout).toBe(before)
      }),
      { numRuns: 40 },
    )
  })

  it('names a server that does not answer, and the timers that will act there', async () => {
    fate = () => 'lost'
    keep('hog', 'sluice-c1', 90_000)
    keep('bare')
    expect((await stopEverything({ ...parts(), silent: ['oss09'] })).nodes).toEqual([
      {
        host: 'oss01',
        state: 'not sent',
        detail: 'it does not answer; its rules end by sluice-c1 in 90 s; without a timer: bare',
      },
      { host: 'oss09', state: 'not sent', detail: 'it is not connected; no Sluice timer is known there' },
    ])
    expect(store.rules.of('demo')).toHaveLength(2)
  })

  it.each([
    ['refused', 'failed', 'still there: ab_0123456789'],
    ['lost', 'failed', 'still there: ab_0123456789'],
    // It was executed: the rules show it.
    ['lost after', 'done', '1 rule removed'],
  ] as const)('knows the end of a stop that is %s by reading', async (how, state, detail) => {
    put(`reg start ${managed} jobid={a.0} rate=5`)
    fate = (c) => (c.includes('set_param') ? how : 'ok')
    const { nodes } = await stopEverything(parts())
    expect(nodes).toMatchObject([{ state, detail: expect.stringContaining(detail) as string }])
  })

  it('calls it unknown when the rules cannot be read back', async () => {
    put(`reg start ${managed} jobid={a.0} rate=5`)
    fate = (c) => (c.includes('get_param') && sent.length > 0 ? 'lost' : 'ok')
    expect((await stopEverything(parts())).nodes).toMatchObject([{ state: 'unknown' }])
  })

  it('leaves a timer whose rule is still there', async () => {
    put(`reg start ${managed} jobid={a.0} rate=5`)
    timer('sluice-t1', [managed])
    fate = (c) => (c.includes('set_param') ? 'refused' : 'ok')
    await stopEverything(parts())
    expect([...oss.timers.keys()]).toEqual(['sluice-t1'])
  })

  it('exploit: is not held up by a record that cannot be written; what it did is recorded when it can be', async () => {
    put(`reg start ${managed} jobid={a.0} rate=5`)
    timer('sluice-t1', [managed])
    let isFull = true
    const records: string[] = []
    const late = new Audit((r) => {
      if (isFull) throw new Error('disk full')
      records.push(`${r.number} ${r.kind} ${r.text}`)
    })
    expect((await stopEverything({ ...parts(), audit: late })).nodes).toMatchObject([
      { state: 'done', detail: expect.stringContaining('not recorded yet: disk full') as string },
    ])
    expect([sent.some((c) => c.includes(`stop ${managed}`)), oss.timers.size]).toEqual([true, 0])
    expect(late.waiting).toMatchObject({ dropped: 0, why: 'disk full' })
    const waiting = late.waiting?.records.length ?? 0
    expect(waiting).toBeGreaterThan(2)
    isFull = false
    late.write(1, 'oss01', 'mode', 'the next one')
    expect(late.waiting).toBeUndefined()
    expect(records).toHaveLength(waiting + 1)
    expect(records[0]).toMatch(new RegExp(`^1 intent .*stop ${managed}.*\\(written later: disk full\\)$`, 's'))
    expect(records.at(-1)).toBe(`${waiting + 1} mode the next one`)
  })

  it('keeps a bounded number of records that wait, and counts the rest', () => {
    let isFull = true
    const texts: string[] = []
    const late = new Audit((r) => {
      if (isFull) throw new Error('disk full')
      texts.push(r.text)
    })
    for (let i = 0; i < 1_005; i++) late.note(i, 'oss01', 'intent', `stop ${i}`)
    expect([late.waiting?.records.length, late.waiting?.dropped]).toEqual([1_000, 5])
    isFull = false
    late.settle()
    expect([late.waiting, texts.length, texts.at(-1)]).toEqual([
      undefined,
      1_001,
      '5 more records of removals could not be kept: disk full',
    ])
  })
})

describe('leftovers', () => {
  const lookParts = (more: Partial<LeftoverParts> = {}): LeftoverParts & { audit: Audit } => ({
    cluster: 'demo',
    nodes: [node],
    store,
    nowMs: () => 1_000_000,
    audit: audit(),
    isHeld: () => false,
    heldUnits: new Set<string>(),
    ...more,
  })

  it('are rules and timers of Sluice that no console manages, those without a timer first', async () => {
    put('reg start theirs jobid={x.*} rate=9')
    put(`reg start ${managed} jobid={a.0} rate=5`)
    put('reg start sl_bare jobid={b.0} rate=6')
    timer('sluice-t1', [managed])
    timer('sluice-old', ['ab_ffffffffff'])
    source.emulator.sim.runUntil(100 * NS_PER_S)
    const { list, fault } = await findLeftovers(lookParts())
    expect(fault).toBe('')
    expect(list).toMatchObject([
      { rule: 'sl_bare', timer: '', expiresMs: null, text: 'jobid={b.0} 6 RPC/s; nothing will stop it' },
      {
        rule: managed,
        timer: 'sluice-t1',
        expiresMs: 1_500_000,
        text: 'jobid={a.0} 5 RPC/s',
        key: `oss01/ost_io/reg/${managed}`,
      },
      { rule: '', timer: 'sluice-old', key: 'oss01/timer/sluice-old' },
    ])
  })

  it('are also rules of a living console whose timer is gone: nothing ends them', async () => {
    put('reg start hog jobid={b.0} rate=6')
    keep('hog', 'sluice-c1', 2_000_000)
    expect((await findLeftovers(lookParts())).list).toMatchObject([
      {
        rule: 'hog',
        timer: '',
        owner: 'ada@desk: noisy',
        text: expect.stringContaining('nothing will stop it') as string,
      },
    ])
  })

  it('are taken away by their keys, and nothing else is', async () => {
    put('reg start theirs jobid={x.*} rate=9')
    const before = text()
    put(`reg start ${managed} jobid={a.0} rate=5`)
    put('reg start sl_bare jobid={b.0} rate=6')
    timer('sluice-t1', [managed, 'sl_bare'])
    expect(
      await cleanLeftovers(lookParts(), [`oss01/ost_io/reg/${managed}`, 'oss01/ost_io/reg/theirs', 'junk']),
    ).toMatchObject([
      // The timer still has a rule to stop.
      { host: 'oss01', state: 'done', detail: expect.stringContaining('sluice-t1') as string },
    ])
    expect(text()).toContain('sl_bare')
    expect([...oss.timers.keys()]).toEqual(['sluice-t1'])
    await cleanLeftovers(lookParts(), ['oss01/ost_io/reg/sl_bare'])
    expect(text()).toBe(before)
    expect(oss.timers.size).toBe(0)
  })

  it('are unknown of a server that does not answer', async () => {
    fate = () => 'lost'
    expect(await findLeftovers(lookParts())).toEqual({ list: [], fault: 'oss01: its rules cannot be read' })
  })
})

describe('a read-only node', () => {
  const writes = [
    setParamCommand(OST, 'reg stop x'),
    `lctl get_param version; ${setParamCommand(OST, 'reg stop x')}`,
    'lctl get_param version | sh',
    'lctl get_param `reboot`',
    'lctl get_param $(reboot)',
    "lctl get_param 'a' >/etc/passwd",
    'lctl get_param a\nreboot',
    'systemctl stop sluice-a.timer',
    'systemd-run reboot',
    'sluice padll policies set',
    'lctl conf_param x=y',
    'scontrol update jobid=1 state=x',
    'hostname x',
    'date -s 0',
    'lctl set_param -P x=y',
    '',
  ]
  it('takes readings alone, whatever is asked above it', async () => {
    let isReadOnly = true
    const readOnly = readOnlyWhile(node, () => isReadOnly)
    const refused = { ok: false, error: { code: 'NODE_READ_ONLY', what: 'Nothing was sent to oss01' } }
    for (const command of writes) expect(await readOnly.exec(command), command).toMatchObject(refused)
    for (const kind of ['systemd', 'shell', 'helper'] as const) {
      const made = makeTimerCommand(kind, {
        unit: 'sluice-a',
        seconds: 5,
        stops: [{ parameter: OST, queue: 'reg', name: managed }],
      })
      expect(await readOnly.exec(made.ok ? made.value : '')).toMatchObject(refused)
    }
    expect(sent).toEqual([])
    const done = { ok: true, value: { code: 0 } }
    expect(await readOnly.exec(`lctl get_param ost.OSS.ost_io.nrs_policies ${OST}`)).toMatchObject(done)
    expect(await readOnly.exec("lctl get_param 'obdfilter.*.job_stats'")).toMatchObject(done)
    isReadOnly = false
    expect(await readOnly.exec(setParamCommand(OST, 'reg start x jobid={a} rate=5'))).toMatchObject(done)
  })

  it('lets a whole cluster be sampled, and a controller in enforce send nothing', async () => {
    const refusedOf = async (mode: 'observe' | 'enforce'): Promise<string[]> => {
      const refused: string[] = []
      const c = emulatedCluster(demo(), {
        kind: 'LIVE',
        mode,
        around: (n) => {
          const readOnly = readOnlyWhile(n, () => true)
          return {
            ...n,
            exec: async (command) => {
              const ran = await readOnly.exec(command)
              if (!ran.ok) refused.push(command)
              return ran
            },
          }
        },
      })
      await c.run(4)
      expect(c.monitor.missing.size).toBe(0)
      return refused
    }
    expect(await refusedOf('observe')).toEqual([])
    const refused = await refusedOf('enforce')
    expect(refused.length).toBeGreaterThan(0)
    // The timer, and the command that ensures it is not there.
    expect(refused.every((r) => /^systemd-run |^systemctl stop sluice-lease-/.test(r))).toBe(true)
  })

  it('makes the global stop, clean-up and leases come to nothing sent', async () => {
    put(`reg start ${managed} jobid={a.0} rate=5`)
    const readOnly = readOnlyWhile(node, () => true)
    expect((await stopEverything({ ...parts(), nodes: [readOnly] })).nodes).toMatchObject([{ state: 'failed' }])
    expect(sent).toEqual([])
  })
})
