/**
 * A chart's SVG as PNG, drawn here and now: the same bytes from the same SVG on one machine. The font comes with the product, for a
 * server may have none; letters that it does not know are drawn in a font of the machine, if there is one.
 */
import { readFileSync } from 'node:fs'
import { InvariantError } from '#core/base/result.ts'
import { resourcePath } from '../../files/resources.ts'

const FACES = ['fonts/inter-latin-400-normal.woff2', 'fonts/inter-latin-600-normal.woff2']
/** The size that a drawing begins with. */
const SIZE = /^(<svg [^>]*?)width="(\d+)" height="(\d+)"/
/** Longest side, px. */
const SIDE_MOST = 8_192

type Canvas = typeof import('@napi-rs/canvas')

let isReady = false
/** Loaded when the first picture is drawn: where there is no build of it for this machine, all else goes on. */
async function canvasWithFonts(): Promise<Canvas> {
  const canvas = await import('@napi-rs/canvas')
  if (!isReady) for (const face of FACES) canvas.GlobalFonts.register(readFileSync(resourcePath(face)), 'Inter')
  isReady = true
  return canvas
}

/**
 * @param svg    of chartSvg: its size is that of its `width` and `height`.
 * @param scale  pixels of the picture to one of the SVG; 2 for a screen of high density.
 * @throws       where this machine has no build of the canvas, or the drawing is none.
 */
export async function svgToPng(svg: string, scale: number): Promise<Buffer> {
  const size = SIZE.exec(svg)
  if (!size) throw new InvariantError('a chart names its size')
  const [width, height] = [Number(size[2]) * scale, Number(size[3]) * scale].map((v) =>
    Math.min(SIDE_MOST, Math.round(v)),
  )
  if (!width || !height) throw new InvariantError('a chart has a size')
  const { createCanvas, loadImage } = await canvasWithFonts()
  // The drawing is made as large as the picture, so that nothing is scaled once it is pixels.
  const large = svg.replace(SIZE, (_, head: string) => `${head}width="${width}" height="${height}"`)
  const image = await loadImage(Buffer.from(large, 'utf8'))
  const canvas = createCanvas(width, height)
  canvas.getContext('2d').drawImage(image, 0, 0, width, height)
  return canvas.encode('png')
}
