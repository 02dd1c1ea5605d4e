import { describe, expect, it } from 'vitest'
import type { Cell, Incident, IncidentsFrame } from '#core/api/incidents.ts'
import { NotebookFilter } from './notebook-filter.ts'

type Summary = IncidentsFrame['incidents'][number]
const of = { kind: 'LIVE', cluster: 'altair', fromMs: 0, toMs: 1, tier: 'raw', frozenMs: 1 } as const
const note = (id: string, text: string): Cell => ({ id, atMs: 1, kind: 'note', text })
const transcript: Cell = {
  id: 'c2',
  atMs: 1,
  kind: 'transcript',
  audit: null,
  of,
  lines: [{ atMs: 1, where: 'oss01', kind: 'intent', text: 'lctl set_param ... start hog4690' }],
}
const verdict: Cell = {
  id: 'c3',
  atMs: 1,
  kind: 'verdict',
  title: 'Verdict',
  seeds: 4,
  unknown: [],
  detail: 'cap at 400',
  of,
  parts: [
    { text: 'victim 4711 ', strong: false },
    { text: 'waits less', strong: true },
  ],
}
const summary = (id: string, more: Partial<Summary> = {}): Summary => ({
  id,
  title: 'Write wait x4',
  status: 'open',
  cluster: 'altair',
  author: 'mira',
  createdMs: 5,
  resolvedMs: null,
  alert: null,
  cells: 3,
  fault: '',
  ...more,
})
const summaries: readonly Summary[] = [
  summary('INC-0004'),
  summary('INC-0003', { title: '<img src=x>', author: 'alert', alert: 'queue', status: 'resolved' }),
  summary('INC-0002', { title: 'INC-0002', cluster: '', author: '', cells: 0, fault: 'it cannot be read' }),
  summary('INC-0001', { title: 'Slow stat', cluster: 'demo', status: 'exercise' }),
]
const cells: Readonly<Record<string, readonly Cell[]>> = {
  'INC-0004': [note('c1', 'OST0003 was full of hog4690'), transcript, verdict],
  'INC-0003': [note('c1', 'nothing was wrong')],
  'INC-0001': [note('c1', 'stat storm of ana')],
}
function service(nowMs?: () => number) {
  const read: string[] = []
  let more = 0
  const filter = new NotebookFilter(
    (id) => {
      read.push(id)
      return cells[id] && ({ cells: cells[id] } as Incident)
    },
    () => more++,
    nowMs,
  )
  return { filter, read, more: () => more }
}
const found = (filter: string): Record<string, readonly string[]> =>
  Object.fromEntries((service().filter.apply(summaries, filter).filtered?.found ?? []).map((f) => [f.id, f.cells]))

describe('the filter of notebooks', () => {
  it.each([
    ['hog4690', { 'INC-0004': ['c1', 'c2'] }],
    ['wait', { 'INC-0004': ['c3'] }],
    ['title:wait', { 'INC-0004': [] }],
    ['text:storm', { 'INC-0001': ['c1'] }],
    ['4711 waits', { 'INC-0004': ['c3'] }],
    ['author:mira -cluster:demo', { 'INC-0004': [] }],
    ['kind:verdict', { 'INC-0004': [] }],
    ['is:resolved', { 'INC-0003': [] }],
    ['<img', { 'INC-0003': [] }],
    ['is:unreadable', { 'INC-0002': [] }],
    ['alert:queue', { 'INC-0003': [] }],
    ['entries<1', { 'INC-0002': [] }],
    ['-hog4690 -is:unreadable', { 'INC-0003': [], 'INC-0001': [] }],
    ['nobody', {}],
  ])('%s', (filter, expected) => expect(found(filter)).toEqual(expected))

  it('tells a fault, and nothing where it is empty', () => {
    const { filter } = service()
    expect(filter.apply(summaries, '')).toEqual({})
    expect(filter.apply(summaries, 'a status:open').filterError?.column).toBe(3)
  })

  it('reads only what a term asks for, and once while a notebook is as it was', () => {
    const { filter, read } = service()
    filter.apply(summaries, 'is:open')
    expect(read).toEqual([])
    filter.apply(summaries, 'storm')
    const first = read.length
    filter.apply(summaries, 'storm')
    expect(read).toHaveLength(first)
    filter.apply([summary('INC-0004'), ...summaries.slice(1)], 'storm')
    expect(read.slice(first)).toEqual(['INC-0004'])
  })

  it('continues later if there are more than a frame has time for, and reports how many are left', async () => {
    let now = 0
    const many = Array.from({ length: 40 }, (_, i) => summary(`INC-${1000 + i}`))
    const { filter, more } = service(() => (now += 10))
    const first = filter.apply(many, 'wait').filtered
    expect(first?.reading).toBeGreaterThan(0)
    expect((first?.passing ?? 0) + (first?.reading ?? 0)).toBe(40)
    await expect.poll(more).toBe(1)
    let left = first?.reading ?? 0
    for (let turns = 0; left > 0 && turns < 40; turns++) left = filter.apply(many, 'wait').filtered?.reading ?? 0
    expect(filter.apply(many, 'wait').filtered).toMatchObject({ passing: 40, of: 40, reading: 0 })
    filter.close()
  })
})
