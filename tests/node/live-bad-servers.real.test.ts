/**
 * Servers that a console does not expect, each beside a good one: the card names the failed step and the remedy, while the good
 * one is sampled. All over real SSH.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ClusterInput, ServerCard } from '#core/api/clusters.ts'
import { formatNrsPolicies, type PolicyStatus } from '#core/lustre/nrs-policies.ts'
import { SERVICES } from '#electron/base/service.ts'
import { startStandIn, type StandIn, type StandInOptions } from '../kits/electron/cluster/stand-in.ts'
import { LIMITS } from '#electron/ssh/limits.ts'
import { freePort, makeKey, noSshd, scratch, me } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { liveConsole, type LiveConsole } from './live-console.ts'

const LIMITS_HERE = { ...LIMITS, connectMs: 3000, handshakeMs: 2000, keepaliveMs: 1000 }
const policy = (name: string, arg = ''): PolicyStatus => ({
  queue: 'reg',
  name,
  arg,
  state: 'started',
  fallback: name === 'fifo',
  queued: 0,
  active: 0,
})
const OSS: StandInOptions = {
  devices: '  1 UP ost OSS OSS_uuid 2\n  2 UP obdfilter bad-OST0000 bad-OST0000_UUID 5\n',
  params: {
    version: 'version=2.15.8\n',
    [SERVICES.ost_io.policies]:
      `${SERVICES.ost_io.policies}=\n${formatNrsPolicies([policy('fifo'), policy('tbf', 'jobid')])}`,
    [SERVICES.ost_io.rules]: `${SERVICES.ost_io.rules}=\nregular_requests:\nCPT 0:\ndefault {*} 10000, ref 0\n`,
    'obdfilter.*.job_stats': 'obdfilter.bad-OST0000.job_stats=\njob_stats:\n',
    jobid_var: 'jobid_var=procname_uid\n',
  },
}

type Bad = Partial<ClusterInput['servers'][number]> & { readonly port: number }
type Step = ServerCard['steps'][number]

describe.skipIf(noSshd !== '')('a cluster of a good server and', () => {
  let lab: Lab
  let live: LiveConsole | undefined
  const stops: (() => void)[] = []
  beforeAll(async () => {
    lab = await startLab({ servers: ['oss01'] })
  })
  afterEach(async () => {
    await live?.close()
    live = undefined
    for (const stop of stops.splice(0)) stop()
  })
  afterAll(async () => lab?.stop())

  const standIn = async (o: StandInOptions): Promise<Bad> => {
    const s: StandIn = await startStandIn(o)
    stops.push(() => s.sshd.stop())
    appendFileSync(lab.knownHosts, s.sshd.knownLines())
    return { port: s.sshd.port, identity: s.key }
  }
  /** A socket with scripted behaviour for each connection. */
  const listening = async (on: (socket: Socket) => void): Promise<Bad> => {
    const sockets = new Set<Socket>()
    const server: Server = createServer((s) => {
      sockets.add(s.on('error', () => undefined))
      on(s)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    stops.push(() => {
      for (const s of sockets) s.destroy()
      server.close()
    })
    return { port: (server.address() as AddressInfo).port }
  }
  const connect = async (bad: Bad): Promise<LiveConsole> => {
    const server = { host: '127.0.0.1', user: me, identity: lab.identity, jump: null, roles: [] }
    live = await liveConsole({
      knownHosts: lab.knownHosts,
      limits: LIMITS_HERE,
      cluster: {
        name: 'mixed',
        env: 'DEV',
        safeMode: 'review',
        allowRoot: true,
        intervalMs: 500,
        maxRate: 100,
        off: [],
        servers: [
          { ...server, name: 'good', port: lab.node('oss01').port },
          { ...server, name: 'bad', ...bad },
        ],
      },
    })
    await live.client.clusters.connect({ name: live.name })
    await live.client.clusters.show({ name: live.name })
    return live
  }
  /** Card of the bad server once it reports the fault, while the good one is sampled. */
  const reported = async (bad: Bad, fits: (s: ServerCard) => boolean): Promise<ServerCard> => {
    const console = await connect(bad)
    const card = await console.card((c) => c.onScreen && fits(c.servers[1] as ServerCard))
    expect(card.servers[0]).toMatchObject({ host: 'good', state: 'connected', roles: ['oss'] })
    const { sample } = console.host.monitor
    await expect.poll(() => console.host.monitor.sample).toBeGreaterThan(sample + 1)
    expect(console.host.monitor.source.kind).toBe('LIVE')
    return card.servers[1] as ServerCard
  }
  const failing =
    (id: Step['id']) =>
    (s: ServerCard): boolean =>
      s.steps.some((t) => t.id === id && t.state === 'bad')
  const step = (s: ServerCard, id: Step['id']): Step | undefined => s.steps.find((t) => t.id === id)

  it.each([
    ['one on whose port nothing listens', 'tcp', /ECONNREFUSED/, async () => ({ port: await freePort() })],
    [
      'a tarpit that never ends its banner',
      'host key',
      /./,
      () => listening((s) => void setInterval(() => s.write('x\r\n'), 100).unref()),
    ],
    ['one that takes the connection and says nothing', 'host key', /./, () => listening(() => undefined)],
    [
      'one that speaks something else',
      'host key',
      /./,
      () => listening((s) => void s.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    ],
    [
      'one that takes another key',
      'auth',
      /./,
      () => standIn(OSS).then((s) => ({ ...s, identity: makeKey(join(scratch(), 'id_other')) })),
    ],
    [
      'one that has no such user',
      'auth',
      /./,
      () => Promise.resolve({ port: lab.node('oss01').port, user: 'nosuchuser' }),
    ],
    [
      'one without a shell',
      'sudo',
      /shell|commands/,
      () => standIn({ ...OSS, forced: '#!/bin/sh\necho "This account is currently not available."; exit 1' }),
    ],
    [
      'one whose sudo asks for a password',
      'sudo',
      /password|root/,
      () => standIn({ ...OSS, uid: 1000, sudo: 'echo "sudo: a password is required" >&2; exit 1' }),
    ],
    ['one without lctl', 'lctl', /lctl is not installed/, () => standIn({ programs: { lctl: null } })],
  ] as const)('%s: told at the step, with what to do', async (_, id, detail, make) => {
    const card = await reported(await make(), failing(id))
    expect(card.level).toBe('bad')
    expect(step(card, id)).toMatchObject({ detail: expect.stringMatching(detail) as string })
    expect(`${step(card, id)?.fix}`).not.toBe('')
    for (const t of card.steps) expect(`${t.detail}${t.fix}`).toMatch(/^[^\x00-\x09\x0b-\x1f\x7f-\x9f]*$/)
  })

  it('one with banner noise and csh’s grammar: read all the same, each command alone', async () => {
    const forced =
      '#!/bin/sh\necho Welcome to bad; case "$SSH_ORIGINAL_COMMAND" in "exec sh") echo "exec: Event not found." >&2; exit 1 ;; esac; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"'
    const card = await reported(await standIn({ ...OSS, forced }), (s) => s.state === 'connected' && s.roles.length > 0)
    expect(card).toMatchObject({
      roles: ['oss'],
      targets: ['bad-OST0000'],
      channel: expect.stringMatching(/one session per command/) as string,
    })
  })

  it('one with a wrong clock and an unknown release: shown, read, and never written to', async () => {
    const params = { ...OSS.params, version: 'version=3.x-next\n' }
    const late = await standIn({ ...OSS, params, programs: { date: 'echo 1000000000.500000000' } })
    const card = await reported(late, (s) => step(s, 'clock')?.state === 'watch')
    expect(step(card, 'lctl')).toMatchObject({
      state: 'watch',
      detail: expect.stringMatching(/never written to/) as string,
    })
    expect(step(card, 'clock')).toMatchObject({ detail: expect.stringMatching(/behind this machine/) as string })
    expect(card.clockSkewMs).toBeLessThan(-1e9)
    const console = live as LiveConsole
    await console.client.source.setController({ controller: 'none' })
    await console.client.source.setMode({ mode: 'enforce' })
    await console.stage('start sl_cap jobid={4690*} rate=25', 600)
    expect((await console.commit())[0]).toMatch(/^[A-Z_]+: .*bad/)
    expect(await lab.rules('oss01')).not.toContain('sl_cap')
  })

  it('one that hangs with its connection open: named as silent, then lost; and taken back', async () => {
    const second = await startLab({ servers: ['oss02'] })
    stops.push(() => void second.stop())
    appendFileSync(lab.knownHosts, second.node('oss02').sshd.knownLines())
    const bad = { port: second.node('oss02').port, identity: second.identity }
    await reported(bad, (s) => s.state === 'connected')
    second.stall('oss02')
    const lost = await live?.card((c) => c.servers[1]?.state === 'lost')
    expect(lost).toMatchObject({ state: 'partial', servers: [{ state: 'connected' }, { level: 'bad' }] })
    second.resume('oss02')
    await live?.card((c) => c.state === 'connected')
  })

  it('one that reboots and loses its rules: said at once, with what schedules it now', async () => {
    await reported({ port: await freePort() }, failing('tcp'))
    const { host } = live as LiveConsole
    await lab.exec('oss01', "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='start night jobid={9.*} rate=77'")
    await expect.poll(() => JSON.stringify(host.monitor.serviceReading('good', 'ost_io')?.rules)).toContain('night')
    await lab.forget('oss01')
    await expect
      .poll(
        () =>
          host.monitor.events
            .between(-Infinity, Infinity, 100)
            .map((e) => e.text)
            .join(),
        { timeout: 15_000 },
      )
      .toMatch(/rules? not managed by Sluice and TBF are gone from ost_io/)
    await lab.exec('oss01', "lctl set_param ost.OSS.ost_io.nrs_policies='tbf jobid'")
  })
})
