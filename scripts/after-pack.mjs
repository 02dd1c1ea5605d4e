/**
 * Hook of electron-builder, between packing and signing: writes the licences of the packed packages beside the archive, and the
 * list of packages beside the packed folder (scripts/sbom.mjs). Refuses a package whose licence is not allowed.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { bundledPackages, licencesText } from './licences.mjs'
import { modules, root } from './install.mjs'

const need = createRequire(join(modules, 'app-builder-lib/package.json'))

/** @param {string} archive @returns {string[]} folders of the packages in it */
function packedPackages(archive) {
  /** @type {string[]} */
  const files = need('@electron/asar').listPackage(archive, { isPack: false })
  return files
    .map((file) => file.replaceAll('\\', '/').slice(1))
    .filter((file) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(file))
    .map((file) => dirname(file))
}

/** @param {import('app-builder-lib').AfterPackContext} context */
export default async function afterPack({ appOutDir, outDir, packager }) {
  const resources = packager.getResourcesDir(appOutDir)
  const packages = [...new Set([...packedPackages(join(resources, 'app.asar')), ...bundledPackages()])].sort()
  const folder = join(resources, 'licenses')
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE.txt'))
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), licencesText(packages))
  writeFileSync(join(outDir, 'packages.json'), `${JSON.stringify(packages, null, 2)}\n`)
}
