import { afterEach, describe, expect, it } from 'vitest'
import { metadataFrame as schema } from '#core/api/padll.ts'
import { metadataFrame } from './metadata.ts'
import { stagedHost, EPOCH_S, type Staged } from '../../../../tests/node/staged-host.ts'

type Cluster = Awaited<ReturnType<typeof stagedHost>>

const open: Cluster[] = []
async function start(staged: Staged): Promise<Cluster> {
  const c = await stagedHost(staged)
  open.push(c)
  return c
}
afterEach(async () => {
  for (const c of open.splice(0)) await c.host.close()
})

const POLICIES = '1 0 demand a meta_op 120\n2 0 demand b meta_op 80\n3 40 demand a meta_op 60\n'
const storm = (more: Partial<Staged> = {}): Staged => ({
  jobs: [
    { id: 'a', rate: 60 },
    { id: 'b', clients: [3], rate: 40, start_s: 5 },
  ],
  padll: { policies: POLICIES },
  ...more,
})

describe('the metadata view of stages', () => {
  it('shows the hierarchy, jobs against the limit, channels and the policy file', async () => {
    const c = await start(storm())
    await c.run(20)
    const f = await c.frame()
    expect(schema.parse(f)).toEqual(f)
    expect(f).toMatchObject({ planes: ['stages', 'mds'], plane: 'stages', scope: 'meta_op', limit: 200 })
    expect(f.controller).toMatchObject({ host: 'qos01', epoch: 1, algorithm: 'psfa' })
    expect(f.tree.kind).toEqual(['global', 'local', 'stage', 'local', 'stage', 'local', 'stage'])
    expect(f.tree.name.slice(1)).toEqual(['cn01', 'a · 0', 'cn02', 'a · 1', 'cn03', 'b · 0'])
    expect(f.tree.measured[0]).toBeGreaterThan(180)
    expect(f.tree.measured[0]).toBeLessThanOrEqual(202)
    expect(f.jobs.jobId).toEqual(['a', 'b'])
    expect(f.jobs.stages).toEqual([2, 1])
    expect(f.jobs.demandPolicy).toEqual([120, 80])
    expect(f.jobs.asked[0]).toBeGreaterThan(200)
    expect((f.jobs.allocated[0] ?? 0) + (f.jobs.allocated[1] ?? 0)).toBeCloseTo(200, 3)
    expect(f.jobs.queued[0]).toBeGreaterThan(100)
    expect(f.jobs.throttledS[0]).toBeGreaterThan(10)
    expect(f.channels).toMatchObject({ of: '', channel: ['1000'], scope: ['meta_op'], refillMs: [10] })
    expect(f.channels.operations).toEqual(['all metadata calls'])
    expect(f.channels.waited[0]).toBeGreaterThan(0.5)
    expect(f.policies.steps.map((s) => s.state)).toEqual(['active', 'active', 'waiting'])
    expect(f.policies.nextInS).toBeCloseTo(20, 0)
    expect(f.t).toHaveLength(f.asked.length)
    for (const s of [...f.jobs.askedSeries, ...f.jobs.measuredSeries, ...f.jobs.allocatedSeries])
      expect(s).toHaveLength(f.t.length)
    expect(f.marks.map((m) => m.kind)).toContain('join')
    expect(f.notices).toEqual([])
  })

  it('stands still at a paused sample: series, tree, jobs and policies are those of then', async () => {
    const c = await start(storm())
    await c.run(4)
    const at = c.host.monitor.sample
    const then = await c.frame()
    await c.run(60)
    const paused = await c.frame({ at })
    expect({ ...paused, seq: 0 }).toEqual({ ...then, seq: 0 })
    expect(paused.jobs.jobId).toEqual(['a'])
    const now = await c.frame()
    expect(new Set(now.jobs.jobId)).toEqual(new Set(['a', 'b']))
    expect(now.policies.steps[2]?.state).toBe('active')
  })

  it('adds up the channels of what is selected', async () => {
    const c = await start(storm())
    await c.run(10)
    const all = await c.frame()
    const [stage = '', local = ''] = [all.tree.key[2], all.tree.key[3]]
    const of = async (selected: string) => (await c.frame({ selected })).channels
    const a = await of('job:a')
    const one = await of(stage)
    const cn02 = await of(local)
    expect(a.of).toBe('a, 2 stages')
    expect(one.of).toBe('a · 0 on cn01')
    expect(cn02.of).toBe('cn02, 1 stage')
    expect((one.measured[0] ?? 0) + (cn02.measured[0] ?? 0)).toBeCloseTo(a.measured[0] ?? NaN, 6)
    expect((one.limit[0] ?? 0) + (cn02.limit[0] ?? 0)).toBe(a.limit[0])
    expect(a.spark[0]?.some((v) => (v ?? 0) > 0)).toBe(true)
    // A missing selection does not leave an empty table.
    expect((await of('stage:gone')).of).toBe('')
  })

  it('makes false allocation visible: given, unused, while another job waits', async () => {
    const c = await start({
      jobs: [
        { id: 'idle', rate: 5 },
        { id: 'hungry', clients: [3], rate: 60 },
      ],
      padll: { algorithm: 'uniform' },
    })
    await c.run(10)
    const wasted = (await c.frame()).falseAllocation.at(-1) ?? NaN
    expect(wasted).toBeGreaterThan(60)
    await c.client.padll.change({ plane: 'stages', algorithm: 'psfa' })
    await c.run(30)
    expect((await c.frame()).falseAllocation.at(-1)).toBeLessThan(wasted / 2)
  })

  it('names the first seven jobs and adds up the others', async () => {
    const jobs = Array.from({ length: 10 }, (_, i) => ({ id: `j${i}`, clients: [1 + (i % 4)], rate: 2 + i }))
    const c = await start({ jobs })
    await c.run(8)
    const f = await c.frame()
    expect(f.jobs.jobId).toHaveLength(8)
    expect(f.jobs.jobId.at(-1)).toBe('')
    expect(new Set(f.jobs.colour.slice(0, 7)).size).toBe(7)
    expect(f.jobs.stages.at(-1)).toBe(3)
    const sum = (all: readonly (number | null)[]): number => all.reduce<number>((n, v) => n + (v ?? 0), 0)
    const last = f.jobs.askedSeries.map((s) => s.at(-1) ?? null)
    expect(sum(last)).toBeCloseTo(f.asked.at(-1) ?? NaN, 3)
  })

  it('gives a job the same ink as the jobs view', async () => {
    const c = await start(storm())
    await c.run(10)
    const f = await c.frame()
    for (const [i, id] of f.jobs.jobId.entries()) {
      expect(f.jobs.colour[i]).toBe(c.host.monitor.jobs.find(id)?.colour)
      expect(f.jobs.colour[i]).toBeGreaterThan(0)
    }
  })

  it('says that the controller is gone, keeps what is known, and what the others still do', async () => {
    const c = await start(storm())
    await c.run(10)
    c.padll.killGlobal()
    await c.run(16)
    const f = await c.frame()
    expect(f.controller.seenMs).toBeNull()
    expect(f.tree.level[0]).toBe('bad')
    expect(f.notices).toMatchObject([{ code: 'CONTROLLER_SILENT' }])
    expect(f.jobs.measuredSeries[0]?.at(-1)).toBeNull()
    expect(c.host.monitor.failures.map((x) => x.code)).toContain('CONTROLLER_SILENT')
    c.padll.restartGlobal()
    await c.run(30)
    const back = await c.frame()
    expect(back.controller).toMatchObject({ epoch: 2 })
    expect(back.controller.seenMs).not.toBeNull()
    expect(back.notices).toEqual([])
  })

  it('shows no figure of a controller that another one has overruled as one of now', async () => {
    const c = await start(storm())
    await c.run(8)
    c.padll.addSecondGlobal(9)
    await c.run(14)
    const f = await c.frame()
    expect(f.notices.map((n) => n.code)).toContain('SUPERSEDED')
    expect([f.tree.level[0], f.tree.why[0]]).toEqual(['bad', 'another controller has taken over'])
    expect(new Set(f.tree.level.slice(1))).toEqual(new Set(['unknown']))
    expect(new Set([...f.tree.measured, ...f.jobs.measured, ...f.jobs.asked])).toEqual(new Set([null]))
    expect(f.jobs.measuredSeries[0]?.at(-1)).toBeNull()
  })

  it('says of a lost local controller for how long, and what its stages do', async () => {
    const c = await start(storm())
    await c.run(10)
    c.padll.killLocal(1)
    await c.run(13)
    const f = await c.frame()
    const at = f.tree.name.indexOf('cn01')
    expect(f.tree.level[at]).toBe('bad')
    expect(f.tree.why[at]).toMatch(/^(silent for \d+ s|lost: )/)
    await c.run(20)
    const later = await c.frame()
    const stage = later.tree.key.findIndex(
      (k, i) => later.tree.depth[i] === 2 && later.tree.why[i]?.startsWith('unreachable'),
    )
    expect(later.tree.limit[stage]).toBeGreaterThan(0)
    expect(later.tree.measured[stage]).toBeNull()
    expect(f.marks.some((m) => m.kind === 'lost')).toBe(true)
  })

  it('shows a sample that memory has dropped from rows, and says what rows do not have', async () => {
    const c = await start(storm())
    await c.run(20)
    const at = c.host.monitor.sample - 50
    const then = await c.frame({ at })
    const { documents } = c.host.monitor.padll ?? {}
    const newest = documents?.newest
    if (!documents || !newest) throw new Error('no document')
    // More text than memory takes: all documents before it are dropped.
    documents.add(newest.atMs, ' '.repeat(32_000_000), newest.status)
    const f = await c.frame({ at })
    expect(schema.parse(f)).toEqual(f)
    expect(f).toMatchObject({
      atMs: then.atMs,
      sample: at,
      planes: ['stages', 'mds'],
      plane: 'stages',
      scope: 'meta_op',
    })
    expect(f.notices.map((n) => n.code)).toEqual(['RECORDED_ROWS'])
    expect(f.jobs.jobId.toSorted()).toEqual(then.jobs.jobId.toSorted())
    expect(f.jobs.colour).toEqual(f.jobs.jobId.map((id) => c.host.monitor.jobs.find(id)?.colour))
    expect(f.tree.key.toSorted()).toEqual(then.tree.key.toSorted())
    expect(f.limit).toBe(then.limit)
    expect(Math.abs((f.tree.measured[0] ?? 0) - (then.tree.measured[0] ?? 0))).toBeLessThan(20)
    expect((await c.frame({ at, againstMs: EPOCH_S * 1000 + 8_000 })).against?.atMs).toBeGreaterThan(0)
    // The present is read from memory.
    expect((await c.frame()).controller.algorithm).toBe('psfa')
  })

  it('shows a sample of metadata servers that memory has dropped from rows; the view of memory alone says so', async () => {
    const c = await start(storm())
    await c.client.padll.change({ plane: 'mds', limit: { scope: 'meta_op', rate: 500 } })
    await c.run(20)
    const { monitor } = c.host
    const at = monitor.sample - 50
    const query = { plane: 'mds', at } as const
    const then = await c.frame(query)
    const { newest } = monitor.metadata.series
    if (!newest) throw new Error('no state')
    for (let i = 0; i < 200; i++) monitor.metadata.series.keep(newest)
    const f = await c.frame(query)
    expect(schema.parse(f)).toEqual(f)
    expect(f).toMatchObject({ atMs: then.atMs, plane: 'mds', planes: ['stages', 'mds'] })
    expect(f.notices.map((n) => n.code)).toEqual(['RECORDED_ROWS'])
    expect(f.jobs.jobId.toSorted()).toEqual(then.jobs.jobId.toSorted())
    expect(f.jobs.measured.every((v) => (v ?? 0) > 0)).toBe(true)
    const live = metadataFrame(monitor, { ...query, windowMs: 60_000, scope: '', selected: '' }, 1)
    expect(live.notices).toMatchObject([
      { code: 'METADATA_FORGOTTEN', why: 'control cycles are kept for the last 0 s' },
    ])
    expect(live.jobs.jobId).toEqual([])
  })

  it('is empty before the first reading and says nothing that is not known', async () => {
    const c = await start(storm())
    const f = await c.frame()
    expect(f).toMatchObject({ plane: 'stages', sample: 0, t: [], scopes: [] })
    expect(f.controller.seenMs).toBeNull()
  })

  it('carries job ids of any bytes as data', async () => {
    const ids = ['<img/src=x>', '__proto__', 'a"b\'c', '\u00e9\u00ff\u0001', 'x\u0000'.slice(0, 1)]
    const c = await start({ jobs: ids.map((id, i) => ({ id, clients: [1 + (i % 4)], rate: 10 })) })
    await c.run(6)
    const f = await c.frame()
    expect(new Set(f.jobs.jobId)).toEqual(new Set(ids))
    expect(schema.safeParse(f).success).toBe(true)
    expect(f.atMs).toBe(EPOCH_S * 1000 + 6000)
    for (const id of ids)
      expect((await c.frame({ selected: `job:${id}` })).channels.of).toBe(
        `${id}, 2 stages`.replace('2 stages', '1 stage'),
      )
  })
})
