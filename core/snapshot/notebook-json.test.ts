import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '#tests/any-character.ts'
import { incident, type Incident } from './notebook.ts'
import { notebookJson } from './notebook-json.ts'

const of = { kind: 'LIVE', cluster: 'altair', fromMs: 1, toMs: 2, tier: '1s', frozenMs: 3 } as const
const note = (text: string): Incident['cells'][number] => ({ id: 'c1', atMs: 1, kind: 'note', text })

const notebook = (over: Partial<Incident> = {}): Incident => ({
  format: 1,
  id: 'INC-0042',
  title: 'Service time',
  status: 'open',
  author: 'mira',
  alert: null,
  source: { kind: 'LIVE', cluster: 'altair', env: 'PROD', scenario: null, seed: null },
  createdMs: 1,
  changedMs: 2,
  resolvedMs: null,
  fromMs: 1,
  toMs: 2,
  cells: [],
  ...over,
})

/** The same object with reversed key order, on every level. */
const turned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([k, v]) => [k, turned(v)]),
  )
}

describe('the canonical text of a notebook', () => {
  it('is one text for one content', () => {
    const any = fc.record({
      title: fc.string({ maxLength: 60 }),
      text: fc.string({ unit: anyCharacter, maxLength: 60 }),
    })
    fc.assert(
      fc.property(any, ({ title, text }) => {
        const made = notebook({ title, cells: [note(text)] })
        const json = notebookJson(made)
        expect(notebookJson(turned(made) as Incident)).toBe(json)
        expect(json.endsWith('}\n')).toBe(true)
        // Reading it back yields the same notebook and the same text, even with unpaired surrogates.
        const read = incident.parse(JSON.parse(json))
        expect(read).toEqual(made)
        expect(notebookJson(read)).toBe(json)
      }),
      { numRuns: 40 },
    )
  })

  it('leaves out what the schema does not know, and has gaps as null', () => {
    const chart: Incident['cells'][number] = {
      id: 'c1',
      atMs: 1,
      kind: 'chart',
      title: 'Queue',
      unit: 'RPCs',
      t: [1, 2],
      limit: null,
      marks: [],
      of,
      place: { kind: 'target', names: [] },
      series: [{ label: { kind: 'text', text: 'all' }, ink: 1, area: false, values: [null, 2] }],
    }
    const json = notebookJson({ ...notebook({ cells: [chart] }), more: 'secret' } as Incident)
    expect(json).not.toContain('secret')
    expect(json).toContain('"values": [\n      null,\n      2\n     ]')
  })

  it('is refused for an invalid notebook', () => {
    expect(() => notebookJson(notebook({ createdMs: NaN }))).toThrow()
    expect(() => notebookJson(notebook({ id: '../INC-0001' }))).toThrow()
  })
})
