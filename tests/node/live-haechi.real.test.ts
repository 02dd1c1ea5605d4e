/** A running data node in the console: its status over a real sshd, a reservation changed from the window, rows of its periods. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokensFrame } from '#core/api/tokens.ts'
import { programPath } from '#electron/files/resources.ts'
import { makeKey, me, noSshd, publicHalf, scratch, startSshd, type Sshd } from '../kits/electron/ssh/sshd.ts'
import { SYSTEM_PATH } from '../lab/lab-files.ts'
import { liveConsole, type LiveConsole } from './live-console.ts'

const run = promisify(execFile)
const waits = { timeout: 60_000, interval: 200 }
/** A job name that a user may choose. */
const EVIL = '7.<b>$(reboot)</b>'

describe.skipIf(noSshd !== '')('a running data node', () => {
  let node: ChildProcess
  let sshd: Sshd
  let live: LiveConsole
  let sluice: string
  let streams = 0
  beforeAll(async () => {
    const folder = scratch()
    const runtime = join(folder, 'run')
    const bin = join(folder, 'bin')
    for (const made of [runtime, bin]) mkdirSync(made, { mode: 0o700 })
    sluice = join(bin, 'sluice')
    // The installed command, with the folder of this test's node.
    const main = programPath('electron/cli/main.ts')
    const text = `#!/bin/sh\nSLUICE_HAECHI=${runtime}/haechi exec ${process.execPath} ${main} "$@"\n`
    writeFileSync(sluice, text)
    chmodSync(sluice, 0o755)
    const options = [
      '--name',
      'dn0',
      '--capacity',
      '40000,20000',
      '--no-estimator',
      '--records',
      '64',
      '--batch',
      '100',
    ]
    const clients = ['--client', `ckpt reservation=9000 job=${EVIL}`, '--client', 'scan reservation=1000 limit=5000']
    node = spawn(sluice, ['haechi', 'node', ...options, ...clients], { stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise((resolve) => node.stdout?.once('data', resolve))
    const identity = makeKey(join(folder, 'key'))
    sshd = await startSshd({
      authorized: [publicHalf(identity)],
      lines: [`SetEnv "PATH=${bin}:${SYSTEM_PATH}"`],
    })
    const knownHosts = join(folder, 'known_hosts')
    writeFileSync(knownHosts, sshd.knownLines())
    const server = { name: 'dn0', host: '127.0.0.1', port: sshd.port, user: me, identity, jump: null }
    live = await liveConsole({
      knownHosts,
      cluster: {
        name: 'rdma',
        env: 'DEV',
        safeMode: 'review',
        allowRoot: true,
        intervalMs: 1000,
        maxRate: null,
        off: [],
        servers: [{ ...server, roles: ['haechi'] }],
      },
    })
    await live.show()
  }, 60_000)
  afterAll(async () => {
    await live?.close()
    sshd?.stop()
    const ended = node && node.exitCode === null ? new Promise((done) => node.once('exit', done)) : undefined
    node?.kill('SIGTERM')
    await ended
  })

  const frame = async (): Promise<TokensFrame> => {
    const query = { stream: `t${++streams}`, at: null, windowMs: 60_000, node: '', span: 'period' as const }
    for await (const one of await live.client.views.tokens(query)) return one
    throw new Error('no frame')
  }

  it('is shown with its clients, its periods and its source', async () => {
    await expect.poll(async () => (await frame()).capacity.epoch.length, waits).toBeGreaterThan(2)
    const shown = await frame()
    expect(shown).toMatchObject({ nodes: ['dn0'], node: 'dn0', live: { host: 'dn0', level: 'ok' } })
    expect(shown.live?.text).toBe('clients are processes')
    expect(shown.clients).toMatchObject({
      name: ['ckpt', 'scan'],
      jobId: [EVIL, ''],
      reservation: [9000, 1000],
      limit: [null, 5000],
      state: ['active', 'active'],
    })
    expect(shown.foot.dataCpuEvents).toBe(0)
    expect(shown.foot.dataIos).toBeGreaterThan(0)
    expect(shown.foot.reserved).toBe(10_000)
    expect(shown.series.pool.length).toBeGreaterThan(0)
  })

  it('is refused a change without Enforce, without its name, and beyond its capacity', async () => {
    const change = { node: 'dn0', client: 'scan', reservation: 2000, limit: 5000 }
    await expect(live.client.tokens.reserve({ ...change, typed: 'dn0' })).rejects.toMatchObject({
      data: { code: 'MODE' },
    })
    await live.client.source.setController({ controller: 'none' })
    await live.client.source.setMode({ mode: 'enforce' })
    await expect(live.client.tokens.reserve(change)).rejects.toMatchObject({ data: { code: 'NOT_TYPED' } })
    const tooMuch = { ...change, reservation: 39_000, typed: 'dn0' }
    expect(await live.client.tokens.check(tooMuch)).toMatchObject({ admit: false })
    await expect(live.client.tokens.reserve(tooMuch)).rejects.toMatchObject({ data: { code: 'DATA_NODE_REFUSED' } })
  })

  it('takes a reservation from the window in its next period, on record', async () => {
    await live.client.tokens.reserve({ node: 'dn0', client: 'scan', reservation: 2000, limit: 5000, typed: 'dn0' })
    const reserved = async (): Promise<number | undefined> => (await frame()).clients.reservation[1]
    await expect.poll(reserved, waits).toBe(2000)
    const status = await run(sluice, ['haechi', 'status', '--json'])
    expect(JSON.parse(status.stdout)).toMatchObject({ clients: [{}, { name: 'scan', reservation: 2000 }] })
    const chain = live.host.onScreen.console.store?.chain
    const records = [...(chain?.each() ?? [])].filter((r) => r.server === 'dn0')
    expect(records.slice(-2).map((r) => [r.kind, r.text])).toEqual([
      ['intent', expect.stringMatching(/^sluice haechi set --run [0-9a-f]{16} scan reservation=2000 limit=5000$/)],
      ['outcome', 'done: verified by read-back'],
    ])
    await expect(live.client.tokens.change({ node: 'dn0', variant: 'basic', preset: 'default' })).rejects.toMatchObject(
      { data: { code: 'DATA_NODE_FIXED' } },
    )
  })

  it('leaves rows of its clients and its pool in the history', async () => {
    const { monitor } = live.host
    await expect
      .poll(() => {
        monitor.history.flush()
        const names = monitor.history.reader().allPlaneSeries('token_clients')
        return names.map(({ name, place, jobId }) => [name, place, jobId]).sort()
      }, waits)
      .toEqual([
        ['ckpt', 'dn0', EVIL],
        ['scan', 'dn0', ''],
      ])
    const nodes = monitor.history.reader().allPlaneSeries('token_nodes')
    expect(nodes.map(({ name }) => name)).toEqual(['dn0'])
  })

  it('is reported silent when it has stopped', async () => {
    await run(sluice, ['haechi', 'stop'])
    const silent = async (): Promise<string | undefined> => (await frame()).notices[0]?.code
    await expect.poll(silent, waits).toBe('DATA_NODE_SILENT')
    expect((await frame()).live?.level).toBe('bad')
  })
})
