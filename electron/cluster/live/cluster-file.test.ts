import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseClusters, printClusters, readClusters, writeClusters } from './cluster-file.ts'

const TEXT = `
clusters:
  - name: demo
    nodes:
      - { host: 127.0.0.1, port: 2201, user: root, identity: /k, roles: [oss], jump: null }
      - { host: "oss[02-03]", jump: "login1.hpc" }
`
const failureOf = (text: string): string => {
  const r = parseClusters(text, 'f.yaml')
  return r.ok ? 'read' : `${r.error.code}: ${r.error.why ?? ''}`
}

describe('a cluster file', () => {
  it('is read as documented, and defaults are safe: PROD, review and unlock', () => {
    const read = parseClusters(TEXT, 'f.yaml')
    if (!read.ok) throw new Error(read.error.why)
    expect(read.value[0]).toMatchObject({ name: 'demo', env: 'PROD', safeMode: 'review+unlock', intervalMs: 1000 })
    expect(read.value[0]?.servers.map((s) => [s.host, s.port, s.jump])).toEqual([
      ['127.0.0.1', 2201, null],
      ['oss02', null, 'login1.hpc'],
      ['oss03', null, 'login1.hpc'],
    ])
    expect(parseClusters(printClusters(read.value), 'f.yaml')).toEqual(read)
  })

  it('has a token rate only if one is set: none is written unasked', () => {
    const read = parseClusters(TEXT, 'f.yaml')
    if (!read.ok) throw new Error(read.error.why)
    expect(read.value[0]?.maxRate).toBeNull()
    expect(printClusters(read.value)).not.toContain('max_rate')
    const set = parseClusters(TEXT.replace('name: demo', 'name: demo\n    max_rate: 640'), 'f.yaml')
    expect(set.ok && set.value[0]?.maxRate).toBe(640)
    expect(set.ok && parseClusters(printClusters(set.value), 'f.yaml')).toEqual(set)
  })

  it('allows root to write only if set', () => {
    const read = parseClusters(TEXT.replace('name: demo', 'name: demo\n    allow_root: true'), 'f.yaml')
    if (!read.ok) throw new Error(read.error.why)
    expect(read.value[0]?.allowRoot).toBe(true)
    expect(printClusters(read.value)).toContain('allow_root: true')
    expect(parseClusters(printClusters(read.value), 'f.yaml')).toEqual(read)
    const plain = parseClusters(TEXT, 'f.yaml')
    expect(plain.ok && plain.value[0]?.allowRoot).toBe(false)
    expect(failureOf(TEXT.replace('name: demo', 'name: demo\n    allow_root: please'))).toContain('allow_root')
  })

  it.each([
    ['clusters: [', 'CLUSTERS_UNREADABLE'],
    ['clusters: []\nmore: 1', 'more'],
    ['clusters: [{name: "../x", nodes: [{host: a}]}]', 'clusters.0.name'],
    ['clusters: [{name: a, nodes: []}]', 'clusters.0.nodes'],
    ['clusters: [{name: a, nodes: [{host: a, password: b}]}]', 'password'],
    ['clusters: [{name: a, nodes: [{host: a}]}, {name: a, nodes: [{host: b}]}]', 'two clusters called a'],
    ['clusters: [{name: a, nodes: [{host: "o[1-"}]}]', 'not a range'],
    ['a: &a [x,x]\nb: &b [*a,*a]\nclusters: []', 'CLUSTERS_UNREADABLE'],
  ])('%s is refused with the reason', (text, reason) => expect(failureOf(text)).toContain(reason))

  it('is written whole, for its owner only, and leaves nothing beside it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-clusters-'))
    const path = join(folder, 'clusters.yaml')
    const read = parseClusters(TEXT, 'f.yaml')
    if (!read.ok) throw new Error(read.error.why)
    expect(writeClusters(path, read.value).ok).toBe(true)
    expect(readClusters(path)).toEqual(read)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['clusters.yaml'])
    writeFileSync(path, 'clusters: {')
    const broken = readClusters(path, true)
    expect(broken.ok).toBe(false)
    expect(readFileSync(path, 'utf8')).toBe('clusters: {')
    expect(writeClusters(join(folder, 'no/such/clusters.yaml'), [])).toMatchObject({
      error: { code: 'CLUSTERS_NOT_WRITTEN' },
    })
  })
})
