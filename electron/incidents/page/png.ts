/**
 * Renders a chart's SVG as PNG: the same bytes from the same SVG on one machine. The font ships with the product, since
 * a server may have none; missing glyphs use a font of the machine, if there is one.
 */
import { readFileSync } from 'node:fs'
import { InvariantError } from '#core/base/result.ts'
import { resourcePath } from '../../files/resources.ts'

const FONTS = ['fonts/inter-latin-400-normal.woff2', 'fonts/inter-latin-600-normal.woff2']
/** Size attributes at the start of a drawing. */
const SIZE = /^(<svg [^>]*?)width="(\d+)" height="(\d+)"/
/** Longest side, px. */
const SIDE_MOST = 8_192

type Canvas = typeof import('@napi-rs/canvas')

let isReady = false
/** Loaded for the first picture: without a build for this machine everything else works. */
async function canvasWithFonts(): Promise<Canvas> {
  const canvas = await import('@napi-rs/canvas')
  if (!isReady) for (const font of FONTS) canvas.GlobalFonts.register(readFileSync(resourcePath(font)), 'Inter')
  isReady = true
  return canvas
}

/**
 * @param svg    output of chartSvg: its size is its `width` and `height`.
 * @param scale  pixels per SVG unit; 2 for a high-density screen.
 * @throws       if this machine has no build of the canvas, or the SVG is not valid.
 */
export async function svgToPng(svg: string, scale: number): Promise<Buffer> {
  const size = SIZE.exec(svg)
  if (!size) throw new InvariantError('a chart names its size')
  const [width, height] = [Number(size[2]) * scale, Number(size[3]) * scale].map((v) =>
    Math.min(SIDE_MOST, Math.round(v)),
  )
  if (!width || !height) throw new InvariantError('a chart has a size')
  const { createCanvas, loadImage } = await canvasWithFonts()
  // The drawing is enlarged as SVG, so that no pixels are scaled.
  const large = svg.replace(SIZE, (_, head: string) => `${head}width="${width}" height="${height}"`)
  const image = await loadImage(Buffer.from(large, 'utf8'))
  const canvas = createCanvas(width, height)
  canvas.getContext('2d').drawImage(image, 0, 0, width, height)
  return canvas.encode('png')
}
