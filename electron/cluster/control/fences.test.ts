import { describe, expect, it } from 'vitest'
import { LIVE_FENCES, MODEL_FENCES } from '#core/control/fences.ts'
import { emulatedCluster, twoJobs } from '../../../tests/node/emulated-cluster.ts'
import { asOtherUser, activeRules } from '../../../tests/node/rule-service.ts'
import { Watchdog } from '#core/control/watchdog.ts'
import { edited, printed } from '#tests/kits/electron/answers.ts'

const managed = (list: readonly string[]): string[] => list.filter((l) => /^(?:ab|st)_/.test(l))

describe('a controller in enforce', () => {
  it('is shown before it writes, and not again once it was', async () => {
    const fences = { ...MODEL_FENCES, shadowNs: 3e9 }
    const c = emulatedCluster(twoJobs(), { mode: 'enforce', controller: 'adaptbf', fences })
    await c.run(2.5)
    expect(c.writes()).toEqual([])
    expect(c.monitor.loop.outcome('oss01')).toMatchObject({ state: 'shown', detail: 'shown first, written in 1 s' })
    await c.run(4)
    expect(managed(activeRules(c)).length).toBeGreaterThan(0)
    c.monitor.setMode('advise')
    await c.run(8)
    expect(managed(activeRules(c))).toEqual([])
    c.monitor.setMode('enforce')
    await c.run(8.5)
    expect(managed(activeRules(c)).length).toBeGreaterThan(0)
  })

  it('of a real cluster never goes below the floor, nor down by more than half at once', async () => {
    const c = emulatedCluster(twoJobs(), {
      mode: 'enforce',
      controller: 'adaptbf',
      fences: { ...LIVE_FENCES, shadowNs: 0 },
    })
    await c.run(12)
    const rates = new Map<string, number>()
    let steps = 0
    for (const { host, command } of c.writes()) {
      const m = /'reg (start|change) (\w+).* rate=(\d+)/.exec(command)
      if (!m) {
        const stop = /'reg stop (\w+)'/.exec(command)
        if (stop) rates.delete(`${host} ${stop[1] ?? ''}`)
        continue
      }
      const key = `${host} ${m[2] ?? ''}`
      const was = rates.get(key)
      const is = Number(m[3])
      expect(is).toBeGreaterThanOrEqual(5)
      if (was !== undefined) {
        steps++
        expect(is).toBeGreaterThanOrEqual(Math.max(5, was / 2))
        expect(is).toBeLessThanOrEqual(Math.max(was * 4, was + 1))
      }
      rates.set(key, is)
    }
    expect(steps).toBeGreaterThan(10)
  })

  it('leaves the cap of an operator in force, also after the job was idle', async () => {
    const c = emulatedCluster(twoJobs(), { mode: 'enforce', controller: 'adaptbf' })
    await c.run(3)
    for (const h of ['oss01', 'oss02']) asOtherUser(c, h, 'start cap jobid={1.*} rate=7')
    let least = Infinity
    await c.run(12, () => {
      const list = activeRules(c)
      least = Math.min(
        least,
        list.findIndex((l) => l.startsWith('cap ')),
      )
    })
    // No rule of Sluice ever preceded it.
    expect(least).toBe(0)
    expect(activeRules(c)[0]).toBe('cap jobid={1.*} 7')
  })

  it('writes nothing on a server whose release cannot be read', async () => {
    const c = emulatedCluster(twoJobs(), {
      mode: 'enforce',
      controller: 'adaptbf',
      around: (node) => ({
        ...node,
        exec: async (command) => (/ version$/.test(command) ? printed('', '', 2) : node.exec(command)),
      }),
    })
    await c.run(4)
    expect(c.writes()).toEqual([])
    expect(c.monitor.failures.map((f) => f.code)).toContain('VERSION_UNKNOWN')
  })

  it('holds on a part of its targets, then removes its rules, and tightens nothing meanwhile', async () => {
    let isPartial = false
    const c = emulatedCluster(twoJobs(), {
      mode: 'enforce',
      controller: 'adaptbf',
      fences: { ...MODEL_FENCES, holdNs: 2e9 },
      around: (node) => ({
        ...node,
        exec: async (command) => {
          const r = await node.exec(command)
          // One of two targets is no longer listed.
          return isPartial && command.includes('job_stats')
            ? edited(r, (t) => t.replace(/obdfilter\.small-OST0001\.job_stats=/, 'obdfilter.other.job_stats='))
            : r
        },
      }),
    })
    await c.run(4)
    expect(managed(activeRules(c)).length).toBeGreaterThan(0)
    const before = c.writes().length
    isPartial = true
    await c.run(5.5)
    expect(
      c
        .writes()
        .slice(before)
        .filter((w) => w.host === 'oss01'),
    ).toEqual([])
    await c.run(8)
    expect(managed(activeRules(c))).toEqual([])
    expect(c.monitor.failures.map((f) => f.code)).toContain('OBSERVATION_PARTIAL')
    expect(managed(activeRules(c, 'oss02')).length).toBeGreaterThan(0)
  })
})

it('a watchdog takes a server with the targets that it has after a minute', () => {
  const dog = new Watchdog(10e9)
  const on = (names: string, s: number, isMeasured = true): string =>
    dog.look(
      'oss01',
      names.split(' ').map((target) => ({ target, deltas: isMeasured ? [] : undefined })),
      s * 1e9,
    )
  expect([on('a b', 0, false), on('a b', 1), on('a', 2), on('a', 11), on('a', 12), on('a b', 13), on('a', 14)]).toEqual(
    ['hold', 'act', 'hold', 'hold', 'relax', 'act', 'hold'],
  )
  expect([on('a', 73), on('a', 75), on('b', 76), on('a b', 77)]).toEqual(['relax', 'act', 'hold', 'act'])
  // A clock that was set back.
  expect([on('a', 80), on('a', 20)]).toEqual(['hold', 'hold'])
})
