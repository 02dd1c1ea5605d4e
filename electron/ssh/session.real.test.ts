import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { join } from 'node:path'
import type { SessionState } from './state.ts'
import { endpointOf, knowing, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import {
  fingerprint,
  makeKey,
  noSshd,
  publicHalf,
  scratch,
  startSshd,
  type Sshd,
} from '#tests/kits/electron/ssh/sshd.ts'

describe.skipIf(noSshd !== '')('a session with a real sshd', () => {
  let sshd: Sshd
  let key: string
  beforeAll(async () => {
    key = makeKey(join(scratch(), 'id'))
    sshd = await startSshd({ authorized: [publicHalf(key)] })
  })
  afterAll(() => sshd?.stop())
  afterEach(stopSessions)
  const open = () => sessionOf(knowing(sshd.knownLines()), endpointOf(sshd.port, [key]))

  it('connects, reports the negotiated algorithms, and runs commands', async () => {
    const session = open()
    const seen: SessionState[] = []
    session.onState((s) => seen.push(s))
    const connected = await session.connect()
    if (!connected.ok) throw new Error(JSON.stringify(connected.error))
    expect(connected.value).toMatchObject({
      hostKey: { verdict: 'match', type: 'ssh-ed25519', fingerprint: fingerprint(sshd.hostKeys[0] as string) },
      negotiated: { kex: 'curve25519-sha256', cipher: 'aes128-gcm@openssh.com', mac: 'implicit', isStrict: true },
      commands: { mode: 'channel' },
      offered: [{ fingerprint: fingerprint(key), from: 'file' }],
    })
    expect(connected.value.software).toMatch(/^OpenSSH_/)
    expect(seen.map((s) => (s.kind === 'connecting' ? s.step : s.kind))).toEqual([
      'tcp',
      'host key',
      'auth',
      'shell',
      'connected',
    ])
    expect(connected.value.steps.map((s) => s.step)).toEqual(['tcp', 'host key', 'auth', 'shell'])
    expect(await session.run('printf out; printf err >&2; exit 3')).toEqual({
      ok: true,
      value: { stdout: 'out', stderr: 'err', code: 3 },
    })
    expect(await session.exec('printf out; printf err >&2; exit 3')).toEqual({
      ok: true,
      value: { stdout: 'out', stderr: 'err', code: 3 },
    })
    session.stop()
    expect(session.state).toEqual({ kind: 'idle' })
  })
})

it('loads under plain Node, which finds fewer names in CommonJS modules than a bundler', () => {
  const sessionsUrl = pathToFileURL(join(import.meta.dirname, 'sessions.ts')).href
  const code = `import(${JSON.stringify(sessionsUrl)}).then((m) => console.log(typeof m.Sessions))`
  expect(execFileSync(process.execPath, ['-e', code], { encoding: 'utf8' })).toBe('function\n')
})
