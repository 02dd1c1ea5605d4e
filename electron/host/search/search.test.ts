import { createRouterClient } from '@orpc/server'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainText } from '#core/base/plain-text.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { searchWords } from '#core/search/match.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import type { JobRead, ClusterView } from '../../cluster/cluster-view.ts'
import { openHost, type Host } from '../host.ts'
import { jobHits, ownerHits } from './subjects.ts'

const EPOCH_S = 1_767_225_600
const clientOf = (host: Host) => createRouterClient(host.router, { context: { peer: 'test' } })

let host: Host
let api: ReturnType<typeof clientOf>
beforeAll(async () => {
  const opened = await openHost({
    shell: 'terminal',
    historyFile: join(tempFolder(), 'h.sqlite'),
    paced: false,
    epochSeconds: EPOCH_S,
  })
  if (!opened.ok) throw new Error(opened.error.what)
  host = opened.value
  api = clientOf(host)
  await host.source.runTo(3 * NS_PER_S, (atNs) => host.monitor.tick(atNs))
})
afterAll(() => host.close())
const kindsOf = async (text: string) => (await api.search.find({ text })).found.map((f) => f.kind)

describe('a search over what is on screen', () => {
  it('finds a job by its id, and whose it is', async () => {
    const job = [...host.monitor.jobs.all][0]!
    const { found } = await api.search.find({ text: job.jobId.toUpperCase() })
    expect(found[0]).toMatchObject({ kind: 'job', id: job.jobId, user: job.user, colour: job.colour })
    expect(found[0]).toHaveProperty('rpcs', expect.any(Number))
    const byUser = await api.search.find({ text: job.user, limit: 50 })
    expect(byUser.found).toContainEqual(expect.objectContaining({ kind: 'user', name: job.user }))
    expect(byUser.found.filter((f) => f.kind === 'job').map((f) => f.user)).toContain(job.user)
  })

  it('finds targets, nodes, rules, clusters and scenarios', async () => {
    const { target, node } = host.monitor.targets[0]!
    expect((await api.search.find({ text: target })).found).toContainEqual({ kind: 'target', name: target, node })
    expect((await api.search.find({ text: node })).found).toContainEqual({ kind: 'node', name: node, role: 'oss' })
    const { found } = await api.search.find({ text: 'default *', limit: 20 })
    const servers = host.monitor.serversOf('ost_io').length
    expect(found).toContainEqual(
      expect.objectContaining({ kind: 'rule', name: 'default', service: 'ost_io', queue: 'reg', servers }),
    )
    expect(await kindsOf(host.monitor.source.cluster)).toContain('cluster')
    expect((await api.search.find({ text: 'storm' })).found).toContainEqual(
      expect.objectContaining({ kind: 'scenario', own: false }),
    )
  })

  it('finds an incident by its number and its title, whatever that is', async () => {
    const title = 'Hog <img src=x> 100 % \u202Eof_it'
    const atMs = host.monitor.nowMs()
    const { id } = await api.incidents.create({ atMs, span: null, title, note: '' })
    for (const text of [id, 'hog', '<img', '100 %', 'of_it'])
      expect((await api.search.find({ text })).found).toContainEqual({
        kind: 'incident',
        id,
        title: plainText(title),
        status: 'exercise',
      })
    expect(await kindsOf('100 & hog')).toEqual([])
  })

  it('finds a job that is only kept in the history', async () => {
    const atMs = host.monitor.nowMs()
    const facts = { user: 'zoe', account: 'geo', nodes: 4 }
    const names = ['9001.gone_100%.u7', '9002.goneX100.u7']
    const jobs = names.map((jobId) => ({
      jobId,
      rpcs: 5,
      readBps: 0,
      writeBps: 0,
      throttled: 0,
      record: 0,
      mdops: 0,
    }))
    host.monitor.history.record(atMs + 60_000, jobs, [], (jobId) => ({ jobId, ...facts }))
    host.monitor.history.flush()
    const { found } = await api.search.find({ text: 'gone_100%' })
    expect(found).toEqual([expect.objectContaining({ kind: 'job', id: names[0], user: 'zoe', rpcs: null })])
    expect((await api.search.find({ text: 'zoe gone' })).found).toHaveLength(2)
  })

  it('takes every text as text, and says how many more there are', async () => {
    for (const text of ['', '   ', '%', "' OR 1=1 --", '(', '[', '\\', 'x'.repeat(200), '\u0000'])
      expect([
        text,
        (await api.search.find({ text })).found.filter((f) => f.kind !== 'incident' && f.kind !== 'job'),
      ]).toEqual([text, []])
    await expect(api.search.find({ text: 'x'.repeat(201) })).rejects.toThrow()
    const one = await api.search.find({ text: 'ost', limit: 1 })
    expect(one.found.filter((f) => f.kind === 'target')).toHaveLength(1)
    expect(one.more['target']).toBe(host.monitor.targets.length)
  })
})

describe('of ten thousand jobs', () => {
  const jobs: JobRead[] = Array.from({ length: 10_000 }, (_, i) => ({
    jobId: `${10_000 + i}.app${i % 40}.u${i % 300}`,
    firstSeenMs: i,
    user: `u${i % 300}`,
    account: `a${i % 9}`,
    nodes: 2,
    colour: 1,
    targets: new Set(),
    lastSecond: { ops: new Map() },
  }))
  const byId = new Map(jobs.map((job) => [job.jobId, job]))
  const viewed = {
    sample: 1,
    source: { periodNs: 1e9 },
    recent: { raw: { jobs: { mean: () => 3 } } },
    jobs: { all: jobs, size: jobs.length, find: (id: string) => byId.get(id) },
  } as unknown as ClusterView

  it('the few that are wanted come first, and only they are read', () => {
    const hits = jobHits({ terms: searchWords('12345'), limit: 6 }, viewed, undefined)
    expect(hits).toMatchObject({ total: 1, found: [{ id: '12345.app25.u245', rpcs: 3 }] })
    const many = jobHits({ terms: searchWords('app7'), limit: 6 }, viewed, undefined)
    expect([many.found.length, many.total]).toEqual([6, 250])
    expect(ownerHits({ terms: searchWords('u7'), limit: 3 }, viewed, 'user').found[0]).toEqual({
      kind: 'user',
      name: 'u7',
      jobs: 34,
    })
  })
})
