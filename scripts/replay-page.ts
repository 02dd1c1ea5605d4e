/**
 * Builds the script of a bundle's README.html into out/replay: renderer/replay with the window's charts, as one plain
 * script, which a page from disk may run. `npm run build` and, in a checkout, an export run it.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'rolldown'
import {
  REPLAY_FOLDER,
  SCRIPT_FILE,
  SOURCES_FILE,
  sourceHash,
  type SourceHashes,
} from '../electron/incidents/page/replay-script.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, REPLAY_FOLDER)

/**
 * Takes from ECharts what the page never uses: no code in it makes markup out of text. The drawing library empties its
 * element this way, which the text does as well; the rest belongs to tooltips and exports.
 */
const withoutMarkup: Plugin = {
  name: 'without-markup',
  transform: {
    filter: { id: /node_modules\/(echarts|zrender)\// },
    handler: (code) => code.replaceAll('.innerHTML', '.textContent').replaceAll('<span style="', '<span data-style="'),
  },
}

const { output } = await build({
  input: join(root, 'renderer/replay/main.ts'),
  cwd: root,
  platform: 'browser',
  // Paths as in this folder, also if node_modules is a link.
  resolve: { symlinks: false },
  write: false,
  plugins: [withoutMarkup],
  transform: { target: 'es2022', define: { 'process.env.NODE_ENV': '"production"' } },
  output: { format: 'iife', minify: true },
})
const [chunk] = output

const modules = chunk.moduleIds
  .filter((id) => !id.startsWith('\0'))
  .map((id) => relative(root, id).replaceAll('\\', '/'))
const own = modules.filter((path) => !path.startsWith('node_modules/'))
/** Folders of the packages in the script. */
const packages = new Set(modules.flatMap((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))

interface Licensed {
  readonly name: string
  readonly version: string
  readonly licence: string
  readonly text: string
}
const licencesModule = pathToFileURL(join(import.meta.dirname, 'licences.mjs')).href
const { licensed } = (await import(licencesModule)) as { licensed: (folder: string) => Licensed }
const licences = [...packages].sort().map((path) => {
  const { name, version, licence, text } = licensed(path)
  return `${name} ${version} (${licence})\n\n${text}`
})
const rule = `\n\n${'-'.repeat(100)}\n`
const notice = `/*! Contains, each under its own licence:${rule}${licences.join(rule)}\n*/`
if (notice.slice(3, -2).includes('*/')) throw new Error('a licence ends the comment that it stands in')

const inputs = [...own, 'package-lock.json', 'scripts/replay-page.ts'].sort()
const hashes: SourceHashes = Object.fromEntries(inputs.map((path) => [path, sourceHash(path)]))

/** Replaces a file at once: another export may be reading it. */
function put(name: string, text: string): void {
  const made = join(folder, `.${name}.${process.pid}`)
  writeFileSync(made, text)
  renameSync(made, join(folder, name))
}
mkdirSync(folder, { recursive: true })
put(SCRIPT_FILE, `${notice}\n${chunk.code}`)
put(SOURCES_FILE, `${JSON.stringify(hashes, null, 2)}\n`)
mkdirSync(join(root, 'out/packages'), { recursive: true })
writeFileSync(join(root, 'out/packages/replay.json'), `${JSON.stringify([...packages].sort(), null, 2)}\n`)
