/** Several consoles on one cluster: a stop, a take-over and a removal elsewhere end enforce, and no rule comes back. */
import { beforeEach, describe, expect, it } from 'vitest'
import { MODEL_FENCES } from '#core/control/fences.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { NodeConnection } from '../base/connection.ts'
import { EmulatedSource } from '../cluster/emulated-source.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import { emulatedCluster, twoJobs, type Emulated, type Setup } from '../../tests/node/emulated-cluster.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { Audit } from '../base/audit.ts'
import { newSession } from './console-name.ts'
import { stopEverything, type StopParts } from './stop-all.ts'
import { EnforcementStore, storeFile } from './store.ts'
import { leaseStore } from './store-leases.ts'

const HOSTS = ['oss01', 'oss02']
let folder: string
beforeEach(() => {
  folder = tempFolder()
})
function open(): EnforcementStore {
  const opened = EnforcementStore.open(storeFile(folder), 0)
  if (!opened.ok) throw new Error(opened.error.why)
  return opened.value
}

const managed = (c: Emulated, host: string): string[] =>
  parseNrsTbfRule(c.rules(host))
    .rules.filter((r) => isControllerRule(r.name))
    .map((r) => r.name)
const all = (c: Emulated): string[] => HOSTS.flatMap((h) => managed(c, h))
const timers = (c: Emulated): string[] =>
  HOSTS.flatMap((h) => [...(c.source.emulator.node(h)?.timers.keys() ?? [])]).toSorted()
const eventTexts = (m: ClusterMonitor): string[] => m.events.between(-Infinity, Infinity, 50).map((e) => e.text)

/** Console that enforces, with the records of a data folder. */
function console(user: string, more: Setup = {}, store?: EnforcementStore): Emulated {
  const leases = store && leaseStore(store.leases, 'small', user)
  return emulatedCluster(twoJobs(), {
    mode: 'enforce',
    controller: 'static',
    fences: MODEL_FENCES,
    session: newSession(user),
    stops: store?.stops.of('small'),
    leases,
    ...more,
  })
}

const stopOf = (c: Emulated, session: string, more: Partial<StopParts> = {}): StopParts => ({
  cluster: 'small',
  nodes: c.source.nodes,
  store: undefined,
  audit: new Audit(() => undefined),
  session,
  nowMs: () => c.monitor.nowMs(),
  stopControllers: () => undefined,
  settleMs: 0,
  answerMs: 500,
  ...more,
})

describe('a stop by another process of the data folder', () => {
  it('is obeyed before the next command; who stopped it and when is shown and recorded; nothing comes back', async () => {
    const a = open()
    const b = open()
    const c = console('ada@desk', {}, a)
    await c.run(3)
    expect(all(c).length).toBeGreaterThan(0)
    const from = c.writes().length
    b.stops.record('small', 'stop', 'eve@login03', Date.UTC(2026, 1, 2, 3, 4, 5))
    await c.run(13)
    const made = c
      .writes()
      .slice(from)
      .filter((w) => !w.command.includes(' stop ') || / (?:start|change) /.test(w.command))
    expect(made).toEqual([])
    expect([all(c), timers(c)]).toEqual([[], []])
    expect(c.monitor.loop.mode).toBe('observe')
    const [why] = c.monitor.failures
    expect(why).toMatchObject({
      code: 'STOPPED',
      why: expect.stringContaining('eve@login03 stopped it at 2026-02-02T03:04:05Z') as string,
    })
    expect(c.records.filter((r) => r.kind === 'mode').at(-1)?.text).toContain('eve@login03 stopped it')
    expect(eventTexts(c.monitor).join()).toContain('eve@login03 stopped it')
    // By an explicit act only.
    expect(c.monitor.setMode('enforce').ok).toBe(true)
    await c.run(16)
    expect(all(c).length).toBeGreaterThan(0)
  })

  it('between two commands of a period keeps the second from being sent', async () => {
    const a = open()
    const b = open()
    let isStopped = false
    const around = (node: NodeConnection): NodeConnection => ({
      ...node,
      exec: async (command) => {
        const r = await node.exec(command)
        if (!isStopped && node.host === 'oss01' && /start st_/.test(command)) {
          isStopped = true
          b.stops.record('small', 'stop', 'eve@login03', 0)
        }
        return r
      },
    })
    const c = console('ada@desk', { around }, a)
    await c.run(0.5)
    expect(isStopped).toBe(true)
    expect(c.writes().filter((w) => w.host === 'oss01' && w.command.includes(' start '))).toHaveLength(1)
    await c.run(3)
    expect([all(c), timers(c)]).toEqual([[], []])
  })

  it('that cannot be read lets nothing be written, and does not end enforce', async () => {
    let isBroken = false
    const stops = {
      last: () => {
        if (isBroken) throw new Error('disk I/O error')
        return undefined
      },
      record: () => {
        throw new Error('disk I/O error')
      },
    }
    const c = console('ada@desk', { stops, controller: 'adaptbf' })
    await c.run(2)
    isBroken = true
    const from = c.writes().length
    await c.run(4)
    expect(
      c
        .writes()
        .slice(from)
        .filter((w) => !w.command.includes(' stop ') || / (?:start|change) /.test(w.command)),
    ).toEqual([])
    expect(c.monitor.loop.mode).toBe('enforce')
  })
})

describe('a stop while a command is under way', () => {
  /** Holds back the first start of a rule until `pass` is called. */
  function held(): { around: NonNullable<Setup['around']>; reached: Promise<void>; pass: () => void } {
    let pass = (): void => undefined
    let reach = (): void => undefined
    const gate = new Promise<void>((resolve) => (pass = resolve))
    const reached = new Promise<void>((resolve) => (reach = resolve))
    let isFirst = true
    const around = (node: NodeConnection): NodeConnection => ({
      ...node,
      exec: async (command) => {
        if (isFirst && node.host === 'oss01' && /start st_/.test(command)) {
          isFirst = false
          reach()
          await gate
        }
        return node.exec(command)
      },
    })
    return { around, reached, pass }
  }
  const stopHere = (c: Emulated, more: Partial<StopParts> = {}): StopParts =>
    stopOf(c, c.monitor.session, {
      stopControllers: () => {
        c.monitor.stops.record('stop', 'ada@desk', 0)
        c.monitor.setMode('observe')
      },
      over: (ms) => c.monitor.over(ms),
      ...more,
    })

  it('waits for it, and removes what it made: no rule is left', async () => {
    const { around, reached, pass } = held()
    const c = console('ada@desk', { around, kind: 'LIVE' })
    void c.run(0.3)
    await reached
    let isOver = false
    const stopped = stopEverything(stopHere(c)).finally(() => (isOver = true))
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(isOver).toBe(false)
    pass()
    const { state, nodes } = await stopped
    expect(nodes.map((n) => n.state)).toEqual(['done', 'done'])
    expect(state).toBe('stopped')
    expect([all(c), timers(c)]).toEqual([[], []])
  })

  it('that does not end in time is uncertain, and its timer stays for what may still come', async () => {
    const { around, reached, pass } = held()
    const c = console('ada@desk', { around, kind: 'LIVE' })
    void c.run(0.3)
    await reached
    const { state, nodes } = await stopEverything(stopHere(c, { underWayMs: 30 }))
    expect(state).toBe('uncertain')
    expect(nodes).toMatchObject([
      { host: 'oss01', state: 'unknown', detail: expect.stringContaining('may act later') as string },
      { host: 'oss02', state: 'done' },
    ])
    expect(timers(c)).toHaveLength(1)
    // It acts later: the rule exists, and so does the timer that stops it.
    pass()
    await c.monitor.over(1000)
    expect(managed(c, 'oss01').length).toBeGreaterThan(0)
    c.source.emulator.sim.runUntil(62 * NS_PER_S)
    expect(all(c)).toEqual([])
  })

  it('is answered after a later reading: rules that come back meanwhile are removed again', async () => {
    const c = console('ada@desk')
    await c.run(2)
    const [name = ''] = managed(c, 'oss01')
    c.monitor.setMode('observe')
    let isBack = false
    const nodes = c.source.nodes.map((node): NodeConnection => ({
      ...node,
      exec: async (command) => {
        const r = await node.exec(command)
        // Read back as gone; this console does nothing there until the later reading.
        if (!isBack && all(c).length + timers(c).length === 0) {
          isBack = true
          setImmediate(() => {
            c.source.emulator
              .node('oss01')
              ?.exec(`lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start ${name} jobid={x} rate=9'`)
          })
        }
        return r
      },
    }))
    const { state, removed } = await stopEverything(stopOf(c, c.monitor.session, { nodes, settleMs: 300 }))
    expect(isBack).toBe(true)
    expect([state, all(c), timers(c)]).toEqual(['stopped', [], []])
    expect(removed).toBeGreaterThan(HOSTS.length)
  })

  it('reports uncertain while a process of the data folder still holds a lease', async () => {
    const store = open()
    store.leases.keep({
      cluster: 'small',
      host: 'oss02',
      unit: 'sluice-lease-eve--far-0000a9-1',
      owner: 'eve@far',
      machine: 'far',
      pid: 7,
      born: '',
      rules: 1,
      createdMs: 0,
      expiresMs: Number.MAX_SAFE_INTEGER,
    })
    const c = console('ada@desk')
    const { state, nodes } = await stopEverything(stopOf(c, c.monitor.session, { store, underWayMs: 20 }))
    expect(state).toBe('uncertain')
    expect(nodes).toMatchObject([
      { state: 'done' },
      { state: 'unknown', detail: expect.stringContaining('process 7 on far') as string },
    ])
  })
})

describe('a console of another data folder', () => {
  it('is known by its leases, stopped with its rules, named, and leaves enforce by itself', async () => {
    const c = console('ada@login03.site')
    await c.run(3)
    const theirs = timers(c)
    expect(theirs).toEqual(expect.arrayContaining([expect.stringMatching(/^sluice-lease-ada--login03-[0-9a-f]{6}-1$/)]))
    const stopping = stopEverything(stopOf(c, 'eve--desk-0000b2', { settleMs: 200 }))
    // Sampling continues while the stop removes its rules.
    for (let s = 3.1; s < 6; s += 0.1) {
      await c.run(s)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const { state, others } = await stopping
    expect(state).toBe('stopped')
    expect(others.map((o) => [o.host, o.console, o.lease])).toEqual(
      HOSTS.map((host, i) => [host, 'ada@login03', theirs[i]]),
    )
    await c.run(16)
    expect([all(c), timers(c)]).toEqual([[], []])
    expect(c.monitor.loop.mode).toBe('observe')
    expect(c.monitor.loop.leaveReason?.code).toBe('LEASE_TAKEN')
    expect(c.records.filter((r) => r.kind === 'mode').at(-1)?.text).toMatch(
      /eve@desk removed the rules|another console removed the rules/,
    )
  })

  it('leaves no instant in which a rule has no timer', async () => {
    const bare: string[] = []
    const c = console('ada@login03')
    await c.run(3)
    const nodes = c.source.nodes.map((node): NodeConnection => ({
      ...node,
      exec: async (command) => {
        const r = await node.exec(command)
        if (HOSTS.includes(node.host) && managed(c, node.host).length > 0 && timers(c).length === 0) bare.push(command)
        return r
      },
    }))
    await stopEverything(stopOf(c, 'eve--desk-0000b2', { nodes }))
    expect(bare).toEqual([])
    expect([all(c), timers(c)]).toEqual([[], []])
  })

  it('keeps the rules that it took over: the one before removes its own lease only', async () => {
    const source = new EmulatedSource(twoJobs())
    const a = console('ada@desk', { source })
    await a.run(3)
    const [node] = source.nodes as readonly [NodeConnection]
    const names = managed(a, 'oss01')
    expect(names.length).toBeGreaterThan(0)
    const stops = names.map((n) => `reg stop ${n}`)
    const take = `systemd-run --on-active=60s --timer-property=AccuracySec=1s --unit=sluice-lease-eve--far-0000c3-1 --collect sh -c '${stops
      .map((s) => `lctl set_param ost.OSS.ost_io.nrs_tbf_rule='\\''${s}'\\''`)
      .join('; ')}'`
    expect(await node.exec(take)).toMatchObject({ ok: true, value: { code: 0 } })
    for (const unit of timers(a).filter((u) => u.startsWith('sluice-lease-ada'))) {
      for (const host of HOSTS) source.emulator.node(host)?.exec(`systemctl stop ${unit}.timer`)
    }
    // And writes a different rate.
    await node.exec(`lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg change ${names[0]} rate=77'`)
    const from = a.writes().length
    await a.run(8)
    expect(a.monitor.loop.leaveReason).toMatchObject({
      code: 'LEASE_TAKEN',
      why: expect.stringContaining('eve@far took over') as string,
    })
    expect(
      a
        .writes()
        .slice(from)
        .filter((w) => w.host === 'oss01'),
    ).toEqual([])
    expect(managed(a, 'oss01')).toEqual(names)
  })
})
