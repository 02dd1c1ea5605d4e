import { describe, expect, it } from 'vitest'
import { readScenarioText } from '../emulator/scenario.ts'
import { limitsOf } from './model-limits.ts'

interface Parts {
  readonly control?: string
  readonly pattern?: string
  readonly more?: string
  readonly clients?: number
}
function limits({ control = 'max_rate: 900', pattern = 'kind: continuous', more = '', clients = 2 }: Parts) {
  const read = readScenarioText(`title: x
cluster: t
clients: { count: ${clients} }
control: { ${control} }
oss:
  - { name: oss01, osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 500, channels: 4 } }] }
jobs:
  - { id: a, clients: [1], op: write, size_kib: 64, pattern: { ${pattern} } }
${more}`)
  if (!read.ok) throw new Error(read.error[0]?.message)
  return limitsOf(read.value).map(({ input, of, side, value }) => [input, of, side, value])
}
const fork = (spanS: number): string =>
  `fork: { cluster: t, at: 2026-11-21T10:00:00.000Z, span_s: ${spanS}, workload: closed, unknown: [] }`
const ccpfs = (workload: string, clients = '[1, 2]'): string =>
  `ccpfs: { servers: [cc01], files: [{ name: f, size_mib: 64 }], workloads: [{ job: w, file: f, clients: ${clients}, ${workload} }] }`
const node = (more: string, client = ''): string =>
  `haechi: [{ name: dn01, global_iops: 1570000, local_iops: 400000, ${more} clients: [{ name: c1${client} }] }]`

describe('inputs beyond the validated range of the model', () => {
  it('are none of a plain scenario', () => {
    expect(limits({})).toEqual([])
    expect(limits({ more: `${fork(60)}\n${ccpfs('pattern: strided, size_bytes: 65536')}` })).toEqual([])
    expect(limits({ more: node('', ', records: { count: 8, reads: 1 }') })).toEqual([])
  })

  it('are rates and periods of control', () => {
    expect(limits({ control: 'max_rate: 1000000' })).toEqual([['rule rate', '', 'above', 1_000_000]])
    expect(limits({ control: 'max_rate: 999999' })).toEqual([])
    expect(limits({ control: 'max_rate: 900, period_ms: 50' })).toEqual([['controller period', '', 'below', 50]])
    // A period that no controller uses is not reported.
    expect(limits({ control: 'max_rate: 900, period_ms: 50, controller: none' })).toEqual([])
  })

  it('are bursts that come more seldom than the fork was observed', () => {
    const pattern = 'kind: bursts, rpcs: 5, every_s: 90'
    expect(limits({ pattern, more: fork(60) })).toEqual([['burst interval', 'a', 'above', 90_000]])
    expect(limits({ pattern, more: fork(120) })).toEqual([])
    expect(limits({ pattern })).toEqual([])
  })

  it('are sizes, patterns and clients of locks', () => {
    expect(limits({ more: ccpfs('pattern: strided, size_bytes: 4096') })).toEqual([['write size', 'w', 'below', 4096]])
    expect(limits({ more: ccpfs('pattern: random, size_bytes: 4194304') })).toEqual([
      ['write size', 'w', 'above', 4_194_304],
    ])
    expect(limits({ more: ccpfs('pattern: append, size_bytes: 50000') })).toEqual([
      ['partial pages', 'w', 'apart', 50_000],
    ])
    const many = `[${Array.from({ length: 97 }, (_, i) => i + 1).join(', ')}]`
    expect(limits({ clients: 97, more: ccpfs('pattern: strided, size_bytes: 65536', many) })).toEqual([
      ['lock clients', '', 'above', 97],
    ])
  })

  it('are the period, the clients and the writes of a data node', () => {
    expect(limits({ more: node('period_ms: 250,') })).toEqual([['token period', 'dn01', 'below', 250]])
    expect(limits({ more: node('', ', records: { count: 8, reads: 0.25 }') })).toEqual([
      ['token writes', 'c1 on dn01', 'apart', 0.75],
    ])
    const otherNames = Array.from({ length: 10 }, (_, i) => `}, { name: d${i}`).join(' ')
    expect(limits({ more: node('', ` ${otherNames}`) })).toEqual([['token clients', 'dn01', 'above', 11]])
  })
})
