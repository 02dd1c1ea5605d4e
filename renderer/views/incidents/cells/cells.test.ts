/** Cells: hostile names stay text, and no information depends on color alone. */
import { mount } from '@vue/test-utils'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createPinia, setActivePinia } from 'pinia'
import { nextTick } from 'vue'
import type { Cell } from '#core/api/incidents.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import NotebookCell from '../NotebookCell.vue'
import {
  chartCell,
  clock,
  diffCell,
  noteCell,
  tableCell,
  transcriptCell,
  verdictCell,
} from '#tests/kits/renderer/views/incidents-host.ts'
import { placedOf, wordsOf } from '#tests/kits/renderer/picture-parts.ts'
import { readingAt } from '../../../charts/use-chart.ts'
import { palette } from '../../../theme/palette.ts'
import { runs } from '../../../widgets/canvas.ts'
import { cellPicture, chartSentence, gapsOf, placeMarks, valueEnds } from './chart-layout.ts'
import { columnFormats } from './table-model.ts'

const HOSTILE = '<img src=x onerror=alert(1)>"\'&lt;b&gt;\u202Egnp https://evil.example/ javascript:alert(1)'
const SEEN = '<img src=x onerror=alert(1)>"\'&lt;b&gt;\u2039202E\u203Agnp https://evil.example/ javascript:alert(1)'

let shown: ReturnType<typeof mount> | null = null
freshPage(900, () => shown?.unmount())
beforeEach(() => setActivePinia(createPinia()))
function show(cell: Cell, isTable = false) {
  shown = mount(NotebookCell, {
    attachTo: document.body,
    props: { cell, incident: 'INC-0042', isReadOnly: false, isTable },
  })
  return shown
}
const find = (id: string) => shown!.findAll(`[data-testid="${id}"]`)

describe('a hostile name in a cell stays text: no element, no link, no letters turned around', () => {
  const label = { kind: 'job' as const, text: HOSTILE }
  const cells: readonly Cell[] = [
    noteCell({ text: HOSTILE }),
    chartCell({ title: HOSTILE, unit: HOSTILE, limit: { value: 1, label: HOSTILE } }),
    chartCell({ series: [{ label, ink: 1, area: true, values: [1] }], t: [clock(14, 30)] }),
    chartCell({ place: { kind: 'job', names: [HOSTILE] } }),
    chartCell({ of: { ...chartCell().of, cluster: HOSTILE, tier: '<b>' } }),
    tableCell({ title: HOSTILE, rows: [{ name: label, ink: 1, values: [1, 2, 3] }] }),
    tableCell({ columns: [{ label: HOSTILE, unit: '', signed: true }], rows: [{ name: label, ink: 0, values: [1] }] }),
    diffCell({ lines: [{ kind: 'add', name: HOSTILE, conditions: HOSTILE, before: null, after: 1 }] }),
    diffCell({ title: HOSTILE, service: HOSTILE }),
    verdictCell({ title: HOSTILE, detail: HOSTILE, unknown: [HOSTILE], parts: [{ text: HOSTILE, strong: true }] }),
    transcriptCell({ lines: [{ atMs: 1, where: HOSTILE, kind: 'outcome', text: HOSTILE }] }),
    transcriptCell({ lines: [{ atMs: 1, where: HOSTILE, kind: 'pasted', text: HOSTILE }] }),
    transcriptCell({ lines: [{ atMs: 1, where: '', kind: 'intent', text: `lctl set_param x='${HOSTILE}'` }] }),
  ]
  it.each(cells.map((cell, i) => [`${i} ${cell.kind}`, cell] as const))('%s', (_, cell) => {
    const wrapper = show(cell)
    expect(wrapper.text()).toContain(SEEN)
    expect(wrapper.text()).not.toContain('\u202E')
    expect((wrapper.element as Element).querySelector('img, script, a, b[onerror], iframe, object')).toBeNull()
  })
  it('in the marks of a chart, and in its table', async () => {
    const cell = chartCell({ marks: [{ atMs: clock(14, 27), text: HOSTILE, level: 'bad' }] })
    expect(show(cell).find('[data-testid="frozen-chart"]').attributes('data-marks')).toBe('1')
    expect(readingAt(cellPicture(cell, palette.value), clock(14, 27)).lines.at(-1)?.name).toContain(SEEN)
    shown?.unmount()
    show(cell, true)
    await nextTick()
    expect(shown!.text()).toContain(SEEN)
    expect((shown!.element as Element).querySelector('img')).toBeNull()
  })
})

describe('a frozen chart', () => {
  it('draws areas and lines with their gaps open and hatched, its limit and its text alternative', () => {
    show(chartCell())
    const picture = cellPicture(chartCell(), palette.value)
    const { layers = [], ranges, levels } = picture
    expect(find('frozen-chart')[0]?.attributes('data-lines')).toBe('2')
    expect(layers).toHaveLength(2)
    expect(runs(layers[0]?.values ?? [])).toHaveLength(2)
    expect(layers.filter(({ fill }) => fill !== undefined)).toHaveLength(1)
    expect(find('frozen-chart')[0]?.attributes('data-gaps')).toBe('1')
    expect(ranges?.map(({ fill }) => fill)).toEqual(['gap'])
    expect(levels?.map(({ value }) => value)).toEqual([150])
    expect(wordsOf(picture)).toContain('watch 150 ms')
    expect(find('provenance')[0]?.text().replace(/\s+/g, ' ')).toBe(
      'altair LIVE14:27\u201314:37raw samplesfrozen 14:37:02',
    )
    expect(find('frozen-chart')[0]?.attributes('aria-label')).toMatch(
      /^Service wait; p95 from [\d.]+ to [\d.]+ ms; p50/,
    )
  })

  it('hatches the unmeasured parts of its range, before, between and after', () => {
    const t = [clock(14, 30), clock(14, 31), clock(14, 32), clock(14, 33)]
    const series = (values: (number | null)[]) => [
      { label: { kind: 'text' as const, text: 'p95' }, ink: 1, area: false, values },
    ]
    const of = { ...chartCell().of, fromMs: clock(14, 20), toMs: clock(14, 40) }
    expect(gapsOf({ t, of, series: series([1, null, 1, 1]) })).toEqual([
      [clock(14, 20), clock(14, 30)],
      [clock(14, 30), clock(14, 32)],
      [clock(14, 33), clock(14, 40)],
    ])
    expect(gapsOf({ t, of, series: series([null, null, null, null]) })).toEqual([[of.fromMs, of.toMs]])
    expect(gapsOf({ t, of: { ...of, fromMs: t[0]!, toMs: t[3]! }, series: series([1, 1, 1, 1]) })).toEqual([])
  })

  it('shows its values under the pointer, and that a gap is not measured', async () => {
    let resized: ResizeObserverCallback = () => undefined
    vi.stubGlobal(
      'ResizeObserver',
      class {
        constructor(callback: ResizeObserverCallback) {
          resized = callback
        }
        observe(): void {}
        disconnect(): void {}
      },
    )
    show(chartCell())
    resized([{ contentRect: { width: 856, height: 172 } } as ResizeObserverEntry], {} as ResizeObserver)
    await nextTick()
    await nextTick()
    const chart = find('frozen-chart')[0]!
    const box = { left: 0, top: 0, width: 856, height: 172, right: 856, bottom: 172, x: 0, y: 0, toJSON: () => '' }
    chart.element.getBoundingClientRect = () => box
    const x = (atMs: number): number => 42 + ((atMs - clock(14, 27)) / 600_000) * 800
    const tip = () => chart.find<HTMLElement>('.chart-tip')
    await chart.trigger('pointermove', { clientX: x(clock(14, 30)) })
    expect(tip().element.hidden).toBe(false)
    expect(tip().text()).toMatch(/^14:30:00\s*p95\s*\d{3}\s*p50/)
    await chart.trigger('pointermove', { clientX: x(clock(14, 35, 6)) })
    expect(tip().text()).toMatch(/p95\s*not measured\s*p50\s*not measured/)
    await chart.trigger('pointermove', { clientX: x(clock(14, 32, 51)) })
    expect(tip().text()).toContain('hog4690 bound, ref 48')
    await chart.trigger('pointerleave')
    expect(tip().element.hidden).toBe(true)
  })

  it('hides the series that its legend hides; its marks remain as lines, and short ticks without a label', () => {
    const marks = Array.from({ length: 20 }, (_, i) => ({
      atMs: clock(14, 28) + i * 20_000,
      text: `mark ${i}`,
      level: 'bad' as const,
    }))
    const picture = cellPicture(chartCell({ marks }), palette.value, new Set(['0']))
    expect(picture.layers?.map(({ name }) => name)).toEqual(['p50'])
    const { segments = [], texts = [] } = placedOf(picture)
    expect(segments).toHaveLength(20)
    expect(segments.filter(({ stroke }) => stroke.width === 2)).toHaveLength(20 - texts.length)
    expect(texts.length).toBeGreaterThan(2)
  })

  it('places mark labels without overlap, and keeps the lines of all marks', () => {
    const marks = Array.from({ length: 60 }, (_, i) => ({
      atMs: clock(14, 27) + i * 9_000,
      text: `mark number ${i} of a storm`,
      level: 'ok' as const,
    }))
    const placed = placeMarks(marks, (atMs) => 42 + (atMs - clock(14, 27)) / 1000, 42, 642)
    expect(placed).toHaveLength(60)
    const labeled = placed.filter((m) => m.lane !== null)
    expect(labeled.length).toBeGreaterThan(6)
    for (const a of labeled)
      for (const b of labeled) {
        if (a === b || a.lane !== b.lane) continue
        const ends = (m: typeof a) =>
          m.isLeft ? [m.x - m.caption.length * 5.4, m.x] : [m.x, m.x + m.caption.length * 5.4]
        const [[from = 0, to = 0], [other = 0, end = 0]] = [ends(a), ends(b)]
        expect(to <= other || end <= from).toBe(true)
      }
  })

  it('has its mark labels above the plot, which they do not cover', () => {
    const picture = cellPicture(chartCell(), palette.value)
    const labels = placedOf(picture).texts ?? []
    expect(labels.length).toBeGreaterThan(0)
    // From the top of the plot: each label ends above it, within the margin.
    for (const { value, dy = 0 } of labels)
      expect([value, dy < 0, -dy < (picture.margins?.top ?? 0)]).toEqual(['top', true, true])
    expect(cellPicture(chartCell({ marks: [] }), palette.value).margins?.top).toBeLessThan(picture.margins?.top ?? 0)
  })

  it('is a table of all its instants under v, of which only those in view are drawn', async () => {
    const wrapper = show(chartCell(), true)
    await nextTick()
    expect(find('chart-table')[0]?.attributes('aria-rowcount')).toBe('302')
    expect(find('chart-row').length).toBeGreaterThan(3)
    expect(find('chart-row').length).toBeLessThan(60)
    await wrapper.find('article').trigger('keydown', { key: 'v' })
    expect(wrapper.emitted('table')).toHaveLength(1)
  })

  it('has an axis that holds every value and the limit, and goes below zero only for a value', () => {
    const series = (values: (number | null)[]) => [{ ...chartCell().series[0]!, values }]
    expect(valueEnds({ series: series([3, null]), limit: { value: 150, label: '' } })).toMatchObject({
      min: 0,
      max: 150,
    })
    expect(valueEnds({ series: series([null]), limit: null })).toMatchObject({ min: 0, max: 1 })
    const both = valueEnds({ series: series([-40, 90]), limit: null })
    expect(both.min).toBeLessThanOrEqual(-40)
    expect(both.max).toBeGreaterThanOrEqual(90)
    expect(chartSentence(chartCell({ series: series([null]) }))).toContain('p95: not measured')
  })
})

describe('a table slice', () => {
  it('sets one number of decimals a column, signs and a bar where it is signed, a dash for what was not measured', () => {
    show(tableCell())
    const cells = find('table-row').map((r) => r.findAll('td').map((td) => td.text()))
    expect(cells[0]?.slice(1)).toEqual(['400', '61\u202F900', '+61\u202F500'])
    expect(cells[1]?.at(-1)).toBe('\u221218\u202F300')
    expect(cells[3]?.slice(2)).toEqual(['\u2013', '\u2013'])
    expect(shown!.findAll('.dbar')).toHaveLength(4)
    expect(find('table-of')[0]?.text()).toBe('4 of 412')
  })
  it('sets bytes a second as MB/s', () => {
    const [format] = columnFormats({
      columns: [{ label: 'read', unit: 'B/s', signed: false }],
      rows: [{ name: { kind: 'job', text: 'a' }, ink: 0, values: [2_500_000] }],
    })
    expect([format?.unit, format?.format(2_500_000)]).toEqual(['MB/s', '2.50'])
  })
  it('shows the first rows of many, and all of them when asked', async () => {
    const rows = Array.from({ length: 40 }, (_, i) => ({
      ...tableCell().rows[0]!,
      name: { kind: 'job' as const, text: `j${i}` },
    }))
    show(tableCell({ rows }))
    expect(find('table-row')).toHaveLength(8)
    await find('table-more')[0]?.trigger('click')
    expect(find('table-row')).toHaveLength(40)
  })
})

describe('a rule diff, a verdict, a transcript', () => {
  it('show changes by glyph and word as well as color, with rates before and after', () => {
    show(diffCell({ more: 3 }))
    const lines = find('diff-line').map((l) => l.text().replace(/\s+/g, ' '))
    expect(lines[0]).toBe('+added: hog4690 jobid={4690.*}&opcode={ost_write} 400')
    expect(lines[1]).toBe('unchanged: hog4471 jobid={4471.*} 63')
    expect(lines[2]).toBe('~changed: ckpt_4655 jobid={4655.*} 200 \u2192 250')
    expect(lines[3]).toBe('\u2212removed: login_cap nid={10.0.9.*@o2ib} 80')
    expect(find('diff-more')[0]?.text()).toBe('and 3 more rules')
  })
  it('list what the model does not know', () => {
    show(verdictCell())
    expect(shown!.text()).toContain('Sandbox B, 20 seeds: victim 4711 p95 wait 2.1 s \u2192 0.3 s')
    expect(shown!.find('details').text()).toContain('Caches of the clients are not in the model.')
  })
  it('show commands literally, each on its own line, and where they were sent once', () => {
    const text = "lctl set_param a='x y'\nlctl set_param b='z'"
    const at = { atMs: clock(14, 32), where: 'oss01' }
    show(
      transcriptCell({
        lines: [
          { ...at, kind: 'intent', text },
          { ...at, kind: 'outcome', text: 'exit 0 \u00B7 verified by read-back' },
        ],
      }),
    )
    expect(shown!.findAll('.cmdl').map((l) => l.element.textContent)).toEqual(text.split('\n'))
    expect(find('transcript-line').map((l) => l.find('.place').text())).toEqual(['14:32:00 oss01', ''])
  })
})
