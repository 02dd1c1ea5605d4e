import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { queryBatch, BATCH_WAYS } from './query-batch.ts'
import { parseQstatJson } from './qstat-json.ts'
import { parseSqueueJson } from './squeue-json.ts'
import { printed } from '#tests/kits/electron/answers.ts'

const bytes = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('latin1')
const wrapped = (n: number) => ({ set: true, infinite: false, number: n })
const expected = { number: '41', user: 'ann', account: 'chem', nodes: 2, hosts: ['n1', 'n2'], state: 'running' }

describe('squeue --json', () => {
  const common = { name: 'sim', user_name: 'ann', account: 'chem', nodes: 'n[1-2]' }
  it.each([
    ['21.08', { ...common, job_id: 41, job_state: 'RUNNING', node_count: 2 }],
    [
      '22.05',
      {
        ...common,
        job_id: 41,
        job_state: 'RUNNING',
        node_count: { set: true, number: 2 },
        job_resources: { nodes: 'n[1-2]', allocated_hosts: 2 },
      },
    ],
    ['23.02', { ...common, job_id: 41, job_state: 'RUNNING', node_count: wrapped(2), job_resources: null }],
    ['23.11', { ...common, job_id: 41, job_state: ['RUNNING'], node_count: wrapped(2) }],
    [
      '24.05',
      {
        ...common,
        job_id: 41,
        job_state: ['RUNNING', 'COMPLETING'],
        node_count: wrapped(2),
        job_resources: { nodes: { count: 2, list: 'n[1-2]' } },
      },
    ],
    ['24.11', { ...common, job_id: wrapped(41), job_state: ['RUNNING'], node_count: wrapped(2) }],
  ])('of %s', (_, job) => {
    const read = parseSqueueJson(bytes({ meta: {}, errors: [], jobs: [job] }))
    expect(read).toEqual({ jobs: [{ ...expected, name: 'sim' }], skipped: 0 })
  })

  it('leaves out jobs of another shape, and counts them', () => {
    const jobs = [{ job_id: 'x' }, null, 7, { job_id: { set: false, number: 0 } }, { job_id: 5, user_name: 'é' }]
    expect(parseSqueueJson(bytes({ jobs }))).toMatchObject({ jobs: [{ number: '5', user: 'é', nodes: 1 }], skipped: 4 })
  })

  it.each(['', 'slurm_load_jobs error', '[]', '{"jobs":7}', '{"jobs":[{"job_id":1', 'null'])(
    'is no answer: %s',
    (text) => expect(parseSqueueJson(text)).toBeUndefined(),
  )

  it('never throws, whatever JSON it is', () => {
    fc.assert(fc.property(fc.json(), (text) => void parseSqueueJson(text)))
    fc.assert(fc.property(fc.array(fc.jsonValue()), (jobs) => void parseSqueueJson(bytes({ jobs }))))
  })
})

describe('qstat -F json', () => {
  it('reads jobs of OpenPBS, arrays and those that wait among them', () => {
    const Jobs = {
      '41.pbs1': {
        Job_Name: 'sim',
        Job_Owner: 'ann@login1',
        job_state: 'R',
        Account_Name: 'chem',
        exec_host: 'n1/0*4+n2/0*4',
        Resource_List: { nodect: 2, select: '2:ncpus=4' },
      },
      '42[7].pbs1': {
        Job_Name: 7,
        Job_Owner: 'bob@l',
        job_state: 'Q',
        project: '_pbs_project_default',
        Resource_List: { nodect: '3' },
      },
      'x.pbs1': { Job_Owner: 'c@l', job_state: 'R' },
    }
    expect(parseQstatJson(bytes({ timestamp: 1, pbs_version: '23.06', Jobs }))).toEqual({
      jobs: [
        { ...expected, name: 'sim' },
        { number: '42', name: '7', user: 'bob', account: '', nodes: 3, hosts: [], state: 'waiting' },
      ],
      skipped: 1,
    })
    expect(parseQstatJson(bytes({ pbs_version: '23.06' }))).toEqual({ jobs: [], skipped: 0 })
    expect(parseQstatJson('{}')).toBeUndefined()
  })
})

describe('which of them a server has', () => {
  const missing = (program: string) => printed('', `sh: 1: ${program}: not found\n`, 127)

  it('is found out once, in their order', async () => {
    const requests: string[] = []
    const read = (command: string) => {
      requests.push(command)
      if (!command.startsWith('qstat')) return Promise.resolve(missing(command.split(' ')[0] ?? ''))
      return Promise.resolve(printed(bytes({ Jobs: {} })))
    }
    const first = await queryBatch(read, undefined)
    if (!first.ok) throw new Error(first.why)
    expect(first.way.name).toBe('qstat')
    expect(requests).toHaveLength(BATCH_WAYS.length)
    await queryBatch(read, first.way)
    expect(requests).toHaveLength(BATCH_WAYS.length + 1)
  })

  it('is absent, with a reason, if no command answers', async () => {
    const answer = await queryBatch((c) => Promise.resolve(missing(c.split(' ')[0] ?? '')), undefined)
    expect(answer).toMatchObject({ ok: false, why: expect.stringContaining('squeue: not found') as string })
  })

  it('exploit: a login banner in place of a queue is no queue', async () => {
    const banner = printed('Authorised use only\nPassword has expired\n')
    expect(await queryBatch(() => Promise.resolve(banner), undefined)).toMatchObject({ ok: false })
  })
})
