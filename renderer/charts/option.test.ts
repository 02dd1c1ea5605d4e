/** Options of pictures, rendered to SVG: what is drawn on a canvas is not in the DOM. */
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { expect, it } from 'vitest'
import { palette, type Palette } from '../theme/palette.ts'
import { curvePicture } from './curve-chart.ts'
import { groupBarsPicture } from './group-bars.ts'
import { chartOption } from './option.ts'
import { jobLook, variantLook } from './patterns.ts'
import type { Picture } from './picture.ts'

use([SVGRenderer])

const SIZE = { width: 600, height: 200 }
/** Colors by which the test finds what is drawn. */
const colors: Palette = { ...palette.value, 'text-1': '#111111', 'ink-1': '#333333', 'ink-2': '#444444' }

function pathsOf(picture: Picture): Element[] {
  const sheet = init(null, null, { renderer: 'svg', ssr: true, ...SIZE })
  sheet.setOption(chartOption(colors, picture, SIZE))
  const text = sheet.renderToSVGString()
  sheet.dispose()
  const page = new DOMParser().parseFromString(text, 'image/svg+xml')
  return [...page.querySelectorAll('path')]
}
/** Center and top of a bar: `M81 180l26 0l0 -78.6l-26 0Z`. */
function barOf(path: Element): { center: number; top: number } {
  const [left = NaN, floor = NaN, width = NaN, , , height = NaN] = (path.getAttribute('d') ?? '')
    .split(/[MlZ ]+/)
    .slice(1)
    .map(Number)
  return { center: left + width / 2, top: floor + height }
}

it('draws outlines around the places of the bars, also where some bars have none', () => {
  const series = ['a', 'b'].map((name) => ({ name, look: variantLook(2) }))
  const groups = [
    { name: 'Job1', values: [100, 50], published: [120, null] },
    { name: 'Job2', values: [200, 60] },
    { name: 'Job3', values: [200, 60], published: [180, 60] },
  ]
  const paths = pathsOf(groupBarsPicture({ label: 'Throughput', unit: 'MB/s', series, groups }, colors))
  const bars = paths.filter((path) => path.getAttribute('fill') === '#333333').map(barOf)
  const outlines = paths.filter((path) => path.getAttribute('stroke') === '#111111')
  expect(bars).toHaveLength(6)
  expect(outlines.every((path) => path.getAttribute('fill') === 'none')).toBe(true)
  expect(outlines.every((path) => (path.getAttribute('stroke-dasharray') ?? '') !== '')).toBe(true)
  // Series one after another: a of Job1 and Job3, b of Job3.
  const places = outlines.map(barOf)
  const measured = [bars[0]!, bars[2]!, bars[5]!]
  expect(places).toHaveLength(3)
  places.forEach(({ center }, i) => expect(Math.abs(center - measured[i]!.center)).toBeLessThan(1))
  // 120 is above the bar of 100, 180 below the top of that of 200.
  expect(places[0]!.top).toBeLessThan(measured[0]!.top)
  expect(places[1]!.top).toBeGreaterThan(measured[1]!.top)
})

it('draws measured curves with a symbol at every value, and published ones dashed without', () => {
  const points = [
    [1, 1],
    [10, 3],
    [100, 9],
  ] as const
  const line = { name: 'SeqDLM', look: jobLook(0), points }
  const paper = { name: 'SeqDLM', look: jobLook(1), points }
  const picture = curvePicture(
    { label: 'One file', unit: 'GB/s', across: 'KB', isLog: true, lines: [line], published: [paper] },
    colors,
  )
  const paths = pathsOf(picture)
  const drawn = (color: string) => paths.filter((path) => path.getAttribute('stroke') === color)
  expect(drawn('#333333').map((path) => path.getAttribute('stroke-dasharray'))).toEqual([null])
  expect(drawn('#444444').map((path) => path.getAttribute('stroke-dasharray'))).toEqual(['6,4'])
  // Areas below lines are transparent.
  const filled = (color: string) =>
    paths.filter((path) => path.getAttribute('fill') === color && path.getAttribute('fill-opacity') !== '0')
  expect([filled('#333333').length, filled('#444444').length]).toEqual([3, 0])
})
