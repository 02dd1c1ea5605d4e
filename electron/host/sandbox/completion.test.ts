import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../../tests/any-character.ts'
import { demoScenario } from '../../files/resources.ts'
import { complete } from './completion.ts'

const demo = readFileSync(demoScenario(), 'utf8')

/** Completes at `|`. */
function at(text: string): { labels: string[]; fromColumn: number; details: Map<string, string> } {
  const lines = text.slice(0, text.indexOf('|')).split('\n')
  const { options, fromColumn } = complete(text.replace('|', ''), lines.length, (lines.at(-1) ?? '').length + 1)
  return { labels: options.map((o) => o.label), fromColumn, details: new Map(options.map((o) => [o.label, o.detail])) }
}

const head = `title: x
oss:
  - name: oss01
    osts:
      - { name: t-OST0000, disk: { bandwidth_mb_s: 100 } }
`

describe('completion', () => {
  it('names the keys of the root, needed ones first, those that stand already left out', () => {
    const { labels, details } = at(`${head}|`)
    expect(labels).toContain('clients')
    expect(labels).toContain('faults')
    expect(labels).not.toContain('oss')
    expect(labels.indexOf('jobs')).toBeLessThan(labels.indexOf('policy'))
    expect(details.get('thinning')).toContain('default 1')
  })

  it.each([
    ['a half-typed key', `${head}con|`, ['control'], 1],
    ['a key of a map', `${head}control:\n  max|`, ['max_rate'], 3],
    ['a key of an item', `${head}jobs:\n  - id: a\n    cli|`, ['clients'], 5],
    ['the first key of an item', `${head}jobs:\n  - i|`, ['id', 'in_slurm'], 5],
    ['a key in braces', `${head}clients: { cou|`, ['count'], 12],
    ['a key in braces that are closed', `${head}clients: { count: 1, lat| }`, ['latency_us'], 22],
    ['a key of a union, by its kind', `${head}jobs:\n  - id: a\n    pattern: { kind: bursts, ev| }`, ['every_s'], 30],
    ['a key that has a value already', `${head}control:\n  per|: 5`, ['period_ms'], 3],
  ])('%s', (_, text, labels, column) => {
    const found = at(text)
    expect(found.labels).toEqual(labels)
    expect(found.fromColumn).toBe(column)
  })

  it.each([
    ['a value of a few', `${head}control:\n  controller: |`, ['adaptbf', 'static', 'none']],
    ['a half-typed value', `${head}control:\n  mode: en|`, ['enforce']],
    ['kinds of a pattern', `${head}jobs:\n  - pattern: { kind: |`, ['continuous', 'bursts', 'poisson', 'phases']],
    ['an operation', `${head}jobs:\n  - op: wr|`, ['write']],
    ['one operation of several', `${head}jobs:\n  - op: [read, wr|`, ['write']],
    ['a target of this scenario', `${head}jobs:\n  - targets: [t|`, ['t-OST0000']],
    ['a target for a fault', `${head}faults:\n  - { what: slow-disk, target: |`, ['t-OST0000']],
    ['a server', `${head}faults:\n  - what: server-silent\n    server: |`, ['oss01']],
    ['true or false', `${head}jobs:\n  - in_slurm: f|`, ['false']],
    ['a service', `${head}rules:\n  - service: |`, ['ost_io', 'mdt', 'mdt_readpage']],
  ])('%s', (_, text, labels) => {
    expect(at(text).labels).toEqual(labels)
  })

  it('puts brackets where a list has to stand', () => {
    const text = `${head}jobs:\n  - targets: `
    expect(complete(text, text.split('\n').length, 14).options).toMatchObject([
      { label: 't-OST0000', apply: '[t-OST0000]' },
    ])
  })

  it('knows other branches are not meant', () => {
    const { labels } = at(`${head}jobs:\n  - pattern: { kind: poisson, | }`)
    expect(labels).toEqual(['rate'])
  })

  it('says nothing in comments and in free text', () => {
    expect(at(`${head}# con|`).labels).toEqual([])
    expect(at('title: no|').labels).toEqual([])
  })

  it('reaches into every part of the demo', () => {
    const lines = demo.split('\n')
    for (const [line, word] of lines.entries()) {
      const m = /^(\s*(?:- )?)([a-z_]+):/.exec(word)
      if (!m || /[|>{[]|^\s+[0-9]/.test(word)) continue
      const column = (m[1] ?? '').length + 2
      const { options } = complete(demo, line + 1, column)
      expect([line + 1, m[2], options.map((o) => o.label)]).toEqual([line + 1, m[2], expect.arrayContaining([m[2]])])
    }
  })

  it('never throws, wherever the cursor is in whatever text, and what it offers begins with what stands there', () => {
    const cut = fc.nat(demo.length).map((n) => demo.slice(0, n))
    fc.assert(
      fc.property(
        fc.oneof(cut, fc.string({ unit: anyCharacter })),
        fc.integer({ min: -2, max: 400 }),
        fc.integer({ min: -2, max: 200 }),
        (text, line, column) => {
          const end = text.split('\n')
          for (const [l, c] of [
            [line, column],
            [end.length, (end.at(-1) ?? '').length + 1],
          ] as const) {
            const { options, fromColumn } = complete(text, l, c)
            expect(fromColumn).toBeGreaterThanOrEqual(1)
            for (const o of options) expect(o.label).not.toBe('')
          }
        },
      ),
      { numRuns: 40 },
    )
  })
})
