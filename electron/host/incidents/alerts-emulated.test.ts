/** Alerts of emulated clusters with known faults. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_ALERT_RULES } from '#core/alerts/rules.ts'
import { alertedCluster, scenarioOf } from '../../../tests/node/alerted-cluster.ts'
import { lockedScenario } from '../../../tests/node/locked-host.ts'

const disk = { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 }
const write = { op: 'write', size_kib: 64 }

describe('alerts of an emulated cluster', () => {
  it('tells of a silent server, then of a hog on a queue and of whom it starves, each once', async () => {
    const c = alertedCluster(
      scenarioOf({
        title: 'Hog',
        cluster: 'hog',
        policy: 'fifo',
        clients: { count: 6, max_rpcs_in_flight: 256 },
        oss: [1, 2].map((n) => ({ name: `oss0${n}`, threads: 16, osts: [{ name: `hog-OST000${n}`, disk }] })),
        control: { controller: 'none', max_rate: 200, period_ms: 1000 },
        faults: [{ what: 'server-silent', server: 'oss02', at_s: 40, for_s: 25 }],
        jobs: [
          { ...write, id: '1.victim.u1', clients: [1], pattern: { kind: 'continuous' } },
          { ...write, id: '2.calm.u2', clients: [2], pattern: { kind: 'poisson', rate: 20 } },
          {
            ...write,
            id: '3.hog.u3',
            clients: [3],
            processes: 400,
            start_s: 130,
            targets: ['hog-OST0001'],
            pattern: { kind: 'continuous' },
          },
          // Comes in bursts and ends while the hog is active: neither is starvation.
          {
            ...write,
            id: '4.burst.u4',
            clients: [4],
            targets: ['hog-OST0002'],
            stop_s: 150,
            pattern: { kind: 'bursts', rpcs: 40, every_s: 9 },
          },
        ],
      }),
    )
    await c.run(185)
    expect(c.opened().map(({ entry }) => [entry.kind, entry.where])).toEqual([
      ['disconnect', 'oss02'],
      ['queue', 'oss01'],
      ['starvation', '1.victim.u1'],
    ])
    const [disconnect, queue, starvation] = c.opened()
    expect(disconnect).toMatchObject({ atS: 55, entry: { fromMs: 40_000, level: 'bad' } })
    expect(c.reported.find((t) => t.what === 'ended')?.entry).toMatchObject({ kind: 'disconnect', endMs: 65_000 })
    expect(queue?.entry.text).toMatch(/^oss01: \d+ RPCs queued, .*; 3\.hog\.u3 grew most, by \d+ RPC\/s$/)
    expect(queue?.entry.fromMs).toBeGreaterThan(130_000)
    expect(starvation?.entry.fromMs).toBeGreaterThan(130_000)
    expect(starvation?.atS).toBeLessThan(180)
    expect(c.reported.map((t) => t.entry.text).join()).not.toContain('4.burst.u4')
    // The reader has already reported the silence, so there is no second event.
    const marks = c.monitor.events.between(0, 300_000, 500)
    expect(marks.filter((m) => m.kind === 'alarm').map((m) => [m.subject, m.where])).toEqual([
      ['Starvation', '1.victim.u1'],
      ['Queue', 'oss01'],
    ])
    expect(marks.filter((m) => m.kind === 'lost' && m.where === 'oss02')).toHaveLength(2)
  })

  it('tells of the queue on a server whose disk turns slow, and finds no job starved by another', async () => {
    const c = alertedCluster(
      scenarioOf({
        title: 'Slow',
        cluster: 'slow',
        policy: 'fifo',
        clients: { count: 12, max_rpcs_in_flight: 16 },
        oss: [1, 2].map((n) => ({ name: `oss0${n}`, threads: 16, osts: [{ name: `slow-OST000${n}`, disk }] })),
        control: { controller: 'none', max_rate: 200, period_ms: 1000 },
        faults: [{ what: 'slow-disk', target: 'slow-OST0002', factor: 8, at_s: 125, for_s: 35 }],
        jobs: [1, 2, 3, 4].map((n) => ({
          ...write,
          id: `${n}.steady.u${n}`,
          clients: [3 * n - 2, 3 * n - 1, 3 * n],
          processes: 12,
          outstanding: 8,
          pattern: { kind: 'poisson', rate: 3 },
        })),
      }),
    )
    await c.run(215)
    expect(c.opened().map(({ entry }) => [entry.kind, entry.where])).toEqual([['queue', 'oss02']])
    expect(c.reported.at(-1)).toMatchObject({ what: 'ended', entry: { kind: 'queue' } })
  })

  it('tells of a convoy behind a client that is silent, not of those that dissolve', async () => {
    const scenario = scenarioOf(
      JSON.parse(
        lockedScenario({
          revocation_timeout_s: 60,
          faults: [{ what: 'client-silent', client: 3, at_s: 30, for_s: 14 }],
        }),
      ) as object,
    )
    const c = alertedCluster(
      scenario,
      DEFAULT_ALERT_RULES.map((r) => (r.kind === 'convoy' ? { ...r, threshold: 6 } : r)),
    )
    await c.run(30)
    expect(c.reported).toEqual([])
    await c.run(50)
    const reported = c.opened().map((t) => t.entry)
    // The convoy tells how many wait, the lock wait for how long.
    expect(reported.map((e) => e.kind)).toEqual(['convoy', 'lock-wait'])
    expect(reported[0]?.text).toMatch(/^Convoy on ckpt\.h5 \/ \d, \d+ behind 1 (PR|NBW|BW|PW) lock$/)
    // The lock monitor has already reported it, so there is no second event.
    const marks = c.monitor.events.between(0, 80_000, 500).filter((m) => m.kind === 'alarm')
    expect(new Set(marks.map((m) => `${m.atMs} ${m.where} ${m.text.split(',')[0]}`)).size).toBe(marks.length)
  })

  it('tells of reservations that a data node cannot keep, not of those that are not asked for', async () => {
    const client = (name: string, reservation: number, workload: object): object => ({
      name,
      job: name,
      reservation,
      workload,
    })
    const c = alertedCluster(
      scenarioOf({
        title: 'Overload',
        cluster: 'over',
        clients: { count: 1 },
        oss: [{ name: 'oss01', osts: [{ name: 'over-OST0000', disk }] }],
        control: { controller: 'none', mode: 'observe', max_rate: 200, period_ms: 1000 },
        haechi: [
          {
            name: 'dn0',
            global_iops: 3_000,
            local_iops: 2_000,
            batch: 5,
            slack: 8,
            clients: [
              client('greedy', 1_400, { kind: 'backlogged' }),
              client('second', 1_000, { kind: 'backlogged' }),
              client('modest', 500, { kind: 'constant', per_period: 100 }),
            ],
            capacity: [{ at_s: 25, iops: 1_200 }],
          },
        ],
        jobs: [{ ...write, id: 'quiet', clients: [1], pattern: { kind: 'poisson', rate: 1 } }],
      }),
    )
    await c.run(24)
    expect(c.reported).toEqual([])
    await c.run(40)
    expect(c.opened().map((t) => t.entry.kind)).toEqual(['reservation'])
    expect(c.reported.map((t) => t.entry.text).join()).not.toContain('modest')
    expect(c.watch.entries[0]?.text).toMatch(/^(greedy|second) .* missed its reservation on dn0 \d+ periods in a row/)
    expect(c.watch.entries[0]?.fromMs).toBeGreaterThanOrEqual(25_000)
  })
})
