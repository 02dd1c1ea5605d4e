/** Rules of Sluice end by the server's own timer, regardless of the console; and nothing else of Sluice remains on a server. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ClusterCard, Leftover } from '#core/api/clusters.ts'
import { noSshd, scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { liveConsole, type LiveConsole } from './live-console.ts'
import { tempFolder } from './temp-folder.ts'

const LAUNCHER = join(import.meta.dirname, '../../electron/cli/sluice.mjs')
/** A detached timer uses the server's sleep: this one turns a minute into twenty seconds, ten of which plans are only shown. */
const QUICK_SLEEP = 'case $1 in *[!0-9]*) exec /bin/sleep "$1" ;; esac; exec /bin/sleep $(($1 / 3))'

/** A lease lasts a minute, and not every timer can be accelerated. */
const waits = { timeout: 100_000, interval: 100 }

describe.skipIf(noSshd !== '' || !existsSync('/proc/self/environ')).each(['shell', 'systemd'] as const)(
  'with timers of %s',
  (timers) => {
    const children: ChildProcess[] = []
    let lab: Lab
    let live: LiveConsole | undefined
    beforeAll(async () => {
      lab = await startLab({
        timers,
        servers: ['oss01'],
        programs: { sleep: QUICK_SLEEP },
        env: { HOME: scratch(), TMPDIR: scratch() },
      })
    })
    afterEach(async () => {
      for (const c of children.splice(0)) c.kill('SIGKILL')
      await live?.close()
      live = undefined
    })
    afterAll(async () => {
      await lab?.stop()
    })

    const running = (): Promise<readonly string[]> => lab.processes('oss01')
    const files = (): Promise<readonly string[]> => lab.files('oss01')
    /** Detached timers that run on the server itself. */
    const detached = async (): Promise<string[]> => (await running()).filter((p) => p.includes(' sluice-expiry '))
    const isOnlyTimers = async (): Promise<boolean> =>
      (await running()).every((p) => p.includes(' sluice-expiry ') || p.startsWith('/bin/sleep '))
    const timersLeft = async (): Promise<number> =>
      (timers === 'shell' ? await detached() : await lab.timers('oss01')).length

    it('a console that is killed with -9 leaves a pending expiry and nothing else; its rules go with it', async () => {
      const before = await files()
      const args = [
        '--config',
        lab.clusterFile,
        '--known-hosts',
        lab.knownHosts,
        'control',
        lab.cluster,
        '--controller',
        'static',
        '--mode',
        'enforce',
        '--target',
        lab.cluster,
      ]
      const child = spawn(process.execPath, [LAUNCHER, ...args], {
        stdio: 'ignore',
        cwd: tempFolder(),
        env: { ...process.env, SLUICE_DATA: tempFolder(), SSH_AUTH_SOCK: '' },
      })
      children.push(child)
      await expect.poll(() => lab.rules('oss01'), waits).toMatch(/^st_/m)
      child.kill('SIGKILL')
      await once(child, 'exit')
      lab.node('oss01').sshd.killSessions()
      await expect.poll(isOnlyTimers, waits).toBe(true)
      expect(await lab.rules('oss01')).toMatch(/^st_/m)
      expect(await timersLeft()).toBe(1)
      expect(await files()).toEqual(before)
      if (timers === 'systemd') await lab.setSpeed(16)
      await expect.poll(() => lab.rules('oss01'), waits).not.toMatch(/^st_/m)
      await expect.poll(timersLeft, waits).toBe(0)
      await lab.setSpeed(1)
      await expect.poll(running, waits).toEqual([])
      expect(await files()).toEqual(before)
    })

    it('a console that disconnects leaves no file and no process but the pending expiry, which the next one finds and ends', async () => {
      const before = await files()
      live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts })
      await live.show()
      await live.enforce()
      await live.stage('reg start ops_cap jobid={4690*} rate=25', 3600)
      expect(await live.commit()).toEqual(['oss01 done'])
      await live.client.clusters.disconnect({ name: live.name })
      await expect.poll(isOnlyTimers, waits).toBe(true)
      expect(await lab.rules('oss01')).toMatch(/^ops_cap /m)
      expect(await timersLeft()).toBe(1)
      expect(await files()).toEqual(before)
      await live.close()
      // Another machine: it knows only the state on the server.
      live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts })
      await live.client.clusters.connect({ name: live.name })
      // Detached timers of other tests run on this machine, too.
      const mine = (c: ClusterCard): Leftover[] => c.leftovers.filter((l) => l.rule === 'ops_cap')
      const leftovers = mine(await live.card((c) => mine(c).length > 0))
      expect(leftovers).toMatchObject([
        { host: 'oss01', rule: 'ops_cap', timer: expect.stringMatching(/^sluice-/) as string },
      ])
      await live.client.clusters.clean({ name: live.name, keys: leftovers.map((l) => l.key), typed: live.name })
      expect(await lab.rules('oss01')).not.toMatch(/^ops_cap /m)
      expect(await timersLeft()).toBe(0)
      await live.client.clusters.disconnect({ name: live.name })
      await expect.poll(running, waits).toEqual([])
      expect(await files()).toEqual(before)
    })
  },
)
