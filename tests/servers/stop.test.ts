/** The global stop: a controller in one process, a stop in another, on servers with real parts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { noServers } from '../lab/nspawn.ts'
import { ConsoleFolder, isFull, ownRulesOn, until, type Console, type Ended } from './lab.ts'

const HOSTS = ['oss01', 'oss02', 'oss03', 'oss04'] as const
const SCENARIO = [
  'title: Four',
  'cluster: four',
  'clients: { count: 2 }',
  'control: { max_rate: 200, mode: observe }',
  'oss:',
  ...HOSTS.map((h, i) => `  - { name: ${h}, osts: [{ name: four-OST000${i}, disk: { bandwidth_mb_s: 20 } }] }`),
  'jobs:',
  '  - { id: "1.hog.u1001", clients: [1], op: write, size_kib: 64, total_rpcs: 100000000, pattern: { kind: continuous } }',
  '  - { id: "2.far.u1002", clients: [2], op: write, size_kib: 64, total_rpcs: 100000000, pattern: { kind: continuous } }',
  '',
].join('\n')

interface Stopped {
  readonly removed: number | readonly unknown[]
  readonly state: string
  readonly others: readonly { readonly host: string; readonly console: string; readonly lease: string }[]
}

const LOGINS = [
  { as: 'root', release: 'bookworm', login: 'root' },
  { as: 'the login with the helper', release: 'bookworm', login: 'ops' },
  { as: 'root of a newer release', release: 'trixie', login: 'root' },
  { as: 'the login with the helper of a newer release', release: 'trixie', login: 'ops' },
] as const

describe
  .skipIf(noServers !== '')
  .each(LOGINS.filter(({ release, login }) => isFull || (release === 'bookworm' && login === 'root')))(
  'a controller on four servers, as $as',
  ({ release, login }) => {
    let lab: Lab
    const started: Console[] = []
    beforeAll(async () => {
      const scenario = join(scratch(), 'four.yaml')
      writeFileSync(scenario, SCENARIO)
      lab = await startLab({ parts: 'nspawn', scenario, servers: HOSTS, release, login, sudo: 'write' })
    })
    afterEach(async () => {
      for (const c of started.splice(0)) {
        c.child.kill('SIGKILL')
        await c.ended
      }
      for (const host of HOSTS) lab.node(host).sshd.stall(false)
      // The lease of a killed console.
      for (const host of HOSTS) {
        await until(
          () => ownRulesOn(lab, host),
          (r) => r.length === 0,
          70_000,
        )
      }
    })
    afterAll(async () => lab?.stop())

    const controller = (folder: ConsoleFolder): Console => {
      const words = ['control', lab.cluster, '--controller', 'static', '--mode', 'enforce', '--target', lab.cluster]
      const console = folder.start(...words, '--json')
      started.push(console)
      return console
    }
    const written = (host: string): Promise<string[]> =>
      until(
        () => ownRulesOn(lab, host),
        (r) => r.length > 0,
        120_000,
      )
    const nothingLeft = async (): Promise<void> => {
      for (const host of HOSTS) {
        expect(await ownRulesOn(lab, host)).toEqual([])
        expect(await lab.timers(host)).toEqual([])
      }
    }
    const stop = async (folder: ConsoleFolder): Promise<{ ended: Ended; answer: Stopped }> => {
      const ended = await folder.run('stop', lab.cluster, '--json')
      return { ended, answer: JSON.parse(ended.stdout) as Stopped }
    }

    it('ends when another process of the same console stops it, and nothing comes back', async () => {
      const folder = new ConsoleFolder(lab)
      const enforcing = controller(folder)
      for (const host of HOSTS) await written(host)
      const { ended, answer } = await stop(folder)
      expect(answer.state, ended.stderr + ended.stdout).toBe('stopped')
      expect(ended.code).toBe(0)
      await nothingLeft()
      await new Promise((done) => setTimeout(done, 10_000))
      await nothingLeft()
      const end = await enforcing.ended
      expect(end.code).not.toBe(0)
      expect(end.stderr).toMatch(/stopped/i)
    })

    it('ends when a console elsewhere stops it, which names it', async () => {
      const enforcing = controller(new ConsoleFolder(lab))
      for (const host of HOSTS) await written(host)
      const { ended, answer } = await stop(new ConsoleFolder(lab))
      expect(ended.stderr).toBe('')
      expect(new Set(answer.others.map((o) => o.host))).toEqual(new Set(HOSTS))
      await new Promise((done) => setTimeout(done, 10_000))
      await nothingLeft()
      expect((await enforcing.ended).code).not.toBe(0)
    })

    it("ends by an admin's script on each server, which nothing comes back after, and says who did it", async () => {
      const enforcing = controller(new ConsoleFolder(lab))
      for (const host of HOSTS) await written(host)
      const made = await new ConsoleFolder(lab).run('stop', lab.cluster, '--script')
      const text = Buffer.from(made.stdout).toString('base64')
      const ran = await Promise.all(
        HOSTS.map((host) => lab.exec(host, `printf %s ${text} | base64 -d | sh -s ${host}`)),
      )
      expect(ran.map((r) => [r.code, r.stderr])).toEqual(HOSTS.map(() => [0, '']))
      expect(ran.map((r) => r.stdout.trim().split('\n').at(-1))).toEqual(
        HOSTS.map((host) => `${host}: no rule of Sluice is left`),
      )
      await nothingLeft()
      await new Promise((done) => setTimeout(done, 10_000))
      await nothingLeft()
      const end = await enforcing.ended
      expect(end.code).not.toBe(0)
      expect(end.stderr).toContain(`script@${lab.cluster}`)
    })

    it.runIf(isFull)('continues with three of them while one is frozen', { timeout: 400_000 }, async () => {
      const enforcing = controller(new ConsoleFolder(lab))
      for (const host of HOSTS) await written(host)
      lab.node('oss04').sshd.stall(true)
      // Leases last a minute: after 75 seconds without renewal no rule would be left.
      await new Promise((done) => setTimeout(done, 75_000))
      for (const host of HOSTS.slice(0, 3)) expect(await ownRulesOn(lab, host), host).not.toEqual([])
      expect(enforcing.child.exitCode).toBe(null)
      lab.node('oss04').sshd.stall(false)
      await written('oss04')
      enforcing.child.kill('SIGINT')
      expect((await enforcing.ended).code).toBe(0)
      await nothingLeft()
    })
  },
)
