import fc from 'fast-check'
import { expect, it } from 'vitest'
import { anyCharacter } from '#tests/any-character.ts'
import { chartSvg, xmlText, placeMarks, widthOf } from './chart-svg.ts'
import { chartCell, type ChartCell } from './notebook.ts'

const T0 = Date.UTC(2026, 10, 19, 14, 27)
const values = Array.from({ length: 60 }, (_, i) => (i > 30 && i < 40 ? null : 50 + i))
const cell = (more: Partial<ChartCell> = {}): ChartCell => ({
  id: 'c',
  atMs: T0,
  kind: 'chart',
  title: 'Service wait',
  unit: 'ms',
  t: values.map((_, i) => T0 + i * 1000),
  place: { kind: 'target', names: ['OST0003'] },
  series: [{ label: { kind: 'text', text: 'p95' }, ink: 2, area: true, values }],
  limit: { value: 150, label: 'watch 150 ms' },
  marks: [],
  of: { kind: 'LIVE', cluster: 'altair', fromMs: T0, toMs: T0 + 60_000, tier: '1s', frozenMs: T0 + 60_000 },
  ...more,
})

const HOSTILE = [
  '</text></svg><script>alert(1)</script>',
  '"><image href="http://evil/x.png" onload="alert(1)"/>',
  ']]><!ENTITY x SYSTEM "file:///etc/passwd">',
  '&lol; <!-- -->',
  'javascript:alert(1)',
  '\u202Egnp.exe\u0000\n',
  '\uD800 lone',
]

it('a title, a series, a place, a mark, a limit or a cluster that is markup is text in the picture', () => {
  for (const word of HOSTILE) {
    const label = { kind: 'job', text: word } as const
    const evil = cell({
      title: word,
      unit: word,
      place: { kind: 'job', names: [word] },
      series: [{ label, ink: 1, area: false, values }],
      marks: [{ atMs: T0 + 9_000, text: word, level: 'bad' }],
      limit: { value: 9, label: word },
      of: { ...cell().of, cluster: word },
    })
    const svg = chartSvg(evil, { version: word })
    const names = [...svg.matchAll(/<\/?([^\s/>]+)/g)].map((m) => m[1])
    expect(new Set(names)).toEqual(new Set(['svg', 'title', 'desc', 'rect', 'text', 'path', 'line']))
    const attributes = [...svg.matchAll(/ ([a-z-]+)="/gi)].map((m) => m[1])
    expect(attributes.filter((a) => /^(on|style|href|xlink)/i.test(a ?? ''))).toEqual([])
    expect(svg).not.toMatch(/[\u0000-\u0008\u202A-\u202E\n]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
    expect(svg).not.toMatch(/&(?!#\d+;)/)
  }
})

it('any text at all gives well-formed characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (text) => {
      expect(xmlText(text)).not.toMatch(/[<>"']|&(?!#\d+;)/)
      expect(xmlText(text).isWellFormed()).toBe(true)
    }),
  )
})

it('nothing is drawn across a gap, the gap is hatched, a zero is not a gap', () => {
  const svg = chartSvg(cell())
  const line = /<path d="([^"]+)" fill="none" stroke="#b87f00"/.exec(svg)?.[1] ?? ''
  expect(line.match(/M/g)).toHaveLength(2)
  expect(svg).toContain('class="c-hatch"')
  const full = chartSvg(
    cell({ series: [{ label: { kind: 'text', text: 'x' }, ink: 2, area: true, values: values.map(() => 0) }] }),
  )
  expect(full).not.toContain('class="c-hatch"')
  expect(/<path d="([^"]+)" fill="none" stroke="#b87f00"/.exec(full)?.[1]?.match(/M/g)).toHaveLength(1)
  expect(chartSvg(cell({ t: [], series: [] }))).toContain('No samples in this range')
})

it('the picture has its values, its limit and its provenance as text', () => {
  const svg = chartSvg(cell(), { version: '9.9' })
  expect(svg).toContain('<title>Service wait</title>')
  expect(/<desc>([^<]*)<\/desc>/.exec(svg)?.[1]).toContain('p95: 50 to 109')
  for (const word of ['altair LIVE', '14:27:00', 'means of 1s', 'Sluice 9.9', 'watch 150 ms'])
    expect(svg).toContain(word)
  expect(svg).toBe(chartSvg(structuredClone(cell()), { version: '9.9' }))
})

it('areas are stacked in their order; the axis holds their sum', () => {
  const of = (color: number) => ({
    label: { kind: 'job', text: `j${color}` } as const,
    ink: color,
    area: true,
    values: values.map(() => 60),
  })
  const svg = chartSvg(cell({ series: [of(1), of(2), of(3)], limit: null }))
  const first = (color: string): number =>
    Number(new RegExp(`<path d="M[\\d.]+ ([\\d.]+)[^"]*" fill="none" stroke="${color}"`).exec(svg)?.[1])
  expect(first('#006aaf')).toBeGreaterThan(first('#b87f00'))
  expect(first('#b87f00')).toBeGreaterThan(first('#008560'))
  expect(svg).toContain('>200<')
})

it('labels of marks never overlap, and none leaves the plot', () => {
  const mark = fc.record({
    atMs: fc.integer({ min: 0, max: 600 }),
    text: fc.string({ minLength: 1, maxLength: 60 }),
    level: fc.constantFrom('ok' as const, 'bad' as const),
  })
  fc.assert(
    fc.property(fc.array(mark, { maxLength: 40 }), (marks) => {
      const { placed } = placeMarks(marks, (at) => 52 + at, 52, 660)
      expect(placed).toHaveLength(marks.length)
      const boxes = placed.flatMap((p) => {
        if (p.row === null) return []
        const width = widthOf(p.text, 10.5)
        const from = p.anchor === 'end' ? p.textX - width : p.textX
        return [{ row: p.row, from, to: from + width }]
      })
      for (const a of boxes) {
        expect(a.from).toBeGreaterThanOrEqual(52)
        expect(a.to).toBeLessThanOrEqual(661)
        for (const b of boxes) expect(a === b || a.row !== b.row || a.to <= b.from || b.to <= a.from).toBe(true)
      }
    }),
  )
})

it('a chart of the most that a cell may hold is drawn', () => {
  const t = Array.from({ length: 1200 }, (_, i) => T0 + i * 500)
  const most = cell({
    t,
    of: { ...cell().of, toMs: T0 + 600_000 },
    series: Array.from({ length: 12 }, (_, k) => ({
      label: { kind: 'job' as const, text: 'x'.repeat(512) },
      ink: k % 8,
      area: true,
      values: t.map((_, i) => i + k),
    })),
    marks: Array.from({ length: 200 }, (_, k) => ({
      atMs: T0 + k * 3_000,
      text: 'y'.repeat(512),
      level: 'watch' as const,
    })),
  })
  expect(chartCell.safeParse(most).success).toBe(true)
  expect(chartSvg(most).length).toBeLessThan(600_000)
})

it('negative values are below the zero line, which is the axis; without any, zero is the bottom', () => {
  const pool = [10, 0, -50, -20]
  const of = (of: readonly number[]): string =>
    chartSvg(
      cell({
        t: of.map((_, i) => T0 + i * 20_000),
        series: [{ label: { kind: 'text', text: 'pool' }, ink: 1, area: false, values: [...of] }],
        limit: null,
      }),
    )
  const axisOf = (svg: string): number => Number(/<line[^>]* y1="([\d.]+)"[^>]*class="c-axis"/.exec(svg)?.[1])
  const heightsOf = (svg: string): number[] =>
    [...(/<path d="(M[^"]+)"[^>]*class="c-s1"/.exec(svg)?.[1] ?? '').matchAll(/[ML][\d.]+ ([\d.]+)/g)].map((m) =>
      Number(m[1]),
    )
  const axis = axisOf(of(pool))
  const heights = heightsOf(of(pool))
  expect(heights).toHaveLength(4)
  expect(heights.map((y) => Math.sign(Math.round(axis - y)))).toEqual([1, 0, -1, -1])
  expect(of(pool)).toContain('>\u221250<')
  expect(axisOf(of([10, 0, 5, 2]))).toBeGreaterThan(axis)
})
