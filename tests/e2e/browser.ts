/** Debian's Chromium for the end-to-end suites, and consoles to test. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'
import { demoScenario } from '#electron/files/resources.ts'
import { openHost, type Host, type HostOptions } from '#electron/host/host.ts'
import { serveConsole, type Served } from '#electron/server/serve.ts'

const root = join(import.meta.dirname, '../..')
export const shots = join(root, 'out/shots')
/** The built window; RENDERER can name another build. */
export const builtWindow = process.env['RENDERER'] ?? join(root, 'out/renderer')

export const chromiumPath = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (p) => p !== undefined && p !== '' && existsSync(p),
)

/** Reason why the browser suites cannot run; undefined if they can. */
export const noBrowser =
  chromiumPath === undefined
    ? 'no Chromium: install the package chromium, or name one in CHROMIUM'
    : existsSync(join(builtWindow, 'index.html'))
      ? undefined
      : 'the window is not built: npm run build'

export function launch(): Promise<Browser> {
  mkdirSync(shots, { recursive: true })
  return chromium.launch({
    executablePath: chromiumPath as string,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** Console on the emulator with a private history file. */
export interface RunningConsole {
  readonly host: Host
  readonly served: Served
  close(): Promise<void>
}

/** @param more  host options to override, for example how it reaches servers. */
export async function openConsole(scenario?: string, more: Partial<HostOptions> = {}): Promise<RunningConsole> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-e2e-'))
  const file = join(dir, 'scenario.yaml')
  if (scenario !== undefined) writeFileSync(file, scenario)
  const host = await openHost({
    shell: 'browser',
    historyFile: join(dir, 'history.sqlite'),
    // The demo as its file has it, controlled: without a file it opens uncontrolled.
    scenarioFile: scenario === undefined ? demoScenario() : file,
    ...more,
  })
  if (!host.ok) throw new Error(host.error.what)
  const served = await serveConsole({
    router: host.value.router,
    webRoot: builtWindow,
    port: 0,
    host: '127.0.0.1',
  })
  if (!served.ok) throw new Error(served.error.what)
  return {
    host: host.value,
    served: served.value,
    close: async () => {
      await served.value.close()
      await host.value.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A scenario of many small jobs, for load. */
export function manyJobs(jobs: number): string {
  const list = Array.from(
    { length: jobs },
    (_, i) =>
      `  - { id: ${5000 + i}.app${i % 37}.u${i % 90}, user: u${i % 90}, account: acc${i % 12}, clients: [${(i % 8) + 1}], ` +
      `op: ${i % 3 === 0 ? 'read' : 'write'}, size_kib: 256, pattern: { kind: poisson, rate: 3 } }`,
  )
  const osts = (n: number): string =>
    [0, 1].map((k) => `      - { name: many-OST000${n + k}, disk: { bandwidth_mb_s: 4000, channels: 8 } }`).join('\n')
  return `title: ${jobs} jobs
cluster: many
clients: { count: 8, max_rpcs_in_flight: 64 }
oss:
  - name: oss01
    threads: 64
    osts:
${osts(0)}
  - name: oss02
    threads: 64
    osts:
${osts(2)}
control: { max_rate: 900, mode: enforce }
jobs:
${list.join('\n')}
`
}
