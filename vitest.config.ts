import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

/** Looks at all processes and files of the machine: another test beside it would be seen. */
const ALONE = ['tests/node/live-expiry.test.ts']

/** Tests of live clusters that run against servers with real parts as well. */
const ALSO_REAL = [
  'tests/node/live-safe-mode.test.ts',
  'tests/node/live-commit.test.ts',
  'tests/node/live-expiry.test.ts',
  'tests/node/live-root-login.test.ts',
  'tests/node/live-combined.test.ts',
  'tests/node/live-cluster.test.ts',
  'tests/node/live-slow-server.real.test.ts',
  'tests/node/attacks/closed-lid.test.ts',
  'electron/cli/clusters.test.ts',
  'electron/cli/policy/policy.test.ts',
  'electron/cli/stop-processes.test.ts',
]

/** Against hanging only: no test is about its own time, and a machine may be many times slower than another. */
const PATIENCE = { testTimeout: 240_000, hookTimeout: 240_000 }
const POLLS = { poll: { timeout: 30_000 } }

/** Processes and threads that tests start compile a module once for all of them. */
const env = { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/sluice-tests') }

export default defineConfig({
  test: {
    // Many tests wait for servers and for real seconds: three files at a time also on a machine of two cores.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      {
        test: {
          name: 'core',
          environment: 'node',
          env,
          setupFiles: ['tests/setup/property-seed.ts'],
          include: ['core/**/*.test.ts'],
          // What is pure keeps nothing that another file could find: modules are loaded once for all files of a worker.
          isolate: false,
          ...PATIENCE,
        },
      },
      {
        test: {
          name: 'node',
          environment: 'node',
          env,
          setupFiles: ['tests/setup/property-seed.ts'],
          include: ['electron/**/*.test.ts', 'tests/node/**/*.test.ts'],
          exclude: ALONE,
          ...PATIENCE,
          expect: POLLS,
        },
      },
      {
        plugins: [vue()],
        test: {
          name: 'window',
          environment: 'happy-dom',
          setupFiles: ['tests/setup/property-seed.ts', 'tests/setup/whole-views.ts'],
          include: ['renderer/**/*.test.ts'],
          // Each file has a window of its own, and the code of windows is loaded once a worker, not once a file.
          pool: 'vmThreads',
          vmMemoryLimit: '600MB',
          ...PATIENCE,
        },
      },
      {
        test: {
          name: 'e2e',
          environment: 'node',
          env,
          include: ['tests/e2e/**/*.test.ts', ...ALONE],
          ...PATIENCE,
          expect: POLLS,
          fileParallelism: false,
          // After all others, with the machine to itself.
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'servers',
          environment: 'node',
          env: { ...env, SLUICE_LAB_PARTS: 'nspawn' },
          include: ['tests/servers/**/*.test.ts', ...(process.env.SLUICE_LAB === 'full' ? ALSO_REAL : [])],
          ...PATIENCE,
          expect: POLLS,
          fileParallelism: false,
          // Real timers of real servers: with the machine to themselves.
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
