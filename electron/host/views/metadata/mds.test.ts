import { describe, expect, it } from 'vitest'
import type { MetadataFrame } from '#core/api/padll.ts'
import { parseScenario } from '#core/emulator/scenario.ts'
import { emulatedCluster, type Emulated, type Setup } from '../../../../tests/node/emulated-cluster.ts'
import { metadataFrame } from './metadata.ts'
import { lost } from '#tests/kits/electron/answers.ts'

/** One metadata server with jobs that run as fast as they can. */
function start(control: object, jobs: readonly object[], setup: Setup = {}): Emulated {
  const read = parseScenario(
    JSON.stringify({
      title: 'One metadata server',
      cluster: 'meta',
      clients: { count: 8, max_rpcs_in_flight: 64 },
      oss: [{ name: 'oss01', osts: [{ name: 'meta-OST0000', disk: { bandwidth_mb_s: 1000 } }] }],
      mds: [
        {
          name: 'mds01',
          policy: 'tbf jobid+opcode',
          version: '2.17.57',
          cpts: 1,
          threads: 32,
          mdts: [{ name: 'meta-MDT0000', per_op_us: 100, channels: 16 }],
        },
      ],
      control: { max_rate: 500, controller: 'none', mode: 'enforce', metadata: control },
      jobs: jobs.map((j) => ({ processes: 16, op: 'open', pattern: { kind: 'continuous' }, ...j })),
    }),
  )
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return emulatedCluster(read.value, setup)
}

const frameOf = (c: Emulated, scope: string, at: number | null = null): MetadataFrame =>
  metadataFrame(c.monitor, { at, windowMs: 60_000, plane: 'mds', scope, selected: '' }, 1)

describe('the hierarchy of metadata servers', () => {
  it('shows a server that falls silent as silent, also where it is the only one, and no old figure as a new one', async () => {
    let isAway = false
    const c = start({ algorithm: 'static', policies: '1 0 job 7.a open 200' }, [{ id: '7.a', clients: [1, 2, 3, 4] }], {
      around: (node) => ({
        ...node,
        exec: async (command) => {
          if (isAway && node.host === 'mds01') return lost('timed out')
          return node.exec(command)
        },
      }),
    })
    await c.run(5)
    const then = c.monitor.sample
    expect(frameOf(c, 'open').tree.measured.every((n) => n !== null && n > 150)).toBe(true)
    isAway = true
    await c.run(8)
    const f = frameOf(c, 'open')
    expect(f.tree.level).toEqual(['ok', 'bad', 'unknown'])
    expect(f.tree.measured).toEqual([null, null, null])
    expect(f.jobs.measured).toEqual([null])
    expect(f.marks.map((m) => m.text)).toContain('mds01 does not answer: timed out')
    await c.run(75)
    // Its timer has fired: its rules are removed.
    expect(frameOf(c, 'open').tree.why[2]).toBe('not in force')
    expect(frameOf(c, 'open', then).tree.level).toEqual(['ok', 'ok', 'watch'])
  })

  it('says that a limit which nothing holds is exceeded, and names the jobs that job_stats counts', async () => {
    const c = start(
      { algorithm: 'static', limits: { meta_op: 40 } },
      [
        { id: '7.a', clients: [1, 2], pattern: { kind: 'poisson', rate: 60 } },
        { id: '8.b', clients: [5, 6], op: ['stat', 'mkdir'], pattern: { kind: 'poisson', rate: 50 } },
      ],
      { mode: 'observe' },
    )
    await c.run(6)
    const { tree, jobs, t } = frameOf(c, 'meta_op')
    expect(tree.measured[0]).toBeGreaterThan(60)
    expect([tree.level[0], tree.why[0]]).toEqual(['watch', 'above its limit: no rule'])
    expect(jobs.jobId.toSorted()).toEqual(['7.a', '8.b'])
    for (const [i, measured] of jobs.measured.entries()) {
      expect(measured).toBeGreaterThan(20)
      expect(jobs.measuredSeries[i]).toHaveLength(t.length)
      expect(jobs.measuredSeries[i]?.at(-1)).toBeGreaterThan(20)
    }
  })

  it('sets beside a limit only what the limit is of', async () => {
    const policies = '1 0 demand 7.a open 200\n2 0 demand 8.b meta_op 500'
    const c = start({ algorithm: 'psfa', limits: { open: 300, meta_op: 2000 }, policies }, [
      { id: '7.a', clients: [1, 2, 3, 4] },
      { id: '8.b', clients: [5, 6], op: ['stat', 'mkdir'] },
    ])
    await c.run(6)
    const { tree, limit } = frameOf(c, 'open')
    expect(limit).toBe(300)
    for (const measured of tree.measured) {
      expect(measured).toBeGreaterThan(250)
      expect(measured).toBeLessThanOrEqual(303)
    }
  })
})
