/** Licences of the shipped packages: read from the packages themselves, joined into one text. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './install.mjs'
import { Stop } from './messages.mjs'

/** Allowed licences: they require only that their text is included. */
export const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'Zlib',
  'OFL-1.1',
  'CC0-1.0',
  'Unlicense',
])

/**
 * True if an SPDX expression permits an allowed licence. `A OR B`: either; `A AND B`: both.
 * @param {string} expression
 */
export const isAllowed = (expression) =>
  expression
    .replace(/^\((.*)\)$/, '$1')
    .split(/ OR /)
    .some((choice) => choice.split(/ AND /).every((name) => ALLOWED.has(name.trim())))

/** @typedef {{ name: string, version: string, licence: string, text: string }} Licensed */

/** Third-party files in this repository. */
const FILES = [
  {
    name: 'Inter (resources/fonts)',
    version: '',
    licence: 'OFL-1.1',
    file: 'resources/fonts/inter-LICENSE.txt',
  },
]

/** Licence field of a package manifest. Older ones have an object, or a list. @param {any} manifest */
function licenceOf({ license, licenses }) {
  const one = license ?? (Array.isArray(licenses) ? licenses.map((l) => l.type ?? l).join(' OR ') : licenses)
  return typeof one === 'string' ? one : String(one?.type ?? 'none')
}

/** Licence texts of a package, including those of components in its subfolders. @param {string} folder */
const licenceTexts = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => /^(licen[cs]es?|copying|notice)(\b|_)/i.test(name))
    .flatMap((entry) =>
      entry.isDirectory() ? readdirSync(join(folder, entry.name)).map((name) => join(entry.name, name)) : [entry.name],
    )
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim())
    .join('\n\n')

/**
 * @param {string} folder of a package, from the checkout's root
 * @returns {Licensed}
 * @throws {Stop} for one whose licence is not allowed or that brings no text
 */
export function licensed(folder) {
  const path = join(root, folder)
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const licence = licenceOf(manifest)
  if (!isAllowed(licence)) {
    throw new Stop(`${folder} is under ${licence}, which is none of ${[...ALLOWED].join(', ')} (scripts/licences.mjs)`)
  }
  // A build for one platform has the licence of its main package.
  const main = path.replace(/-(linux|darwin|win32)-\w+(-\w+)?$/, '')
  const text = licenceTexts(path) || (existsSync(main) ? licenceTexts(main) : '')
  // Some packages state it in their manifest only; that statement is shipped.
  return { name: manifest.name, version: manifest.version, licence, text: text || statement(manifest) }
}

/** @param {any} manifest */
function statement({ name, author }) {
  const who = typeof author === 'string' ? author : author?.name
  return `${name} brings no licence text; its package.json names the licence above${who ? ` and the author ${who}` : ''}.`
}

const RULE = '-'.repeat(100)
const HEAD = `Sluice is under the MIT licence (LICENSE). It contains what is listed here, each under its own licence.
Electron and Chromium, which run it, have theirs in LICENSE.electron.txt and LICENSES.chromium.html; the latter also has those of the
libraries that are compiled into the PNG renderer (Skia, FreeType, HarfBuzz, ICU, libpng, libjpeg-turbo, libwebp, zlib).
SQLite, compiled into better-sqlite3, is in the public domain.
`

/**
 * @param {readonly string[]} folders of packages, from the checkout's root
 * @returns {string}
 */
export function licencesText(folders) {
  const files = FILES.map(({ file, ...rest }) => ({ ...rest, text: readFileSync(join(root, file), 'utf8').trim() }))
  const all = [...new Set(folders)].sort().map(licensed)
  const title = (/** @type {Licensed} */ l) => `${[l.name, l.version].filter(Boolean).join(' ')} (${l.licence})`
  const parts = [...all, ...files].map((l) => `${RULE}\n${title(l)}\n${RULE}\n\n${l.text}\n`)
  return [HEAD, ...parts].join('\n')
}

/** Packages whose code is in out/, from the lists that the build wrote. @returns {string[]} */
export function bundledPackages() {
  const folder = join(root, 'out/packages')
  if (!existsSync(folder)) throw new Stop('out/packages is not there. `npm run build` makes it.')
  return readdirSync(folder).flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
}
