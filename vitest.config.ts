import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LongFirst } from './tests/setup/long-first.ts'

/**
 * The first looks at all processes and files of the machine: another test beside it would be seen. The second holds that a file from
 * elsewhere has its verdict within two seconds, which others would spend.
 */
const ALONE = ['tests/node/live-expiry.real.test.ts', 'tests/node/attacks/mutated-files.real.test.ts']

/** Tests of live clusters that run against servers with real parts as well. */
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

/** Of what needs child processes, an SSH server, Slurm or real seconds. */
const REAL = ['electron/**/*.real.test.ts', 'tests/node/**/*.real.test.ts']

/**
 * They have a process of their own: other modules stand for some that every other file may have loaded; or whole consoles run on virtual
 * time, which takes a turn of the event loop each step, and other files may have left something in that.
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

/** Against hanging only: no test is about its own time, and a machine may be many times slower than another. */
const PATIENCE = { testTimeout: 240_000, hookTimeout: 240_000 }

/** Processes and threads that tests start compile a module once for all of them. */
const env = { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/sluice-tests') }

/** They wait for servers and timers more than they compute. */
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
    // Tests of the process compute; the window's tests leave a part of a core to the collector of garbage.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongFirst },
    // `npm run test:all -- --coverage`: of what the program is made of, also where no test loads it.
    coverage: {
      include: ['core/**/*.ts', 'electron/**/*.ts', 'renderer/**/*.{ts,vue}'],
      exclude: ['**/*.test.ts', '**/*.d.ts'],
      reporter: ['text-summary', 'json-summary'],
      reportOnFailure: true,
    },
    projects: [
      project('core', {
        include: ['core/**/*.test.ts'],
        // What is pure keeps nothing that another file could find: modules are loaded once for all files of a worker.
        isolate: false,
      }),
      project('node', {
        include: ['electron/**/*.test.ts', 'tests/node/**/*.test.ts'],
        exclude: [...REAL, ...OWN_PROCESS],
        // Modules are loaded once for all files of a worker: they keep nothing that another file could find.
        isolate: false,
        // Many of its files wait for leases, sessions and settle times: others have the core meanwhile.
        maxWorkers: Math.max(5, availableParallelism()),
        sequence: { groupOrder: 1 },
      }),
      project('own-process', { include: OWN_PROCESS }),
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
