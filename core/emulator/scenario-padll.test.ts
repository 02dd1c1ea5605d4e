import { expect, test } from 'vitest'
import { parseScenario, type Scenario, type ScenarioFailure } from './scenario.ts'

const TEXT = `title: Staged
clients: { count: 4 }
oss:
  - name: oss01
    osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 1000 } }]
mds:
  - name: mds01
    mdts: [{ name: t-MDT0000 }]
control: { max_rate: 100 }
padll:
  system_limits: { meta_op: 500, open: 100 }
  algorithm: psharing
  faults:
    - { what: stage-dies, at_s: 3, job: a, instance: 1 }
    - { what: local-dies, at_s: 4, for_s: 2, client: 2 }
  housekeeping: |
    1 create_channel 1000 posix_meta 0 no_op meta_op
    2 create_object 1000 1 posix_meta no_op meta_op drl 10000 1000000
  policies: |
    # demands of both
    1 0 demand a meta_op 300
    2 60 job b meta_op 200
jobs:
  - { id: a, clients: [1, 2], processes: 4, op: [open, close], stages: { per_client: 2 }, pattern: { kind: continuous } }
  - { id: b, clients: [3], op: stat, pattern: { kind: phases, phases: [{ for_s: 5, rate: 3 }] } }
`

function scenario(text = TEXT): Scenario {
  const read = parseScenario(text)
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

function failure(from: string, to: string): ScenarioFailure {
  expect(TEXT).toContain(from)
  const read = parseScenario(TEXT.replace(from, to))
  if (read.ok) throw new Error('it was taken')
  return read.error
}

test('the section parses with its defaults', () => {
  expect(scenario().padll).toMatchObject({
    controller_node: 'qos01',
    system_limits: { meta_op: 500, open: 100 },
    algorithm: 'psharing',
    epsilon: 0.25,
    split: 'equal',
    interval_ms: 1000,
    collect_rounds: 1,
    mounts: ['/lustre'],
    lease: { seconds: 30, on_expiry: 'hold' },
  })
  expect(scenario(TEXT.replace('  algorithm:', '  lease: { on_expiry: 50 }\n  algorithm:')).padll?.lease).toEqual({
    seconds: 30,
    on_expiry: 50,
  })
})

test.each([
  ['demand a meta_op 300', 'demand a meta_opp 300', 21, 18, 'meta_opp'],
  ['demand a meta_op 300', 'demand a meta_op -5', 21, 26, 'above 0'],
  ['demand a meta_op 300', 'demand a meta_op 0', 21, 26, 'rate of 0'],
  ['demand a meta_op 300', 'demand a meta_op nan', 21, 26, 'not a rate'],
  ['2 60 job b meta_op 200', '2 60 job b meta_op', 22, 23, 'value is missing'],
  ['drl 10000 1000000', 'drl 10000', 18, 0, 'missing'],
])('a fault in a text of rules stands at its line and column of the file: %s -> %s', (from, to, line, column, why) => {
  const f = failure(from, to)
  expect(f).toMatchObject({ code: 'SCENARIO_INVALID', line })
  if (column > 0) expect(f.column).toBe(column)
  expect(f.why).toContain(why)
})

test('an error in a text without literal lines reports its place in the text', () => {
  const text = TEXT.slice(TEXT.indexOf('policies: |'), TEXT.indexOf('jobs:'))
  const f = failure(text, 'policies: "1 0 demand a magic 5"\n')
  expect(f.why).toContain('line 1, column 14 of the text')
})

test.each([
  ['open: 100', 'stat: 100', 'system_limits'],
  ['open: 100', 'open: 0', 'system_limits'],
  ['open: 100', 'open: .nan', 'system_limits'],
  ['algorithm: psharing', 'algorithm: magic', 'algorithm'],
  ['algorithm: psharing', 'epsilon: 1.5', 'epsilon'],
  ['algorithm: psharing', 'collect_rounds: 0', 'collect_rounds'],
  ['algorithm: psharing', 'mounts: [lustre]', 'absolute path'],
  ['algorithm: psharing', 'mounts: [/a, /a/.]', 'named twice'],
  ['algorithm: psharing', 'controller_node: mds01', 'another node'],
  ['instance: 1', 'instance: 4', '4 stages'],
  ['job: a, instance', 'job: b, instance', 'no job with stages'],
  ['client: 2', 'client: 9', '4 clients'],
  ['processes: 4', 'processes: 3', 'every stage needs a process'],
  ['op: [open, close]', 'op: [open, close, close]', 'cannot close more files than it opens'],
  ['rate: 3', 'rate: 0', 'a rate above 0'],
  ['per_client: 2', 'per_client: 2, directory: scratch', 'absolute path'],
])('refuses %s -> %s', (from, to, why) => {
  expect(`${failure(from, to).why}`).toContain(why)
})

test('stages need the section', () => {
  const without = TEXT.replace(/padll:\n(?: .*\n)+/, '')
  const read = parseScenario(without)
  expect(read).toMatchObject({ ok: false, error: { why: expect.stringContaining('no padll section') as string } })
})
