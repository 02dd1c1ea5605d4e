import { execFile, spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { shellQuote } from '#core/lustre/lctl.ts'
import { parseJobStats } from '#core/lustre/job-stats.ts'
import { endpointOf, knowing, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { makeKey, noSshd, scratch } from '#tests/kits/electron/ssh/sshd.ts'
import type { Session } from '../ssh/session.ts'
import { newHostKey } from './keys.ts'
import { serveNode } from './ssh-server.ts'
import { ALL_BYTES, startEmulation, type TestEmulation } from '#tests/kits/electron/emulate/emulation.ts'

let e: TestEmulation
beforeAll(async () => {
  e = await startEmulation('read')
})
afterAll(() => e.stop())
afterEach(stopSessions)

const known = (): string => readFileSync(e.cluster.knownHosts, 'utf8')
const nodeOf = (name: string) => e.emulation.source.emulator.node(name)!

async function connected(user: string, node = 'oss01'): Promise<Session> {
  const session = sessionOf(knowing(known()), endpointOf(e.port(node), [e.key.identity], { user }))
  const r = await session.connect()
  if (!r.ok) throw new Error(JSON.stringify(r.error))
  expect(r.value.commands).toEqual({ mode: 'channel' })
  return session
}

describe("the console's session with an emulated node", () => {
  it('has the framed channel, and gets the answers of the node byte for byte', async () => {
    const session = await connected('root')
    const lines = [
      'lctl get_param version obdfilter.*.job_stats',
      'lctl get_param nosuch; lctl get_param -n version',
      'id -u; hostname; exit 7',
      'nosuch --x',
      "echo 'unfinished",
    ]
    for (const line of lines) {
      const direct = nodeOf('oss01').exec(line)
      // The shell of a channel is sh, whose words for its own complaints are others.
      const words = direct.stderr.replace(/^bash: line 1: (.*): command not found$/m, 'sh: 1: $1: not found')
      const stderr = words.replace(/^bash: line 1:/m, 'sh: 1:')
      expect(await session.run(line), line).toEqual({ ok: true, value: { ...direct, stderr } })
      expect(await session.exec(line), line).toEqual({ ok: true, value: { ...direct, stderr } })
    }
    const stats = await session.run('lctl get_param -n obdfilter.*.job_stats')
    const ids = parseJobStats(stats.ok ? stats.value.stdout : '').entries.map((entry) => entry.jobId)
    expect(new Set(ids)).toEqual(new Set(ALL_BYTES))
  })

  it('carries every byte of a command', async () => {
    const session = await connected('root')
    const text = ALL_BYTES.join('')
    expect(await session.run(`printf %s ${shellQuote(text)}`)).toMatchObject({ ok: true, value: { stdout: text } })
  })

  it('writes rules as root, and reads as an ordinary user through sudo what it is granted', async () => {
    const root = await connected('root')
    const rule = 'ost.OSS.ost_io.nrs_tbf_rule'
    expect(await root.run(`lctl set_param ${rule}='start sl_ssh jobid={a.n01} rate=50'`)).toMatchObject({
      ok: true,
      value: { code: 0 },
    })
    expect(nodeOf('oss01').exec(`lctl get_param -n ${rule}`).stdout).toContain('sl_ssh jobid={a.n01} 50')
    const ops = await connected('ops')
    const reading = await ops.run(`id -u; sudo -n /usr/sbin/lctl get_param ${rule}`)
    expect(reading.ok && reading.value.stdout).toMatch(/^1000\nost\.OSS\.ost_io\.nrs_tbf_rule=\n[^]*sl_ssh/)
    expect(await ops.run(`sudo -n /usr/sbin/lctl set_param ${rule}='stop sl_ssh'`)).toEqual({
      ok: true,
      value: { stdout: '', stderr: 'sudo: a password is required\n', code: 1 },
    })
  })

  it('tells one node from another', async () => {
    const mds = await connected('root', 'mds01')
    expect(await mds.run('hostname; lctl get_param -N mdt.*.job_stats')).toMatchObject({
      value: { stdout: 'mds01\nmdt.b-MDT0000.job_stats\n' },
    })
  })
})

describe('who is let in', () => {
  it('refuses another key, another user, and a key without proof', async () => {
    const other = makeKey(join(scratch(), 'other'))
    const attempt = (user: string, key: string) =>
      sessionOf(knowing(known()), endpointOf(e.port('oss01'), [key], { user })).connect()
    expect(await attempt('root', other)).toMatchObject({ ok: false, error: { code: 'SSH_AUTH_REFUSED' } })
    expect(await attempt('nobody', e.key.identity)).toMatchObject({ ok: false, error: { code: 'SSH_AUTH_REFUSED' } })
    expect(await attempt('__proto__', e.key.identity)).toMatchObject({ ok: false, error: { code: 'SSH_AUTH_REFUSED' } })
  })

  it('listens on loopback alone', async () => {
    const reached = (host: string): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = connect({ host, port: e.port('oss01'), timeout: 2000 })
        socket
          .on('connect', () => resolve(true))
          .on('error', () => resolve(false))
          .on('timeout', () => resolve(false))
        socket.on('connect', () => socket.destroy())
      })
    expect(await reached('127.0.0.1')).toBe(true)
    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter((a) => a.address !== '127.0.0.1' && !a.address.startsWith('fe80'))
    for (const { address } of [...others, { address: '127.0.0.2' }]) expect(await reached(address), address).toBe(false)
  })

  it('keeps its keys to its user', () => {
    for (const file of [e.key.identity, e.cluster.clusterFile, e.cluster.knownHosts]) {
      expect(statSync(file).mode & 0o777).toBe(0o600)
    }
  })
})

describe.skipIf(noSshd !== '')('the real ssh', () => {
  const args = (...more: string[]): string[] => [
    ...[
      '-F',
      'none',
      '-o',
      'BatchMode=yes',
      '-o',
      'IdentitiesOnly=yes',
      '-o',
      `UserKnownHostsFile=${e.cluster.knownHosts}`,
    ],
    ...['-i', e.key.identity, '-p', String(e.port('oss01'))],
    ...more,
  ]
  const run = (program: string, words: readonly string[]): Promise<{ code: number; stdout: Buffer; stderr: string }> =>
    new Promise((resolve) => {
      execFile(program, words, { encoding: 'buffer', timeout: 15_000 }, (error, stdout, stderr) =>
        resolve({
          code: typeof error?.code === 'number' ? error.code : error ? -1 : 0,
          stdout,
          stderr: stderr.toString(),
        }),
      ).stdin?.end()
    })
  const ssh = (...more: string[]) => run('ssh', args(...more))

  it('runs commands, and ends with their exit codes', async () => {
    const line = 'lctl get_param version obdfilter.*.job_stats; (exit 3)'
    const { stdout, code } = await ssh('root@127.0.0.1', line)
    expect(code).toBe(3)
    expect(stdout.equals(Buffer.from(nodeOf('oss01').exec(line).stdout, 'latin1'))).toBe(true)
  })

  it('may have a shell that reads its input, and neither a login shell, a terminal, nor a file transfer', async () => {
    const shell = spawn('ssh', args('root@127.0.0.1', 'sh'), { stdio: ['pipe', 'pipe', 'ignore'] })
    let said = ''
    shell.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    shell.stdin.end('hostname\nexit 5\nhostname\n')
    expect(await new Promise((resolve) => shell.on('close', resolve))).toBe(5)
    expect(said).toBe('oss01\n')
    expect((await ssh('root@127.0.0.1')).stderr).toMatch(/shell request failed/)
    expect((await ssh('-tt', 'root@127.0.0.1', 'true')).stderr).toMatch(/PTY allocation request failed/)
    expect((await ssh('-s', 'root@127.0.0.1', 'sftp')).stderr).toMatch(/subsystem request failed/)
  })

  it('finds no other method than keys', async () => {
    const { code, stderr } = await ssh('-o', 'PreferredAuthentications=none,password', 'root@127.0.0.1', 'true')
    expect(code).toBe(255)
    expect(stderr).toMatch(/Permission denied \(publickey\)/)
  })

  it('may forward nothing', async () => {
    const through = await ssh('-W', `127.0.0.1:${e.port('mds01')}`, 'root@127.0.0.1')
    expect(through.stderr).toMatch(/administratively prohibited|open failed|forwarding failed/i)
    expect(through.stdout.length).toBe(0)
    const back = await ssh('-o', 'ExitOnForwardFailure=yes', '-R', '0:127.0.0.1:22', 'root@127.0.0.1', 'hostname')
    expect(back.stderr).toMatch(/forwarding (?:request )?failed|remote port forwarding failed/i)
    const env = await ssh('-o', 'SetEnv=SLUICE_X=1', '-A', 'root@127.0.0.1', 'hostname')
    expect(env.stdout.toString()).toBe('oss01\n')
  })

  it('is told where a command came broken', async () => {
    // The bytes of a job id that are not UTF-8: Node writes them as they are only through a Buffer, so the shell makes them.
    const quoted = args('root@127.0.0.1').map(shellQuote).join(' ')
    const { code, stderr } = await run('sh', ['-c', `ssh ${quoted} "$(printf 'echo \\377x')"`])
    expect(code).toBe(255)
    expect(stderr).toContain('not UTF-8')
  })
})

describe('a port that is taken', () => {
  it('is named, and nothing is left open', async () => {
    const taken = e.port('oss01')
    const served = await serveNode({
      ...{ node: nodeOf('oss01'), emulation: e.emulation, publicKey: e.key.publicKey, hostKey: newHostKey() },
      port: taken,
    })
    expect(served).toMatchObject({
      ok: false,
      error: { code: 'EMULATE_PORT', why: expect.stringContaining('EADDRINUSE') as string },
    })
  })
})
