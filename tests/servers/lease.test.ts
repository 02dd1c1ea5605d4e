/** Lease of a controller on a server with a real systemd, through a console's connection. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import type { NodeConnection } from '#electron/base/connection.ts'
import { Audit } from '#electron/base/audit.ts'
import { Lease, LEASE_SECONDS } from '#electron/enforce/lease.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { noServers } from '../lab/nspawn.ts'
import { liveConsole, type LiveConsole } from '../node/live-console.ts'
import { isFull, rulesOn, timersOn, until } from './lab.ts'

const HOST = 'oss01'
const OST = 'ost.OSS.ost_io.nrs_tbf_rule'
const ONE = 'ab_0000000001'
const TWO = 'ab_0000000002'
const SESSION = 'ada--desk-0000a1'

const LOGINS = [
  { as: 'root', release: 'bookworm', login: 'root', kind: 'systemd' },
  { as: 'the login with the helper', release: 'bookworm', login: 'ops', kind: 'helper' },
  { as: 'root of a newer release', release: 'trixie', login: 'root', kind: 'systemd' },
  { as: 'the login with the helper of a newer release', release: 'trixie', login: 'ops', kind: 'helper' },
] as const

describe.skipIf(noServers !== '').each(LOGINS.filter(({ release }) => isFull || release === 'bookworm'))(
  'a lease on a server with a real systemd, as $as',
  ({ release, login, kind }) => {
    let lab: Lab
    let live: LiveConsole
    let node: NodeConnection
    const leases: Lease[] = []

    beforeAll(async () => {
      lab = await startLab({
        parts: 'nspawn',
        servers: [HOST],
        release,
        login,
        sudo: 'write',
        settings: { safe_mode: 'review' },
      })
      live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts })
      await live.show()
      node = live.host.monitor.source.nodes.find((n) => n.host === HOST) as NodeConnection
    })
    afterEach(async () => {
      for (const lease of leases.splice(0)) await lease.end(0)
      for (const rule of await rulesOn(lab, HOST)) await write(`reg stop ${rule.split(' ')[2] ?? ''}`)
      expect(await lab.timers(HOST)).toEqual([])
    })
    afterAll(async () => {
      await live?.close()
      await lab?.stop()
    })

    const leaseOf = (session: string): Lease => {
      const lease = new Lease(node, session, new Audit(() => undefined))
      leases.push(lease)
      return lease
    }
    /** Covers at a second of the console's clock, which is passed in. */
    const cover = (lease: Lease, names: string[], s: number, there: string[] = [], isChanged = false) =>
      lease.cover(names, s * NS_PER_S, s * 1000, { there, next: names, isChanged })
    /** Writes like another login of the server, bypassing the console. */
    const write = async (value: string): Promise<void> => {
      const { code, stderr } = await lab.exec(HOST, `lctl set_param ${OST}='${value}'`)
      expect(code, stderr).toBe(0)
    }
    const start = (name: string): Promise<void> => write(`reg start ${name} jobid={${name}} rate=5`)
    const unit = (n: number, session = SESSION): string => `sluice-lease-${session}-${n}.timer`
    const covered = async (): Promise<string[]> =>
      (await timersOn(lab, HOST, kind)).flatMap((t) => t.stops.map((s) => s.name)).toSorted()

    it('is one timer, which grows, is renewed, leaves out what is gone, and ends', async () => {
      expect(node.timers).toBe(kind)
      const lease = leaseOf(SESSION)
      expect(await cover(lease, [ONE], 0)).toMatchObject({ ok: true, value: { rules: 1 } })
      expect(await lab.timers(HOST)).toEqual([unit(1)])
      expect(await cover(lease, [ONE, TWO], 1, [ONE])).toMatchObject({ ok: true, value: { rules: 2 } })
      expect([await lab.timers(HOST), await covered()]).toEqual([[unit(2)], [ONE, TWO]])
      // It has time left.
      await cover(lease, [ONE, TWO], 20, [ONE, TWO])
      expect(await lab.timers(HOST)).toEqual([unit(2)])
      expect(await cover(lease, [TWO], 32, [ONE, TWO])).toMatchObject({ ok: true, value: { rules: 1 } })
      expect([await lab.timers(HOST), await covered()]).toEqual([[unit(3)], [TWO]])
      const [timer] = await timersOn(lab, HOST, kind)
      expect(timer).toMatchObject({ isOwn: true })
      expect(timer?.leftS).toBeLessThanOrEqual(LEASE_SECONDS)
      await lease.end(33_000)
      expect(await lab.timers(HOST)).toEqual([])
    })

    it('that another console ended with its rules counts as taken: nothing is made again', async () => {
      const lease = leaseOf(SESSION)
      await cover(lease, [ONE], 0)
      await start(ONE)
      await cover(lease, [ONE], 1, [ONE])
      await lab.exec(HOST, `systemctl stop ${unit(1)}`)
      await write(`reg stop ${ONE}`)
      expect(await cover(lease, [ONE], 2)).toMatchObject({
        ok: false,
        error: { code: 'LEASE_TAKEN', why: expect.stringContaining('removed the rules') as string },
      })
      expect([lease.isOpen, await lab.timers(HOST)]).toEqual([false, []])
    })

    it('in whose place another console has one is taken over, and that one is named', async () => {
      const lease = leaseOf(SESSION)
      await cover(lease, [ONE], 0)
      await start(ONE)
      await cover(lease, [ONE], 1, [ONE])
      await lab.exec(HOST, `systemctl stop ${unit(1)}`)
      expect((await cover(leaseOf('eve--far-0000c3'), [ONE], 1)).ok).toBe(true)
      expect(await cover(lease, [ONE], 2, [ONE], true)).toMatchObject({
        ok: false,
        error: { code: 'LEASE_TAKEN', why: expect.stringContaining('eve@far took over') as string },
      })
      expect(await lease.takenOver()).toMatchObject([{ name: ONE, queue: 'reg' }])
      expect(await lab.timers(HOST)).toEqual([unit(1, 'eve--far-0000c3')])
    })

    it('is refused in the words of a server that makes no timer, and is there when it makes one again', async () => {
      const [away, back] =
        kind === 'helper'
          ? ['mv /etc/sudoers.d/sluice-write /root/', 'mv /root/sluice-write /etc/sudoers.d/']
          : ['chmod a-x /usr/bin/systemd-run', 'chmod a+x /usr/bin/systemd-run']
      const lease = leaseOf(SESSION)
      await lab.exec(HOST, away)
      const refused = await cover(lease, [ONE], 0)
      await lab.exec(HOST, back)
      expect(refused).toMatchObject({
        ok: false,
        error: {
          code: 'LEASE_FAILED',
          why: expect.stringMatching(kind === 'helper' ? /a password is required/ : /Permission denied/i) as string,
        },
      })
      expect(await lab.timers(HOST)).toEqual([])
      expect(await cover(lease, [ONE], 5)).toMatchObject({ ok: true })
      expect(await covered()).toEqual([ONE])
    })

    it.runIf(isFull)('stops every rule it covers after a minute, to within two seconds, and no other', async () => {
      await start('theirs')
      const asked = performance.now()
      await cover(leaseOf(SESSION), [ONE, TWO], 0)
      const answered = performance.now()
      await start(ONE)
      await start(TWO)
      await until(
        () => rulesOn(lab, HOST),
        (rules) => !rules.some((r) => /ab_/.test(r)),
        (LEASE_SECONDS + 30) * 1000,
      )
      const gone = performance.now()
      expect(await rulesOn(lab, HOST)).toEqual(['ost.OSS.ost_io reg theirs'])
      expect(gone - asked).toBeGreaterThan((LEASE_SECONDS - 2) * 1000)
      expect(gone - answered).toBeLessThan((LEASE_SECONDS + 2) * 1000)
      await until(
        () => lab.timers(HOST),
        (units) => units.length === 0,
      )
    })
  },
)
