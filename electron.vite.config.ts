import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'electron-vite'

export default defineConfig({
  main: {
    build: {
      outDir: 'out/main',
      rolldownOptions: {
        input: {
          main: 'electron/main/main.ts',
          'host-process': 'electron/main/host-process.ts',
          'papers-worker': 'electron/host/papers/worker.ts',
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
    plugins: [vue()],
    build: {
      outDir: 'out/renderer',
      rolldownOptions: { input: { index: 'renderer/index.html' } },
      chunkSizeWarningLimit: 1500,
      minify: true, // electron-vite leaves renderer code unminified by default
    },
  },
})
