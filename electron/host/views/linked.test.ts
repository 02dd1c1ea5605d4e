import { beforeAll, expect, it } from 'vitest'
import { jobsFrame as jobsSchema } from '#core/api/frames.ts'
import { linkedFrame as schema, type LinkedKind } from '#core/api/linked.ts'
import { demo, emulatedCluster, jobsQuery, type Emulated } from '../../../tests/node/emulated-cluster.ts'
import { jobsFrame } from './jobs/jobs.ts'
import { linkedFrame } from './linked.ts'

let c: Emulated
beforeAll(async () => {
  c = emulatedCluster(demo())
  await c.run(5)
})
const linked = (kind: LinkedKind, id: string) =>
  schema.parse(linkedFrame(c.monitor, { at: null, windowMs: 10_000, kind, id }, 1))
const jobs = (more: object = {}) => jobsSchema.parse(jobsFrame(c.monitor, { ...jobsQuery, ...more }, 1))

it('ties a job to the targets it is on, their nodes and its user', () => {
  const { rows } = jobs()
  const at = rows.rpcs.findIndex((v, i) => (v ?? 0) > 0 && rows.user[i] !== '')
  const id = rows.jobId[at] ?? ''
  const user = rows.user[at] ?? ''
  const found = linked('job', id)
  expect(found).toMatchObject({ isHere: true, job: [id], user: [user] })
  expect(found.target.length).toBeGreaterThan(0)
  const [target = ''] = found.target
  expect(linked('target', target).job).toContain(id)
  expect(linked('node', found.node[0] ?? '').job).toContain(id)
  expect(linked('user', user).job).toContain(id)
})

it('ties a job to the MDTs that its metadata operations go to, and to their server', () => {
  const [place] = c.monitor.metadataTargets
  const mdt = place?.target ?? ''
  const onMdt = linked('target', mdt)
  expect(onMdt).toMatchObject({ isHere: true, node: [place?.node] })
  const { rows } = jobs()
  const busy = rows.jobId.filter((_, i) => (rows.mdops[i] ?? 0) > 0)
  expect(busy.length).toBeGreaterThan(0)
  expect(busy.some((id) => onMdt.job.includes(id) && linked('job', id).target.includes(mdt))).toBe(true)
  expect(onMdt.job.length).toBeLessThan(rows.jobId.length)
})

it('takes locks and clients of a past from what was kept of it', () => {
  // A job of another file system is known only from its locks.
  const jobId = '9001.other.u9'
  const clients = [{ name: 'c900', jobId }]
  const kept = { clients: [], locks: [{ key: '77', clients }] }
  const found = linkedFrame(c.monitor, { at: null, windowMs: 10_000, kind: 'resource', id: '77' }, 1, kept)
  expect(found).toMatchObject({ isHere: true, job: [jobId], client: ['c900'], resource: ['77'] })
  expect(linkedFrame(c.monitor, { at: null, windowMs: 10_000, kind: 'job', id: jobId }, 1, kept).resource).toEqual([
    '77',
  ])
})

it('says of what is not there that it is not', () => {
  for (const kind of ['job', 'target', 'rule', 'user', 'node', 'client', 'resource'] as const) {
    expect(linked(kind, 'nobody'), kind).toMatchObject({ isHere: false, jobs: 0 })
  }
})

it('puts tagged jobs first, whatever the filter hides', () => {
  const last = jobs().rows.jobId.at(-1) ?? ''
  const filtered = jobs({ pinned: [last, 'nobody'], filter: 'job:no_such_job' })
  expect([filtered.pinned, filtered.shown, filtered.rows.jobId]).toEqual([1, 1, [last]])
  const all = jobs({ pinned: [last] })
  expect([all.rows.jobId[0], all.rows.jobId.length, new Set(all.rows.jobId).size]).toEqual([
    last,
    jobs().rows.jobId.length,
    jobs().rows.jobId.length,
  ])
})

it('sums jobs by what they have in common, and loses none of them', () => {
  const { rows, shown } = jobs()
  for (const groupBy of ['user', 'account', 'exe'] as const) {
    const { groups } = jobs({ groupBy })
    expect(
      groups?.count.reduce((a, b) => a + b, 0),
      groupBy,
    ).toBe(shown)
    expect(
      groups?.rpcs.reduce<number>((a, b) => a + (b ?? NaN), 0),
      groupBy,
    ).toBeCloseTo(
      rows.rpcs.reduce<number>((a, b) => a + (b ?? NaN), 0),
      3,
    )
  }
  const nodes = jobs({ groupBy: 'node' }).groups
  expect(nodes?.name.filter((name) => name !== '').toSorted()).toEqual([...c.monitor.servers].toSorted())
  expect(nodes?.readBps.every((v) => v === null)).toBe(true)
})
