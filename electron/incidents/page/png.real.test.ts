import { createCanvas, loadImage } from '@napi-rs/canvas'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chartSvg } from '#core/snapshot/chart-svg.ts'
import type { ChartCell } from '#core/snapshot/notebook.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
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

it('a server without a single font draws the same words', async () => {
  const folder = tempFolder()
  const svg = chartSvg(cell)
  const none = join(folder, 'fonts.conf')
  writeFileSync(none, '<?xml version="1.0"?><fontconfig></fontconfig>')
  writeFileSync(join(folder, 'c.svg'), svg)
  const file = join(import.meta.dirname, 'png.ts')
  const program = `import { svgToPng } from ${JSON.stringify(file)}
import { readFileSync } from 'node:fs'
process.stdout.write((await svgToPng(readFileSync(${JSON.stringify(join(folder, 'c.svg'))}, 'utf8'), 2)).toString('base64'))`
  const env = { ...process.env, FONTCONFIG_FILE: none, DISABLE_SYSTEM_FONTS_LOAD: '1' }
  const text = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    env,
    maxBuffer: 2 ** 26,
  }).toString()
  const bare = await inkOf(Buffer.from(text, 'base64'))
  expect(bare.words).toBe((await inkOf(await svgToPng(svg, 2))).words)
})
