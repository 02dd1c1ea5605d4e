/** Modules loaded per command: on a live cluster neither the emulator nor the application, as the module loader reports. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emulatedServers, twoServers, type EmulatedServers } from '#tests/kits/cli/emulated-servers.ts'
import { killAll } from '#tests/kits/cli/process.ts'
import { sluiceModules, type RecordedRun } from '#tests/kits/cli/recorded-modules.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'

/** Modules of the host that a source consists of, and the frames that commands print. */
const OF_SOURCES = ['sources', 'rules', 'views', 'position.ts', 'job-filter.ts']

/** The emulator and its dependents; the application and its private modules. */
const FOREIGN = [
  /^core\/(emulator|papers|sandbox|sim|seqdlm|haechi|alerts)\//,
  /^electron\/(sandbox|incidents|foreign|recorded|ccpfs|emulate|haechi|padll|wire)\//,
  new RegExp(`^electron/host/(?!(${OF_SOURCES.join('|')})(/|$))`),
  /^electron\/host\/sources\/emulated\.ts$/,
  /^node_modules\/@orpc\//,
]
const foreignIn = ({ modules }: RecordedRun): string[] => modules.filter((m) => FOREIGN.some((f) => f.test(m)))

let servers: EmulatedServers
let data: string

beforeAll(async () => {
  data = tempFolder()
  servers = await emulatedServers({ scenario: twoServers('1.hog.u1') })
})
afterAll(async () => {
  killAll()
  await servers.stop()
})

const sluice = (...args: string[]): Promise<RecordedRun> =>
  sluiceModules(['--config', servers.clusterFile, '--known-hosts', servers.knownHosts, ...args], {
    SLUICE_DATA: data,
    SSH_AUTH_SOCK: '',
  })

/** Runs a command that must succeed. @returns the printed id of a plan or a change. */
async function runsLean(...args: string[]): Promise<string> {
  const run = await sluice(...args)
  expect(run.ended, args.join(' ')).toMatchObject({ code: 0, stderr: '' })
  expect(run.modules).toContain('electron/host/sources/open.ts')
  expect(foreignIn(run), args.join(' ')).toEqual([])
  return /"(?:id|change)":"([^"]+)"/.exec(run.ended.stdout)?.[1] ?? ''
}

describe('commands on a live cluster', () => {
  it('read without the emulator and the application', async () => {
    await runsLean('rules', 'list', 'demo')
    await runsLean('policy', 'show', 'demo')
    await runsLean('watch', 'demo', '--for', '2')
    await runsLean('control', 'demo', '--for', '2')
    await runsLean('stop', 'demo', '--script')
  })

  it('write without them', async () => {
    const desired = join(tempFolder(), 'desired.yaml')
    writeFileSync(desired, 'rules:\n  - { name: lean, match: "jobid={1.hog.u1}", rate: 20 }\n')
    const plan = await runsLean('rules', 'plan', 'demo', '--desired', desired, '--json')
    const change = await runsLean('rules', 'apply', plan, '--target', 'demo', '--canary', '0', '--json')
    expect(servers.rules('oss01')).toContain('lean')
    await runsLean('rules', 'revert', change)
    expect(servers.rules('oss01')).not.toContain('lean')
    const policy = await runsLean('policy', 'plan', 'demo', '--policy', 'tbf nid', '--json')
    await runsLean('policy', 'apply', policy, '--target', 'demo', '--canary', '0')
    await runsLean('rules', 'clean', 'demo')
  })

  it('say that no server answers without them', async () => {
    const file = join(tempFolder(), 'clusters.yaml')
    // Port 1 of this machine has no listener.
    writeFileSync(file, 'clusters: [{ name: off, nodes: [{ host: 127.0.0.1, port: 1, user: nobody }] }]\n')
    const run = await sluiceModules(['rules', 'list', 'off', '--config', file], {
      SLUICE_DATA: data,
      SSH_AUTH_SOCK: '',
    })
    expect(run.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('ECONNREFUSED') as string })
    expect(foreignIn(run)).toEqual([])
  })

  it('show their help without any source', async () => {
    const run = await sluiceModules(['rules', '--help'])
    expect(run.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('apply') as string })
    expect(run.modules).toContain('electron/cli/rules/command.ts')
    expect(run.modules.filter((m) => /^electron\/(host|cluster|enforce|ssh)\//.test(m))).toEqual([])
  })
})

describe('commands on the emulator', () => {
  it('load the emulator, and still not the application', async () => {
    const run = await sluiceModules(['watch', 'emulator', '--for', '1', '--json'])
    expect(run.ended).toMatchObject({ code: 0, stderr: '' })
    const foreign = foreignIn(run)
    expect(foreign).toContain('core/emulator/cluster.ts')
    expect(foreign).toContain('electron/host/sources/emulated.ts')
    expect(foreign.filter((m) => m.startsWith('electron/host/') && !/sources|scenario-file/.test(m))).toEqual([])
  })
})
