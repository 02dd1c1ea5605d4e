/**
 * Compares screenshots of states with stored ones. Text always uses the Inter font of this repository, so that it is the same on
 * every machine; the stored ones are small JPEGs. Means of small squares are compared, so that the edges of letters may differ and
 * shapes may not.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { shots } from '../browser.ts'

const golden = join(import.meta.dirname, '../golden')
const fonts = join(import.meta.dirname, '../../../resources/fonts')
const isRenewed = process.env['SLUICE_UPDATE_SHOTS'] === '1'
/** Share of the squares that may differ. */
const TOLERANCE = 0.012

const face = (weight: number): string => {
  const file = readFileSync(join(fonts, `inter-latin-${weight}-normal.woff2`)).toString('base64')
  return `@font-face{font-family:Pinned;font-weight:${weight};src:url(data:font/woff2;base64,${file})}`
}
/** Style for all screenshots. */
export const pinnedStyle = `${face(400)}${face(600)}
:root{--font-ui:Pinned!important;--font-mono:Pinned!important}
*{font-family:Pinned!important;caret-color:transparent!important;animation:none!important;transition:none!important}`

interface Difference {
  readonly share: number
  readonly picture: string
}
/** Runs in a page of the browser, which can decode images. */
function compare([a, b]: readonly [string, string]): Promise<Difference> {
  const load = (data: string): Promise<HTMLImageElement> =>
    new Promise((resolve, reject) => {
      const image = new Image()
      image.onload = () => resolve(image)
      image.onerror = () => reject(new Error('no picture'))
      image.src = `data:image/jpeg;base64,${data}`
    })
  const SQUARE = 6
  return Promise.all([load(a), load(b)]).then(([one, two]) => {
    if (one.width !== two.width || one.height !== two.height) return { share: 1, picture: '' }
    const canvas = document.createElement('canvas')
    const w = Math.floor(one.width / SQUARE)
    const h = Math.floor(one.height / SQUARE)
    const small = (image: HTMLImageElement): Uint8ClampedArray => {
      const full = document.createElement('canvas')
      full.width = w
      full.height = h
      const context = full.getContext('2d') as CanvasRenderingContext2D
      context.imageSmoothingQuality = 'high'
      context.drawImage(image, 0, 0, w, h)
      return context.getImageData(0, 0, w, h).data
    }
    const p = small(one)
    const q = small(two)
    canvas.width = w
    canvas.height = h
    const context = canvas.getContext('2d') as CanvasRenderingContext2D
    const marks = context.createImageData(w, h)
    let differs = 0
    for (let i = 0; i < p.length; i += 4) {
      const most = Math.max(...[0, 1, 2].map((k) => Math.abs((p[i + k] ?? 0) - (q[i + k] ?? 0))))
      const isOther = most > 24
      if (isOther) differs++
      marks.data.set(isOther ? [255, 0, 0, 255] : [p[i] ?? 0, p[i + 1] ?? 0, p[i + 2] ?? 0, 255], i)
    }
    context.putImageData(marks, 0, 0)
    return { share: differs / (w * h), picture: canvas.toDataURL('image/png').split(',')[1] ?? '' }
  })
}

const UNCHANGED_MS = 150
const SETTLED_WITHIN_MS = 5000

/** Screenshot of a page that has come to rest: charts and rows are drawn some frames after their data arrive. */
async function settled(page: Page): Promise<Buffer> {
  const shot = () => page.screenshot({ animations: 'disabled', caret: 'hide', type: 'jpeg', quality: 80 })
  const end = performance.now() + SETTLED_WITHIN_MS
  let last = await shot()
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, UNCHANGED_MS))
    const now = await shot()
    if (now.equals(last)) return now
    last = now
  }
  return last
}

/**
 * Takes a screenshot and compares it with the stored one; stores it if there is none, or on request.
 *
 * @returns  empty if equal; otherwise the difference and its location.
 */
export async function seen(page: Page, viewer: Page, name: string): Promise<string> {
  const now = await settled(page)
  const file = join(golden, `${name}.jpg`)
  if (isRenewed) {
    mkdirSync(golden, { recursive: true })
    writeFileSync(file, now)
    return ''
  }
  if (!existsSync(file)) return `there is no ${file}: SLUICE_UPDATE_SHOTS=1 makes it`
  const args: [string, string] = [readFileSync(file).toString('base64'), now.toString('base64')]
  const { share, picture } = await viewer.evaluate(compare, args)
  if (share <= TOLERANCE) return ''
  const actual = join(shots, `${name}-actual.jpg`)
  writeFileSync(actual, now)
  writeFileSync(join(shots, `${name}-diff.png`), Buffer.from(picture, 'base64'))
  return `${(100 * share).toFixed(1)} % of ${name} differs: ${actual}, and beside it ${name}-diff.png; SLUICE_UPDATE_SHOTS=1 keeps it as it is now`
}
