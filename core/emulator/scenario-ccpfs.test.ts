import { expect, test } from 'vitest'
import { parseScenario, type Scenario, type ScenarioFailure } from './scenario.ts'

const TEXT = `title: Shared
clients: { count: 4 }
oss:
  - name: oss01
    osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 1000 } }]
control: { max_rate: 100 }
ccpfs:
  servers: [pfs01, pfs02]
  files:
    - { name: ckpt.h5, stripes: 4, stripe_kib: 1024, size_mib: 16 }
    - { name: run.log }
    - { name: one, size_mib: 2 }
  workloads:
    - { job: a, file: ckpt.h5, clients: [1, 2], processes: 4, pattern: strided, size_bytes: 65536 }
    - { job: b, file: run.log, clients: [3], pattern: append, size_bytes: 512, stop_s: 9 }
    - { job: c, file: one, clients: [2, 4], processes: 4, readers: 2, pattern: segmented, size_bytes: 4096 }
    - { job: c, file: ckpt.h5, clients: [4], pattern: spanning, size_bytes: 8192, offset_mib: 8, span_mib: 4 }
  faults:
    - { what: client-silent, client: 3, at_s: 5, for_s: 2 }
jobs:
  - { id: a, clients: [1, 2], op: read, size_kib: 64, pattern: { kind: continuous } }
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
  const { ccpfs } = scenario()
  expect(ccpfs).toMatchObject({ manager: 'seqdlm', revocation_timeout_s: 100, costs: {} })
  expect(ccpfs?.files[1]).toEqual({ name: 'run.log', stripes: 1, stripe_kib: 1024, size_mib: 64 })
  expect(ccpfs?.workloads[1]).toMatchObject({ user: '', readers: 0, start_s: 0, pace: { kind: 'continuous' } })
  expect(scenario(TEXT.replace(/ccpfs:\n(?: .*\n)+/, '')).ccpfs).toBeUndefined()
})

// Line and column refer to the wrong value, not to the section.
test.each([
  ['file: ckpt.h5, clients: [1, 2]', 'file: ckpt.h6, clients: [1, 2]', 14, 'ckpt.h6, ', 'no file of this section'],
  ['pattern: strided, size_bytes: 65536', 'pattern: strided, size_bytes: 0', 14, '0 }', 'size_bytes'],
  ['pattern: strided, size_bytes: 65536', 'pattern: strided, size_bytes: 65.5', 14, '65.5 }', 'size_bytes'],
  ['stripes: 4, stripe_kib: 1024', 'stripes: 4, stripe_kib: 0', 10, '0, size', 'stripe_kib'],
  ['stripes: 4, stripe_kib: 1024', 'stripes: 4, stripe_kib: 10', 10, '10, size', 'multiple of 4'],
  ['stripes: 4, stripe_kib: 1024', 'stripes: 0, stripe_kib: 1024', 10, '0, stripe', 'stripes'],
  ['size_mib: 2 }', 'size_mib: 0 }', 12, '0 }', 'size_mib'],
  ['size_mib: 16', 'size_mib: 9007199254740993', 10, '9007', 'size_mib'],
  // Segments of two writers in 2 MiB.
  ['segmented, size_bytes: 4096', 'segmented, size_bytes: 1048577', 16, '1048577', 'segments would overlap'],
  ['clients: [3]', 'clients: [5]', 15, '5]', 'only 4 clients'],
  ['clients: [3]', 'clients: [3, 3]', 15, '3],', 'twice'],
  ['client: 3', 'client: 7', 19, '7, at_s', 'only 4 clients'],
  ['client: 3, at_s', 'client: 1, zap: 2, at_s', 19, 'zap', 'zap'],
  ['client-silent, client: 3', 'server-silent, server: pfs03', 19, 'pfs03', 'no server of this section'],
  ['offset_mib: 8', 'offset_mib: 17', 17, '17,', 'beyond the 16 MiB'],
  ['offset_mib: 8', 'offset_mib: 1.0e+300', 17, '1.0e', 'offset_mib'],
  ['span_mib: 4', 'span_mib: 9', 17, '9 }', 'ends beyond the 16 MiB'],
  ['span_mib: 4', 'span_mib: 1', 17, '1 }', 'a stripe and a write'],
])('says where: %s -> %s', (from, to, line, at, why) => {
  const f = failure(from, to)
  expect(f).toMatchObject({ code: 'SCENARIO_INVALID', line })
  expect(
    TEXT.replace(from, to)
      .split('\n')
      [line - 1]?.slice(f.column - 1),
  ).toSatisfy((rest: string) => rest.startsWith(at))
  expect(f.why).toContain(why)
})

test.each([
  ['servers: [pfs01, pfs02]', 'servers: [pfs01, pfs01]', 'another server has this name'],
  ['servers: [pfs01, pfs02]', 'servers: []', 'servers'],
  ['servers: [pfs01, pfs02]', 'servers: ["a b"]', 'a host name'],
  ['servers: [pfs01, pfs02]', 'servers: [pfs01]\n  manager: magic', 'manager'],
  ['servers: [pfs01, pfs02]', 'servers: [pfs01]\n  costs: { device_mb_s: 0 }', 'device_mb_s'],
  ['servers: [pfs01, pfs02]', 'servers: [pfs01]\n  costs: { rtt_us: .nan }', 'rtt_us'],
  ['servers: [pfs01, pfs02]', 'servers: [pfs01]\n  revocation_timeout_s: 0', 'revocation_timeout_s'],
  ['name: run.log', 'name: one', 'another file has this name'],
  ['name: run.log', 'name: a/b', 'without /'],
  ['name: run.log', 'name: "\\u2028"', 'U+00FF'],
  ['name: run.log', `name: ${'x'.repeat(256)}`, 'name'],
  ['job: b', `job: ${'x'.repeat(32)}`, 'job'],
  ['job: b', 'job: ""', 'job'],
  ['job: c, file: one', 'job: a, file: one', 'does not run on client 4'],
  ['readers: 2', 'readers: 5', 'the 4 processes'],
  ['clients: [2, 4], processes: 4', 'clients: [2, 4], processes: 1', 'processes'],
  ['stop_s: 9', 'stop_s: 9, start_s: 9', 'after start_s'],
  ['file: ckpt.h5, clients: [4]', 'file: one, clients: [4]', 'beyond the 2 MiB'],
  ['size_bytes: 65536', 'size_bytes: 16777217', 'the 16777216 bytes'],
  ['pattern: append', 'pattern: magic', 'pattern'],
  ['client: 3', 'client: 4, for_s: 1, for_s: 2', 'unique'],
])('refuses %s -> %s', (from, to, why) => {
  expect(`${failure(from, to).why}`).toContain(why)
})

test('a fault needs a client that uses the files', () => {
  const text = TEXT.replace('clients: [3]', 'clients: [4]')
  expect(parseScenario(text)).toMatchObject({
    ok: false,
    error: { why: expect.stringContaining('no workload runs on this client') as string },
  })
})

test('a spanning write needs an edge of stripes', () => {
  const text = TEXT.replace('file: ckpt.h5, clients: [4]', 'file: one, clients: [4]').replace(
    'offset_mib: 8, span_mib: 4',
    'offset_mib: 0',
  )
  expect(parseScenario(text)).toMatchObject({
    ok: false,
    error: { why: expect.stringContaining('no stripe boundary') as string },
  })
})

test('EXPLOIT sections that would fill the memory are refused', () => {
  const files = Array.from({ length: 17 }, (_, i) => `    - { name: f${i}, stripes: 256 }`).join('\n')
  const many = TEXT.replace('    - { name: run.log }', `    - { name: run.log }\n${files}`)
  const refused = (text: string): string => {
    const read = parseScenario(text)
    return read.ok ? 'taken' : (read.error.why ?? '')
  }
  expect(refused(many)).toContain('most 4096')
  expect(refused(TEXT.replace('processes: 4, pattern: strided', 'processes: 4095, pattern: strided'))).toContain(
    'most 4096',
  )
  expect(refused(TEXT.replace('size_bytes: 65536', 'size_bytes: 68719476736'))).toContain('size_bytes')
})
