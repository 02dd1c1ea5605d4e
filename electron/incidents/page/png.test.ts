import { createCanvas, loadImage } from '@napi-rs/canvas'
import { expect, it } from 'vitest'
import { chartSvg } from '#core/snapshot/chart-svg.ts'
import type { ChartCell } from '#core/snapshot/notebook.ts'
import { incidentOf, SMALL } from '#tests/kits/electron/incidents/page-facts.ts'
import { svgToPng } from './png.ts'

const cell = incidentOf(SMALL).cells.find((c) => c.kind === 'chart') as ChartCell

/** Dark pixels in the area of the heading, and the size. */
async function inkOf(png: Buffer): Promise<{ width: number; height: number; words: number; curve: number }> {
  const image = await loadImage(png)
  const canvas = createCanvas(image.width, image.height)
  const c = canvas.getContext('2d')
  c.drawImage(image, 0, 0)
  const count = (
    x: number,
    y: number,
    w: number,
    h: number,
    is: (r: number, g: number, b: number) => boolean,
  ): number => {
    const { data } = c.getImageData(x, y, w, h)
    let n = 0
    for (let i = 0; i < data.length; i += 4) if (is(data[i] ?? 0, data[i + 1] ?? 0, data[i + 2] ?? 0)) n++
    return n
  }
  return {
    width: image.width,
    height: image.height,
    words: count(0, 0, 300, 56, (r, g, b) => r + g + b < 200),
    curve: count(0, 120, image.width, image.height - 170, (r, g, b) => r > 150 && g > 100 && g < 150 && b < 60),
  }
}

it('words and curves of a chart are in its picture, twice as large as the drawing, the same each time', async () => {
  const svg = chartSvg(cell, { width: 760, height: 260 })
  const png = await svgToPng(svg, 2)
  const ink = await inkOf(png)
  expect([ink.width, ink.height]).toEqual([1520, 520])
  expect(ink.words).toBeGreaterThan(400)
  expect(ink.curve).toBeGreaterThan(1000)
  expect((await svgToPng(svg, 2)).equals(png)).toBe(true)
  const silent = svg.replace(/<text[^>]*>[^<]*<\/text>/g, '')
  expect((await inkOf(await svgToPng(silent, 2))).words).toBe(0)
})

it('a chart of hostile words is a picture all the same', async () => {
  const evil = { ...cell, title: '</svg><script>x</script>\u202E\u0000', unit: '&amp;lt;' }
  expect((await inkOf(await svgToPng(chartSvg(evil), 1))).width).toBe(760)
})
