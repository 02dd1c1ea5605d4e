import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { expandHosts } from './host-ranges.ts'

const hosts = (text: string): readonly string[] => expandHosts(text).hosts

it('parses hosts separated by blanks and commas, and ranges in brackets', () => {
  expect(hosts('altair-mgs, mds01 mds02\noss[01-03]')).toEqual([
    'altair-mgs',
    'mds01',
    'mds02',
    'oss01',
    'oss02',
    'oss03',
  ])
  expect(hosts('oss[8-11]')).toEqual(['oss8', 'oss9', 'oss10', 'oss11'])
  expect(hosts('oss[08-10,12].hpc')).toEqual(['oss08.hpc', 'oss09.hpc', 'oss10.hpc', 'oss12.hpc'])
  expect(hosts('r[1-2]n[1-2]')).toEqual(['r1n1', 'r1n2', 'r2n1', 'r2n2'])
  expect(hosts('oss1 oss1 oss[1-2]')).toEqual(['oss1', 'oss2'])
  expect(expandHosts('   ')).toEqual({ hosts: [], named: [], fault: '' })
})

it('takes a login and a port with a host, one port a server', () => {
  const { hosts: labels, named } = expandHosts('root@127.0.0.1:[2201-2202] oss01')
  expect(labels).toEqual(['127.0.0.1:2201', '127.0.0.1:2202', 'oss01'])
  expect(named[1]).toEqual({ label: '127.0.0.1:2202', host: '127.0.0.1', user: 'root', port: 2202 })
  expect(named[2]).toEqual({ label: 'oss01', host: 'oss01', user: '', port: null })
})

it('reports invalid ranges and names, and keeps the hosts before them', () => {
  for (const text of ['oss[1-', 'oss[a-b]', 'oss[3-1]', 'oss[]', 'oss[1-99999]', 'a[1-100]b[1-100]', 'oss[1-2]]'])
    expect([expandHosts(`mgs ${text}`).hosts, expandHosts(`mgs ${text}`).fault]).toEqual([
      ['mgs'],
      expect.stringMatching(/is no/),
    ])
  for (const text of [
    '-oProxyCommand=x',
    'a;reboot',
    '$(id)',
    '`id`',
    'a\u202Eb',
    '<b>',
    '../x',
    '*',
    'a@b@c',
    'oss01:0',
    'oss01:99999',
    'u;v@oss01',
  ])
    expect([expandHosts(text).hosts, expandHosts(text).fault]).toEqual([
      [],
      expect.stringMatching(/is not a host name/),
    ])
})

it('never returns more than the contract allows, nor a name that begins with a dash', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'os[]0123-,. \n$;'), maxLength: 60 }), (text) => {
      const found = expandHosts(text).hosts
      expect(found.length).toBeLessThanOrEqual(512)
      for (const host of found) expect(host).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._:-]*$/)
    }),
  )
})
