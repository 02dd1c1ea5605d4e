import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expandJobId, isKernelThread, type ClientProcess } from '../../tests/client-job-id.ts'
import { JOB_NAME_DIALECTS, parseJobName } from './job-name.ts'
import { jobOwners, MODEL_JOB_OWNERS, type JobIdSetting, type JobOwner } from './job-owner.ts'
import type { Release } from './release.ts'

const owner = (variable: string, name: string, id: string): JobOwner => {
  const owners = jobOwners({ variable, name })
  if (!owners.ok) throw new Error(owners.error)
  return owners.value.of(id)
}

/**
 * Returns the id of a process by the kernel's rule; '' if it has none.
 *
 * With a variable, its value alone is used first unless the template contains %j. Kernel threads have no environment.
 */
function clientId({ variable, name }: JobIdSetting, p: ClientProcess, release: Release): string {
  const template = variable === 'procname_uid' ? '%e.%u' : name
  const hasJob = variable !== 'procname_uid' && variable !== 'nodelocal' && !isKernelThread(p.executable)
  const job = hasJob ? p.job : undefined
  if (job !== undefined && !template.includes('%j')) return job.slice(0, 31)
  return expandJobId(parseJobName(template, JOB_NAME_DIALECTS[release]), { ...p, job })
}

const bytes = fc.array(fc.integer({ min: 1, max: 255 }), { maxLength: 15 }).map((c) => String.fromCharCode(...c))
const command = fc.oneof(
  fc.constantFrom('rsync', 'python3.11', 'kworker/0:1', 'a.0', 'x.1000.y', 'dd:0', '0', '1000', ''),
  fc.stringMatching(/^[a-z0-9._:@-]{1,15}$/),
  bytes,
)
const process = fc.record({
  executable: command,
  uid: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 4_294_967_295 })),
  gid: fc.oneof(fc.constant(0), fc.nat(99_999)),
  pid: fc.nat(4_194_304),
  host: fc.stringMatching(/^[a-z][a-z0-9-]{0,14}(\.[a-z][a-z0-9]{0,8}){0,2}$/),
  job: fc.option(fc.oneof(fc.integer({ min: 1, max: 9_999_999 }).map(String), fc.constant('1234[7].pbs01')), {
    nil: undefined,
  }),
})
const field = fc
  .tuple(fc.constantFrom('', '', '', '.1', '.3', '.5', '.12'), fc.constantFrom('e', 'u', 'u', 'g', 'h', 'H', 'j', 'p'))
  .map(([width, code]) => `%${width}${code}`)
const piece = fc.oneof(
  { weight: 5, arbitrary: field },
  { weight: 4, arbitrary: fc.constantFrom('.', ':', '-', '@', 'u', '_', ' ', '0', 'lit', '%z', '%%') },
  { weight: 1, arbitrary: fc.constantFrom('%j?%H', '%j?%e', '%j?%u', '%j?x') },
)
const setting = fc.record({
  variable: fc.constantFrom('procname_uid', 'nodelocal', 'session', 'SLURM_JOB_ID', 'PBS_JOBID'),
  name: fc.array(piece, { minLength: 1, maxLength: 8 }).map((p) => p.join('')),
})

describe('a job of uid 0', () => {
  it('is known as one, or as unknown, by every template that prints the uid, whatever its command is called', () => {
    const count = { root: 0, unknown: 0, valueAlone: 0 }
    fc.assert(
      fc.property(setting, process, fc.constantFrom<Release>('2.15', '2.17', 'dev'), (s, p, release) => {
        const owners = jobOwners(s)
        const id = clientId(s, { ...p, uid: 0 }, release)
        if (!owners.ok || id === '') return
        const found = owners.value.of(id)
        // A job of the batch system whose id has no uid: the batch system provides the owner.
        const template = parseJobName(s.variable === 'procname_uid' ? '%e.%u' : s.name, JOB_NAME_DIALECTS[release])
        const holdsUid = template.some((f) => typeof f !== 'string' && f.code === 'u')
        const isJob = p.job !== undefined && s.variable !== 'procname_uid' && s.variable !== 'nodelocal'
        if (isJob && !isKernelThread(p.executable) && (!holdsUid || !s.name.includes('%j'))) {
          count.valueAlone++
          expect(owners.value.isSystem(id, 'root')).toBe(true)
          return
        }
        if (found !== 'user') count[found]++
        expect(found, `${JSON.stringify(s)} ${release} ${JSON.stringify(id)}`).not.toBe('user')
        expect(owners.value.isSystem(id, '')).toBe(true)
      }),
      { numRuns: 20_000 },
    )
    expect(Math.min(count.root, count.unknown, count.valueAlone)).toBeGreaterThan(200)
  })

  it.each([
    ['procname_uid', '', 'rsync.0'],
    ['procname_uid', '%j', 'kworker.0'],
    ['nodelocal', '%e.%u.%h', 'rsync.0.login03.hpc'],
    ['nodelocal', '%e.%u:%h', 'rsync.0:login03'],
    ['nodelocal', '%u.%e', '0.rsync'],
    ['nodelocal', '%e%u', 'cp_big0'],
    ['nodelocal', '%.3e.%u', 'cp_.0'],
    ['nodelocal', '%e.%u.%g.%h.%H.%p', 'my prog.0.0.lvm.lvm.991'],
    ['nodelocal', '%u.%g', '0.0'],
    ['SLURM_JOB_ID', '%j.%e.u%u', 'login03.rsync.u0'],
    ['SLURM_JOB_ID', '%j.%e.u%u', '.rsync.u0'],
    ['SLURM_JOB_ID', '%j.%e.%u', '4690.python.0'],
    ['SLURM_JOB_ID', '%e.%u', 'rsync.0'],
    ['session', '%e.%u', 'rsync.0'],
    ['SLURM_JOB_ID', '%j:%e:%u', '4690:a:0'],
  ])('%s %s: %s is root’s', (variable, name, id) => {
    expect(owner(variable, name, id)).toBe('root')
  })

  it.each([
    ['an id that the template does not make', 'procname_uid', '', 'rsync.0:host'],
    ['another order than the template’s', 'procname_uid', '', '0.rsync'],
    ['an empty id', 'procname_uid', '', ''],
    ['an id that lost its user', 'SLURM_JOB_ID', '%j.%e.%u', '1234567890123456.long_program_1'],
    ['nothing of the batch system', 'SLURM_JOB_ID', '%j:%e', ':rsync'],
    ['a host in the place of a job', 'SLURM_JOB_ID', '%j?%H', 'login03'],
    ['a host and no job', 'SLURM_JOB_ID', '%h:%j', 'login03:'],
  ])('is not excluded by %s (%s %s: %s)', (_, variable, name, id) => {
    expect(owner(variable, name, id)).toBe('unknown')
  })
})

describe('a job of another user', () => {
  it.each([
    ['procname_uid', '', 'cp.500'],
    ['procname_uid', '', 'python3.11.1000'],
    ['procname_uid', '', '.1000'],
    ['nodelocal', '%e.%u.%h', 'dd.1000.node0'],
    ['nodelocal', '%e.%u:%h', 'a.0.1000:node01'],
    ['nodelocal', '%u.%e', '1000.0'],
    ['nodelocal', '%u.%e', '10.rsync.0'],
    ['SLURM_JOB_ID', '%j.%e.u%u', '4690.python.u1021'],
    ['SLURM_JOB_ID', '%j.%e.%u', '.dd.1000'],
    ['SLURM_JOB_ID', '%j', '4690'],
    ['SLURM_JOB_ID', '%e.%u', '4690'],
    ['SLURM_JOB_ID', '%e.%u', 'dd.1000'],
    ['PBS_JOBID', '%j', '1234[7].pbs01'],
    ['SLURM_JOB_ID', '%j:%e', '4690:dd'],
    ['SLURM_JOB_ID', '%j?%H', '4690'],
    ['SLURM_JOB_ID', '%h:%j', 'node01:4690'],
  ])('%s %s: %s is a user’s', (variable, name, id) => {
    expect(owner(variable, name, id)).toBe('user')
  })

  it('is known as one by the usual templates, whatever its numbers are', () => {
    const plain = fc.stringMatching(/^[a-z][a-z_]{0,5}$/)
    const usual = fc.constantFrom('%e.%u', '%j.%e.%u', '%j:%e:%u', '%e.%u.%H', '%H:%u:%e', '%j.%e.u%u', '%j', '%j.%e')
    const someone = fc.record({
      executable: plain.filter((e) => !isKernelThread(e)),
      uid: fc.integer({ min: 1, max: 99_999 }),
      gid: fc.nat(999),
      pid: fc.nat(9999),
      host: plain,
      job: fc.integer({ min: 1, max: 9_999_999 }).map(String),
    })
    fc.assert(
      fc.property(usual, someone, (name, p) => {
        const s = { variable: 'SLURM_JOB_ID', name }
        const id = clientId(s, p, 'dev')
        expect(owner(s.variable, s.name, id), id).toBe('user')
      }),
      { numRuns: 2_000 },
    )
  })

  it('comes from the batch system if the id does not contain it', () => {
    const owners = jobOwners({ variable: 'SLURM_JOB_ID', name: '%j.%e.%u' })
    if (!owners.ok) throw new Error(owners.error)
    const is = (id: string, user: string): boolean => owners.value.isSystem(id, user)
    expect(is('1234567890123456.long_program_1', 'alice')).toBe(false)
    expect(is('1234567890123456.long_program_1', '')).toBe(true)
    expect(is('4690.python.1000', 'root')).toBe(true)
    // Processes of root within a user's job belong to root.
    expect(is('4690.epilog.0', 'alice')).toBe(true)
  })
})

it.each([
  ['disable', '%e.%u', /disable/],
  ['', '%e.%u', /empty/],
  ['nodelocal', '%H', /%H/],
  ['nodelocal', 'lit', /lit/],
  ['nodelocal', '%e:%p', /%e:%p/],
  ['nodelocal', '%g', /%g/],
  ['nodelocal', '%.0u', /contain neither/],
])('%s %s tells no owners', (variable, name, why) => {
  const owners = jobOwners({ variable, name })
  expect(owners.ok ? '' : owners.error).toMatch(why)
})

it('jobs of a model are users’ unless their ids name root', () => {
  const is = (id: string): boolean => MODEL_JOB_OWNERS.isSystem(id, '')
  expect(['login03.rsync.u0', 'rsync.0', '4690.python.u1021', 'hog', '7.a', '1.hog.u1'].map(is)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ])
})

it('the most ambiguous template and id are read at once', () => {
  expect(owner('SLURM_JOB_ID', `${'%j'.repeat(14)}%u`, '1'.repeat(31))).toBe('unknown')
  expect(owner('SLURM_JOB_ID', `${'%j'.repeat(14)}%u`, '1'.repeat(30))).toBe('user')
})
