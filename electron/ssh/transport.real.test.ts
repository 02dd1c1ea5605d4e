import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Algorithms, Connection } from 'ssh2'
import { exitCodeOf } from './failures.ts'
import type { Session } from './session.ts'
import { Sessions } from './sessions.ts'
import { KeyRing } from './private-key.ts'
import type { SessionState } from './state.ts'
import {
  endpointOf,
  knowing,
  knownHostsFile,
  QUICK,
  sessionOf,
  stopSessions,
} from '#tests/kits/electron/ssh/console.ts'
import { rawServer, scriptedServer, valve } from '#tests/kits/electron/ssh/scripted-server.ts'
import {
  fingerprint,
  freePort,
  makeKey,
  noSshd,
  publicHalf,
  scratch,
  startSshd,
  type Sshd,
} from '#tests/kits/electron/ssh/sshd.ts'
import { TrustStore } from './trust-store.ts'
import { HostKeys } from './verdict.ts'

describe.skipIf(noSshd !== '')('the way to a server', () => {
  const folder = scratch()
  const at = (name: string): string => join(folder, name)
  let sshd: Sshd
  let both: Sshd
  beforeAll(async () => {
    for (const name of ['id', 'host', 'old']) makeKey(at(name))
    makeKey(at('rsa'), 'rsa', '', 2048)
    sshd = await startSshd({ authorized: [publicHalf(at('id'))], hostKeys: [at('host')] })
    both = await startSshd({ authorized: [publicHalf(at('id'))], hostKeys: [at('host'), at('rsa')] })
  })
  afterAll(() => {
    sshd?.stop()
    both?.stop()
  })
  afterEach(stopSessions)

  const known = (port: number, key = at('host'), names = `[127.0.0.1]:${port}`): string =>
    `${names} ${publicHalf(key)}\n`
  const until = (session: Session, kind: SessionState['kind']): Promise<SessionState> =>
    new Promise((resolve) => {
      if (session.state.kind === kind) resolve(session.state)
      session.onState((s) => s.kind === kind && resolve(s))
    })

  describe('host keys, before anything of the user is sent', () => {
    const attempt = async (keys: HostKeys, port = sshd.port) => {
      const session = sessionOf(keys, endpointOf(port, [at('id')]))
      const r = await session.connect()
      if (r.ok) return { code: 'match', exit: 0, state: session.state, log: '' }
      return {
        code: r.error.code,
        exit: exitCodeOf(r.error),
        state: session.state,
        log: sshd.log().slice(sshd.log().lastIndexOf('Connection from')),
        next: r.error.next,
      }
    }

    it.each([
      ['known', () => known(sshd.port), 'match'],
      ['unknown', () => '', 'SSH_HOST_KEY_UNKNOWN'],
      ['changed', () => known(sshd.port, at('old')), 'SSH_HOST_KEY_CHANGED'],
      ['revoked', () => `${known(sshd.port)}@revoked * ${publicHalf(at('host'))}\n`, 'SSH_HOST_KEY_REVOKED'],
      ['of another type', () => known(sshd.port, at('rsa')), 'SSH_HOST_KEY_OTHER_TYPE'],
      [
        'vouched for by a certificate authority only',
        () => `@cert-authority * ${publicHalf(at('host'))}\n`,
        'SSH_HOST_KEY_UNKNOWN',
      ],
    ])('%s', async (_, text, code) => {
      const r = await attempt(knowing(text()))
      expect(r.code).toBe(code)
      if (code === 'match') return
      expect(r).toMatchObject({
        exit: 3,
        state: { kind: 'refused', failure: { hostKey: { fingerprint: fingerprint(at('host')) } } },
      })
      expect(r.log).not.toMatch(/user|publickey/i)
    })

    it('that cannot be read: no host is known', async () => {
      expect(await attempt(new HostKeys({ knownHosts: [{ path: folder, isRequired: false }] }))).toMatchObject({
        code: 'SSH_HOST_KEY_UNREADABLE',
        exit: 3,
      })
    })

    it('trusted for one run by its fingerprint, and no other one', async () => {
      expect((await attempt(knowing('', { trusted: [fingerprint(at('host'))] }))).code).toBe('match')
      expect((await attempt(knowing('', { trusted: [fingerprint(at('old'))] }))).code).toBe('SSH_HOST_KEY_UNKNOWN')
      expect((await attempt(knowing(known(sshd.port, at('old')), { trusted: [fingerprint(at('host'))] }))).code).toBe(
        'SSH_HOST_KEY_CHANGED',
      )
    })

    it('taken after comparing the fingerprint are known from then on', async () => {
      const store = new TrustStore(at('trust.json'))
      const keys = knowing('', { store })
      const { state } = await attempt(keys)
      if (state.kind !== 'refused' || !state.failure.hostKey) throw new Error(state.kind)
      const { host, port, type, fingerprint: print } = state.failure.hostKey
      expect(store.trust(host, port, type, print, 1).ok).toBe(true)
      expect((await attempt(keys)).code).toBe('match')
    })

    it('known of one type only: that type is asked for, as a server with several would look unknown otherwise', async () => {
      const session = sessionOf(knowing(known(both.port, at('rsa'))), endpointOf(both.port, [at('id')]))
      expect(await session.connect()).toMatchObject({
        ok: true,
        value: { hostKey: { type: 'ssh-rsa' }, negotiated: { hostKey: 'rsa-sha2-512' } },
      })
    })

    it('of another server at a known address: nothing is requested from it or sent to it', async () => {
      const server = await scriptedServer({ hostKey: at('old') })
      const r = await sessionOf(knowing(known(server.port)), endpointOf(server.port, [at('id')])).connect()
      expect(r).toMatchObject({ ok: false, error: { code: 'SSH_HOST_KEY_CHANGED' } })
      expect(server.requests).toEqual([])
      server.stop()
    })
  })

  describe('algorithms', () => {
    const weak: [string, Algorithms, RegExp][] = [
      [
        'Diffie-Hellman group 1',
        { kex: ['diffie-hellman-group1-sha1', 'diffie-hellman-group14-sha1'] },
        /key exchange: only diffie-hellman-group1-sha1/,
      ],
      ['CBC', { cipher: ['aes256-cbc', '3des-cbc'] }, /cipher: only aes256-cbc, 3des-cbc/],
      ['ssh-rsa with SHA-1', { serverHostKey: ['ssh-rsa'] }, /host key: only ssh-rsa/],
      ['SHA-1 MACs', { cipher: ['aes128-ctr'], hmac: ['hmac-sha1', 'hmac-md5'] }, /MAC: only hmac-sha1, hmac-md5/],
    ]
    it.each(weak)('a server that has only %s is refused, and the reason names it', async (_, algorithms, reason) => {
      const key = algorithms.serverHostKey ? 'rsa' : 'host'
      const server = await scriptedServer({ hostKey: at(key), algorithms })
      const session = sessionOf(knowing(known(server.port, at(key))), endpointOf(server.port, [at('id')]))
      const r = await session.connect()
      expect(r).toMatchObject({ ok: false, error: { code: 'SSH_ALGORITHMS' } })
      expect(r.ok ? '' : r.error.why).toMatch(reason)
      expect(session.state.kind).toBe('refused')
      expect(server.requests).toEqual([])
      server.stop()
    })

    it('AES-CTR is used with encrypt-then-MAC, and reported so', async () => {
      const server = await scriptedServer({ hostKey: at('host'), algorithms: { cipher: ['aes256-ctr'] } })
      const r = await sessionOf(knowing(known(server.port)), endpointOf(server.port, [at('id')])).connect()
      expect(r).toMatchObject({
        ok: true,
        value: { negotiated: { cipher: 'aes256-ctr', mac: 'hmac-sha2-256-etm@openssh.com' } },
      })
      server.stop()
    })

    it('rekeying checks the host key again, and the session continues', async () => {
      let client: Connection | undefined
      const server = await scriptedServer({ hostKey: at('host'), onConnection: (c) => (client = c) })
      const session = sessionOf(knowing(known(server.port)), endpointOf(server.port, [at('id')]))
      expect((await session.connect()).ok).toBe(true)
      await new Promise<void>((resolve) => client?.rekey(resolve))
      expect(await session.exec('x')).toMatchObject({ ok: true, value: { code: 0 } })
      server.stop()
    })

    it('a man in the middle who takes strict key exchange out of the offer is noticed', async () => {
      const server = await scriptedServer({
        hostKey: at('host'),
        algorithms: { cipher: ['chacha20-poly1305@openssh.com'] },
      })
      const hide = await rawServer((near) => {
        void import('node:net').then(({ connect }) => {
          const far = connect(server.port, '127.0.0.1')
          far.on('error', () => near.destroy())
          near.on('data', (c) => far.write(c)).on('close', () => far.destroy())
          far.on('data', (c) =>
            near.write(
              Buffer.from(
                c.toString('latin1').replace('kex-strict-s-v00@openssh.com', 'kex-hidden-s-v00@openssh.com'),
                'latin1',
              ),
            ),
          )
        })
      })
      const r = await sessionOf(knowing(known(hide.port)), endpointOf(hide.port, [at('id')])).connect()
      expect(r.ok).toBe(false)
      expect(server.requests).toEqual([])
      hide.stop()
      server.stop()
    })
  })

  describe('servers that misbehave', () => {
    const limits = { ...QUICK, connectMs: 400, handshakeMs: 400, authMs: 400, keepaliveMs: 100, keepaliveMisses: 2 }
    const failing = async (port: number, more = {}) => {
      const session = sessionOf(knowing(''), endpointOf(port, [at('id')], more), { limits })
      const r = await session.connect()
      return r.ok ? 'connected' : r.error.code
    }

    it('no listener', async () => expect(await failing(await freePort())).toBe('SSH_TCP'))

    it('a name that leads nowhere', async () =>
      expect(await failing(22, { host: 'no-such-host.invalid' })).toMatch(/SSH_(DNS|TIMEOUT)/))

    it('stalled: it accepts the connection and sends nothing', async () => {
      const raw = await rawServer(() => undefined)
      expect(await failing(raw.port)).toBe('SSH_TIMEOUT')
      raw.stop()
    })

    it('stalled after its version', async () => {
      const raw = await rawServer((s) => s.write('SSH-2.0-OpenSSH_9.2\r\n'))
      expect(await failing(raw.port)).toBe('SSH_TIMEOUT')
      raw.stop()
    })

    it('closes at once', async () => {
      const raw = await rawServer((s) => s.end())
      expect(await failing(raw.port)).toMatch(/SSH_(LOST|HANDSHAKE)/)
      raw.stop()
    })

    it.each([
      ['lines', 'x'.repeat(70) + '\r\n'],
      ['one line', 'x'.repeat(4096)],
      ['a packet of 4 GiB', 'SSH-2.0-x\r\n\xff\xff\xff\xff\x05' + 'y'.repeat(4096)],
    ])('flooding before keys are exchanged: %s without end', async (_, text) => {
      const raw = await rawServer((s) => {
        const flood = (): void => {
          while (!s.destroyed && s.write(text, 'latin1'));
        }
        s.on('drain', flood)
        flood()
      })
      expect(await failing(raw.port)).toMatch(/SSH_(HANDSHAKE|TIMEOUT|LOST)/)
      raw.stop()
    })

    it('no SSH at all: the connection fails', async () => {
      const raw = await rawServer((s) => s.write('HTTP/1.1 400 \x1b[31m<img src=x onerror=alert(1)>\r\n\r\n'))
      expect(await failing(raw.port)).toMatch(/SSH_(HANDSHAKE|TIMEOUT|LOST)/)
      raw.stop()
    })

    it('half open: the connection is silent, and counts as lost after the keepalives', async () => {
      const way = await valve(sshd.port)
      const session = sessionOf(knowing(known(way.port)), endpointOf(way.port, [at('id')]), {
        limits: { ...limits, handshakeMs: 5000, authMs: 5000 },
      })
      expect((await session.connect()).ok).toBe(true)
      const pending = session.exec('sleep 30')
      way.shut()
      expect(await until(session, 'lost')).toMatchObject({ failure: { code: 'SSH_LOST' } })
      expect(await pending).toMatchObject({ ok: false, error: { code: 'SSH_COMMAND_LOST' } })
      expect(await session.run('true')).toMatchObject({ ok: false, error: { code: 'SSH_NOT_CONNECTED' } })
      way.stop()
    })

    it('killed in the middle of commands: how they ended is not known', async () => {
      const session = sessionOf(knowing(known(sshd.port)), endpointOf(sshd.port, [at('id')]))
      expect((await session.connect()).ok).toBe(true)
      const pending = [session.run('echo begun; sleep 30'), session.run('true'), session.exec('sleep 30')]
      await new Promise((done) => setTimeout(done, 200))
      sshd.killSessions()
      for (const r of await Promise.all(pending))
        expect(r).toMatchObject({
          ok: false,
          error: { code: expect.stringMatching(/SSH_(COMMAND_LOST|NOT_CONNECTED)/) as unknown },
        })
      expect(await until(session, 'lost')).toMatchObject({ kind: 'lost' })
    })
  })

  describe('after a loss', () => {
    it('reconnects automatically, and shows the time of the next attempt', async () => {
      const session = sessionOf(knowing(known(sshd.port)), endpointOf(sshd.port, [at('id')]), { reconnects: true })
      expect((await session.connect()).ok).toBe(true)
      const lost = until(session, 'lost')
      sshd.killSessions()
      const state = await lost
      if (state.kind !== 'lost') throw new Error(state.kind)
      expect(state.retryAtMs).toBeGreaterThanOrEqual(state.sinceMs + 25)
      await until(session, 'connected')
      expect(await session.run('echo back')).toMatchObject({ ok: true, value: { stdout: 'back\n' } })
    })

    it('keeps trying a server that is away, until it is stopped', async () => {
      const raw = await rawServer((s) => s.destroy())
      const session = sessionOf(knowing(''), endpointOf(raw.port, [at('id')]), {
        reconnects: true,
        limits: { ...QUICK, backoff: { baseMs: 5, mostMs: 20 } },
      })
      expect((await session.connect()).ok).toBe(false)
      await expect.poll(() => raw.count()).toBeGreaterThan(4)
      session.stop()
      await new Promise((done) => setTimeout(done, 50))
      const then = raw.count()
      await new Promise((done) => setTimeout(done, 100))
      expect(raw.count()).toBe(then)
      expect(session.state.kind).toBe('idle')
      raw.stop()
    })

    it('does not knock again by itself at a server that refused', async () => {
      const session = sessionOf(knowing(''), endpointOf(sshd.port, [at('id')]), {
        reconnects: true,
        limits: { ...QUICK, backoff: { baseMs: 1, mostMs: 2 } },
      })
      await session.connect()
      const states: string[] = []
      session.onState((s) => states.push(s.kind))
      await new Promise((done) => setTimeout(done, 100))
      expect([session.state.kind, states]).toEqual(['refused', []])
    })

    it('stopped while it connects, gives up at once', async () => {
      const raw = await rawServer(() => undefined)
      const session = sessionOf(knowing(''), endpointOf(raw.port, [at('id')]), {
        limits: { ...QUICK, handshakeMs: 60_000 },
      })
      const connecting = session.connect()
      await expect.poll(() => raw.count()).toBe(1)
      session.stop()
      expect(await connecting).toMatchObject({ ok: false, error: { code: 'SSH_CANCELLED' } })
      expect(session.state.kind).toBe('idle')
      raw.stop()
    })
  })

  describe('through jump hosts', () => {
    const open = (text: string, ports: number[]) => {
      const hops = ports.map((port) => endpointOf(port, [at('id')]))
      const last = hops.at(-1)
      if (!last) throw new Error('no hop')
      const keys = new HostKeys({ knownHosts: [{ path: knownHostsFile(text), isRequired: true }] })
      const sessions = new Sessions(keys, { ring: new KeyRing(), random: () => 0.5, limits: QUICK, reconnects: false })
      return { sessions, endpoint: { ...last, jumps: hops.slice(0, -1) } }
    }

    it('one and two of them, each verified under its own name', async () => {
      const third = await startSshd({ authorized: [publicHalf(at('id'))], hostKeys: [at('old')] })
      const text = known(sshd.port) + known(both.port) + known(third.port, at('old'))
      const { sessions, endpoint } = open(text, [sshd.port, both.port, third.port])
      const session = sessions.to(endpoint)
      expect(await session.connect()).toMatchObject({
        ok: true,
        value: {
          hostKey: { fingerprint: fingerprint(at('old')) },
          steps: [{ step: 'jump' }, { step: 'host key' }, { step: 'auth' }, { step: 'shell' }],
        },
      })
      expect(await session.run('echo $SSH_CONNECTION')).toMatchObject({
        ok: true,
        value: { stdout: expect.stringContaining(` ${third.port}\n`) as unknown },
      })
      sessions.stop()
      third.stop()
    })

    it('a jump host in the middle that is not the known one stops everything, and is named', async () => {
      const { sessions, endpoint } = open(known(sshd.port, at('old')) + known(both.port), [sshd.port, both.port])
      const session = sessions.to(endpoint)
      expect(await session.connect()).toMatchObject({
        ok: false,
        error: { code: 'SSH_HOST_KEY_CHANGED', what: expect.stringContaining('Jump host 127.0.0.1') as unknown },
      })
      expect(session.state.kind).toBe('refused')
      sessions.stop()
    })

    it('a trusted jump host does not vouch for the server behind it', async () => {
      const { sessions, endpoint } = open(known(sshd.port), [sshd.port, both.port])
      expect(await sessions.to(endpoint).connect()).toMatchObject({
        ok: false,
        error: { code: 'SSH_HOST_KEY_UNKNOWN', hostKey: { port: both.port } },
      })
      sessions.stop()
    })

    it('servers share one connection to it, and it is closed with the last of them', async () => {
      const text = known(sshd.port) + known(both.port) + known(both.port, at('host'), `[localhost]:${both.port}`)
      const { sessions, endpoint } = open(text, [sshd.port, both.port])
      const logins = (): number => (sshd.log().match(/Accepted publickey/g) ?? []).length
      const before = logins()
      const one = sessions.to(endpoint)
      const other = sessions.to({ ...endpoint, host: 'localhost' })
      expect(sessions.to(endpoint)).toBe(one)
      const connected = await Promise.all([one.connect(), other.connect(), one.connect()])
      expect(connected.map((r) => r.ok)).toEqual([true, true, true])
      await expect.poll(logins).toBe(before + 1)
      const jump = sessions.to(endpointOf(sshd.port, [at('id')]))
      expect(jump.state.kind).toBe('connected')
      other.stop()
      expect(jump.state.kind).toBe('connected')
      one.stop()
      expect(jump.state.kind).toBe('idle')
      sessions.stop()
    })

    it('lost: the servers behind it are lost with it, and come back through it', async () => {
      const way = await valve(sshd.port)
      const { sessions, endpoint } = open(known(way.port) + known(both.port), [way.port, both.port])
      const session = sessions.to(endpoint)
      expect((await session.connect()).ok).toBe(true)
      const lost = until(session, 'lost')
      sshd.killSessions()
      await lost
      await expect.poll(async () => (await session.connect()).ok).toBe(true)
      sessions.stop()
      way.stop()
    })

    it('that may not connect to the server is reported as such', async () => {
      const closed = await startSshd({
        authorized: [publicHalf(at('id'))],
        hostKeys: [at('host')],
        lines: ['AllowTcpForwarding no'],
      })
      const { sessions, endpoint } = open(known(closed.port) + known(both.port), [closed.port, both.port])
      expect(await sessions.to(endpoint).connect()).toMatchObject({ ok: false, error: { code: 'SSH_JUMP' } })
      sessions.stop()
      closed.stop()
    })
  })
})
