import { expect, it } from 'vitest'
import { parseVersion } from '../lustre/version.ts'
import type { PlanCommand } from './plan.ts'
import { changesTypeSafely, gatesOf } from './version-gates.ts'

const command = (value: string): PlanCommand => {
  const [verb = '', rule = ''] = value.replace(/^(?:reg|hp) /, '').split(' ')
  return { verb: verb as PlanCommand['verb'], rule, value }
}
const hits = (version: string, values: readonly string[], realtime: readonly string[] = []): string[] =>
  gatesOf(
    parseVersion(version),
    { server: 'oss01', realtime: new Map(realtime.map((n) => [n, true])) },
    values.map(command),
  ).map((g) => `${g.action} ${g.id}`)

it.each([
  ['2.14.0', ['change a rank=b'], [], ['refuse LU-14724']],
  ['2.15.0', ['change a rank=b'], [], []],
  ['2.14.0', ['reg start a_name_of_twenty_ jobid={x} rate=1'], [], ['refuse LU-15056', 'say LU-16144']],
  ['2.15.8', ['start a jobid={x} rate=5'], [], ['say LU-16144']],
  ['2.15.8', ['change a rate=5'], ['a'], ['refuse LU-15926']],
  ['2.15.8', ['change a rate=5'], ['b'], []],
  ['2.15.8', ['start a jobid={x} rate=5 realtime=1', 'change a rate=9'], [], ['refuse LU-15926', 'say LU-16144']],
  ['2.16.0', ['change a rate=5 rank=b', 'start c jobid={x} rate=5'], ['a'], []],
  ['2.15.90', ['start a jobid={x} rate=5'], [], []],
  ['2.12.9', [], [], []],
] as const)('on %s %j with realtime %j meets %j', (version, values, realtime, expected) => {
  expect(hits(version, values, realtime)).toEqual(expected)
})

it('an unread release takes nothing', () => {
  const [hit] = gatesOf(undefined, { server: 'oss01' }, [command('stop a')])
  expect(hit).toMatchObject({ id: 'VERSION', action: 'refuse' })
  expect(hit?.text).toContain('oss01')
})

it('a direct change of the TBF type is safe from 2.16 on', () => {
  const safe = ['2.12.9', '2.15.8', '2.15.50', '2.16.0', '2.17.57'].map((v) => {
    const version = parseVersion(v)
    return version && changesTypeSafely(version)
  })
  expect(safe).toEqual([false, false, true, true, true])
})
