import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'electron-vite'
import type { Plugin } from 'vite'

/**
 * Writes out/packages/PART.json: the packages bundled into this part, whose licences are shipped with it
 * (scripts/licences.mjs).
 */
const packagesOf = (part: string): Plugin => ({
  name: 'sluice-packages',
  writeBundle(_options, bundle) {
    const folders = new Set<string>()
    for (const file of Object.values(bundle)) {
      for (const id of file.type === 'chunk' ? file.moduleIds : []) {
        const path = relative(import.meta.dirname, id.replace(/^\0/, '')).replaceAll('\\', '/')
        const [, folder] = /^(.*?node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? []
        if (folder !== undefined) folders.add(folder)
      }
    }
    const out = join(import.meta.dirname, 'out/packages')
    mkdirSync(out, { recursive: true })
    writeFileSync(join(out, `${part}.json`), `${JSON.stringify([...folders].sort(), null, 2)}\n`)
  },
})

/** Builds the script of a bundle's README.html beside the window: the same charts, in one file of their own. */
const replayPage = (): Plugin => ({
  name: 'sluice-replay-page',
  closeBundle: () => void execFileSync(process.execPath, [join(import.meta.dirname, 'scripts/replay-page.ts')]),
})

export default defineConfig({
  main: {
    plugins: [packagesOf('main')],
    build: {
      outDir: 'out/main',
      rolldownOptions: {
        input: {
          main: 'electron/main/main.ts',
          'host-process': 'electron/main/host-process.ts',
          server: 'electron/server/main.ts',
          'audit-writer': 'electron/enforce/audit-thread.ts',
          'papers-worker': 'electron/host/papers/worker.ts',
          'foreign-process': 'electron/foreign/process.ts',
          'haechi-thread': 'electron/haechi/thread.ts',
          'snapshot-export': 'electron/incidents/shelf/export-thread.ts',
          'locks-worker': 'electron/host/locks/worker.ts',
          'sandbox-worker': 'electron/sandbox/worker.ts',
          'sandbox-reader': 'electron/host/sandbox/reading-thread.ts',
        },
        output: { format: 'es', entryFileNames: '[name].js' },
      },
    },
  },
  preload: {
    plugins: [packagesOf('preload')],
    build: {
      outDir: 'out/preload',
      externalizeDeps: false, // a sandboxed preload may only require('electron')
      rolldownOptions: {
        input: { preload: 'electron/preload/preload.ts' },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: 'renderer',
    base: './',
    plugins: [vue(), packagesOf('renderer'), replayPage()],
    build: {
      outDir: 'out/renderer',
      rolldownOptions: {
        input: { index: 'renderer/index.html' },
        // One chunk for everything that the first frame needs: browsers limit concurrent requests to six.
        output: { codeSplitting: { groups: [{ name: 'window', tags: ['$initial'] }] } },
      },
      chunkSizeWarningLimit: 1500,
      minify: true, // electron-vite leaves renderer code unminified by default
    },
  },
})
