/**
 * Chart as an image with its provenance: title, chart, legend, and a strip with source, instant, seed and version, so
 * that it cannot be mistaken for another source.
 */
import { chartSvg } from '../charts/use-sheet.ts'
import { palette } from '../theme/palette.ts'

const PAD = 12
const TITLE_PX = 30
const LINE_PX = 18
const STRIP_PX = 26
/** Style properties that an SVG depends on; an image has no style sheet. */
const PAINTED = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-opacity',
  'stroke-linecap',
  'opacity',
  'font-size',
  'font-family',
  'font-weight',
  'text-anchor',
  'paint-order',
  'display',
  'visibility',
]

function inked(svg: SVGElement): string {
  const copy = svg.cloneNode(true) as SVGElement
  const from = [svg, ...svg.querySelectorAll('*')]
  const to = [copy, ...copy.querySelectorAll('*')]
  from.forEach((element, i) => {
    const style = getComputedStyle(element)
    const target = to[i]
    target?.setAttribute('style', PAINTED.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';'))
  })
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  return new XMLSerializer().serializeToString(copy)
}

async function imageOf(svg: SVGElement): Promise<HTMLImageElement> {
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(inked(svg))}`
  await image.decode()
  return image
}

/** Names of the legend with their colors. */
function legendOf(panel: Element | null): { text: string; ink: string }[] {
  const items = [...(panel?.querySelectorAll('.legend > *') ?? [])]
  return items.flatMap((item) => {
    const mark = item.querySelector('i')
    const text = (item.textContent ?? '').replaceAll(/\s+/g, ' ').trim()
    if (mark === null || text === '') return []
    const { backgroundColor, borderTopColor } = getComputedStyle(mark)
    return [{ text, ink: backgroundColor === 'rgba(0, 0, 0, 0)' ? borderTopColor : backgroundColor }]
  })
}

/** Layers of a chart, from bottom to top: its canvases, or its SVG. */
async function sheetsOf(chart: Element): Promise<{ image: CanvasImageSource; box: DOMRect }[]> {
  const svg = chart instanceof SVGElement ? chart : chart.querySelector<SVGElement>('svg')
  const canvases = chart instanceof HTMLCanvasElement ? [chart] : [...chart.querySelectorAll('canvas')]
  const drawn = canvases.filter((c) => c.width > 0).map((c) => ({ image: c, box: c.getBoundingClientRect() }))
  if (drawn.length > 0 || svg === null) return drawn
  return [{ image: await imageOf(svg), box: svg.getBoundingClientRect() }]
}

/** @returns null if a chart consists only of text. */
export async function chartPicture(
  chart: Element,
  labels: { readonly title: string; readonly strip: string },
): Promise<HTMLCanvasElement | null> {
  const sheets = await sheetsOf(chart)
  const box = chart.getBoundingClientRect()
  if (sheets.length === 0 || box.width === 0) return null
  const legend = legendOf(chart.closest('.panel, .one, section'))
  const width = Math.max(480, Math.ceil(box.width) + 2 * PAD)
  const perLine = Math.max(1, Math.floor((width - 2 * PAD) / 170))
  const legendPx = Math.ceil(legend.length / perLine) * LINE_PX
  const height = TITLE_PX + Math.ceil(box.height) + legendPx + PAD + STRIP_PX
  const ratio = globalThis.devicePixelRatio || 1
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(width * ratio)
  canvas.height = Math.round(height * ratio)
  const context = canvas.getContext('2d')
  if (context === null) return null
  const p = palette.value
  context.scale(ratio, ratio)
  context.fillStyle = p['bg-surface']
  context.fillRect(0, 0, width, height)
  context.textBaseline = 'middle'
  context.fillStyle = p['text-1']
  context.font = `600 12px ${p['font-ui']}`
  context.fillText(labels.title, PAD, TITLE_PX / 2, width - 2 * PAD)
  for (const { image, box: at } of sheets)
    context.drawImage(image, PAD + at.left - box.left, TITLE_PX + at.top - box.top, at.width, at.height)
  context.font = `11px ${p['font-ui']}`
  legend.forEach(({ text, ink }, i) => {
    const x = PAD + (i % perLine) * 170
    const y = TITLE_PX + box.height + PAD / 2 + (Math.floor(i / perLine) + 0.5) * LINE_PX
    context.fillStyle = ink
    context.fillRect(x, y - 4, 8, 8)
    context.fillStyle = p['text-2']
    context.fillText(text, x + 13, y, 152)
  })
  context.fillStyle = p['bg-raised']
  context.fillRect(0, height - STRIP_PX, width, STRIP_PX)
  context.fillStyle = p['text-1']
  context.fillText(labels.strip, PAD, height - STRIP_PX / 2, width - 2 * PAD)
  return canvas
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/**
 * The same as SVG: title, chart, legend and strip as text.
 *
 * @returns null if a chart is not drawn as a picture.
 */
export function chartVector(chart: Element, words: { readonly title: string; readonly strip: string }): string | null {
  const svg = chart instanceof SVGElement ? chart : chart.querySelector<SVGElement>('svg')
  const drawn = chartSvg(chart) ?? (svg === null ? null : inked(svg))
  const box = chart.getBoundingClientRect()
  if (drawn === null || box.width === 0) return null
  const p = palette.value
  const legend = legendOf(chart.closest('.panel, .one, section'))
  const width = Math.max(480, Math.ceil(box.width) + 2 * PAD)
  const perLine = Math.max(1, Math.floor((width - 2 * PAD) / 170))
  const chartPx = Math.ceil(box.height)
  const height = TITLE_PX + chartPx + Math.ceil(legend.length / perLine) * LINE_PX + PAD + STRIP_PX
  const label = (x: number, y: number, color: string, text: string, style = ''): string =>
    `<text x="${x}" y="${y}" dominant-baseline="central" fill="${escapeXml(color)}"${style}>${escapeXml(text)}</text>`
  const items = legend.map(({ text, ink }, i) => {
    const x = PAD + (i % perLine) * 170
    const y = TITLE_PX + chartPx + PAD / 2 + (Math.floor(i / perLine) + 0.5) * LINE_PX
    return `<rect x="${x}" y="${y - 4}" width="8" height="8" fill="${escapeXml(ink)}"/>${label(x + 13, y, p['text-2'], text)}`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="${escapeXml(p['font-ui'])}" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="${escapeXml(p['bg-surface'])}"/>`,
    label(PAD, TITLE_PX / 2, p['text-1'], words.title, ' font-size="12" font-weight="600"'),
    `<g transform="translate(${PAD} ${TITLE_PX})">${drawn}</g>`,
    ...items,
    `<rect y="${height - STRIP_PX}" width="${width}" height="${STRIP_PX}" fill="${escapeXml(p['bg-raised'])}"/>`,
    label(PAD, height - STRIP_PX / 2, p['text-1'], words.strip),
    '</svg>',
    '',
  ].join('\n')
}
