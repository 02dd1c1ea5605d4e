/**
 * Icons of the installed program, rendered from the two SVGs in resources/icons: PNGs for Linux, an .ico for Windows and an
 * .icns for macOS, both containers of the same PNGs. They are committed, because electron-builder would download a tool to make
 * them.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { modules, root } from './install.mjs'

/** Edge lengths, px. */
const SIZES = [16, 24, 32, 48, 64, 128, 256, 512, 1024]
/** Largest edge length for which the simplified mark is used. */
const SMALL = 48
const ICO = [16, 24, 32, 48, 64, 128, 256]
/** .icns types that hold a PNG, with its edge length; duplicates are for high-density screens. */
const ICNS = [
  ['icp4', 16],
  ['icp5', 32],
  ['icp6', 64],
  ['ic07', 128],
  ['ic08', 256],
  ['ic09', 512],
  ['ic10', 1024],
  ['ic11', 32],
  ['ic12', 64],
  ['ic13', 256],
  ['ic14', 512],
]

const folder = join(root, 'resources/icons')

/** @param {number} size @returns {Promise<Buffer>} */
async function draw(size) {
  const { createCanvas, loadImage } = createRequire(join(modules, '..', 'package.json'))('@napi-rs/canvas')
  const svg = readFileSync(join(folder, size > SMALL ? 'sluice.svg' : 'sluice-small.svg'), 'utf8')
  // Rendered at its size, not scaled.
  const image = await loadImage(
    Buffer.from(svg.replace(/width="\d+" height="\d+"/, `width="${size}" height="${size}"`)),
  )
  const canvas = createCanvas(size, size)
  canvas.getContext('2d').drawImage(image, 0, 0, size, size)
  return canvas.encode('png')
}

/** @param {Map<number, Buffer>} pngs */
function ico(pngs) {
  const entries = ICO.map((size) => ({ size, png: /** @type {Buffer} */ (pngs.get(size)) }))
  const head = Buffer.alloc(6 + 16 * entries.length)
  head.writeUInt16LE(1, 2)
  head.writeUInt16LE(entries.length, 4)
  let at = head.length
  entries.forEach(({ size, png }, i) => {
    const entry = 6 + 16 * i
    head[entry] = head[entry + 1] = size % 256 // 256 is written as 0
    head.writeUInt16LE(1, entry + 4)
    head.writeUInt16LE(32, entry + 6)
    head.writeUInt32LE(png.length, entry + 8)
    head.writeUInt32LE(at, entry + 12)
    at += png.length
  })
  return Buffer.concat([head, ...entries.map(({ png }) => png)])
}

/** @param {Map<number, Buffer>} pngs */
function icns(pngs) {
  const part = (/** @type {string} */ type, /** @type {Buffer} */ body) => {
    const head = Buffer.alloc(8)
    head.write(type, 'latin1')
    head.writeUInt32BE(8 + body.length, 4)
    return Buffer.concat([head, body])
  }
  return part(
    'icns',
    Buffer.concat(ICNS.map(([type, size]) => part(String(type), /** @type {Buffer} */ (pngs.get(Number(size)))))),
  )
}

/** Renders all icons. @param {string} [into] @returns {Promise<number>} exit code */
export async function icons(into = folder) {
  mkdirSync(into, { recursive: true })
  const pngs = new Map(await Promise.all(SIZES.map(async (size) => /** @type {const} */ ([size, await draw(size)]))))
  for (const [size, png] of pngs) writeFileSync(join(into, `${size}x${size}.png`), png)
  writeFileSync(join(into, 'sluice.ico'), ico(pngs))
  writeFileSync(join(into, 'sluice.icns'), icns(pngs))
  return 0
}
