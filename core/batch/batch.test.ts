import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '#tests/any-character.ts'
import { expandHostlist, HOSTS_MAX } from './hostlist.ts'
import { batchNumber, jobForm } from './lustre-job.ts'
import { parseScontrolJobs } from './scontrol.ts'
import { parseSqueueText } from './squeue-text.ts'

describe('expandHostlist', () => {
  it.each([
    ['', []],
    ['n1', ['n1']],
    ['n[1-3]', ['n1', 'n2', 'n3']],
    ['n[008-011,7],login1', ['n008', 'n009', 'n010', 'n011', 'n7', 'login1']],
    ['r[1-2]c[0-1]-ib', ['r1c0-ib', 'r1c1-ib', 'r2c0-ib', 'r2c1-ib']],
    ['n1,n1', ['n1']],
  ])('%s', (text, names) => expect(expandHostlist(text)).toEqual(names))

  it.each([
    'n[1-3',
    'n1]',
    'n[3-1]',
    'n[a-b]',
    'n[]',
    'n[1[2]]',
    ',',
    'n1,,n2',
    '$(reboot)',
    'n 1',
    'n[1-2]\n',
    'n[0-999999999]',
  ])('is no list: %s', (text) => expect(expandHostlist(text)).toBeUndefined())

  it('stays within its bounds: brackets multiply', () => {
    expect(expandHostlist('n[0-99][0-99][0-99]')).toBeUndefined()
    expect(expandHostlist(`n[1-${HOSTS_MAX}]`)).toHaveLength(HOSTS_MAX)
    expect(expandHostlist(`n[1-${HOSTS_MAX + 1}]`)).toBeUndefined()
    expect(expandHostlist('n1,'.repeat(100_000))).toBeUndefined()
  })

  it('answers any text within its bounds', () => {
    const piece = fc.constantFrom('n', '[', ']', '-', ',', '1', '007', '9999', 'x.y')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
        expect(expandHostlist(parts.join(''))?.length ?? 0).toBeLessThanOrEqual(HOSTS_MAX)
      }),
    )
  })
})

describe('parseSqueueText', () => {
  it('reads a job a line; a name may hold the separator', () => {
    const text = '7|2|ann|chem|RUNNING|n[1-2]|a|b \n8|1|bob|(null)|PENDING||x\n'
    expect(parseSqueueText(text)).toEqual({
      jobs: [
        { number: '7', name: 'a|b ', user: 'ann', account: 'chem', nodes: 2, hosts: ['n1', 'n2'], state: 'running' },
        { number: '8', name: 'x', user: 'bob', account: '', nodes: 1, hosts: [], state: 'waiting' },
      ],
      skipped: 0,
    })
  })

  it('skips and counts other lines: banners, truncated lines, other formats', () => {
    const text = 'Welcome to the cluster!\n7|2|ann\nx|1|a|b|RUNNING|n1|x\n9|1|a|b|RUNNING|n1|x\n'
    expect(parseSqueueText(text)).toMatchObject({ jobs: [{ number: '9' }], skipped: 3 })
  })

  it('exploit: a job name cannot make another job, nor an endless one', () => {
    const { jobs } = parseSqueueText(`5|1|mal|acc|RUNNING|n1|${'A'.repeat(5000)}\u0007|9|root|root|RUNNING|n[1-9]|x\n`)
    expect(jobs).toHaveLength(1)
    expect(jobs[0]).toMatchObject({ number: '5', user: 'mal', nodes: 1, hosts: ['n1'] })
    expect(jobs[0]?.name).toBe('A'.repeat(64))
  })
})

const line = (name: string, command = '/home/ann/run.sh'): string =>
  `JobId=41 JobName=${name} UserId=ann(1000) GroupId=ann(1000) MCS_label=N/A Priority=1 Nice=0 Account=chem QOS=normal ` +
  `JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Partition=p AllocNode:Sid=l1:9 ReqNodeList=(null) ExcNodeList=(null) ` +
  `NodeList=n[1-2] BatchHost=n1 NumNodes=2 NumCPUs=8 NumTasks=2 CPUs/Task=1 Command=${command} WorkDir=/home/ann`

describe('parseScontrolJobs', () => {
  it('reads one job a line', () => {
    expect(parseScontrolJobs(`${line('sim')}\n\nNo jobs in the system\n`)).toEqual({
      jobs: [{ number: '41', name: '', user: 'ann', account: 'chem', nodes: 2, hosts: ['n1', 'n2'], state: 'running' }],
      skipped: 0,
    })
  })

  it('exploit: fields in a name or a command are not the job’s', () => {
    const evil = 'x UserId=root(0) GroupId=root(0) Account=hpc QOS=x JobState=FAILED Reason=x NumNodes=9000 NumCPUs=1'
    for (const l of [line(evil), line('x', `/tmp/${evil}`)]) {
      expect(parseScontrolJobs(l).jobs[0]).toMatchObject({ user: 'ann', account: 'chem', nodes: 2, state: 'running' })
    }
  })

  it('counts junk', () => expect(parseScontrolJobs('slurm_load_jobs error\n').skipped).toBe(1))
})

describe('Lustre job ids', () => {
  it.each([
    ['1234', '1234'],
    ['1234.dd.1000', '1234'],
    ['1234[5].pbs1', '1234'],
    ['1234.pbs1', '1234'],
    ['dd.0', undefined],
    ['1234abc', undefined],
    ['', undefined],
    ['-1', undefined],
    ['9'.repeat(31), undefined],
  ])('%s is job %s', (id, number) => expect(batchNumber(id)).toBe(number))

  it('are read by the form that jobid_name gives them', () => {
    expect(jobForm('%e.%u').find).toBeUndefined()
    const form = jobForm('%j.%e.%H')
    expect(form.find?.('77.dd.n1')).toBe('77')
    expect(form.host?.('77.dd.n1')).toBe('n1')
    expect(jobForm('%e:%j').find?.('dd:77')).toBe('77')
    expect(jobForm('%e:%j').find?.('77')).toBeUndefined()
    // An id of 31 bytes may have been truncated, so its host is not trusted.
    expect(form.host?.('77.a_program_of_a_long_name.n12')).toBeUndefined()
  })

  it('of any bytes are read in no time', () => {
    const form = jobForm('%j.%e.%h.%u')
    fc.assert(
      fc.property(fc.string({ maxLength: 31, unit: anyCharacter }), (id) => {
        expect(form.find?.(id) ?? '0').toMatch(/^\d+$/)
        expect(form.host?.(id) ?? 'h').toMatch(/^[A-Za-z0-9_.-]+$/)
      }),
    )
  })
})
