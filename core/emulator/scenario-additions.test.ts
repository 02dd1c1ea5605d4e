import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '#tests/any-character.ts'
import { EmulatedCluster } from './cluster.ts'
import { parseScenario, readScenarioText } from './scenario.ts'

const base = `title: Additions
policy: tbf jobid
clients: { count: 2 }
oss:
  - { name: oss01, osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 1000 } }] }
  - { name: oss02, version: 2.15.8, osts: [{ name: t-OST0001, disk: { bandwidth_mb_s: 1000 } }] }
mds: [{ name: mds01, policy: fifo, mdts: [{ name: t-MDT0000 }] }]
control: { controller: none, max_rate: 100 }
jobs: [{ id: a.1, clients: [1], op: write, size_kib: 64, pattern: { kind: continuous } }]
`
const whyOf = (more: string): string => {
  const r = parseScenario(base + more)
  return r.ok ? 'taken' : `${r.error.line}:${r.error.column} ${r.error.why}`
}

describe('rules of a scenario', () => {
  it('exist on every server of their service, the last one first, or on the named ones', () => {
    const r = parseScenario(`${base}rules:
  - { service: ost_io, line: "start cap jobid={a.*} rate=400" }
  - { service: ost_io, line: "start two jobid={b.1} rate=7", servers: [oss02] }
  - { service: ost_io, line: "change default rate=5000" }
`)
    if (!r.ok) throw new Error(r.error.why)
    const c = new EmulatedCluster(r.value)
    const names = c.oss.map((o) =>
      o.io.nrs
        .rules()
        .filter((x) => x.queue === 'reg')
        .map((x) => `${x.name} ${x.rate}`),
    )
    expect(names).toEqual([
      ['cap 400', 'default 5000'],
      ['two 7', 'cap 400', 'default 5000'],
    ])
  })

  it('hold a job from the first RPC on', () => {
    const r = parseScenario(`${base}rules: [{ service: ost_io, line: "start cap jobid={a.*} rate=20" }]\n`)
    if (!r.ok) throw new Error(r.error.why)
    const c = new EmulatedCluster(r.value)
    c.sim.runUntil(10e9)
    // Two servers with one bucket each.
    expect(c.jobs[0]!.servedRpcs).toBeLessThanOrEqual(2 * (20 * 10 + 4))
  })

  it.each([
    ['rate=0', 'start cap jobid={a.*} rate=0', 'rate'],
    ['a second one of its name', 'start default jobid={a} rate=1', ''],
    ['a rule that is not there', 'change nobody rate=5', ''],
    ['no command', 'frobnicate', ''],
  ])('are refused by the grammar of the server, in place: %s', (_, line, word) => {
    const why = whyOf(`rules: [{ service: ost_io, line: ${JSON.stringify(line)} }]\n`)
    expect(why).toMatch(/^10:\d+ rules\.0\.line: oss01 rejects it \(E[A-Z]+\)/)
    expect(why).toContain(word)
  })

  it('need a server that runs the service, and one that runs TBF', () => {
    expect(whyOf('rules: [{ service: mdt, line: "start x jobid={a} rate=1" }]\n')).toContain(
      'mds01 rejects it (EINVAL): TBF does not run',
    )
    expect(whyOf('rules: [{ service: ost_io, line: "start x jobid={a} rate=1", servers: [oss09] }]\n')).toContain(
      'no server of ost_io is called oss09',
    )
  })
})

describe('faults of a scenario', () => {
  it.each([
    ['{ what: slow-disk, target: t-OST0009, factor: 2, at_s: 0 }', 'no target is called t-OST0009'],
    ['{ what: server-silent, server: oss09, at_s: 0 }', 'no server is called oss09'],
    ['{ what: slow-network, factor: 2, clients: [3], at_s: 0 }', 'there are only 2 clients'],
    ['{ what: slow-disk, target: t-OST0000, factor: 0.5, at_s: 0 }', 'faults.0.factor'],
    ['{ what: slow-disk, target: t-OST0000, factor: 2, at_s: 0, for_s: 0 }', 'faults.0.for_s'],
    ['{ what: burns, target: t-OST0000, at_s: 0 }', 'faults.0.what'],
  ])('befall what is there: %s', (fault, why) => {
    expect(whyOf(`faults: [${fault}]\n`)).toContain(why)
  })
})

describe('errors of a text', () => {
  it('are reported all at once, each at its place', () => {
    const r = readScenarioText(base.replace('count: 2', 'count: 0').replace('size_kib: 64', 'size_kb: 64'))
    if (r.ok) throw new Error('taken')
    expect(r.error.length).toBeGreaterThanOrEqual(2)
    expect(r.error.map((f) => f.line)).toContain(3)
    expect(r.error.map((f) => f.line)).toContain(9)
  })

  it('never throws, whatever the text is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: anyCharacter }),
          fc.nat(base.length).map((n) => base.slice(0, n)),
        ),
        (text) => {
          const r = readScenarioText(text)
          if (!r.ok) for (const f of r.error) expect(f.line >= 1 && f.column >= 1 && f.message !== '').toBe(true)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('takes thinning and where a fork comes from, and refuses both where they make no sense', () => {
    const fork =
      'fork: { cluster: "a b\\n", at: 2026-11-21T10:00:00.000Z, span_s: 60, workload: closed, unknown: [x] }\n'
    expect(whyOf(`thinning: 20\n${fork}`)).toBe('taken')
    expect(whyOf('thinning: 0\n')).toContain('thinning')
    expect(whyOf(fork.replace('closed', 'ajar'))).toContain('fork.workload')
    expect(whyOf(fork.replace('2026-11-21T', 'yesterday '))).toContain('fork.at')
  })
})
