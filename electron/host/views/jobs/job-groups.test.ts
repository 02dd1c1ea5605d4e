import { expect, it } from 'vitest'
import { emulatedCluster, smallScenario } from '../../../../tests/node/emulated-cluster.ts'
import { programOf } from './job-groups.ts'
import { jobsFrame } from './jobs.ts'

it('finds what runs in the usual forms of a job id', () => {
  expect(['4690.python.u1021', 'train.py.1021', 'python', '4711', 'login03.rsync.u0'].map(programOf)).toEqual([
    'python',
    'train.py',
    'python',
    '4711',
    'login03.rsync',
  ])
})

it('by node has as many jobs as the filter of that node lets pass, which are those on its targets', async () => {
  const c = emulatedCluster(
    smallScenario([
      { id: '1.both.u1' },
      { id: '2.first.u2', clients: [2], targets: ['small-OST0001'] },
      { id: '3.second.u3', clients: [3], targets: ['small-OST0002'] },
      { id: '4.second.u4', clients: [4], targets: ['small-OST0002'] },
    ]),
  )
  await c.run(3)
  const frame = (filter: string) =>
    jobsFrame(
      c.monitor,
      {
        at: null,
        windowMs: 60_000,
        target: '',
        sort: 'jobId',
        descending: false,
        filter,
        groupBy: 'node',
        offset: 0,
        limit: 60,
      },
      1,
    )
  const { groups } = frame('')
  expect([groups?.name.toSorted(), groups?.count.toSorted()]).toEqual([
    ['oss01', 'oss02'],
    [2, 3],
  ])
  for (const [i, name] of (groups?.name ?? []).entries()) expect(frame(`node:${name}`).shown).toBe(groups?.count[i])
  expect(frame('node:oss01').rows.jobId).toEqual(['1.both.u1', '2.first.u2'])
  expect(frame('-node:oss01').rows.jobId).toEqual(['3.second.u3', '4.second.u4'])
})

it('the chart above the table shows the jobs that pass the filter, or their groups', async () => {
  const c = emulatedCluster(
    smallScenario([
      { id: '1.vasp.u1' },
      { id: '2.vasp.u2', clients: [2] },
      { id: '3.bwa.u3', clients: [3] },
      ...Array.from({ length: 8 }, (_, i) => ({ id: `${10 + i}.small.u${10 + i}`, clients: [4], processes: 1 })),
    ]),
  )
  await c.run(6)
  const frame = (filter: string, groupBy: 'exe' | 'node' | null = null) =>
    jobsFrame(
      c.monitor,
      {
        at: null,
        windowMs: 60_000,
        target: '',
        sort: 'rpcs',
        descending: true,
        filter,
        groupBy,
        offset: 0,
        limit: 60,
      },
      1,
    )
  const names = (of: ReturnType<typeof frame>) => of.stack.series.map(({ jobId }) => jobId)
  const last = (of: ReturnType<typeof frame>, name: string): number =>
    of.stack.series.find(({ jobId }) => jobId === name)?.values.at(-1) ?? NaN
  const all = frame('')
  expect(names(all)).toContain('')
  expect(names(frame('vasp')).toSorted()).toEqual(['1.vasp.u1', '2.vasp.u2'])
  expect(last(frame('vasp'), '1.vasp.u1')).toBe(last(all, '1.vasp.u1'))
  const byExe = frame('', 'exe')
  expect([byExe.stackBy, names(byExe).toSorted()]).toEqual(['exe', ['bwa', 'small', 'vasp']])
  expect(last(byExe, 'vasp')).toBeCloseTo(last(all, '1.vasp.u1') + last(all, '2.vasp.u2'), 6)
  expect(new Set(byExe.stack.series.map(({ colour }) => colour)).size).toBe(3)
  expect(names(frame('small', 'exe'))).toEqual(['small'])
  expect(names(frame('small')).filter((name) => name !== '')).toHaveLength(7)
  expect(last(frame('small'), '')).toBeGreaterThan(0)
  // RPCs of a job are not known by server over time.
  expect([frame('', 'node').stackBy, names(frame('', 'node'))]).toEqual([undefined, names(all)])
})
