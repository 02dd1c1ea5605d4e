import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LongFirst } from './tests/setup/long-first.ts'

/**
 * Run alone. The first checks all processes and files of the machine, so concurrent tests would be found. The second allows two
 * seconds per untrusted file, which concurrent tests would use up.
 */
const ALONE = ['tests/node/live-expiry.real.test.ts', 'tests/node/attacks/mutated-files.real.test.ts']

/** Tests of live clusters that also run against servers with real parts. */
const ALSO_REAL = [
  'tests/node/live-safe-mode.real.test.ts',
  'tests/node/live-commit.real.test.ts',
  'tests/node/live-expiry.real.test.ts',
  'tests/node/live-root-login.real.test.ts',
  'tests/node/live-combined.real.test.ts',
  'tests/node/live-cluster.real.test.ts',
  'tests/node/attacks/closed-lid.real.test.ts',
  'tests/node/live-slow-server.real.test.ts',
]

/** Tests that need child processes, an SSH server, Slurm or real seconds. */
const REAL = ['electron/**/*.real.test.ts', 'tests/node/**/*.real.test.ts']

/**
 * Tests in separate processes: they mock modules that other files may have loaded, or run whole consoles on virtual time, where
 * each step is a turn of the event loop that leftovers of other files would disturb.
 */
const OWN_PROCESS = [
  'electron/cluster/read/late-readings.test.ts',
  'electron/cluster/read/sampling-period.test.ts',
  'electron/enforce/enforcement-model.test.ts',
  'electron/incidents/bundle/no-canvas.test.ts',
  'tests/node/desktop-shell.test.ts',
  'tests/node/electron-main.test.ts',
  'tests/node/made-up-controller.test.ts',
  'tests/node/attacks/app-paths.test.ts',
  'tests/node/attacks/flooding-page.test.ts',
  'tests/node/attacks/left-open.test.ts',
  'tests/node/attacks/stolen-secrets.test.ts',
  'tests/node/attacks/window.test.ts',
]

/** Guards against hangs only: no test depends on its duration, and machines differ widely in speed. */
const PATIENCE = { testTimeout: 240_000, hookTimeout: 240_000 }

/** Shared compile cache of processes and threads that tests start. */
const env = { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/sluice-tests') }

/** Tests that mostly wait for servers and timers. */
const WAITING = { maxWorkers: 4, sequence: { groupOrder: 3 } }

/** A project of tests that run under Node. */
const project = (name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration => ({
  test: {
    name,
    environment: 'node',
    env,
    setupFiles: ['tests/setup/property-seed.ts'],
    ...PATIENCE,
    expect: { poll: { timeout: 30_000 } },
    ...test,
  },
})

export default defineConfig({
  test: {
    // Tests of the process are CPU-bound; the window's tests leave part of a core to the garbage collector.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongFirst },
    // `npm run test:all -- --coverage`: covers all product code, including code that no test loads.
    coverage: {
      include: ['core/**/*.ts', 'electron/**/*.ts', 'renderer/**/*.{ts,vue}'],
      exclude: ['**/*.test.ts', '**/*.d.ts'],
      reporter: ['text-summary', 'json-summary'],
      reportOnFailure: true,
    },
    projects: [
      project('core', {
        include: ['core/**/*.test.ts'],
        // Pure modules keep no state between files: they are loaded once per worker.
        isolate: false,
      }),
      project('node', {
        include: ['electron/**/*.test.ts', 'tests/node/**/*.test.ts'],
        exclude: [...REAL, ...OWN_PROCESS],
        // Modules keep no state between files: they are loaded once per worker.
        isolate: false,
        // Many of its files wait for leases, sessions and settle times and leave the core to others.
        maxWorkers: Math.max(5, availableParallelism()),
        sequence: { groupOrder: 1 },
      }),
      project('own-process', { include: OWN_PROCESS }),
      {
        plugins: [vue()],
        test: {
          name: 'window',
          environment: 'happy-dom',
          setupFiles: ['tests/setup/property-seed.ts', 'tests/setup/whole-views.ts', 'tests/setup/code-editor.ts'],
          include: ['renderer/**/*.test.ts'],
          // Each file has a separate window; window code is loaded once per worker, not per file.
          pool: 'vmThreads',
          vmMemoryLimit: '600MB',
          ...PATIENCE,
        },
      },
      project('smoke', {
        include: ['tests/smoke/**/*.test.ts'],
        fileParallelism: false,
        sequence: { groupOrder: 2 },
      }),
      project('real', { include: REAL, exclude: ALONE, ...WAITING }),
      // A browser computes as much as it waits.
      project('e2e', { include: ['tests/e2e/**/*.test.ts'], sequence: { groupOrder: 4 } }),
      project('alone', { include: ALONE, fileParallelism: false, sequence: { groupOrder: 5 } }),
      project('servers', {
        env: { ...env, SLUICE_LAB_PARTS: 'nspawn' },
        include: ['tests/servers/**/*.test.ts', ...(process.env.SLUICE_LAB === 'full' ? ALSO_REAL : [])],
        ...WAITING,
      }),
    ],
  },
})
