import { readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { shellQuote } from '#core/lustre/lctl.ts'
import { parseJobStats } from '#core/lustre/job-stats.ts'
import { endpointOf, knowing, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import type { Session } from '../ssh/session.ts'
import { newHostKey, newKey } from './keys.ts'
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
      // The shell of a channel is sh, whose error messages differ.
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
    const made = newKey(tempFolder())
    if (!made.ok) throw new Error(made.error.what)
    const other = made.value.identity
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

describe('a port that is taken', () => {
  it('is named, and nothing is left open', async () => {
    const taken = e.port('oss01')
    const served = await serveNode({
      node: nodeOf('oss01'),
      emulation: e.emulation,
      publicKey: e.key.publicKey,
      hostKey: newHostKey(),
      port: taken,
    })
    expect(served).toMatchObject({
      ok: false,
      error: { code: 'EMULATE_PORT', why: expect.stringContaining('EADDRINUSE') as string },
    })
  })
})
