/** Rules on servers with a real systemd: written, expired by the server itself, reverted. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { noServers } from '../lab/nspawn.ts'
import { ConsoleFolder, isFull, rulesOn, timersOn, until } from './lab.ts'

const SCENARIO = `title: Two
cluster: two
clients: { count: 2 }
control: { max_rate: 200, mode: observe }
oss:
  - { name: oss01, osts: [{ name: two-OST0000, disk: { bandwidth_mb_s: 20 } }] }
  - { name: oss02, osts: [{ name: two-OST0001, disk: { bandwidth_mb_s: 20 } }] }
jobs:
  - { id: "1.hog.u1001", clients: [1], op: write, size_kib: 64, total_rpcs: 100000000, pattern: { kind: continuous } }
`
const HOSTS = ['oss01', 'oss02'] as const

const LOGINS = [
  { as: 'root', release: 'bookworm', login: 'root' },
  { as: 'the login with the helper', release: 'bookworm', login: 'ops' },
  { as: 'root of a newer release', release: 'trixie', login: 'root' },
  { as: 'the login with the helper of a newer release', release: 'trixie', login: 'ops' },
] as const

describe.skipIf(noServers !== '').each(LOGINS.filter(({ release }) => isFull || release === 'bookworm'))(
  'a rule on servers with a real systemd, as $as',
  ({ release, login }) => {
    let lab: Lab
    beforeAll(async () => {
      const scenario = join(scratch(), 'two.yaml')
      writeFileSync(scenario, SCENARIO)
      lab = await startLab({
        parts: 'nspawn',
        scenario,
        servers: HOSTS,
        release,
        login,
        sudo: 'write',
      })
    })
    afterAll(async () => lab?.stop())

    it('is written under a timer, and gone within two seconds of its expiry; no timer is left', async () => {
      const console = new ConsoleFolder(lab)
      const id = await console.plan([{ name: 'sl_cap', match: 'jobid={1.hog.u1001}', rate: 20 }])
      const applied = await console.apply(id, '10s').ended
      expect(applied.stderr).toBe('')
      expect(applied.code).toBe(0)
      const late: string[] = []
      await Promise.all(
        HOSTS.map(async (host) => {
          expect(await rulesOn(lab, host)).toEqual(['ost.OSS.ost_io reg sl_cap'])
          const timers = await timersOn(lab, host, login === 'root' ? 'systemd' : 'helper')
          const endMs = performance.now() + (timers[0]?.leftS ?? NaN) * 1000
          expect(timers).toHaveLength(1)
          await until(
            () => rulesOn(lab, host),
            (rules) => rules.length === 0,
          )
          const offMs = performance.now() - endMs
          if (!(Math.abs(offMs) <= 2000)) late.push(`${host}: ${Math.round(offMs)} ms`)
          await until(
            () => lab.timers(host),
            (units) => units.length === 0,
          )
        }),
      )
      expect(late).toEqual([])
    })

    it('is reverted by the change that wrote it, with its timer', async () => {
      const console = new ConsoleFolder(lab)
      const id = await console.plan([{ name: 'sl_undo', match: 'jobid={1.hog.u1001}', rate: 20 }])
      const applied = await console.apply(id, '10m').ended
      expect(applied.code, applied.stderr).toBe(0)
      const { change } = JSON.parse(applied.stdout) as { change: string }
      const reverted = await console.run('rules', 'revert', change, '--json')
      expect(reverted.code, reverted.stderr + reverted.stdout).toBe(0)
      for (const host of HOSTS) {
        expect(await rulesOn(lab, host)).toEqual([])
        expect(await lab.timers(host)).toEqual([])
      }
    })

    it('is removed by a console that did not write it, and by the script of an admin', async () => {
      const writer = new ConsoleFolder(lab)
      const write = async (): Promise<void> => {
        const id = await writer.plan([{ name: 'sl_left', match: 'jobid={1.hog.u1001}', rate: 20 }])
        const applied = await writer.apply(id, '10m').ended
        expect(applied.code, applied.stderr).toBe(0)
      }
      const nothingLeft = async (): Promise<void> => {
        for (const host of HOSTS) expect(await rulesOn(lab, host)).toEqual([])
      }
      await write()
      const other = new ConsoleFolder(lab)
      const cleaned = await other.run('rules', 'clean', lab.cluster, '--json')
      expect(cleaned.code, cleaned.stderr + cleaned.stdout).toBe(0)
      await nothingLeft()
      await write()
      const script = await other.run('stop', lab.cluster, '--script')
      expect(script.code, script.stderr).toBe(0)
      for (const [i, host] of HOSTS.entries()) {
        const shell = ['dash', 'busybox sh'][i] ?? 'bash'
        await lab.exec(host, `cat >/root/stop <<'END'\n${script.stdout}\nEND`)
        const ran = await lab.exec(host, `${shell} /root/stop ${host}`)
        expect(ran.code, ran.stderr + ran.stdout).toBe(0)
      }
      await nothingLeft()
    })
  },
)
