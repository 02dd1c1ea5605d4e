import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import type { EmulatedNode } from '#core/emulator/node.ts'
import { EmulatedSource } from '../cluster/emulated-source.ts'
import type { NodeConnection } from '../base/connection.ts'
import { twoJobs } from '../../tests/node/emulated-cluster.ts'
import { Audit, type AuditRecord } from '../base/audit.ts'
import { Lease, type LeaseStore } from './lease.ts'
import { edited, lost, printed } from '#tests/kits/electron/answers.ts'

let source: EmulatedSource
let oss: EmulatedNode
let log: string[]
let records: AuditRecord[]
let refuses: (command: string) => boolean
let lease: Lease
/** Commands whose answer is lost; they may be executed all the same. */
let isLost: (command: string) => boolean
let isDone: boolean
let noted: string[]
/** Uptime that the server reports, s; its own clock if undefined. */
let upS: number | undefined

beforeEach(() => {
  source = new EmulatedSource(twoJobs())
  oss = source.emulator.node('oss01') as EmulatedNode
  log = []
  records = []
  refuses = () => false
  isLost = () => false
  isDone = true
  noted = []
  upS = undefined
  const inner = source.nodes[0] as NodeConnection
  const node: NodeConnection = {
    ...inner,
    exec: async (command) => {
      if (refuses(command)) return printed('', 'Failed to start transient timer unit: no\n', 1)
      if (isLost(command)) {
        if (isDone) await inner.exec(command)
        return lost('the connection was lost')
      }
      if (!command.includes('show')) log.push(command)
      const r = await inner.exec(command)
      return upS === undefined ? r : edited(r, (text) => text.replace(/^[\d.]+ [\d.]+$/m, `${upS} ${upS}`))
    },
  }
  const leaseStore: LeaseStore = {
    keep: (l) => noted.push(`keep ${l.unit} ${l.rules}`),
    end: (host, unit) => noted.push(`end ${host} ${unit}`),
    has: () => false,
  }
  lease = new Lease(node, 's1', new Audit((r) => records.push(r)), { store: leaseStore })
})

const at = (s: number): number => s * NS_PER_S
const cover = (names: string[], s: number) => lease.cover(names, at(s), s * 1000)
const to = (s: number): boolean => source.emulator.sim.runUntil(at(s))
const start = (name: string): void => {
  const r = oss.exec(`lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start ${name} jobid={${name}} rate=5'`)
  expect(r.code).toBe(0)
}
const names = (): string[] =>
  oss
    .exec('lctl get_param -n ost.OSS.ost_io.nrs_tbf_rule')
    .stdout.split('\n')
    .flatMap((l) => /^(\w+) .*, ref/.exec(l)?.slice(1) ?? [])

describe('the lease of a server', () => {
  it('is not made for no rules', async () => {
    expect(await cover([], 0)).toEqual({ ok: true, value: undefined })
    expect(log).toEqual([])
  })

  const period = (there: string[], next: string[], s: number) => lease.cover(next, at(s), s * 1000, { there, next })
  const stopRule = (name: string): void =>
    void oss.exec(`lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg stop ${name}'`)
  const endTimer = (unit: string): void => void expect(oss.exec(`systemctl stop ${unit}.timer`).code).toBe(0)

  it('is lost if its rules and its timer were stopped elsewhere: nothing is written then', async () => {
    to(100)
    await period([], ['ab_1', 'ab_2'], 100)
    start('ab_1')
    start('ab_2')
    await period(['ab_1', 'ab_2'], ['ab_1', 'ab_2'], 101)
    // The controller itself removed the rule: the server's list is not read.
    await period(['ab_1', 'ab_2'], ['ab_2'], 102)
    await period(['ab_2'], ['ab_2'], 103)
    expect(lease.state?.unit).toBe('sluice-lease-s1-1')
    // As `sluice stop` from another machine does.
    endTimer('sluice-lease-s1-1')
    stopRule('ab_2')
    to(104)
    expect(await period([], ['ab_2'], 104)).toMatchObject({
      ok: false,
      error: { code: 'LEASE_TAKEN', why: expect.stringContaining('another console removed the rules') as string },
    })
    expect([lease.isOpen, oss.timers.size]).toEqual([false, 0])
  })

  it('is made again where only a rule was stopped, where it ran out, and after a reboot', async () => {
    to(100)
    await period([], ['ab_1'], 100)
    start('ab_1')
    await period(['ab_1'], ['ab_1'], 101)
    stopRule('ab_1')
    expect(await period([], ['ab_1'], 102)).toMatchObject({ ok: true, value: { unit: 'sluice-lease-s1-1' } })
    start('ab_1')
    await period(['ab_1'], ['ab_1'], 103)
    // Not renewed for more than a minute: it removed the rule.
    to(170)
    expect(names()).not.toContain('ab_1')
    expect(await period([], ['ab_1'], 170)).toMatchObject({ ok: true, value: { unit: 'sluice-lease-s1-2' } })
    start('ab_1')
    await period(['ab_1'], ['ab_1'], 171)
    // A reboot: rules and timers are gone, and the server is younger than the lease.
    endTimer('sluice-lease-s1-2')
    stopRule('ab_1')
    upS = 3
    expect(await period([], ['ab_1'], 180)).toMatchObject({ ok: true, value: { unit: 'sluice-lease-s1-3' } })
  })

  it('is taken over where another console has a lease in its place, and that one is named', async () => {
    to(100)
    await period([], ['ab_1'], 100)
    start('ab_1')
    await period(['ab_1'], ['ab_1'], 101)
    endTimer('sluice-lease-s1-1')
    const other = new Lease(source.nodes[0] as NodeConnection, 'eve--far-0000c3', new Audit(() => undefined))
    expect((await other.cover(['ab_1'], at(101), 0)).ok).toBe(true)
    const seen = { there: ['ab_1'], next: ['ab_1'], isChanged: true }
    expect(await lease.cover(['ab_1'], at(102), 102_000, seen)).toMatchObject({
      error: { code: 'LEASE_TAKEN', why: expect.stringContaining('eve@far took over') as string },
    })
    expect(await lease.takenOver()).toMatchObject([{ name: 'ab_1', queue: 'reg' }])
  })

  it('stops every rule it covers after a minute, and no other', async () => {
    start('theirs')
    expect(await cover(['ab_1', 'ab_2'], 0)).toMatchObject({ ok: true, value: { rules: 2, expiresNs: at(60) } })
    start('ab_1')
    start('ab_2')
    to(59.9)
    expect(names()).toContain('ab_1')
    to(60)
    expect(names().filter((n) => n !== 'default')).toEqual(['theirs'])
  })

  it('stays as it is while it covers all rules and has time left', async () => {
    await cover(['ab_1', 'ab_2'], 0)
    to(20)
    await cover(['ab_2'], 20)
    expect([...oss.timers]).toEqual([['sluice-lease-s1-1', at(60)]])
    expect(log).toHaveLength(1)
  })

  it('is renewed well before it runs out, the new timer before the old one goes', async () => {
    await cover(['ab_1'], 0)
    to(31)
    await cover(['ab_1'], 31)
    expect([...oss.timers]).toEqual([['sluice-lease-s1-2', at(91)]])
    expect(log.slice(1).map((c) => c.split(' ')[0])).toEqual(['systemd-run', 'systemctl'])
  })

  it('grows before a new rule is started', async () => {
    await cover(['ab_1'], 0)
    to(1)
    expect(await cover(['ab_1', 'ab_2'], 1)).toMatchObject({ value: { rules: 2, expiresNs: at(61) } })
    start('ab_1')
    start('ab_2')
    expect(oss.timers.size).toBe(1)
    to(61)
    expect(names().filter((n) => n !== 'default')).toEqual([])
  })

  it('leaves out rules that are gone when it is renewed, so that its command stays short', async () => {
    await cover(
      Array.from({ length: 50 }, (_, i) => `ab_${i}`),
      0,
    )
    to(40)
    expect(await cover(['ab_1'], 40)).toMatchObject({ value: { rules: 1 } })
    expect(log[1]).not.toContain('ab_2')
  })

  it('is made again after it has fired', async () => {
    await cover(['ab_1'], 0)
    to(70)
    expect(await cover([], 70)).toEqual({ ok: true, value: undefined })
    expect(await cover(['ab_1'], 70)).toMatchObject({ value: { expiresNs: at(130) } })
  })

  it('ends with its timer', async () => {
    await cover(['ab_1'], 0)
    await lease.end(1000)
    expect(oss.timers.size).toBe(0)
    expect(lease.state).toBeUndefined()
  })
})

describe('a timer that cannot be made', () => {
  it('is a failure in the words of the server until there is one, and the server is asked ever less often', async () => {
    let requests = 0
    refuses = (c) => c.startsWith('systemd-run') && ++requests > 0
    for (const s of [0, 0.1, 0.9, 1, 2, 2.9, 3, 6.9, 7, 14.9, 15, 30, 31, 60, 61, 90, 91]) {
      expect(await cover(['ab_1'], s)).toMatchObject({
        ok: false,
        error: { code: 'LEASE_FAILED', why: 'Failed to start transient timer unit: no' },
      })
    }
    // At 0, 1, 3, 7, 15, 31, 61 and 91 s.
    expect(requests).toBe(8)
    refuses = () => false
    expect(await cover(['ab_1'], 121)).toMatchObject({ ok: true, value: { rules: 1 } })
  })

  it('for one more rule leaves the old timer, and the new rule stays uncovered until there is one', async () => {
    await cover(['ab_1'], 0)
    refuses = (c) => c.startsWith('systemd-run')
    expect((await cover(['ab_1', 'ab_2'], 1)).ok).toBe(false)
    expect((await cover(['ab_1', 'ab_2'], 1.1)).ok).toBe(false)
    expect((await cover(['ab_1'], 1.2)).ok).toBe(true)
    expect([...oss.timers.keys()]).toEqual(['sluice-lease-s1-1'])
  })
})

describe('the audit of a lease', () => {
  it('has every command before it is sent, and its outcome', async () => {
    await cover(['ab_1'], 0)
    await lease.end(1000)
    expect(records.map((r) => r.kind)).toEqual(['intent', 'outcome', 'intent', 'outcome'])
    expect([records[0]?.text, records[2]?.text]).toEqual(log)
  })

  it('that cannot be written keeps the timer from being made', async () => {
    const inner = source.nodes[0] as NodeConnection
    const full = new Audit(() => {
      throw new Error('disk full')
    })
    await expect(new Lease(inner, 's2', full).cover(['ab_1'], 0, 0)).rejects.toThrow('disk full')
    expect(oss.timers.size).toBe(0)
  })
})

describe('a renewal that is not answered', () => {
  it('and was carried out is found in the list of the server, and nothing is written until then', async () => {
    await cover(['ab_1'], 0)
    start('ab_1')
    to(31)
    isLost = () => true
    expect(await cover(['ab_1', 'ab_2'], 31)).toMatchObject({ ok: false, error: { code: 'LEASE_UNKNOWN' } })
    expect(lease.unknown?.what).toContain('may not have renewed')
    // Held also where the old timer would have covered it.
    expect(await cover(['ab_1'], 31.5)).toMatchObject({ ok: false, error: { code: 'LEASE_UNKNOWN' } })
    isLost = () => false
    expect(await cover(['ab_1', 'ab_2'], 33)).toMatchObject({ ok: true, value: { rules: 2, expiresNs: at(91) } })
    expect([lease.unknown, lease.state?.unit]).toEqual([undefined, 'sluice-lease-s1-2'])
    // The old one is ended with the next renewal, or fires and is replaced.
    to(62)
    await cover(['ab_1', 'ab_2'], 62)
    expect([...oss.timers.keys()]).toEqual(['sluice-lease-s1-3'])
  })

  it('and was not carried out is made again', async () => {
    await cover(['ab_1'], 0)
    to(31)
    isDone = false
    isLost = (c) => c.startsWith('systemd-run')
    // The list is answered and lacks it.
    expect((await cover(['ab_1'], 31)).ok).toBe(false)
    isLost = () => false
    expect(await cover(['ab_1'], 33)).toMatchObject({ ok: true, value: { unit: 'sluice-lease-s1-3' } })
    expect([...oss.timers.keys()]).toEqual(['sluice-lease-s1-3'])
  })

  it('leaves the rules to the old timer when the server stays silent', async () => {
    await cover(['ab_1'], 0)
    start('ab_1')
    to(31)
    isDone = false
    isLost = () => true
    for (const s of [31, 40, 50, 59]) expect((await cover(['ab_1'], s)).ok).toBe(false)
    to(60)
    expect(names()).not.toContain('ab_1')
    expect((await cover(['ab_1'], 61)).ok).toBe(false)
    expect(lease.state).toBeUndefined()
  })

  it('by a server that takes the command and makes no timer covers nothing', async () => {
    const inner = source.nodes[0] as NodeConnection
    const liar: NodeConnection = {
      ...inner,
      exec: async (c) => (c.startsWith('systemd-run') ? printed('') : inner.exec(c)),
    }
    const covered = await new Lease(liar, 's3', new Audit(() => undefined)).cover(['ab_1'], 0, 0)
    expect(covered).toMatchObject({
      ok: false,
      error: { code: 'LEASE_FAILED', why: expect.stringContaining('not among') as string },
    })
  })

  it('and whose timer the server does not show is ended all the same: nothing is left behind', async () => {
    const inner = source.nodes[0] as NodeConnection
    // A list that omits waiting timers.
    const blind: NodeConnection = {
      ...inner,
      exec: async (c) => (c.includes('show') ? inner.exec('cat /proc/uptime') : inner.exec(c)),
    }
    const kept = new Lease(blind, 's4', new Audit(() => undefined))
    for (const s of [0, 1, 2, 3, 8, 20]) {
      expect(await kept.cover(['ab_1'], at(s), 0)).toMatchObject({ ok: false, error: { code: 'LEASE_FAILED' } })
      expect(oss.timers.size).toBe(0)
    }
  })

  it('is not made while nothing may be made, and ended all the same', async () => {
    const why = 'ada@desk stopped it'
    let isStopped = false
    const inner = source.nodes[0] as NodeConnection
    const may = (): string | undefined => (isStopped ? why : undefined)
    const kept = new Lease(inner, 's5', new Audit(() => undefined), { may })
    await kept.cover(['ab_1'], 0, 0)
    isStopped = true
    expect(await kept.cover(['ab_1', 'ab_2'], at(1), 0)).toMatchObject({ error: { code: 'LEASE_REFUSED', why } })
    await kept.end(0)
    expect(oss.timers.size).toBe(0)
  })

  it('covers nothing any more once the timer was ended on the server', async () => {
    await cover(['ab_1'], 0)
    oss.exec('systemctl stop sluice-lease-s1-1.timer')
    to(31)
    expect(await cover(['ab_1'], 31)).toMatchObject({ ok: true, value: { unit: 'sluice-lease-s1-2' } })
  })
})

it('never leaves an instant without a timer, whatever is lost on the way', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('ok', 'lost', 'lost before', 'refused', 'no list'), { minLength: 1, maxLength: 40 }),
      async (fates) => {
        const world = new EmulatedSource(twoJobs())
        const inner = world.nodes[0] as NodeConnection
        const node = world.emulator.node('oss01') as EmulatedNode
        let fate = 'ok'
        const shell: NodeConnection = {
          ...inner,
          exec: async (c) => {
            if (fate === 'lost before' || (fate === 'no list' && c.includes('show'))) return lost('lost')
            if (fate === 'refused' && c.startsWith('systemd-run')) return printed('', 'no', 1)
            const r = await inner.exec(c)
            if (fate === 'lost') return lost('lost')
            return r
          },
        }
        const kept = new Lease(shell, 'p', new Audit(() => undefined))
        for (const [i, f] of fates.entries()) {
          fate = f
          const s = i * 7
          world.emulator.sim.runUntil(at(s))
          const covered = await kept.cover(['ab_1', 'ab_2'], at(s), s * 1000)
          // Rules that it reports as covered have a listed timer, at least until the next period.
          if (covered.ok) expect(Math.max(0, ...node.timers.values())).toBeGreaterThan(at(s + 7))
        }
      },
    ),
    { numRuns: 60 },
  )
})

it('is noted for other processes before it is made, and forgotten when it is gone', async () => {
  await cover(['ab_1'], 0)
  to(31)
  await cover(['ab_1'], 31)
  await lease.end(32_000)
  expect(noted).toEqual([
    'keep sluice-lease-s1-1 1',
    'keep sluice-lease-s1-2 1',
    'end oss01 sluice-lease-s1-1',
    'end oss01 sluice-lease-s1-2',
  ])
})
