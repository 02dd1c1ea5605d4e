/**
 * Consoles killed with -9 at random instants of a commit and of a controller, on servers with a real systemd: at no time a rule of
 * Sluice without a timer, none past its expiry plus five seconds, and no timer left over.
 *
 * Each server is a separate cluster, so that several consoles can be killed at once.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { noServers } from '../lab/nspawn.ts'
import { ConsoleFolder, isFull, ownRulesOn, timersOn, until } from './lab.ts'

const KILLS = isFull ? 50 : 4
const SERVERS = 4
const LEASE_S = 60
const GRACE_S = 5
/** Limit of a hang only: a controller shows its plans for ten seconds before it writes. */
const START_MS = 120_000
const PATIENCE_MS = 240_000 + (KILLS / SERVERS) * 60_000

const HOSTS = Array.from({ length: SERVERS }, (_, i) => `oss0${i + 1}`)
const SCENARIO = stringify({
  title: 'Kills',
  cluster: 'kills',
  clients: { count: 4 },
  control: { max_rate: 200, mode: 'observe' },
  oss: HOSTS.map((name, i) => ({ name, osts: [{ name: `kills-OST000${i}`, disk: { bandwidth_mb_s: 20 } }] })),
  jobs: [1, 2].map((n) => ({
    id: `${n}.hog.u100${n}`,
    clients: [n],
    op: 'write',
    size_kib: 64,
    total_rpcs: 100_000_000,
    pattern: { kind: 'continuous' },
  })),
})

/** Violations found on a server. */
async function faultsOn(lab: Lab, host: string, kind: 'systemd' | 'helper'): Promise<string[]> {
  // Rules first: a timer that fires in between removes its rule, and a rule that appears in between has its timer before it.
  const rules = await ownRulesOn(lab, host)
  const timers = await timersOn(lab, host, kind)
  const stillThere = new Set(await ownRulesOn(lab, host))
  return rules
    .filter((r) => stillThere.has(r))
    .flatMap((rule) => {
      const [service = '', queue = '', name = ''] = rule.split(' ')
      const isCovered = timers.some((t) =>
        t.stops.some(
          (s) =>
            s.parameter === `${service}.nrs_tbf_rule` && s.name === name && (s.queue === queue || s.queue === 'both'),
        ),
      )
      return isCovered ? [] : [`${host}: ${rule} has no timer`]
    })
}

const LOGINS = [
  { as: 'root', login: 'root', kind: 'systemd' },
  { as: 'the login with the helper', login: 'ops', kind: 'helper' },
] as const

describe.skipIf(noServers !== '').each(LOGINS.filter((l) => isFull || l.login === 'root'))(
  'consoles that are killed, as $as',
  ({ login, kind }) => {
    let lab: Lab
    const faults: string[] = []
    /** Time by which the last possible rule on a server must be gone, by server, in ms of this process. */
    const ends = new Map<string, number>()

    beforeAll(async () => {
      const scenario = join(scratch(), 'kills.yaml')
      writeFileSync(scenario, SCENARIO)
      lab = await startLab({ parts: 'nspawn', scenario, servers: HOSTS, login, sudo: 'write' })
    })
    afterAll(async () => lab?.stop())

    /** Console that knows one of the servers, as a separate cluster. */
    const consoleOf = (host: string): ConsoleFolder => new ConsoleFolder(lab, host)
    /** Waits until nothing is due on a server. */
    const pastEnd = async (host: string): Promise<void> => {
      const end = ends.get(host) ?? Infinity
      if (performance.now() < end + GRACE_S * 1000) return
      const left = await ownRulesOn(lab, host)
      if (left.length > 0) faults.push(`${host}: past its expiry: ${left.join(', ')}`)
    }
    const random = (): number => Math.random()

    it('at random instants of a commit', { timeout: PATIENCE_MS }, async () => {
      const each = Math.ceil(KILLS / SERVERS)
      await Promise.all(
        HOSTS.map(async (host) => {
          const own = consoleOf(host)
          // Duration of an undisturbed one.
          const first = await own.plan([{ name: 'sl_first', match: 'jobid={1.hog.u1001}', rate: 50 }])
          const began = performance.now()
          const done = await own.apply(first, '20s').ended
          const tookMs = performance.now() - began
          expect(done.code, done.stderr).toBe(0)
          for (let i = 0; i < each; i++) {
            const id = await own.plan([{ name: `sl_kill${i}`, match: 'jobid={2.hog.u1002}', rate: 40 + i }])
            const console = own.apply(id, '20s')
            // Connecting takes most of the time, and nothing is written during it.
            await new Promise((wait) => setTimeout(wait, tookMs * (0.3 + 0.7 * random())))
            console.child.kill('SIGKILL')
            await console.ended
            ends.set(host, performance.now() + 20_000)
            faults.push(...(await faultsOn(lab, host, kind)))
          }
        }),
      )
      for (const host of HOSTS) {
        await until(
          () => ownRulesOn(lab, host),
          (rules) => rules.length === 0,
          (20 + GRACE_S) * 1000,
        )
        await until(
          () => lab.timers(host),
          (units) => units.length === 0,
          (20 + GRACE_S) * 1000,
        )
      }
      expect(faults).toEqual([])
    })

    it.runIf(isFull)('at random instants of a controller', { timeout: PATIENCE_MS }, async () => {
      const each = Math.ceil(KILLS / SERVERS)
      let wrote = 0
      await Promise.all(
        HOSTS.map(async (host) => {
          const own = consoleOf(host)
          for (let i = 0; i < each; i++) {
            const words = [
              'control',
              own.cluster,
              '--controller',
              'static',
              '--mode',
              'enforce',
              '--target',
              own.cluster,
            ]
            // The lease of the previous console may still exist.
            const before = new Set((await timersOn(lab, host, kind)).map((t) => t.unit))
            const isWritten = async (): Promise<boolean> =>
              (await timersOn(lab, host, kind)).some((t) => !before.has(t.unit))
            const console = own.start(...words, '--json')
            // Its plans are shown for ten seconds before the first is written; some are killed before that.
            let ended = ''
            void console.ended.then(({ code, stderr }) => (ended = `it ended with ${code}: ${stderr}`))
            const look = async (): Promise<string> => ((await isWritten()) ? 'written' : ended)
            if (random() < 0.8)
              expect(
                await until(look, (found) => found !== '', START_MS).catch(() => console.stdout().slice(-3000)),
              ).toBe('written')
            await new Promise((wait) => setTimeout(wait, 4000 * random()))
            console.child.kill('SIGKILL')
            await console.ended
            ends.set(host, performance.now() + LEASE_S * 1000)
            if ((await ownRulesOn(lab, host)).length > 0) wrote++
            faults.push(...(await faultsOn(lab, host, kind)))
            await pastEnd(host)
          }
        }),
      )
      // Otherwise nothing was checked.
      expect(wrote).toBeGreaterThan(0)
      for (const host of HOSTS) {
        await until(
          () => ownRulesOn(lab, host),
          (rules) => rules.length === 0,
          (LEASE_S + GRACE_S) * 1000,
        )
        await until(
          () => lab.timers(host),
          (units) => units.length === 0,
          (LEASE_S + GRACE_S) * 1000,
        )
      }
      expect(faults).toEqual([])
    })
  },
)
