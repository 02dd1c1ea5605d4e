/** `npm run sbom`: a CycloneDX bill of materials of what an installed Sluice contains, from the lock file alone. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { outerPath, root } from './install.mjs'
import { Stop } from './messages.mjs'

/** @typedef {{ 'bom-ref': string, properties?: { name: string, value: string }[] }} Component */
/** @typedef {{ ref: string, dependsOn?: string[] }} Dependency */

const windows = process.platform === 'win32'

/**
 * Prints npm's bill of the lock file, without build and test dependencies.
 * @param {string} [list] output of the packing: the folders of the shipped packages
 * @returns {Promise<number>} exit code @throws {Stop}
 */
export async function sbom(list) {
  const file = list === undefined ? join(root, 'dist/packages.json') : resolve(process.env.INIT_CWD ?? '.', list)
  if (!existsSync(file)) throw new Stop(`${file} is not there. \`npm run package -- --dir\` writes it.`)
  /** @type {string[]} */
  const folders = [...JSON.parse(readFileSync(file, 'utf8')), 'node_modules/electron']
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const nameOf = (/** @type {string} */ folder) =>
    folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const ships = new Set(folders.map((folder) => `${nameOf(folder)}@${lock[folder].version}`))
  const env = { ...process.env, PATH: outerPath() }
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only']
  const options = { cwd: root, env, shell: windows, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }
  const text = execFileSync(windows ? 'npm.cmd' : 'npm', args, /** @type {any} */ ({ ...options, encoding: 'utf8' }))
  const bill = JSON.parse(String(text))
  // npm uses the folder's name.
  bill.metadata.component.name = lock[''].name
  const components = bill.components.filter((/** @type {Component} */ c) => ships.has(c['bom-ref']))
  const refs = new Set(components.map((/** @type {Component} */ c) => c['bom-ref']))
  const own = bill.metadata.component['bom-ref']
  const dependencies = bill.dependencies
    .filter((/** @type {Dependency} */ { ref }) => ref === own || refs.has(ref))
    .map((/** @type {Dependency} */ d) => ({ ...d, dependsOn: (d.dependsOn ?? []).filter((ref) => refs.has(ref)) }))
  // Packages bundled into the window are development dependencies in npm, but are shipped.
  const told = components.map((/** @type {Component & { scope?: string }} */ { properties = [], ...rest }) => ({
    ...rest,
    scope: 'required',
    properties: properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
  }))
  process.stdout.write(`${JSON.stringify({ ...bill, components: told, dependencies }, null, 2)}\n`)
  return 0
}
