/** A running ccPFS in the console: detected over a real sshd, its locks in the Locks view, rows of its resources in the history. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocksFrame } from '#core/api/locks.ts'
import type { CcpfsFile } from '#electron/ccpfs/lib.ts'
import { programPath } from '#electron/files/resources.ts'
import { System } from '../kits/electron/ccpfs/processes.ts'
import { knownHostsFile } from '../kits/electron/ssh/console.ts'
import { makeKey, me, noSshd, publicHalf, scratch, startSshd, type Sshd } from '../kits/electron/ssh/sshd.ts'
import { SYSTEM_PATH } from '../lab/lab-files.ts'
import { liveConsole, type LiveConsole } from './live-console.ts'

const waits = { timeout: 60_000, interval: 200 }
/** Not a multiple of the stripe size, so that writes cross stripes. */
const BYTES = 47_008

describe.skipIf(noSshd !== '')('a running ccPFS', () => {
  let system: System
  let sshd: Sshd
  let live: LiveConsole
  let files: readonly CcpfsFile[]
  let streams = 0
  let round = 0
  beforeAll(async () => {
    system = await System.start()
    const { folder } = system
    const program = join(folder, 'sluice')
    // The installed command, with the folder of this test's servers.
    const main = programPath('electron/cli/main.ts')
    writeFileSync(program, `#!/bin/sh\nSLUICE_CCPFS=${folder} exec ${process.execPath} ${main} "$@"\n`)
    chmodSync(program, 0o755)
    const identity = makeKey(join(scratch(), 'id'))
    sshd = await startSshd({ authorized: [publicHalf(identity)], lines: [`SetEnv "PATH=${folder}:${SYSTEM_PATH}"`] })
    live = await liveConsole({
      knownHosts: knownHostsFile(sshd.knownLines()),
      cluster: {
        name: 'ccpfs',
        env: 'DEV',
        safeMode: 'read-only',
        allowRoot: true,
        intervalMs: 500,
        maxRate: null,
        off: [],
        servers: [{ name: 'ccpfs01', host: '127.0.0.1', port: sshd.port, user: me, identity, jump: null, roles: [] }],
      },
    })
    const clients = [await system.client(), await system.client()]
    files = await Promise.all(
      clients.map(async (fs) => {
        const opened = await fs.open('/shared', { create: true })
        if (!opened.ok) throw new Error(opened.error.what)
        return opened.value
      }),
    )
    await live.show()
  }, 60_000)
  afterAll(async () => {
    await live?.close()
    sshd?.stop()
    await system?.stop()
  })

  const write = async (): Promise<void> => {
    const i = round++
    const wrote = await Promise.all(files.map((file, c) => file.write((2 * i + c) * BYTES, Buffer.alloc(BYTES))))
    expect(wrote.map(({ ok }) => ok)).toEqual([true, true])
  }
  const frame = async (): Promise<LocksFrame> => {
    const stream = `l${++streams}`
    const query = { at: null, windowMs: 60_000, plane: null, sort: 'name' as const, filter: '', offset: 0, limit: 10 }
    const rest = { selected: '', moment: null, spanMs: null }
    for await (const one of await live.client.views.locks({ stream, ...query, ...rest })) return one
    throw new Error('no frame')
  }

  it('is detected', async () => {
    const { servers } = await live.card((c) => c.servers[0]?.roles.includes('ccpfs') === true)
    // This machine may have a batch system, too.
    expect(servers[0]?.roles.filter((role) => role !== 'scheduler')).toEqual(['ccpfs'])
  })

  it('shows its locks with its servers, names of files and sequence numbers', async () => {
    const named = async (): Promise<readonly unknown[]> => {
      await write()
      return (await frame()).rows.name
    }
    await expect.poll(named, waits).toEqual(['/shared / 0', '/shared / 1'])
    const shown = await frame()
    expect(live.host.monitor.source.kind).toBe('LIVE')
    expect(shown).toMatchObject({ planes: ['seqdlm'], notices: [] })
    expect(shown.manager).toContain('SeqDLM, 2 servers on ccpfs01')
    expect(shown.rows.server).toEqual(['ccpfs01 / 1', 'ccpfs01 / 0'])
    expect(shown.resource?.messageTimes).toBe('server')
    const newest = async (): Promise<number> => {
      await write()
      return Math.max(...((await frame()).resource?.lives.sn ?? []).map((sn) => sn ?? 0))
    }
    await expect.poll(newest, waits).toBeGreaterThan(1)
  })

  it('leaves rows of its resources in the history', async () => {
    const { monitor } = live.host
    const resources = async (): Promise<readonly string[]> => {
      await write()
      monitor.history.flush()
      return monitor.history
        .reader()
        .allPlaneSeries('lock_resources')
        .map(({ name }) => name)
        .sort()
    }
    await expect.poll(resources, waits).toEqual(['/shared / 0', '/shared / 1'])
  })

  it('is reported silent when its servers have stopped', async () => {
    for (const server of system.servers) await server.kill()
    const codes = async (): Promise<readonly string[]> => (await frame()).notices.map(({ code }) => code)
    await expect.poll(codes, waits).toContain('CCPFS_SILENT')
  })
})
