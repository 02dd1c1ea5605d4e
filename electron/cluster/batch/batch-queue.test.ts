import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import { Probes } from '../probes/probes.ts'
import { BatchQueue } from './batch-queue.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

const settled = (): Promise<void> => new Promise((done) => setImmediate(done))

function queue(more: Partial<ClusterSource> = {}, isThere = true) {
  const state = { answer: printed(''), asked: 0 }
  const node: NodeConnection = {
    host: 'ctl1',
    roles: ['scheduler'],
    exec: (command) => {
      if (command.startsWith('read ')) return Promise.resolve(printed('', '', 2))
      state.asked++
      return Promise.resolve(state.answer)
    },
  }
  const source: ClusterSource = {
    kind: 'LIVE',
    cluster: 'c',
    nodes: isThere ? [node] : [],
    maxRate: 1,
    periodNs: NS_PER_S,
    nowNs: () => 0,
    toUnixMs: (ns: number) => ns / 1e6,
    ...more,
  }
  const probes = new Probes(source, {}, { isEnforcing: () => false, isPaced: () => false })
  const batch = new BatchQueue(source, probes)
  return {
    state,
    batch,
    probes,
    at: async (s: number) => {
      await batch.refresh(s * NS_PER_S)
      for (let i = 0; i < 8; i++) await settled()
    },
  }
}

describe('the batch system of a live cluster', () => {
  it('names the job behind a Lustre job id, or the reason why there is none', async () => {
    const q = queue()
    expect(q.batch.unmapped('7.dd.1000')).toEqual({ kind: 'no answer', why: 'not queried yet' })
    q.state.answer = printed('7|2|ann|chem|RUNNING|n[1-2]|sim\n')
    await q.at(0)
    expect(q.batch.find('7.dd.1000')).toMatchObject({ user: 'ann', account: 'chem', nodes: 2, hosts: ['n1', 'n2'] })
    expect(q.batch.unmapped('7.dd.1000')).toBeUndefined()
    expect(q.batch.unmapped('dd.0')?.kind).toBe('not a batch job')
    expect(q.batch.unmapped('8.dd.1000')?.kind).toBe('not in the queue')
    q.state.answer = printed('9|1|bob|chem|RUNNING|n3|x\n')
    await q.at(15)
    expect(q.batch.find('7.dd.1000')).toBeUndefined()
    expect(q.batch.unmapped('7.dd.1000')?.kind).toBe('ended')
    expect(queue({}, false).batch.unmapped('7')?.kind).toBe('no batch system')
  })

  it('is asked at its own interval, and sooner for new jobs, not without end', async () => {
    const q = queue()
    q.state.answer = printed('')
    for (let s = 0; s < 15; s++) await q.at(s)
    expect(q.state.asked).toBe(1)
    for (let s = 15; s < 30; s++) {
      await q.at(s)
      q.batch.hurry(s * NS_PER_S)
    }
    expect(q.state.asked).toBe(4)
  })

  it('keeps what is known for a while when it is silent, and never delays', async () => {
    const q = queue()
    q.state.answer = printed('7|2|ann|chem|RUNNING|n[1-2]|sim\n')
    await q.at(0)
    q.state.answer = lost('timed out')
    await q.at(15)
    expect(q.batch.find('7')).toBeDefined()
    expect(q.probes.board.list.find((p) => p.id === 'batch')?.note).toBe('no answer: timed out')
    for (let s = 30; s <= 150; s += 15) await q.at(s)
    expect(q.batch.find('7')).toBeUndefined()
    expect(q.batch.unmapped('7')).toEqual({ kind: 'no answer', why: 'timed out' })
  })

  it('is asked in every way again once the known one has been silent for long', async () => {
    const q = queue()
    q.state.answer = printed('7|2|ann|chem|RUNNING|n[1-2]|sim\n')
    await q.at(0)
    q.state.answer = printed('', 'squeue: error: invalid format', 1)
    for (let s = 15; s <= 150; s += 15) await q.at(s)
    expect(q.batch.find('7')).toBeUndefined()
    q.state.answer = printed(
      'JobId=8 JobName=x UserId=ann(1) GroupId=ann(1) Account=chem QOS=normal JobState=RUNNING Reason=None ' +
        'NodeList=n1 BatchHost=n1 NumNodes=1 NumCPUs=1 Command=x\n',
    )
    await q.at(165)
    expect(q.batch.find('8')).toMatchObject({ user: 'ann', nodes: 1 })
  })

  it('off: is not asked, and jobs are unmapped for that reason', async () => {
    const q = queue()
    q.state.answer = printed('7|2|ann|chem|RUNNING|n[1-2]|sim\n')
    await q.at(0)
    q.probes.set('batch', false)
    q.batch.forget('the probe batch is off')
    await q.at(60)
    expect(q.state.asked).toBe(1)
    expect(q.batch.unmapped('7')).toEqual({ kind: 'no answer', why: 'the probe batch is off' })
  })

  it('finds the job where jobid_name puts it', async () => {
    const q = queue({ jobIdName: '%e:%j:%H' })
    q.state.answer = printed('7|2|ann|chem|RUNNING|n[1-2]|sim\n')
    await q.at(0)
    expect(q.batch.find('dd:7:n1')?.user).toBe('ann')
    expect(q.batch.hostOf('dd:7:n1')).toBe('n1')
    expect(q.batch.find('7')).toBeUndefined()
  })
})
