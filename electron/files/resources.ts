/**
 * Files that ship with the program, resolved in a checkout and in a packaged build. In a package they are in an archive
 * that only this program can read; files for people and other programs are beside it (electron-builder.yml).
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Folder of package.json: the checkout, or the packaged archive. */
function root(): string {
  let dir = import.meta.dirname
  while (!existsSync(join(dir, 'package.json'))) {
    const up = dirname(dir)
    if (up === dir) return import.meta.dirname
    dir = up
  }
  return dir
}

/** Path of a file by its path in the checkout. */
export const programPath = (path: string): string => join(root(), path)
export const resourcePath = (name: string): string => join(root(), 'resources', name)

/** Path of the scenario that opens on first start. */
export const demoScenario = (): string => resourcePath(join('scenarios', 'demo.yaml'))

/** Path of a program of the desktop shell's bundle (electron.vite.config.ts). */
export const bundledPath = (name: string): string => join(root(), 'out/main', name)

/** This program's version. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root(), 'package.json'), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : ''
}
