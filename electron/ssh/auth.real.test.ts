import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { exitCodeOf } from './failures.ts'
import type { PassphraseRequest } from './private-key.ts'
import { endpointOf, knowing, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { scriptedServer } from '#tests/kits/electron/ssh/scripted-server.ts'
import {
  fingerprint,
  makeKey,
  noSshd,
  publicHalf,
  scratch,
  startAgent,
  startSshd,
  type RealAgent,
  type Sshd,
} from '#tests/kits/electron/ssh/sshd.ts'

describe.skipIf(noSshd !== '')('authentication', () => {
  let sshd: Sshd
  let agent: RealAgent
  const folder = scratch()
  const at = (name: string): string => join(folder, name)

  beforeAll(async () => {
    for (const name of ['good', 'other', 'held', 'stranger']) makeKey(at(name))
    makeKey(at('locked'), 'ed25519', 'open sesame')
    makeKey(at('rsa'), 'rsa', '', 2048)
    makeKey(at('ecdsa'), 'ecdsa')
    makeKey(at('small'), 'rsa', '', 1024)
    const all = ['good', 'held', 'locked', 'rsa', 'ecdsa', 'small'].map((n) => publicHalf(at(n)))
    sshd = await startSshd({ authorized: all, lines: ['RequiredRSASize 1024'] })
    agent = await startAgent()
    agent.add(at('held'))
    agent.add(at('stranger'))
    agent.add(at('rsa'))
  })
  afterAll(() => {
    sshd?.stop()
    agent?.stop()
  })
  afterEach(stopSessions)

  const connect = (files: string[], more = {}, parts = {}) =>
    sessionOf(knowing(sshd.knownLines()), endpointOf(sshd.port, files.map(at), more), parts).connect()
  const refusal = async (...args: Parameters<typeof connect>) => {
    const r = await connect(...args)
    if (r.ok) throw new Error('it was let in')
    return { ...r.error, exit: exitCodeOf(r.error) }
  }

  it.each(['good', 'rsa', 'ecdsa'])('lets a key in a file in: %s', async (name) => {
    expect(await connect([name])).toMatchObject({
      ok: true,
      value: { offered: [{ fingerprint: fingerprint(at(name)), from: 'file' }] },
    })
  })

  it('lists the keys that a server refused, and ends with exit code 4', async () => {
    const r = await refusal(['other'])
    expect(r).toMatchObject({ code: 'SSH_AUTH_REFUSED', exit: 4 })
    expect(r.why).toContain(fingerprint(at('other')))
  })

  it('a wrong user is refused', async () => {
    expect(await refusal(['good'], { user: 'nobody-here' })).toMatchObject({ code: 'SSH_AUTH_REFUSED', exit: 4 })
  })

  it('no key at all is reported as such', async () => {
    expect(await refusal(['missing'])).toMatchObject({ code: 'SSH_AUTH_NO_KEY', exit: 4 })
  })

  it('a key that others may read is not used', async () => {
    copyFileSync(at('good'), at('open'))
    chmodSync(at('open'), 0o644)
    expect(await refusal(['open'])).toMatchObject({
      code: 'SSH_AUTH_NO_KEY',
      why: expect.stringContaining('other users may read it') as unknown,
    })
  })

  it('an RSA key of 1024 bits is not offered', async () => {
    expect(await refusal(['small'])).toMatchObject({
      code: 'SSH_AUTH_NO_KEY',
      why: expect.stringContaining('RSA of 1024 bits') as unknown,
    })
  })

  it('a server that wants a password gets none', async () => {
    const server = await scriptedServer({ hostKey: at('other'), methods: ['password', 'keyboard-interactive'] })
    const known = knowing(`[127.0.0.1]:${server.port} ${publicHalf(at('other'))}\n`)
    const r = await sessionOf(known, endpointOf(server.port, [at('good')])).connect()
    expect(r).toMatchObject({ ok: false, error: { code: 'SSH_AUTH_METHOD' } })
    expect(server.requests.filter((q) => /password|keyboard/.test(q))).toEqual([])
    server.stop()
  })

  describe('an encrypted key', () => {
    const asking = (...answers: (string | undefined)[]) => {
      const requests: PassphraseRequest[] = []
      const given: Buffer[] = []
      const ask = async (request: PassphraseRequest): Promise<Buffer | undefined> => {
        const answer = answers[requests.length]
        requests.push(request)
        if (answer === undefined) return undefined
        const bytes = Buffer.from(answer)
        given.push(bytes)
        return bytes
      }
      return { requests, given, ask }
    }

    it('opens with the right passphrase, whose bytes are zeroed then', async () => {
      const { requests, given, ask } = asking('open sesame')
      expect(await connect(['locked'], {}, { ask })).toMatchObject({ ok: true })
      expect(requests).toEqual([{ file: at('locked'), attempt: 1 }])
      expect(given.map((b) => b.every((byte) => byte === 0))).toEqual([true])
    })

    it('asks again after a wrong one, three times at most', async () => {
      const second = asking('wrong', 'open sesame')
      expect(await connect(['locked'], {}, { ask: second.ask })).toMatchObject({ ok: true })
      const never = asking('a', 'b', 'c', 'd')
      expect(await refusal(['locked'], {}, { ask: never.ask })).toMatchObject({
        code: 'SSH_AUTH_REFUSED',
        why: expect.stringContaining('wrong 3 times') as unknown,
      })
      expect(never.requests).toHaveLength(3)
      expect(never.given.every((b) => b.every((byte) => byte === 0))).toBe(true)
    })

    it('is skipped if no one answers, or there is no prompt', async () => {
      expect(await refusal(['locked'], {}, { ask: asking(undefined).ask })).toMatchObject({
        why: expect.stringContaining('no passphrase was given') as unknown,
      })
      expect(await refusal(['locked'])).toMatchObject({
        why: expect.stringContaining('no prompt is available') as unknown,
      })
    })

    it('is not asked for by a server that would not take the key', async () => {
      const { requests, ask } = asking('open sesame')
      const server = await scriptedServer({ hostKey: at('other'), accepts: () => false })
      const known = knowing(`[127.0.0.1]:${server.port} ${publicHalf(at('other'))}\n`)
      expect(await sessionOf(known, endpointOf(server.port, [at('locked')]), { ask }).connect()).toMatchObject({
        ok: false,
      })
      expect(requests).toEqual([])
      server.stop()
    })

    it('is asked for once by all sessions, also after a loss', async () => {
      const { requests, ask } = asking('open sesame', 'open sesame')
      const session = sessionOf(knowing(sshd.knownLines()), endpointOf(sshd.port, [at('locked')]), { ask })
      expect((await session.connect()).ok).toBe(true)
      const lost = new Promise<void>((resolve) => session.onState((s) => s.kind === 'lost' && resolve()))
      sshd.killSessions()
      await lost
      expect((await session.connect()).ok).toBe(true)
      expect(requests).toHaveLength(1)
    })

    it('takes its time: the person does not run into the deadline of the server', async () => {
      const slow = async (): Promise<Buffer> => {
        await new Promise((done) => setTimeout(done, 3000))
        return Buffer.from('open sesame')
      }
      const limits = { ...(await import('#tests/kits/electron/ssh/console.ts')).QUICK, authMs: 2500 }
      expect(await connect(['locked'], {}, { ask: slow, limits })).toMatchObject({ ok: true })
    })
  })

  describe('with a real ssh-agent', () => {
    /** Fingerprints that were offered to a server that refuses them all. */
    async function offeredTo(files: string[], identitiesOnly: boolean, agentSocket = agent.socket): Promise<string[]> {
      const server = await scriptedServer({ hostKey: at('other'), accepts: () => false })
      const known = knowing(`[127.0.0.1]:${server.port} ${publicHalf(at('other'))}\n`)
      await sessionOf(known, endpointOf(server.port, files, { identitiesOnly }), { agentSocket }).connect()
      server.stop()
      return server.requests.filter((q) => q !== 'auth none').map((q) => q.replace('auth publickey ', ''))
    }

    it('signs, and nothing is read of the key', async () => {
      expect(await connect(['missing'], { identitiesOnly: false }, { agentSocket: agent.socket })).toMatchObject({
        ok: true,
        value: {
          offered: expect.arrayContaining([{ fingerprint: fingerprint(at('held')), from: 'agent' }]) as unknown,
        },
      })
    })

    it('signs with RSA and SHA-2', async () => {
      expect(await connect(['rsa'], {}, { agentSocket: agent.socket })).toMatchObject({
        ok: true,
        value: { offered: [{ from: 'agent' }] },
      })
    })

    it('offers configured keys first, then the other keys of the agent, then files', async () => {
      const prints = ['rsa', 'held', 'stranger', 'good'].map((n) => fingerprint(at(n)))
      expect(await offeredTo([at('good'), at('rsa')], false)).toEqual(prints)
    })

    it('IdentitiesOnly keeps the other keys of the agent at home', async () => {
      expect(await offeredTo([at('good'), at('held')], true)).toEqual([
        fingerprint(at('held')),
        fingerprint(at('good')),
      ])
    })

    it('IdentitiesOnly with a public file alone means that key of the agent', async () => {
      writeFileSync(at('only-public'), readFileSync(`${at('held')}.pub`), { mode: 0o644 })
      expect(await offeredTo([at('only-public')], true)).toEqual([fingerprint(at('held'))])
    })

    it('IdentitiesOnly of which no key can be read offers nothing: the filter fails closed', async () => {
      writeFileSync(at('junk'), 'not a key', { mode: 0o600 })
      expect(await offeredTo([at('missing'), at('junk')], true)).toEqual([])
      expect(await offeredTo([], true)).toEqual([])
    })

    it('that is dead or deaf costs a note, not the session', async () => {
      const dead = at('no-socket')
      expect(await connect(['good'], {}, { agentSocket: dead })).toMatchObject({ ok: true })
      expect(await refusal(['missing'], {}, { agentSocket: dead })).toMatchObject({
        why: expect.stringContaining('the agent:') as unknown,
      })
      expect(await refusal(['missing'], {}, { agentSocket: 'relative' })).toMatchObject({
        why: expect.stringContaining('not an absolute path') as unknown,
      })
      rmSync(dead, { force: true })
    })
  })

  it('neither agent, X11 nor ports are forwarded, no terminal and no environment is asked for', async () => {
    const server = await scriptedServer({ hostKey: at('other') })
    const known = knowing(`[127.0.0.1]:${server.port} ${publicHalf(at('other'))}\n`)
    const session = sessionOf(known, endpointOf(server.port, [at('held')]), { agentSocket: agent.socket })
    expect((await session.connect()).ok).toBe(true)
    await session.run('true')
    await session.exec('true')
    server.stop()
    expect([...new Set(server.requests)]).toEqual(['auth none', `auth publickey ${fingerprint(at('held'))}`, 'exec'])
  })

  it('a server that opens channels towards the console gets none: agent, X11 and forwarded ports', async () => {
    const answers: string[] = []
    const server = await scriptedServer({
      hostKey: at('other'),
      onConnection: (client) => {
        const note = (what: string) => (err: Error | undefined) =>
          void answers.push(`${what} ${err ? 'refused' : 'opened'}`)
        client.forwardOut('127.0.0.1', 1, '127.0.0.1', 2, note('forwarded-tcpip'))
        client.x11('127.0.0.1', 1, note('x11'))
        client.openssh_forwardOutStreamLocal('/tmp/x', note('streamlocal'))
      },
    })
    const known = knowing(`[127.0.0.1]:${server.port} ${publicHalf(at('other'))}\n`)
    const session = sessionOf(known, endpointOf(server.port, [at('held')]), { agentSocket: agent.socket })
    expect((await session.connect()).ok).toBe(true)
    await expect
      .poll(() => answers.toSorted())
      .toEqual(['forwarded-tcpip refused', 'streamlocal refused', 'x11 refused'])
    server.stop()
  })
})
