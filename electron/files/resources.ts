/**
 * Files that ship with the program, found from a checkout and from a packaged build alike. There they lie in an archive that this program
 * alone can read: what people and other programs read lies beside it (electron-builder.yml).
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder that holds package.json: the checkout, or the packaged archive. */
function root(): string {
  let dir = import.meta.dirname
  while (!existsSync(join(dir, 'package.json'))) {
    const up = dirname(dir)
    if (up === dir) return import.meta.dirname
    dir = up
  }
  return dir
}

export const resourcePath = (name: string): string => join(root(), 'resources', name)

/** Path of the scenario that opens on first start. */
export const demoScenario = (): string => resourcePath(join('scenarios', 'demo.yaml'))

/** A program of the desktop shell's bundle (electron.vite.config.ts). */
export const bundledPath = (name: string): string => join(root(), 'out/main', name)

/** This program's version. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root(), 'package.json'), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : ''
}
