import { expect, it } from 'vitest'
import type { ClusterInput } from '#core/api/clusters.ts'
import { emptyFields, faultsOf, fieldsOf, inputOf, serversOf, suggestedName } from './cluster-fields.ts'

const typed = { ...emptyFields, name: 'altair', hosts: 'altair-mgs oss[01-02]' }
const one = { name: '', port: null, user: '', identity: '', jump: null, roles: [] }

it('defaults to PROD and read-only, with empty fields from ~/.ssh/config', () => {
  expect(inputOf(typed, null)).toEqual({
    name: 'altair',
    env: 'PROD',
    safeMode: 'read-only',
    allowRoot: false,
    intervalMs: 1000,
    maxRate: null,
    off: [],
    servers: ['altair-mgs', 'oss01', 'oss02'].map((host) => ({ ...one, host })),
  })
})

it('applies fields to every server, and per-host values to one', () => {
  const fields = { ...typed, hosts: 'mgs root@oss01:2201', user: 'mira', port: '2222', jump: 'none' }
  expect(serversOf(fields, null)).toEqual([
    { ...one, host: 'mgs', user: 'mira', port: 2222, jump: '' },
    { ...one, host: 'oss01', user: 'root', port: 2201, jump: '' },
  ])
  expect(serversOf({ ...typed, jump: ' login1, login2 ' }, null)[0]?.jump).toBe('login1, login2')
})

it('adds the scheduler and the controller by role', () => {
  const roles = serversOf({ ...typed, scheduler: 'sched01', controller: 'oss02' }, null).map((s) => [s.host, s.roles])
  expect(roles).toEqual([
    ['altair-mgs', []],
    ['oss01', []],
    ['oss02', ['controller']],
    ['sched01', ['scheduler']],
  ])
  expect(faultsOf({ ...typed, scheduler: 'a b' }, []).scheduler).toBe('One host.')
})

it('changes only edited fields: servers keep their own values', () => {
  const before: ClusterInput = {
    name: 'altair',
    env: 'STAGE',
    safeMode: 'review',
    allowRoot: true,
    intervalMs: 2000,
    maxRate: 700,
    coreShare: 0.05,
    off: ['ldlm'],
    servers: [
      { ...one, name: 'first', host: '127.0.0.1', port: 2201, user: 'root', identity: '/k1', roles: ['oss'] },
      { ...one, name: 'second', host: '127.0.0.1', port: 2202, user: 'mira', identity: '/k2' },
      { ...one, name: 'sched', host: '127.0.0.1', port: 2203, roles: ['scheduler'], jump: '' },
    ],
  }
  expect(inputOf(fieldsOf(before), before)).toEqual(before)
  const unknown = { ...before, maxRate: null }
  expect(inputOf(fieldsOf(unknown), unknown)).toEqual(unknown)
  const changed = serversOf({ ...fieldsOf(before), identity: '/k3' }, before)
  expect(changed.map((s) => [s.name, s.port, s.user, s.identity])).toEqual([
    ['first', 2201, 'root', '/k3'],
    ['second', 2202, 'mira', '/k3'],
    ['sched', 2203, '', '/k3'],
  ])
})

it('reports the fault of every field', () => {
  const bad = {
    ...typed,
    name: '../x',
    user: '-x',
    port: '0',
    interval: '0.05',
    control: '50',
    maxRate: '1e3',
    hosts: 'a;b',
  }
  const faulty = ['control', 'hosts', 'interval', 'maxRate', 'name', 'port', 'user']
  expect(Object.keys(faultsOf(bad, [])).sort()).toEqual(faulty)
  expect(faultsOf(typed, ['altair']).name).toContain('already')
  expect(faultsOf(typed, [])).toEqual({})
})

it('suggests a name from the first host', () => {
  expect(['cetus-mgs', 'oss[01-12]', 'mgs.hpc', ''].map(suggestedName)).toEqual(['cetus', 'oss', 'mgs', ''])
})
