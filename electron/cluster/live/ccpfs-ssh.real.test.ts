// A cluster of one ccPFS node over real SSH: detected, sampled, shown in the Locks view, and written to the history.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { clusterInput } from '#core/api/clusters.ts'
import { locksFrame } from '#electron/host/views/locks/locks.ts'
import { openSource } from '#electron/host/sources/open.ts'
import { System } from '#tests/kits/electron/ccpfs/processes.ts'
import { knownHostsFile } from '#tests/kits/electron/ssh/console.ts'
import { makeKey, me, noSshd, publicHalf, scratch, startSshd, type Sshd } from '#tests/kits/electron/ssh/sshd.ts'

const LAUNCHER = join(import.meta.dirname, '../../cli/sluice.mjs')

let system: System | undefined
let sshd: Sshd | undefined
afterEach(async () => {
  sshd?.stop()
  await system?.stop()
})

describe.skipIf(noSshd !== '')('a ccPFS node over SSH', { timeout: 120_000 }, () => {
  it('is detected, and its locks are shown as LIVE with its host', async () => {
    system = await System.start()
    const { folder } = system
    const program = join(folder, 'sluice')
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`)
    chmodSync(program, 0o755)
    const key = makeKey(join(scratch(), 'id'))
    const env = `SetEnv SHLVL=2 SLUICE_CCPFS=${folder} PATH=${folder}:/usr/bin:/bin`
    sshd = await startSshd({ authorized: [publicHalf(key)], lines: [env] })
    const opened = await openSource({
      kind: 'cluster',
      input: clusterInput.parse({
        name: 'ccpfs',
        env: 'DEV',
        safeMode: 'read-only',
        intervalMs: 500,
        servers: [{ name: 'ccpfs01', host: '127.0.0.1', port: sshd.port, user: me, identity: key }],
      }),
      dataDir: scratch(),
      ssh: {
        configFile: null,
        agentSocket: '',
        knownHosts: [{ path: knownHostsFile(sshd.knownLines()), isRequired: true }],
      },
    })
    if (!opened.ok) throw new Error(opened.error.what)
    try {
      const { source, servers } = opened.value
      // This machine may have a batch system, too.
      expect(servers[0]?.facts?.roles.filter((role) => role !== 'scheduler')).toEqual(['ccpfs'])
      if (source === undefined) throw new Error('it is not sampled')
      const { monitor } = source
      const files = await Promise.all(
        [await system.client(), await system.client()].map((fs) => fs.open('/shared', { create: true })),
      )
      const write = (i: number) =>
        Promise.all(
          files.map(async (f, c) => f.ok && (await f.value.write((2 * i + c) * 47_008, Buffer.alloc(47_008)))),
        )
      const query = {
        at: null,
        windowMs: 60_000,
        plane: null,
        sort: 'name' as const,
        filter: '',
        offset: 0,
        limit: 10,
        selected: '',
        moment: null,
        spanMs: null,
      }
      const frame = () => locksFrame(monitor, query, 1)
      let i = 0
      await expect
        .poll(
          async () => {
            await write(i++)
            return frame().rows.name
          },
          { timeout: 60_000 },
        )
        .toEqual(['/shared / 0', '/shared / 1'])
      expect(monitor.source.kind).toBe('LIVE')
      expect(frame()).toMatchObject({ planes: ['seqdlm'], notices: [] })
      expect(frame().manager).toContain('SeqDLM, 2 servers on ccpfs01')
      expect(frame().rows.server).toEqual(['ccpfs01 / 1', 'ccpfs01 / 0'])
      expect(frame().resource?.lives.sn.some((sn) => (sn ?? 0) > 0)).toBe(true)
      expect(monitor.failures.map((f) => f.code)).not.toContain('CCPFS_SILENT')
    } finally {
      await opened.value.close()
    }
  })
})
