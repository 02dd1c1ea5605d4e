import { afterEach, describe, expect, it } from 'vitest'
import { metadataFrame as schema, type MetadataFrame } from '#core/api/padll.ts'
import { parseScenario } from '#core/emulator/scenario.ts'
import { emulatedCluster } from '../../../../tests/node/emulated-cluster.ts'
import { stagedHost } from '../../../../tests/node/staged-host.ts'
import { metadataFrame } from './metadata.ts'

const open: { host: { close(): Promise<void> } }[] = []
afterEach(async () => {
  for (const c of open.splice(0)) await c.host.close()
})
const POLICIES = '1 0 demand a meta_op 120\n2 0 demand b meta_op 80\n'
const stages = (f: MetadataFrame): string[] => f.tree.name.filter((_, i) => f.tree.kind[i] === 'stage')
const total = (series: readonly (readonly (number | null)[])[], k: number): number =>
  series.reduce((n, s) => n + (s[k] ?? 0), 0)

describe('the filter of stages', () => {
  it('leaves the stages, channels and jobs that pass; what stands for all of it stays', async () => {
    const jobs = [
      { id: 'a', rate: 60 },
      { id: 'b', clients: [3], rate: 40 },
    ]
    const c = await stagedHost({ jobs, padll: { policies: POLICIES } })
    open.push(c)
    await c.run(12)
    const at = c.host.monitor.sample
    const all = await c.frame({ at })
    expect([stages(all), all.filtered]).toEqual([['a · 0', 'a · 1', 'b · 0'], undefined])

    const f = await c.frame({ at, filter: 'job:b' })
    expect(schema.parse(f)).toEqual(f)
    expect(f.filtered).toEqual({ filter: 'job:b', passing: 1, of: 3 })
    expect(stages(f)).toEqual(['b · 0'])
    expect(f.tree.name.slice(1)).toEqual(['cn03', 'b · 0'])
    expect([f.tree.measured[0], f.tree.limit[0]]).toEqual([all.tree.measured[0], all.tree.limit[0]])
    expect(f.channels.measured[0]).toBeLessThan(all.channels.measured[0] ?? 0)
    expect(f.jobs.jobId).toEqual(['b', ''])
    // The stack is complete: unnamed jobs are in `other`.
    const last = all.t.length - 1
    expect(total(f.jobs.measuredSeries, last)).toBeCloseTo(total(all.jobs.measuredSeries, last), 6)

    expect(stages(await c.frame({ at, filter: 'cn02' }))).toEqual(['a · 1'])
    expect(stages(await c.frame({ at, filter: 'op:meta_op -stage:a*1' }))).toEqual(['a · 0', 'b · 0'])
    expect((await c.frame({ at, filter: 'is:waiting job:a' })).filtered?.passing).toBeGreaterThan(0)
    expect(stages(await c.frame({ at, filter: 'limit>1m' }))).toEqual([])

    const none = await c.frame({ at, filter: 'nobody' })
    expect(none).toMatchObject({ filtered: { passing: 0, of: 3 }, tree: { kind: ['global'] }, channels: { key: [] } })
    const fault = await c.frame({ at, filter: 'a job:' })
    expect(fault.filterError).toEqual({ column: 3, message: 'job: needs a value' })
    expect([stages(fault), fault.filtered]).toEqual([stages(all), undefined])
  })
})

describe('the filter of the rules of metadata servers', () => {
  it('leaves the rules and jobs that pass, and counts those of the scope', async () => {
    const job = (id: string, first: number) => ({
      id,
      clients: [first, first + 1],
      processes: 4,
      op: 'open',
      pattern: { kind: 'continuous' },
    })
    const policies = '1 0 job 7.a open 200\n2 0 job 8.b open 90'
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
        control: {
          max_rate: 500,
          controller: 'none',
          mode: 'enforce',
          metadata: { algorithm: 'static', policies },
        },
        jobs: [job('7.a', 1), job('8.b', 3), job('9.free', 5)],
      }),
    )
    if (!read.ok) throw new Error(read.error.why)
    const c = emulatedCluster(read.value)
    await c.run(6)
    const query = { at: c.monitor.sample, windowMs: 60_000, plane: 'mds', scope: 'open', selected: '' } as const
    const frame = (filter: string): MetadataFrame => metadataFrame(c.monitor, { ...query, filter }, 1)
    const all = frame('')
    const rules = stages(all)
    expect(rules.length).toBeGreaterThanOrEqual(2)
    const f = frame('job:8.b')
    expect(schema.parse(f)).toEqual(f)
    expect(f.filtered).toEqual({ filter: 'job:8.b', passing: 1, of: rules.length })
    expect(f.tree.jobId.filter((id) => id !== '')).toEqual(['8.b'])
    expect(f.channels.channel).toEqual(stages(f))
    expect(f.jobs.jobId).toEqual(['8.b', ''])
    const last = all.t.length - 1
    expect(total(f.jobs.measuredSeries, last)).toBeCloseTo(total(all.jobs.measuredSeries, last), 6)
    expect(frame('limit<100').tree.jobId.filter((id) => id !== '')).toEqual(['8.b'])
    expect(frame('nobody')).toMatchObject({ filtered: { passing: 0 }, tree: { kind: ['global'] } })
    expect(frame('is:wet').filterError?.column).toBe(1)
  })
})
